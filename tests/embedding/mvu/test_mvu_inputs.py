"""MVU on bad and odd input: a map without NaN, or a message that says what was seen."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from isofold import MVU
from isofold._format import count
from isofold.exceptions import (
    DisconnectedGraphWarning,
    DoubtfulMapWarning,
    InvalidInputError,
    UnboundedProblemError,
)
from isofold.neighbors import Bridged, Enhanced, Knn, Lengths, Mutual, Radius, resolve_graph
from isofold.quality import procrustes_error
from isofold.sdp import LowRankSDP, Soft
from support.mvu_cases import fit_quietly, neighbor_graph, sparse_graph, variance
from support.quick import quick_first
from support.sdp_problems import path_edges

# Two answers to the same problem: each within its gap of 1e-4 (1e-3 for kept lengths) and within
# the errors of lengths that it was allowed.
SAME = 5e-3

FLAT = np.random.RandomState(0).rand(40, 2)
SHEET = np.column_stack([FLAT, 0.3 * FLAT[:, 0] ** 2])
APART = np.concatenate([SHEET[:25], SHEET[:25] + np.array([20.0, 0.0, 0.0])])
FORMS = ["equal", "at_most", Soft(16.0)]


def model(**parameters):
    return MVU(**{"random_state": 0, "n_jobs": 1, **parameters})


def assert_usable(mvu, n):
    """Assert that all that a map promises is finite and of the right shape."""
    assert mvu.embedding_.shape == (n, mvu.n_components)
    for name in ("embedding_", "distortion_", "spectrum_", "discarded_variance_ratio_"):
        assert np.isfinite(getattr(mvu, name)).all(), name
    assert mvu.distortion_.shape == (n,)
    assert 0.0 <= mvu.discarded_variance_ratio_ <= 1.0
    assert mvu.bridges_.ndim == 2
    assert np.isfinite([mvu.length_errors_.median, mvu.length_errors_.largest]).all()


# Data in pieces


@pytest.mark.parametrize("lengths", FORMS)
@pytest.mark.parametrize("graph", [Knn(), Mutual()])
def test_pieces_are_refused_at_once(graph, lengths):
    solver = LowRankSDP(callback=lambda _: pytest.fail("there was an iteration"))
    with pytest.raises(UnboundedProblemError, match="without end") as refused:
        model(graph=graph, lengths=lengths, solver=solver).fit(APART)
    assert refused.value.n_components == 2
    for word in ("MVU", "25, 25", "DisjointMVU", "graph=Enhanced()", "enhanced neighborhood graph"):
        assert word in str(refused.value)


def test_many_pieces_are_counted():
    with pytest.raises(UnboundedProblemError, match=r"1, 1, 1, 1, 1, \.\.\.") as refused:
        model(graph=Radius(1e-9)).fit(SHEET)
    assert refused.value.n_components == 40


@pytest.mark.parametrize(
    "X",
    [sp.csr_array((10, 10)), sparse_graph(10, path_edges(9), 1.0)],
    ids=["empty", "path and one"],
)
def test_pieces_of_a_given_graph_are_refused(X):
    with pytest.raises(UnboundedProblemError):
        model(metric="precomputed").fit(X)
    with pytest.raises(UnboundedProblemError):
        model(graph=Lengths(X)).fit(SHEET[:10])


@pytest.mark.parametrize("graph", quick_first([Bridged(), Enhanced()]))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_added_links_are_recorded_and_told_once(graph):
    mvu = model(graph=graph, n_neighbors=8)
    with pytest.warns((DisconnectedGraphWarning, DoubtfulMapWarning)) as caught:
        mvu.fit(APART)
    told = [str(w.message) for w in caught if w.category is DisconnectedGraphWarning]
    assert len(told) == 1
    assert count(len(mvu.bridges_), "edge") in told[0]
    assert (mvu.bridges_[:, 0] < 25).all()
    assert (mvu.bridges_[:, 1] >= 25).all()
    assert_usable(mvu, 50)


def test_bridges_are_pairs_of_samples():
    X = np.concatenate([APART[:5], APART])
    mvu = model(graph=Bridged(), n_neighbors=8)
    with pytest.warns(DisconnectedGraphWarning):
        fit_quietly(mvu, X)
    # Copies come first: nodes and samples have different numbers.
    gap = np.linalg.norm(X[mvu.bridges_[0, 0]] - X[mvu.bridges_[0, 1]])
    assert gap == pytest.approx(squareform(pdist(APART))[:25, 25:].min())


@pytest.mark.parametrize("graph", [Bridged(), Enhanced()])
def test_nothing_is_told_of_data_in_one_piece(graph):
    mvu = model(graph=graph).fit(SHEET)
    np.testing.assert_array_equal(mvu.embedding_, model().fit_transform(SHEET))
    assert mvu.bridges_.shape == (0, 2)


# Lengths that no points have


def test_contradiction_names_its_triangle():
    distances = squareform(pdist(FLAT[:8]))
    distances[1, 6] = distances[6, 1] = 10.0
    with pytest.raises(InvalidInputError, match="triangle inequality") as refused:
        model(metric="precomputed").fit(distances)
    message = str(refused.value)
    assert "INFEASIBLE" in message
    between = int(np.argmin(np.delete(distances[1] + distances[6], [1, 6])))
    between = np.delete(np.arange(8), [1, 6])[between]
    assert f"path 1 - {between} - 6 " in message
    assert "pair (1, 6) must be at least 10 apart" in message
    assert "lengths='at_most'" in message


def test_contradiction_along_a_longer_path():
    edges = [*path_edges(5).tolist(), [0, 4]]
    with pytest.raises(InvalidInputError, match="path 0 - 1 - 2 - 3 - 4 add up to 4"):
        model(graph=Lengths(sparse_graph(5, edges, [1, 1, 1, 1, 7.0]))).fit(SHEET[:5])


def test_contradiction_that_no_triangle_shows():
    # A point at 0.55 from the corners of a unit triangle, whose center is 0.577 from them.
    distances = 1.0 - np.eye(4)
    distances[3, :3] = distances[:3, 3] = 0.55
    with pytest.raises(InvalidInputError, match="INFEASIBLE"):
        model(metric="precomputed").fit(distances)


def test_contradiction_among_copies_names_samples():
    distances = np.array([[0, 0, 1, 5.0], [0, 0, 1, 5], [1, 1, 0, 1], [5, 5, 1, 0]])
    with pytest.raises(InvalidInputError, match="path 0 - 2 - 3 "):
        model(metric="precomputed").fit(distances)


@pytest.mark.parametrize("lengths", ["at_most", Soft(16.0)])
def test_contradictory_lengths_may_bend(lengths):
    distances = np.array([[0, 1, 5.0], [1, 0, 1], [5, 1, 0]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mvu = model(metric="precomputed", lengths=lengths).fit(distances)
    assert_usable(mvu, 3)
    # One of the lengths is kept with "at_most"; if all are bent that is said.
    assert all("shows the shape at best" in str(w.message) for w in caught)


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lengths": "soft"}, "lengths='soft' must be 'equal', 'at_most' or isofold.sdp.Soft"),
        ({"lengths": True}, "lengths=True"),
        ({"lengths": Soft(-1.0)}, "weight of Soft=-1.0"),
        ({"lengths": Soft(0)}, "weight of Soft=0"),
        ({"lengths": Soft(np.nan)}, "weight of Soft=nan"),
        ({"lengths": Soft(np.inf)}, "weight of Soft=inf"),
        ({"lengths": None}, "lengths=None"),
        ({"graph": "complete"}, "graph is 'complete'.*Pass isofold.neighbors.Knn"),
        ({"graph": []}, "graph is a list"),
        ({"graph": np.ones((40, 40))}, "graph is a ndarray"),
        ({"graph": Lengths(sp.eye_array(3))}, r"graph has shape \(3, 3\), but X has 40 samples"),
        ({"graph": neighbor_graph(2, [[0, 1]], 1.0)}, "2 samples"),
        ({"graph": Lengths(sp.csr_array(-np.ones((40, 40))))}, "graph .*1600 negative"),
        ({"graph": Lengths(sp.csr_array(np.full((40, 40), np.nan)))}, "graph .*1600 NaN"),
        ({"solver": "clarabel"}, "solver='clarabel' must be a LowRankSDP, a DenseSDP, a ConicSDP"),
        ({"solver": LowRankSDP}, "must be a LowRankSDP, a DenseSDP, a ConicSDP or None"),
        ({"solver": LowRankSDP(tol=-1.0)}, "tol=-1.0"),
        ({"angles": "yes"}, "angles='yes' must be True or False"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, "n_components=1.5"),
        ({"n_components": None}, "n_components=None"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        (
            {"n_neighbors": 5, "graph": Radius(1.0)},
            "Radius.radius=1.0. keeps .* and n_neighbors=5 .*Pass one",
        ),
        ({"graph": Radius(-1.0)}, "radius=-1.0"),
        ({"graph": Radius(np.nan)}, "radius=nan"),
        ({"metric": "nearness"}, "metric='nearness' is unknown"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        model().set_params(**parameters).fit(SHEET)


def test_combinations_that_make_no_sense():
    distances = squareform(pdist(SHEET))
    with pytest.raises(InvalidInputError, match="sparse graph of lengths does not hold them"):
        model(metric="precomputed", angles=True).fit(sp.csr_array(distances))
    for X in (distances, sp.csr_array(distances)):
        with pytest.raises(InvalidInputError, match="compares the directions of edges"):
            model(metric="precomputed", graph=Enhanced()).fit(X)
    for size in ({"graph": Radius(1.0)}, {"n_neighbors": 5}):
        with pytest.raises(InvalidInputError, match="ready"):
            model(metric="precomputed", **size).fit(sp.csr_array(distances))
    with pytest.raises(InvalidInputError, match="ready"):
        model(graph=Lengths(sp.csr_array(distances)), n_neighbors=5).fit(SHEET)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_entries_that_are_no_numbers(bad):
    X = SHEET.copy()
    X[3, 1] = bad
    with pytest.raises(InvalidInputError, match="NaN"):
        model().fit(X)
    mvu = model().fit(SHEET)
    with pytest.raises(InvalidInputError, match="NaN"):
        mvu.transform(X)


def test_one_sample():
    with pytest.raises(InvalidInputError, match="needs at least 2"):
        model().fit(SHEET[:1])


# Odd data


@pytest.mark.parametrize("lengths", FORMS)
@pytest.mark.parametrize("graph", [Knn(), Mutual(), Bridged(), Enhanced()])
def test_points_that_are_all_equal_share_one_place(lengths, graph):
    mvu = model(lengths=lengths, graph=graph).fit(np.full((10, 3), 2.5))
    np.testing.assert_array_equal(mvu.embedding_, np.zeros((10, 2)))
    assert_usable(mvu, 10)
    assert np.isfinite(mvu.transform([[2.5, 2.5, 3.0]])).all()


@pytest.mark.parametrize("lengths", FORMS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 13])
def test_few_points(n, lengths):
    X = np.random.RandomState(n).normal(size=(n, 4))
    assert_usable(fit_quietly(model(lengths=lengths, angles=True), X), n)


def test_more_neighbors_than_there_are():
    X = np.concatenate([SHEET[:10], SHEET[:10]])
    mvu = model(n_neighbors=500).fit(X)
    assert mvu.graph_.n_edges == 45


def test_more_neighbors_than_distinct_distances():
    distances = np.abs(np.subtract.outer([0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0]))
    mvu = model(metric="precomputed").fit(distances)
    assert mvu.graph_.n_edges == 3
    np.testing.assert_array_equal(mvu.embedding_[0], mvu.embedding_[1])


def test_one_feature():
    X = np.random.RandomState(0).rand(30, 1)
    mvu = model(n_components=1, solver=LowRankSDP(tol=1e-6, violation_tol=1e-6)).fit(X)
    assert procrustes_error(mvu.embedding_, X) < SAME
    assert variance(mvu.embedding_) == pytest.approx(variance(X), rel=SAME)


@pytest.mark.parametrize("lengths", FORMS)
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(lengths, unit):
    mvu, scaled = (model(lengths=lengths).fit(X) for X in (SHEET, unit * SHEET))
    assert scaled.solution_.status is mvu.solution_.status
    assert procrustes_error(scaled.embedding_ / unit, mvu.embedding_) < SAME
    assert scaled.solution_.primal / unit**2 == pytest.approx(mvu.solution_.primal, rel=SAME)


@pytest.mark.parametrize("lengths", FORMS)
@pytest.mark.parametrize("unit", [1e-50, 1e50])
def test_far_out_units(lengths, unit):
    mvu = model(lengths=lengths).fit(unit * SHEET)
    assert_usable(mvu, 40)
    np.testing.assert_array_equal(mvu.transform(unit * SHEET), mvu.embedding_)


@pytest.mark.parametrize("unit", [1e-160, 1e160])
def test_units_beyond_reach_are_refused(unit):
    with pytest.raises(InvalidInputError, match="units"):
        model().fit(unit * SHEET)


def test_far_from_the_origin():
    # Differences of coordinates near 1e6 keep ten digits.
    assert procrustes_error(model().fit_transform(SHEET + 1e6), model().fit_transform(SHEET)) < SAME


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_lengths_of_very_different_size():
    X = SHEET.copy()
    X[:12] = X[0] + 1e-4 * (X[:12] - X[0])
    mvu = fit_quietly(model(lengths="at_most"), X)
    assert_usable(mvu, 40)


def test_graph_is_not_changed_by_the_fit():
    graph = resolve_graph(SHEET, n_neighbors=6)
    edges, lengths = graph.edges.copy(), graph.lengths.copy()
    fit_quietly(model(graph=graph, angles=True), SHEET)
    np.testing.assert_array_equal(graph.edges, edges)
    np.testing.assert_array_equal(graph.lengths, lengths)
