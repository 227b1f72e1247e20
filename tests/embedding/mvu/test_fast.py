"""FastMVU: smooth functions of the graph, their program, and the refinement to that of MVU."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist, squareform

from isofold import MVU, FastMVU
from isofold.embedding.mvu.mvu import pose
from isofold.exceptions import DoubtfulMapWarning, InvalidInputError, UnboundedProblemError
from isofold.neighbors import Bridged, build_graph
from isofold.quality import procrustes_error
from isofold.sdp import LowRankSDP, Soft, Status
from isofold.sdp.posing.laplacian_basis import laplacian_basis
from isofold.sdp.solvers.conic import ConicSDP
from support.estimator_checks import checks_of_forms
from support.helpers import assert_embedder_contract
from support.ipa_cases import grid, half_cylinder, motion_onto, rectangle

# Eigenvectors of matrices with entries up to twenty, found to rounding.
ROUNDING = 1e-9
# The gap below which the engine certifies by default.
GAP = 1e-3
# The gap of the references.
REFERENCE_TOL = 1e-6


# The checks' data are small clouds of noise, some of them in two pieces. No plane is true to them,
# and steps are few to save time: neither is what is checked.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@checks_of_forms(
    FastMVU(n_functions=4, graph=Bridged(), solver=LowRankSDP(rank=6, max_iter=2), random_state=0)
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# Said by the fixture's warning; the tests that ignore it look at something else.
shape_only = pytest.mark.filterwarnings("ignore:.*Lengths are true only to")


def model(**parameters):
    return FastMVU(**{"n_functions": 6, "random_state": 0, "n_jobs": 1, **parameters})


def bent(n=150, seed=0):
    """Return random points of half a cylinder; it does not come near itself."""
    return half_cylinder(rectangle(n, (12.0, 6.0), seed))


@pytest.fixture(scope="module", name="X")
def points_of_the_sheet():
    return bent()


@pytest.fixture(scope="module")
def coarse(X):
    # Smooth functions alone do not keep lengths, and the method says so.
    with pytest.warns(DoubtfulMapWarning, match="shows the shape at best"):
        return model(lengths=Soft(4.0)).fit(X)


@pytest.fixture(scope="module")
def refined(X):
    return model().fit(X)


# Smooth functions


def smooth_functions(graph, m):
    return laplacian_basis(graph.n_nodes, graph.edges, m)


def dense_laplacian(graph):
    L = np.zeros((graph.n_nodes, graph.n_nodes))
    for i, j in graph.edges:
        L[i, i] += 1
        L[j, j] += 1
        L[i, j] -= 1
        L[j, i] -= 1
    return L


@pytest.mark.parametrize("m", [1, 6, 20])
@pytest.mark.parametrize(
    "points", [bent(), grid(8, 8), rectangle(30, (1.0,))], ids=["sheet", "square", "line"]
)
def test_functions_are_the_bottom_of_the_laplacian(points, m):
    graph = build_graph(points, n_neighbors=8)
    U = smooth_functions(graph, m)
    assert U.shape == (len(points), m)
    np.testing.assert_allclose(U.T @ U, np.eye(m), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(U.mean(axis=0), 0.0, rtol=0, atol=ROUNDING)
    L = dense_laplacian(graph)
    # A square has pairs of equal eigenvalues: functions are determined up to turns among them.
    lowest = np.linalg.eigvalsh(L)[1 : m + 1]
    np.testing.assert_allclose(np.linalg.eigvalsh(U.T @ L @ U), lowest, rtol=1e-6, atol=ROUNDING)


# The program among them


def test_coarse_solution_is_certified(coarse):
    solution = coarse.solution_
    assert solution is coarse.coarse_solution_
    assert solution.status is Status.CERTIFIED
    assert solution.gap <= GAP
    U = smooth_functions(coarse.graph_, 6)
    Y = solution.coordinates
    np.testing.assert_allclose(U @ (U.T @ Y), Y, rtol=0, atol=ROUNDING * np.abs(Y).max())


@pytest.mark.parametrize("reference", [LowRankSDP(tol=REFERENCE_TOL), ConicSDP()])
def test_coarse_value_is_that_of_the_program_over_all_edges(coarse, reference):
    U = smooth_functions(coarse.graph_, 6)
    found = reference.solve(pose(coarse.graph_, Soft(4.0), basis=U))
    assert found.status is Status.CERTIFIED
    scale = abs(found.primal)
    # Each value is below the other's bound, and the bounds are a gap apart.
    assert coarse.solution_.primal <= found.dual + REFERENCE_TOL * scale
    assert found.primal <= coarse.solution_.dual + REFERENCE_TOL * scale
    assert coarse.solution_.dual - found.dual <= GAP * scale


def test_coarse_value_by_its_definition(coarse):
    graph, Y = coarse.graph_, coarse.solution_.coordinates
    penalty = pose(graph, Soft(4.0)).constraints.penalty
    value = np.sum(Y**2)
    for (i, j), length, weight in zip(graph.edges, graph.lengths, penalty, strict=True):
        value -= weight / 2 * (np.sum((Y[i] - Y[j]) ** 2) - length**2) ** 2
    assert coarse.solution_.primal == pytest.approx(value, rel=1e-8)


def test_coarse_map_shows_the_shape_only(X, coarse, refined):
    assert np.isfinite(coarse.embedding_).all()
    # Functions without slope at the border: far from the refined map, but no other shape.
    assert 0.02 < procrustes_error(coarse.embedding_, refined.embedding_) < 0.5
    assert coarse.length_errors_.median > 10 * refined.length_errors_.median


@shape_only
@pytest.mark.parametrize("penalty", [1.0, 16.0])
def test_penalty_keeps_lengths(X, coarse, penalty):
    other = model(lengths=Soft(penalty)).fit(X)
    assert other.solution_.status is Status.CERTIFIED
    graph, errors = coarse.graph_, []
    for fitted in (coarse, other):
        Y = fitted.solution_.coordinates
        squared = np.sum((Y[graph.edges[:, 0]] - Y[graph.edges[:, 1]]) ** 2, axis=1)
        errors.append(np.sum((squared - graph.lengths**2) ** 2))
    # A larger weight never raises the sum of the errors.
    assert (errors[1] < errors[0]) == (penalty > 4.0)


# The refinement


def test_refined_map_is_that_of_mvu(X, refined):
    mvu = MVU(random_state=0, n_jobs=1).fit(X)
    for fitted in (refined, mvu):
        assert fitted.solution_.status is Status.CERTIFIED
    assert refined.solution_.primal == pytest.approx(mvu.solution_.primal, rel=2 * GAP)
    # Maps within the gap of the optimum differ by its square root at most.
    assert procrustes_error(refined.embedding_, mvu.embedding_) < GAP**0.5
    assert refined.coarse_solution_ is not refined.solution_


def test_refined_map_is_true(refined):
    # Seen on five other samples: 0.0045 to 0.0051, since chords are shorter than arcs.
    assert procrustes_error(refined.embedding_, rectangle(150, (12.0, 6.0))) < 0.01
    assert refined.unprojected_length_errors_.median < 2 * GAP


@pytest.mark.parametrize("lengths", ["equal", Soft(4.0)])
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_more_functions_than_points(lengths):
    X = bent(12)
    many = model(n_functions=100, n_neighbors=4, lengths=lengths).fit(X)
    assert many.solution_.status is Status.CERTIFIED
    assert many.embedding_.shape == (12, 2)
    # With all functions soft lengths are those of MVU's program, and others are refined to it.
    mvu = MVU(lengths=lengths, n_neighbors=4, random_state=0, n_jobs=1).fit(X)
    assert many.solution_.primal == pytest.approx(mvu.solution_.primal, rel=2 * GAP)


@shape_only
@pytest.mark.parametrize("lengths", ["equal", Soft(4.0)])
def test_precomputed(X, coarse, refined, lengths):
    D = squareform(pdist(X))
    fitted = model(metric="precomputed", lengths=lengths).fit(D)
    expected = refined if lengths == "equal" else coarse
    # Distances differ in their last digits, and the steps of the solver may then differ, too.
    assert procrustes_error(fitted.embedding_, expected.embedding_) < GAP**0.5
    np.testing.assert_allclose(fitted.transform(D), fitted.embedding_, rtol=0, atol=1e-12)
    new = cdist(bent(20, seed=1), X)
    assert np.isfinite(fitted.transform(new)).all()


@shape_only
def test_sparse_precomputed(X, coarse):
    graph = build_graph(X, n_neighbors=12)
    fitted = model(metric="precomputed", lengths=Soft(4.0)).fit(sp.csr_array(graph.adjacency))
    assert procrustes_error(fitted.embedding_, coarse.embedding_) < GAP**0.5


def test_pieces_are_refused():
    X = np.concatenate([bent(40), bent(40, seed=1) + np.array([0.0, 0.0, 99.0])])
    with pytest.raises(UnboundedProblemError, match=r"2 connected components.*FastMVU"):
        model().fit(X)


def test_contradiction_is_refused_and_leaves_the_earlier_fit(X):
    # Six points on a line, but the first is a hundred away from the last.
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    fitted = model(metric="precomputed", n_neighbors=3).fit(D)
    before, coarse = fitted.embedding_, fitted.coarse_solution_
    D[0, 5] = D[5, 0] = 100.0
    with pytest.raises(InvalidInputError, match="triangle"):
        fitted.set_params(n_neighbors=5).fit(D)
    assert fitted.embedding_ is before
    assert fitted.coarse_solution_ is coarse


def test_loose_graph_is_told():
    cloud = np.random.RandomState(0).normal(size=(60, 5))
    with pytest.warns(DoubtfulMapWarning, match="in the 2 of the map"):
        model(n_neighbors=8).fit(cloud)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_functions": 0}, "n_functions=0"),
        ({"n_functions": 2.5}, "n_functions=2.5"),
        ({"lengths": Soft(-1.0)}, "-1.0 must be"),
        ({"lengths": Soft(np.nan)}, "nan must be"),
        ({"lengths": Soft(np.inf)}, "inf must be"),
        ({"lengths": True}, "True must be"),
        ({"lengths": None}, "None must be"),
        ({"lengths": "same"}, "lengths='same'"),
        ({"lengths": "at_most"}, "lengths='at_most'"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"graph": "none"}, "graph is 'none'"),
        ({"metric": "nearness"}, "metric='nearness'"),
        ({"solver": 3}, "solver=3"),
        ({"random_state": "seed"}, "random_state='seed'"),
    ],
)
def test_bad_parameters(X, parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        model(**parameters).fit(X)


# New points


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contract(dtype):
    X = half_cylinder(grid(4, 10)).astype(dtype)
    # Lengths kept to a hundredth, which is quick.
    solver = LowRankSDP(rank=8, violation_tol=1e-2)
    lengths = "equal" if dtype is np.float32 else Soft(4.0)
    embedder = FastMVU(n_functions=5, lengths=lengths, solver=solver, random_state=0)
    assert_embedder_contract(embedder, X, atol=0.0)


def test_new_points_land_where_they_belong(refined):
    flat, new = rectangle(150, (12.0, 6.0)), rectangle(100, (10.0, 4.0), seed=1) + 1.0
    radius = np.ptp(flat[:, 0]) / np.pi
    angle = (new[:, 0] - flat[:, 0].min()) / radius
    X_new = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), new[:, 1]])
    motion = motion_onto(refined.embedding_, flat)
    old_errors = np.linalg.norm(motion.apply(refined.embedding_) - flat, axis=1)
    errors = np.linalg.norm(motion.apply(refined.transform(X_new)) - new, axis=1)
    # Seen on five other samples: 0.73 to 0.83; new points are away from the border.
    assert errors.mean() < 1.2 * old_errors.mean()


# Soft lengths of so small a weight shrink; the program is what is looked at.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_as_many_functions_as_points_are_not_compressed(monkeypatch):
    """All products of two functions would be more forms than there are edges."""
    X = grid(6, 5)
    compressed = FastMVU(n_functions=5, lengths=Soft(1.0), random_state=0).fit(X)
    monkeypatch.setattr("isofold.embedding.mvu.fast.compress", pytest.fail)
    whole = FastMVU(n_functions=10**9, lengths=Soft(1.0), random_state=0).fit(X)
    assert whole.solution_.status is Status.CERTIFIED
    # More functions can only do better.
    assert whole.solution_.primal > compressed.solution_.primal
