"""LocalMDS: maps that are known, what does not matter, large data, new samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap
from sklearn.neighbors import kneighbors_graph

from isofold import LocalMDS
from isofold.embedding import local_mds
from isofold.neighbors import build_graph
from isofold.quality import procrustes_error, trustworthiness
from support.helpers import assert_embedder_contract, assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples

# Ways along the graph of so few points zigzag. Isomap, which keeps them all, errs by .06 to .075.
FLAT_ERROR = 0.08

# Distances are kept in single precision; a hundred sweeps carry its rounding on.
ROUNDING = 1e-4

DIGITS = load_digits().data[:200] / 16.0


def model(**parameters):
    return LocalMDS(**{"random_state": 0, "n_jobs": 1, **parameters})


def sheet(n=150, seed=0):
    """Return points of half a cylinder and the rectangle that they come from."""
    flat = np.random.RandomState(seed).uniform(size=(n, 2)) * [6.0, 3.0]
    angle = flat[:, 0] / 2
    return np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]]), flat


def size(Y):
    return float(np.sqrt((Y**2).sum(axis=1).mean()))


# Maps that are known


def test_points_of_a_line_stay_in_line():
    places = np.sort(np.random.RandomState(0).uniform(size=60))
    X = places[:, None] * [[2.0, 1.0, 2.0]]
    mds = model(n_components=1).fit(X)
    # Ways along the graph are the distances themselves, and all of them can be kept.
    assert_equal_up_to_rigid_motion(mds.embedding_, X, atol=ROUNDING)
    assert mds.length_errors_.median < ROUNDING
    np.testing.assert_allclose(mds.distortion_, 0.0, atol=0.01)


def test_an_arc_becomes_a_line():
    angle = np.linspace(0.0, 4.0, 80)
    mds = model(n_components=1, n_neighbors=2).fit(np.column_stack([np.cos(angle), np.sin(angle)]))
    # Edges are chords, at most two steps long: short by (2 * 4 / 79)² / 24.
    assert_equal_up_to_rigid_motion(mds.embedding_, angle[:, None], atol=4.0 * 5e-4)


def test_a_complete_graph_of_flat_points_gives_them_back():
    X = np.random.RandomState(0).normal(size=(40, 2))
    mds = model(n_neighbors=39).fit(np.pad(X, ((0, 0), (0, 3))))
    assert_equal_up_to_rigid_motion(mds.embedding_, X, atol=ROUNDING)


def test_a_bent_sheet_becomes_flat():
    X, flat = sheet(200)
    ours = procrustes_error(model().fit(X).embedding_, flat)
    assert ours < FLAT_ERROR
    assert ours < procrustes_error(Isomap(n_neighbors=10).fit_transform(X), flat)


def test_digits_are_kept_better_than_by_isomap_and_pca():
    ours = trustworthiness(DIGITS, model().fit_transform(DIGITS))
    assert ours > trustworthiness(DIGITS, Isomap(n_neighbors=10).fit_transform(DIGITS)) + 0.02
    assert ours > trustworthiness(DIGITS, PCA(2).fit_transform(DIGITS)) + 0.02


def test_balance_trades_lengths_for_trust():
    low, high = (model(balance=balance).fit(DIGITS) for balance in (0.02, 0.6))
    trust = [trustworthiness(DIGITS, mds.embedding_) for mds in (low, high)]
    assert trust[0] < trust[1]
    assert low.length_errors_.median < high.length_errors_.median


# What is told of a map


def test_attributes_are_what_they_say():
    X, _ = sheet(100)
    mds = model(n_neighbors=7).fit(X)
    expected = build_graph(X, n_neighbors=7)
    np.testing.assert_array_equal(mds.graph_.edges, expected.edges)
    np.testing.assert_array_equal(mds.core_samples_, np.arange(100))
    assert mds.bridges_.shape == (0, 2)
    mapped = np.linalg.norm(np.diff(mds.embedding_[expected.edges], axis=1)[:, 0], axis=1)
    errors = np.abs(mapped / expected.lengths - 1.0)
    assert mds.length_errors_.median == pytest.approx(np.median(errors))
    at_node = [errors[(expected.edges == node).any(axis=1)].mean() for node in range(100)]
    np.testing.assert_allclose(mds.distortion_, at_node)
    # Principal axes.
    covariance = np.cov(mds.embedding_.T)
    assert abs(covariance[0, 1]) < 1e-9 * covariance[0, 0]
    assert covariance[0, 0] > covariance[1, 1]
    np.testing.assert_allclose(mds.embedding_.mean(axis=0), 0.0, atol=1e-9)


# What does not matter


def test_seeds_do_not_matter():
    maps = [model(random_state=seed).fit(DIGITS).embedding_ for seed in (0, 1)]
    np.testing.assert_array_equal(*maps)


@examples(4)
@given(seed=st.integers(0, 10_000), unit=st.sampled_from([1e-6, 1e-3, 1.0, 1e6]))
def test_rigid_motion_order_and_units_do_not_matter(seed, unit):
    X, _ = sheet(80)
    rng = np.random.RandomState(seed)
    order, turn = rng.permutation(80), ortho_group.rvs(3, random_state=rng)
    moved = unit * (X[order] @ turn + rng.normal(size=3))
    expected = model().fit(X).embedding_
    found = model().fit(moved).embedding_ / unit
    assert_equal_up_to_rigid_motion(found, expected[order], atol=ROUNDING * size(expected))


def test_constant_columns_do_not_matter():
    X, _ = sheet(80)
    wide = np.column_stack([np.full(80, 7.0), X, np.zeros((80, 2))])
    expected = model().fit(X).embedding_
    assert_equal_up_to_rigid_motion(model().fit(wide).embedding_, expected, atol=ROUNDING)


def test_copies_change_nothing():
    X, _ = sheet(100)
    chosen = np.random.RandomState(0).permutation(np.r_[np.arange(100), np.arange(40), [0, 0, 0]])
    one, many = model().fit(X), model().fit(X[chosen])
    assert len(many.core_samples_) == 100
    assert_equal_up_to_rigid_motion(many.embedding_, one.embedding_[chosen], atol=ROUNDING)
    np.testing.assert_array_equal(
        many.embedding_[chosen == 0], many.embedding_[chosen == 0][:1][[0] * 5]
    )
    assert many.distortion_.shape == (143,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contract(dtype):
    X = sheet(60)[0].astype(dtype)
    # A place is returned as it was stored.
    assert_embedder_contract(model(n_epochs=20), X, atol=0.0)


# Points, distances, graphs


def test_distances_give_the_map_of_the_points():
    X = DIGITS[:120]
    points = model().fit(X)
    distances = model(metric="precomputed").fit(squareform(pdist(X)))
    assert_equal_up_to_rigid_motion(
        distances.embedding_, points.embedding_, atol=ROUNDING * size(points.embedding_)
    )
    np.testing.assert_allclose(distances.distortion_, points.distortion_, atol=0.01)


def test_a_graph_gives_about_the_map_of_the_points():
    X, flat = sheet(200)
    graph = kneighbors_graph(X, 10, mode="distance")
    mds = model(metric="precomputed").fit(graph)
    assert procrustes_error(mds.embedding_, flat) < FLAT_ERROR
    assert procrustes_error(mds.embedding_, model().fit(X).embedding_) < 0.02
    np.testing.assert_allclose(mds.transform(graph), mds.embedding_, atol=0.5)


def test_new_samples_are_placed_by_points_and_by_distances():
    X, flat = sheet(220)
    known, new = np.arange(20, 220), np.arange(20)
    mds = model().fit(X[known])
    everywhere = np.vstack([mds.transform(X[new]), mds.embedding_])
    assert procrustes_error(everywhere, flat) < FLAT_ERROR
    by_distances = model(metric="precomputed").fit(cdist(X[known], X[known]))
    everywhere = np.vstack(
        [by_distances.transform(cdist(X[new], X[known])), by_distances.embedding_]
    )
    assert procrustes_error(everywhere, flat) < FLAT_ERROR


# Large data


@pytest.fixture
def few_paired(monkeypatch):
    monkeypatch.setattr(local_mds, "MOST_PAIRED", 120)


@pytest.mark.usefixtures("few_paired")
def test_large_data_are_placed_among_a_sample():
    X, flat = sheet(300)
    mds = model().fit(X)
    assert len(mds.core_samples_) == 120
    assert (np.diff(mds.core_samples_) > 0).all()
    assert procrustes_error(mds.embedding_, flat) < FLAT_ERROR
    np.testing.assert_array_equal(mds.transform(X), mds.embedding_)
    # All of them are measured.
    assert mds.graph_.n_nodes == 300
    assert mds.distortion_.shape == (300,)


@pytest.mark.usefixtures("few_paired")
def test_large_digits_are_kept_better_than_by_isomap_and_pca():
    ours = trustworthiness(DIGITS, model().fit_transform(DIGITS))
    assert ours > trustworthiness(DIGITS, Isomap(n_neighbors=10).fit_transform(DIGITS))
    assert ours > trustworthiness(DIGITS, PCA(2).fit_transform(DIGITS))


@pytest.mark.usefixtures("few_paired")
def test_large_data_have_the_lengths_of_all_their_neighbors(monkeypatch):
    X, _flat = sheet(300)
    relaxed = model().fit(X).length_errors_.median
    monkeypatch.setattr(local_mds, "MOST_RELAXED", 1)
    assert relaxed < model().fit(X).length_errors_.median


@pytest.mark.usefixtures("few_paired")
def test_large_data_by_threads_blocks_and_seeds(monkeypatch):
    X, _flat = sheet(300)
    one, two = (model(n_jobs=n_jobs).fit(X).embedding_ for n_jobs in (1, 2))
    assert one.tobytes() == two.tobytes()
    other = model(random_state=1).fit(X)
    assert procrustes_error(other.embedding_, one) < 0.03
    monkeypatch.setattr("isofold._memory.BLOCK_BYTES", 50_000)
    np.testing.assert_allclose(model().fit(X).embedding_, one, atol=1e-9)


@pytest.mark.usefixtures("few_paired")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_large_data_by_their_distances(form):
    X, flat = sheet(300)
    distances = squareform(pdist(X))
    if form is sp.csr_array:
        distances = kneighbors_graph(X, 10, mode="distance")
    mds = model(metric="precomputed").fit(form(distances))
    assert len(mds.core_samples_) == 120
    assert procrustes_error(mds.embedding_, flat) < FLAT_ERROR


@pytest.mark.usefixtures("few_paired")
def test_copies_in_large_data():
    X, flat = sheet(200)
    chosen = np.r_[np.arange(200), np.arange(100)]
    mds = model().fit(X[chosen])
    np.testing.assert_array_equal(mds.embedding_[200:], mds.embedding_[:100])
    assert procrustes_error(mds.embedding_, flat[chosen]) < FLAT_ERROR
    assert len(np.unique(X[chosen][mds.core_samples_], axis=0)) == 120


def test_many_features_are_sought_among_the_leading_axes(monkeypatch):
    samples = local_mds.LocalSamples.__module__
    X, flat = sheet(150)
    axes = np.linalg.qr(np.random.RandomState(0).normal(size=(40, 3)))[0]
    wide = X @ axes.T + 1e-3 * np.random.RandomState(1).normal(size=(150, 40))
    usual = model().fit(wide)
    monkeypatch.setattr(f"{samples}.MANY_SAMPLES", 100)
    monkeypatch.setattr(f"{samples}.MANY_FEATURES", 20)
    mds = model().fit(wide)
    # Lengths are measured in all features, whichever the neighbors.
    first, second = mds.graph_.edges.T
    np.testing.assert_allclose(
        mds.graph_.lengths, np.linalg.norm(wide[first] - wide[second], axis=1), rtol=1e-9
    )
    assert procrustes_error(mds.embedding_, usual.embedding_) < 0.02
    assert procrustes_error(mds.embedding_, flat) < FLAT_ERROR
