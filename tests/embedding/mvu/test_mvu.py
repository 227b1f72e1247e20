"""MVU: maps that are known, what is kept, and what is promised of every embedder."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

from isofold import MVU, datasets
from isofold.exceptions import DoubtfulMapWarning
from isofold.linalg import procrustes
from isofold.neighbors import Lengths, NeighborGraph, Radius, resolve_graph
from isofold.quality import procrustes_error
from isofold.sdp import LowRankSDP, Soft, Status
from support.helpers import assert_embedder_contract, assert_equal_up_to_rigid_motion
from support.mvu_cases import bent_grid, fit_quietly, grid, sparse_graph, variance
from support.quick import quick_are, quick_first
from support.sdp_problems import cycle_edges, path_edges

FORMS = ["equal", "at_most", Soft(16.0)]
TIGHT = LowRankSDP(tol=1e-8, violation_tol=1e-8)

# A gap ε leaves ⟨S, G⟩ ≤ ε tr G, so that at most √(ε tr G / λ) lies off the optimal axes, λ being
# the least positive eigenvalue of the slack S. With ε = 1e-8, tr G up to 300 and λ above 1 that is
# 2e-3 at worst, for all points together.
PLACE = 2e-3
# The tight solver stops at a median error of lengths of 1e-8; the largest of a dozen is within a
# hundred times that.
LENGTH = 1e-6
# The default promises: median relative error of kept lengths, and gap.
DEFAULT_LENGTH, DEFAULT_GAP = 1e-3, 1e-3
# An error of lengths that nobody sees on a map, as in the code.
SEEN = 1e-2
# The map of a clean roll of 400 points: chords of some neighbors are shorter than arcs by some
# percent, (3/5)²/24 at the inner end, and differently along the roll.
ROLL_ERROR = 0.03


def model(**parameters):
    return MVU(**{"random_state": 0, "n_jobs": 1, **parameters})


def any_points(n):
    """Return points for a graph that is given: they do not matter."""
    return np.random.RandomState(n).rand(n, 3)


@pytest.fixture(scope="module")
def roll():
    return datasets.swiss_roll(400, width=10.0, uniform=True, random_state=0)


@pytest.fixture(scope="module")
def fitted(roll):
    return model().fit(roll.X)


@pytest.fixture(scope="module")
def sheet():
    """Return points of an arc of a cylinder and the rectangle that they come from."""
    flat = np.random.RandomState(0).rand(70, 2) * [3.0, 1.5]
    angle = flat[:, 0] / 3
    return np.column_stack([3 * np.cos(angle), 3 * np.sin(angle), flat[:, 1]]), flat


@pytest.fixture(scope="module")
def unfolded(sheet):
    return model().fit(sheet[0])


# Maps that are known


@pytest.mark.parametrize("lengths", ["equal", "at_most"])
def test_path_unfolds_to_a_line(lengths):
    steps = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.5, 0.7])
    line = np.append(0.0, np.cumsum(steps))[:, None]
    mvu = model(
        graph=Lengths(sparse_graph(8, path_edges(8), steps)),
        n_components=1,
        lengths=lengths,
        solver=TIGHT,
    )
    assert_equal_up_to_rigid_motion(mvu.fit_transform(any_points(8)), line, atol=PLACE)
    assert mvu.discarded_variance_ratio_ < LENGTH
    assert mvu.length_errors_.largest < LENGTH


def test_bent_chain_of_points_unfolds_to_a_line():
    # Each point's two neighbors are the next ones along the arc.
    angle = 0.4 * np.arange(12)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    chord = 2 * np.sin(0.2)
    mvu = model(graph=Radius(1.1 * chord), n_components=1, solver=TIGHT)
    line = chord * np.arange(12.0)[:, None]
    assert_equal_up_to_rigid_motion(mvu.fit_transform(arc), line, atol=PLACE)


@pytest.mark.parametrize("n", [5, 9])
def test_cycle_unfolds_to_a_regular_polygon(n):
    # Only its sides are known; a polygon of n sides of length 2 has the radius 1/sin(π/n).
    mvu = model(graph=Lengths(sparse_graph(n, cycle_edges(n), 2.0)), solver=TIGHT)
    Y = mvu.fit_transform(any_points(n))
    angle = 2 * np.pi * np.arange(n) / n
    polygon = np.column_stack([np.cos(angle), np.sin(angle)]) / np.sin(np.pi / n)
    assert_equal_up_to_rigid_motion(Y, polygon, atol=PLACE)


@pytest.mark.filterwarnings(
    "ignore:.*Lengths are true only to:isofold.exceptions.DoubtfulMapWarning"
)
@pytest.mark.parametrize("nu", [1, 4.0, np.float64(256.0)])
def test_soft_cycle_has_sides_that_are_known(nu):
    # The multipliers are 1/λ₂ by symmetry, and the natural penalty is ν/λ₂: squared sides 1 + 1/ν.
    mvu = model(graph=Lengths(sparse_graph(7, cycle_edges(7), 3.0)), lengths=Soft(nu), solver=TIGHT)
    Y = mvu.fit_transform(any_points(7))
    sides = np.linalg.norm(Y - np.roll(Y, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, 3.0 * np.sqrt(1 + 1 / nu), rtol=PLACE)
    np.testing.assert_allclose(mvu.distortion_, np.sqrt(1 + 1 / nu) - 1, atol=PLACE)


@pytest.mark.parametrize("lengths", ["equal", "at_most"])
@pytest.mark.parametrize("d", [2, 5])
def test_flat_grid_comes_back(lengths, d):
    flat = grid(5, 6)
    turn = np.linalg.qr(np.random.RandomState(0).normal(size=(d, d)))[0][:2]
    mvu = model(graph=Radius(1.5), lengths=lengths, solver=TIGHT)
    Y = mvu.fit_transform(flat @ turn + 7.0)
    assert_equal_up_to_rigid_motion(Y, flat, atol=PLACE)
    assert mvu.distortion_.max() < PLACE


def test_angles_keep_the_kinks_of_a_chain():
    # Steps and angles of an arc are kept, which side a kink is on is not: a zigzag is the longest.
    angle = 0.5 * np.arange(10)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    chord = 2 * np.sin(0.25)
    Y = model(graph=Radius(1.1 * chord), angles=True, solver=TIGHT).fit_transform(arc)
    along, across = chord * np.cos(0.25), chord * np.sin(0.25)
    zigzag = np.column_stack([along * np.arange(10.0), across * (np.arange(10) % 2)])
    assert_equal_up_to_rigid_motion(Y, zigzag, atol=PLACE)


@pytest.mark.parametrize("lengths", ["equal", "at_most"])
def test_cylinder_strip_is_its_rectangle(lengths):
    bent, flat = bent_grid(4, 9)
    mvu = model(graph=Radius(1.5), lengths=lengths, solver=TIGHT)
    assert_equal_up_to_rigid_motion(mvu.fit_transform(bent), flat, atol=PLACE)
    assert mvu.solution_.status is Status.CERTIFIED


@pytest.mark.parametrize("r", quick_first([2, 3]))
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_complete_graph_is_classical_scaling(r):
    X = np.random.RandomState(0).normal(size=(8, 3)) * [3.0, 2.0, 1.0]
    Y = model(n_neighbors=7, n_components=r, solver=TIGHT).fit_transform(X)
    centered = X - X.mean(axis=0)
    axes = np.linalg.svd(centered)[2]
    assert_equal_up_to_rigid_motion(Y, centered @ axes[:r].T, atol=PLACE)


def test_triangle_of_given_sides():
    sides = sparse_graph(3, [[0, 1], [1, 2], [2, 0]], [3.0, 4.0, 5.0])
    Y = model(graph=Lengths(sides), solver=TIGHT).fit_transform(any_points(3))
    np.testing.assert_allclose(pdist(Y), [3.0, 5.0, 4.0], rtol=LENGTH)


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_roll_is_flat(seed, roll, fitted):
    data, mvu = roll, fitted
    if seed > 0:
        data = datasets.swiss_roll(400, width=10.0, uniform=True, random_state=seed)
        mvu = model().fit(data.X)
    Y = mvu.embedding_
    assert mvu.spectrum_[2] < 1e-3 * mvu.spectrum_[0]
    assert mvu.discarded_variance_ratio_ < 1e-3
    assert procrustes_error(Y, data.truth) < ROLL_ERROR
    assert mvu.solution_.status is Status.CERTIFIED
    assert mvu.unprojected_length_errors_.median < DEFAULT_LENGTH
    assert mvu.length_errors_.median < SEEN


# What is kept, and what is certified


def tree(rng, n):
    return np.array([[rng.randint(i), i] for i in range(1, n)])


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_lengths_of_well_posed_graphs_are_kept(seed):
    rng = np.random.RandomState(seed)
    triangles = np.array([[1, 2], [0, 1], [0, 2], [1, 3], [2, 3]])
    for n, edges in ((12, tree(rng, 12)), (8, cycle_edges(8)), (4, triangles)):
        lengths = rng.uniform(0.8, 1.5, size=len(edges))
        mvu = fit_quietly(
            model(graph=Lengths(sparse_graph(n, edges, lengths)), solver=TIGHT), any_points(n)
        )
        assert mvu.unprojected_length_errors_.largest < LENGTH
        assert mvu.solution_.status is Status.CERTIFIED


@pytest.mark.parametrize("lengths", FORMS)
def test_variance_is_not_below_that_of_the_points(lengths, sheet):
    # The points themselves meet all constraints, at no penalty: no bound may be below them.
    flat = grid(5, 6)
    for X in (flat, sheet[0]):
        solution = fit_quietly(model(lengths=lengths), X).solution_
        assert solution.dual >= variance(X)
        assert solution.primal >= variance(X) - solution.gap * solution.dual
        # Lengths that are too short by a share δ cost a share 2δ of the variance.
        least = (1 - 2 * DEFAULT_LENGTH) * (1 - DEFAULT_GAP) * variance(X)
        assert variance(solution.coordinates) >= least


def test_certificate_says_which_problem(fitted, sheet):
    kept = fitted.solution_
    assert kept.status is Status.CERTIFIED
    assert kept.certificate.is_shifted
    assert "penalties centered at the reported multipliers" in kept.message
    assert kept.gap <= DEFAULT_GAP
    for lengths in ("at_most", Soft(16.0)):
        solution = model(lengths=lengths).fit(sheet[0]).solution_
        assert solution.status is Status.CERTIFIED
        assert not solution.certificate.is_shifted
        assert "the problem as posed" in solution.message


def test_bounds_are_met_if_lengths_may_shrink(sheet):
    mvu = model(lengths="at_most").fit(sheet[0])
    Y, graph = mvu.solution_.coordinates, mvu.graph_
    first, second = graph.edges.T
    assert np.all(np.linalg.norm(Y[first] - Y[second], axis=1) <= graph.lengths * (1 + LENGTH))


def test_soft_lengths_become_true_with_their_weight(sheet):
    errors = [
        model(lengths=Soft(nu)).fit(sheet[0]).length_errors_.median for nu in (1.0, 16.0, 256.0)
    ]
    assert errors[0] > 3 * errors[1] > 9 * errors[2]


@pytest.mark.slow  # FastMVU has the same doubt of fewer points
def test_loose_graph_is_doubted_and_the_default_is_not():
    data = datasets.swiss_roll(1000, width=21.0, uniform=True, random_state=0)
    with pytest.warns(DoubtfulMapWarning, match="too loose") as caught:
        loose = model(n_neighbors=6).fit(data.X)
    assert len(caught) == 1
    assert loose.solution_.status is Status.CERTIFIED
    mvu = model().fit(data.X)
    assert procrustes_error(mvu.embedding_, data.truth) < procrustes_error(
        loose.embedding_, data.truth
    )


def test_what_is_reported_is_what_is_seen(fitted):
    graph, Y = fitted.graph_, fitted.embedding_
    coordinates = fitted.solution_.coordinates
    np.testing.assert_array_equal(Y, coordinates[:, :2])
    np.testing.assert_allclose(fitted.spectrum_, (coordinates**2).mean(axis=0))
    assert fitted.discarded_variance_ratio_ == pytest.approx(
        fitted.spectrum_[2:].sum() / fitted.spectrum_.sum()
    )
    errors = np.array(
        [
            abs(np.linalg.norm(Y[i] - Y[j]) / length - 1)
            for (i, j), length in zip(graph.edges, graph.lengths, strict=True)
        ]
    )
    assert fitted.length_errors_.largest == pytest.approx(errors.max())
    assert fitted.length_errors_.median == pytest.approx(np.median(errors))
    at_first = errors[(graph.edges == 0).any(axis=1)]
    assert fitted.distortion_[0] == pytest.approx(at_first.mean())
    assert fitted.bridges_.shape == (0, 2)


# Ways to say what is kept


def test_given_graphs_are_the_same_as_their_points(sheet, unfolded):
    X = sheet[0]
    graph = resolve_graph(X, n_neighbors=12)
    expected = unfolded.embedding_
    np.testing.assert_array_equal(model(graph=graph).fit_transform(X), expected)
    np.testing.assert_array_equal(model(graph=Lengths(graph.adjacency)).fit_transform(X), expected)
    ready = model(metric="precomputed")
    np.testing.assert_array_equal(ready.fit_transform(graph.adjacency), expected)
    # A row that stores its own zero says which sample it is.
    own = sp.csr_array((np.zeros(70), (np.arange(70), np.arange(70))), shape=(70, 70))
    rows = sp.vstack([graph.adjacency, own]).tocoo()
    with_own = sp.csr_array((rows.data, (rows.row % 70, rows.col)), shape=(70, 70))
    np.testing.assert_array_equal(ready.transform(with_own), expected)
    assert isinstance(ready.graph_, NeighborGraph)


def test_distances_are_as_good_as_points(sheet, unfolded):
    X, _ = sheet
    distances = squareform(pdist(X))
    mvu = model(metric="precomputed")
    Y = mvu.fit_transform(distances)
    # The distances may differ in their last digits: each answer is exact to the tolerances alone.
    assert procrustes_error(Y, unfolded.embedding_) < DEFAULT_LENGTH
    np.testing.assert_array_equal(mvu.transform(distances), Y)
    np.testing.assert_array_equal(mvu.graph_.edges, resolve_graph(X, n_neighbors=12).edges)


def test_radius(sheet):
    X, flat = sheet
    mvu = model(graph=Radius(0.8))
    assert procrustes_error(mvu.fit_transform(X), flat) < ROLL_ERROR
    near = np.argwhere(np.triu(squareform(pdist(X)) <= 0.8, k=1))
    np.testing.assert_array_equal(mvu.graph_.edges, near)


def test_angles_keep_the_sheet(sheet):
    X, flat = sheet
    mvu = model(angles=True, n_neighbors=5)
    assert procrustes_error(mvu.fit_transform(X), flat) < ROLL_ERROR
    plain = resolve_graph(X, n_neighbors=5)
    linked = plain.adjacency.toarray() > 0
    expected = np.triu(linked | ((linked.astype(int) @ linked) > 0), k=1)
    np.testing.assert_array_equal(mvu.graph_.edges, np.argwhere(expected))


def test_copies_count_once(sheet, unfolded):
    X = sheet[0]
    mvu = model().fit(np.concatenate([X, X[::7], X[::7]]))
    alone = unfolded.embedding_
    np.testing.assert_array_equal(mvu.embedding_[: len(X)], alone)
    np.testing.assert_array_equal(mvu.embedding_[len(X) :], np.tile(alone[::7], (2, 1)))
    assert mvu.graph_.n_nodes == len(X)
    assert mvu.distortion_.shape == (len(X) + 20,)


@pytest.mark.parametrize("lengths", FORMS)
def test_columns_beyond_the_rank_are_zero(lengths):
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    mvu = model(n_components=5, lengths=lengths, solver=TIGHT)
    Y = mvu.fit_transform(X)
    assert Y.shape == (3, 5)
    np.testing.assert_allclose(Y[:, 2:], 0.0, atol=PLACE)
    assert mvu.discarded_variance_ratio_ == 0.0
    # A triangle's multipliers are 1/3 = 1/λ₂ each: soft squared sides grow by 1 + 1/ν.
    stretch = np.sqrt(1 + 1 / lengths.weight) if lengths == FORMS[2] else 1.0
    np.testing.assert_allclose(pdist(Y), stretch * np.array([3.0, 4.0, 5.0]), rtol=PLACE)


@pytest.mark.parametrize("lengths", FORMS)
def test_two_samples(lengths):
    mvu = model(lengths=lengths, solver=TIGHT)
    Y = mvu.fit_transform(np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]))
    stretch = np.sqrt(1 + 1 / lengths.weight) if lengths == FORMS[2] else 1.0
    assert np.linalg.norm(Y[1] - Y[0]) == pytest.approx(5.0 * stretch, rel=LENGTH)
    assert np.isfinite(mvu.transform([[1.0, 0.0, 0.0]])).all()


# New points, and the contract


def test_new_points_land_where_they_belong(roll, fitted):
    new = datasets.swiss_roll(300, width=10.0, uniform=True, random_state=7)
    motion = procrustes(fitted.embedding_, roll.truth).transform
    placed = motion.apply(fitted.transform(new.X))
    errors = np.linalg.norm(placed - new.truth, axis=1)
    nearest = cKDTree(roll.X).query(new.X)[1]
    naive = np.linalg.norm(motion.apply(fitted.embedding_)[nearest] - new.truth, axis=1)
    # The nearest neighbor is a spacing away; a weighted mean errs by its curvature and by the
    # error of the map itself.
    spread = np.sqrt(variance(roll.truth) / len(roll.truth))
    map_error = procrustes_error(fitted.embedding_, roll.truth) * spread
    assert np.median(errors) < np.median(naive) / 2
    assert np.sqrt((errors**2).mean()) < 2 * map_error + naive.mean() / 4


@pytest.mark.parametrize(
    ("lengths", "dtype"),
    quick_are(
        list(zip(FORMS, (np.float32, np.float64, np.float64), strict=True)),
        [(lengths, dtype) for lengths in FORMS for dtype in (np.float32, np.float64)],
    ),
)
def test_contract(sheet, lengths, dtype):
    X = sheet[0][:40].astype(dtype)
    assert_embedder_contract(MVU(lengths=lengths, random_state=0), X, atol=0)


def test_pandas_and_names(sheet, unfolded):
    frame = pd.DataFrame(sheet[0], columns=["x", "y", "z"]).set_index(np.arange(70) + 5)
    mvu = model().set_output(transform="pandas")
    result = mvu.fit_transform(frame)
    assert list(result.columns) == list(mvu.get_feature_names_out()) == ["mvu0", "mvu1"]
    assert list(mvu.feature_names_in_) == ["x", "y", "z"]
    pd.testing.assert_index_equal(result.index, frame.index)
    pd.testing.assert_frame_equal(mvu.transform(frame), result)
    np.testing.assert_array_equal(result.to_numpy(), unfolded.embedding_)


def test_solver_parameters_are_reached_and_the_solver_is_left_alone(sheet):
    solver = LowRankSDP()
    mvu = model(solver=solver, lengths="at_most").set_params(solver__tol=1e-6)
    before = solver.get_params()
    assert mvu.fit(sheet[0]).solution_.gap <= 1e-6
    assert solver.get_params() == before
    assert clone(mvu).get_params()["solver__tol"] == 1e-6


def test_a_seed_changes_nothing_that_matters(sheet):
    one, other = (model(random_state=seed).fit_transform(sheet[0]) for seed in (1, 2))
    assert procrustes_error(one, other) < 2 * DEFAULT_LENGTH


def test_a_refused_refit_leaves_the_map(sheet):
    mvu = model().fit(sheet[0])
    before = mvu.embedding_.copy()
    apart = np.concatenate([sheet[0], sheet[0] + 100.0])
    with pytest.raises(ValueError, match="2 connected components"):
        mvu.fit(apart)
    np.testing.assert_array_equal(mvu.transform(sheet[0]), before)
