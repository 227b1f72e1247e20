"""DisjointMVU: components found, unfolded one by one, and placed without a squash."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group

from isofold import MVU, DisjointMVU
from isofold.datasets import (
    broken_s_curve,
    four_moons,
    parallel_swiss_rolls,
    rotated_swiss_rolls,
)
from isofold.exceptions import DoubtfulMapWarning, InvalidInputError
from isofold.neighbors import Bridged
from isofold.quality import one_nn_error, trustworthiness
from isofold.sdp import LowRankSDP, Status
from support.helpers import assert_embedder_contract, assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples
from support.ipa_cases import grid, half_cylinder, rectangle
from support.mvu_cases import bent_grid
from support.quick import quick_are, quick_first

# Rotations of coordinates up to a hundred: some hundred roundings.
ROUNDING = 1e-11
# What issue 5 asks of every component's map.
ISOMETRIC = 1e-3
# Lengths kept to a hundredth in the median, not a thousandth: that takes a fifth of the time.
KEPT = 1e-2
CHEAP = LowRankSDP(rank=8, violation_tol=KEPT)
# Maps may differ by the square root of what their values differ by: the default gap of the engine,
# times the size of a sheet.
SOLVER = 1e-3**0.5

# Samples, neighbors and components: the right ones on all of the seeds 0 to 99, but for two of the
# moons, whose ends are close.
SETS = {
    broken_s_curve: (1200, 8, 4),
    rotated_swiss_rolls: (300, 10, 2),
    parallel_swiss_rolls: (400, 10, 2),
    four_moons: (400, 10, 4),
}

# Few steps: what is tested does not hang on lengths kept to the last digit.
QUICK = LowRankSDP(rank=8, max_iter=2)
ignore_doubts = pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
ignore_early_stops = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def model(**parameters):
    return DisjointMVU(**{"solver": CHEAP, "random_state": 0, "n_jobs": 1, **parameters})


def bent(n=50, seed=0):
    """Return random points of half a cylinder; it does not come near itself."""
    return half_cylinder(rectangle(n, (6.0, 4.0), seed))


def two_sheets():
    """Return two sheets far from each other, the rows of one between those of the other."""
    X = np.empty((110, 3))
    X[::2], X[1::2] = bent(55), bent(55, seed=1) + np.array([0.0, 0.0, 15.0])
    return X


def pairwise(points):
    return squareform(pdist(points))


@pytest.fixture(scope="module", name="X")
def points_of_two_sheets():
    return two_sheets()


@pytest.fixture(scope="module")
def fitted(X):
    return model().fit(X)


# Components


@ignore_doubts
@ignore_early_stops
@pytest.mark.parametrize(
    "make", quick_are([rotated_swiss_rolls, parallel_swiss_rolls], SETS), ids=lambda m: m.__name__
)
def test_components_of_the_thesis(make):
    n, k, n_pieces = SETS[make]
    data = make(n, noise=0.05, random_state=0)
    fitted = model(n_neighbors=k, solver=QUICK).fit(data.X)
    assert len(np.unique(np.stack([fitted.component_, data.labels]), axis=1).T) == n_pieces
    assert len(fitted.solutions_) == fitted.component_.max() + 1 == n_pieces
    assert (np.diff(np.bincount(fitted.component_)) <= 0).all()
    np.testing.assert_allclose(fitted.singular_values_, 1.0, rtol=0, atol=ISOMETRIC)
    assert one_nn_error(fitted.embedding_, data.labels) == 0.0
    assert fitted.bridges_.shape == (n_pieces - 1, 2)


@ignore_doubts
@ignore_early_stops
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@pytest.mark.parametrize(
    "make", quick_first([rotated_swiss_rolls, four_moons]), ids=lambda make: make.__name__
)
def test_neighbors_are_trusted_more_than_with_bridges(make):
    n, k, _ = SETS[make]
    data = make(n, noise=0.05, random_state=1)
    ours = model(n_neighbors=k, solver=QUICK).fit_transform(data.X)
    bridged = MVU(n_neighbors=k, graph=Bridged(), solver=QUICK, random_state=0, n_jobs=1)
    assert trustworthiness(data.X, ours) >= trustworthiness(data.X, bridged.fit_transform(data.X))


def test_every_component_is_unfolded_as_by_itself(X, fitted):
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=2)
    for piece, seed in enumerate(seeds):
        own = fitted.component_ == piece
        alone = MVU(solver=CHEAP, random_state=seed, n_jobs=1).fit(X[own])
        assert_equal_up_to_rigid_motion(
            fitted.embedding_[own], alone.embedding_, atol=100 * ROUNDING
        )
        assert fitted.solutions_[piece].primal == alone.solution_.primal
        assert fitted.solutions_[piece].status is Status.CERTIFIED
    assert fitted.solution_ is fitted.solutions_[0]


def test_processes_do_not_change_a_byte(X, fitted):
    other = model(n_jobs=2).fit(X)
    for name in ("embedding_", "component_", "singular_values_", "bridges_", "distortion_"):
        np.testing.assert_array_equal(getattr(other, name), getattr(fitted, name), err_msg=name)
    for own, expected in zip(other.solutions_, fitted.solutions_, strict=True):
        np.testing.assert_array_equal(own.coordinates, expected.coordinates)
    np.testing.assert_array_equal(other.transform(X + 0.01), fitted.transform(X + 0.01))


def test_bridges_are_recorded(X, fitted):
    D = cdist(X[::2], X[1::2])
    i, j = np.unravel_index(D.argmin(), D.shape)
    assert fitted.bridges_.tolist() == [[2 * i, 2 * j + 1]] or fitted.bridges_.tolist() == [
        [2 * j + 1, 2 * i]
    ]
    assert fitted.graph_.is_bridge.sum() == 1
    assert fitted.graph_.lengths[fitted.graph_.is_bridge][0] == pytest.approx(D.min())
    first, second = fitted.embedding_[fitted.bridges_[0]]
    assert np.linalg.norm(first - second) == pytest.approx(fitted.placement_.link_lengths[0])
    # Nothing is in the way: the link is as long as in the data.
    assert fitted.placement_.link_lengths[0] == pytest.approx(D.min(), rel=1e-6)


def test_attributes_have_the_shapes_of_their_documentation(X, fitted):
    n = len(X)
    assert fitted.embedding_.shape == (n, 2)
    assert fitted.component_.shape == fitted.distortion_.shape == (n,)
    assert fitted.singular_values_.shape == (2, 2)
    assert fitted.placement_.mixed == 0.0
    assert fitted.length_errors_.median < 0.05
    # Links are no neighbors: their errors are not among those of the kept lengths.
    assert fitted.length_errors_.largest <= fitted.distortion_.max() * n
    np.testing.assert_allclose(fitted.embedding_.mean(axis=0), 0.0, atol=ROUNDING * 100)


def test_connected_data_are_unfolded_by_mvu():
    X = bent(80)
    fitted = model().fit(X)
    seed = np.random.RandomState(0).randint(2**31 - 1, size=1)[0]
    alone = MVU(solver=CHEAP, random_state=seed, n_jobs=1).fit(X)
    assert_equal_up_to_rigid_motion(fitted.embedding_, alone.embedding_, atol=100 * ROUNDING)
    np.testing.assert_array_equal(fitted.component_, 0)
    assert fitted.bridges_.shape == (0, 2)
    np.testing.assert_allclose(fitted.singular_values_, [[1.0, 1.0]])


# Strategies


@ignore_doubts
@pytest.mark.parametrize(
    ("representatives", "links", "n_links", "n_bridges"),
    quick_are(
        # Every word of either kind.
        [
            ("extremes", "largest", 1, 3),
            ("farthest", "nearest", 1, 3),
            ("hull", "closest", 1, None),
            ("extremes", "closest", 2, None),
        ],
        [
            (representatives, *how)
            for representatives in ("extremes", "farthest", "hull")
            for how in [
                ("largest", 1, 3),
                ("nearest", 1, 3),
                *(("closest", n, None) for n in (1, 2)),
            ]
        ],
    ),
)
def test_strategies(representatives, links, n_links, n_bridges):
    # Four squares at the corners of a larger one: two links of each close a cycle.
    square = grid(4, 4)
    corners = [[0.0, 0.0], [10.0, 0.5], [0.5, 11.0], [11.0, 12.0]]
    X = np.concatenate([square + corner for corner in corners])
    chosen = {"representatives": representatives, "links": links, "n_links": n_links}
    fitted = model(n_neighbors=8, **chosen).fit(X)
    assert np.bincount(fitted.component_).tolist() == [16] * 4
    np.testing.assert_allclose(fitted.singular_values_, 1.0, rtol=0, atol=ISOMETRIC)
    assert one_nn_error(fitted.embedding_, fitted.component_) == 0.0
    if n_bridges is not None:
        assert len(fitted.bridges_) == n_bridges
    elif n_links == 2:
        assert len(fitted.bridges_) >= 4
    # Links across components, none within.
    assert (
        fitted.component_[fitted.bridges_[:, 0]] != fitted.component_[fitted.bridges_[:, 1]]
    ).all()
    lengths = np.linalg.norm(X[fitted.bridges_[:, 0]] - X[fitted.bridges_[:, 1]], axis=1)
    if n_links != 2:
        np.testing.assert_allclose(fitted.placement_.link_lengths, lengths, rtol=0.5)
    for piece in range(4):
        own = fitted.component_ == piece
        assert_equal_up_to_rigid_motion(fitted.embedding_[own], square, atol=5 * SOLVER)


def test_affine_placement_squashes_and_says_so(X, fitted):
    with pytest.warns(DoubtfulMapWarning, match=r"squashed . of 2.*placement='rigid'"):
        affine = model(placement="affine").fit(X)
    assert affine.singular_values_.min() < 0.99
    assert affine.placement_.solution is not None
    assert fitted.placement_.solution is None
    # The local stage is the same.
    assert affine.solutions_[0].primal == fitted.solutions_[0].primal


# Components of few points


def test_all_samples_at_one_place():
    fitted = model().fit(np.ones((5, 3)))
    np.testing.assert_array_equal(fitted.embedding_, np.zeros((5, 2)))
    assert fitted.solutions_ == [None]


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("copies", [1, 2])
def test_components_of_two_points(r, copies):
    pairs = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0], [20, 3], [20, 5]])
    X = np.repeat(pairs, copies, axis=0)
    fitted = model(n_neighbors=1, n_components=r).fit(X)
    assert np.bincount(fitted.component_).tolist() == [2 * copies] * 3
    assert fitted.solutions_ == [None] * 3
    D, expected = pairwise(fitted.embedding_), pairwise(X)
    within = fitted.component_[:, None] == fitted.component_[None, :]
    np.testing.assert_allclose(D[within], expected[within], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(fitted.placement_.link_lengths, [9.0, 90**0.5], rtol=1e-6)


def test_components_of_one_more_than_the_neighbors():
    # Three neighbors of each of four points are all others: nothing is left to unfold.
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    X = np.concatenate([square, 9.0 + 2 * square])
    fitted = model(n_neighbors=3).fit(X)
    assert fitted.solutions_ == [None, None]
    for rows in (slice(4), slice(4, 8)):
        assert_equal_up_to_rigid_motion(fitted.embedding_[rows], X[rows], atol=ROUNDING)
    np.testing.assert_allclose(fitted.singular_values_, 1.0, rtol=0, atol=ROUNDING)


def test_small_components_beside_a_large_one():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    X = np.concatenate([square, grid(6, 6) + 30.0, square - 40.0])
    fitted = model(n_neighbors=3).fit(X)
    assert np.bincount(fitted.component_).tolist() == [36, 4, 4]
    assert [solution is None for solution in fitted.solutions_] == [False, True, True]
    np.testing.assert_allclose(fitted.singular_values_, 1.0, rtol=0, atol=ISOMETRIC)


# Distances


def test_precomputed_distances(X, fitted):
    D = pairwise(X)
    other = model(metric="precomputed").fit(D)
    np.testing.assert_array_equal(other.component_, fitted.component_)
    np.testing.assert_array_equal(np.sort(other.bridges_), np.sort(fitted.bridges_))
    for piece in range(2):
        own = fitted.component_ == piece
        # Distances differ in their last digits, and the steps of the solver may then differ, too.
        assert_equal_up_to_rigid_motion(
            other.embedding_[own], fitted.embedding_[own], atol=6 * SOLVER
        )
    np.testing.assert_allclose(other.transform(D), other.embedding_, rtol=0, atol=ROUNDING)


def test_sparse_distances(X):
    D = pairwise(X)
    connected = sp.csr_array(np.where(D[::2, ::2] < 2.5, D[::2, ::2], 0.0))
    fitted = model(metric="precomputed").fit(connected)
    assert fitted.embedding_.shape == (55, 2)
    assert fitted.component_.max() == 0
    with pytest.raises(InvalidInputError, match="no distances between its components"):
        model(metric="precomputed").fit(sp.csr_array(np.where(D < 2.5, D, 0.0)))


def test_contradiction_is_refused():
    # Two lines of six points; on one the first is a hundred away from the last.
    line = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    D = np.full((12, 12), 1000.0)
    D[:6, :6] = D[6:, 6:] = line
    D[0, 5] = D[5, 0] = 100.0
    with pytest.raises(InvalidInputError, match="triangle"):
        model(metric="precomputed", n_neighbors=5).fit(D)


# New points


def test_contract():
    sheet = bent_grid(4, 6)[0]
    X = np.concatenate([sheet, sheet + np.array([0.0, 0.0, 20.0])]).astype(np.float32)
    embedder = DisjointMVU(solver=CHEAP, n_neighbors=8, random_state=0)
    assert_embedder_contract(embedder, X, atol=0.0)


def test_new_points_stay_with_their_component(X, fitted):
    rng = np.random.RandomState(0)
    new = X + rng.normal(scale=0.02, size=X.shape)
    images = fitted.transform(new)
    moved = np.linalg.norm(images - fitted.embedding_, axis=1)
    # A step of .02 in space is one of the same size on the map, up to the noise that weights add.
    assert moved.max() < 0.5
    nearest = cdist(images, fitted.embedding_).argmin(axis=1)
    np.testing.assert_array_equal(fitted.component_[nearest], fitted.component_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"representatives": "corners"}, "'corners'"),
        ({"links": "all"}, "'all'"),
        ({"n_links": 0}, "n_links=0"),
        ({"links": 2}, "links=2"),
        ({"links": True}, "links=True"),
        ({"placement": "free"}, "placement='free'"),
        ({"metric": "cosine"}, "metric='cosine'"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, r"n_components=1\.5"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"solver": "fast"}, "solver='fast'"),
        ({"random_state": "seed"}, "random_state='seed'"),
    ],
)
@pytest.mark.parametrize("n_pieces", [1, 2])
def test_bad_parameters(parameters, words, n_pieces):
    square = grid(3, 3)
    X = np.concatenate([square, square + 9.0]) if n_pieces == 2 else square
    with pytest.raises(InvalidInputError, match=words):
        model(**{"n_neighbors": 6, **parameters}).fit(X)


# What motions and orders of the data do not change


@examples(2)
@given(seed=st.integers(0, 2**16))
def test_distances_within_components_do_not_depend_on_order_or_position(seed):
    rng = np.random.RandomState(seed)
    flat = grid(5, 9) + rng.uniform(-0.2, 0.2, size=(45, 2))
    X = np.concatenate([half_cylinder(flat), half_cylinder(flat[:30]) + np.array([0.0, 0.0, 30.0])])
    order = rng.permutation(len(X))
    turn = ortho_group.rvs(3, random_state=rng)
    first = model(n_neighbors=10).fit(X)
    second = model(n_neighbors=10).fit(X[order] @ turn + rng.normal(scale=10.0, size=3))
    np.testing.assert_array_equal(second.component_, first.component_[order])
    for piece in range(2):
        own = first.component_ == piece
        before = pairwise(first.embedding_[own])
        back = np.argsort(order)
        after = pairwise(second.embedding_[back][own])
        assert np.abs(before - after).max() <= SOLVER * before.max()
