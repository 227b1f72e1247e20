"""NeighborMap: maps that are known, maps of digits beside t-SNE's, the balance, new samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph

from isofold import NeighborMap
from isofold.quality import continuity, procrustes_error, trustworthiness
from isofold.stress.kept_lengths import LengthRules
from isofold.stress.neighbor_embedding import DescentRules
from support.helpers import assert_embedder_contract

DIGITS, CLASSES = load_digits(return_X_y=True)
FEW = DIGITS[:400]

# Over 16 seeds and orders of 400 digits the neighbors lost differ by .005, length errors by .009.
NOISE = 0.01


def model(**parameters):
    return NeighborMap(**{"random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def few():
    return model().fit(FEW)


def flat(n=200, seed=0):
    return np.random.RandomState(seed).uniform(size=(n, 2)) * [2.0, 1.0]


def neighbors(X, k=15, queries=None):
    """Return the k nearest others of points, or the k nearest of queries."""
    if queries is not None:
        return cKDTree(X).query(queries, k)[1]
    return cKDTree(X).query(X, k + 1)[1][:, 1:]


def lost(X, Y, k=15):
    """Return the fraction of neighbors that are not neighbors on the map."""
    both = zip(neighbors(X, k), neighbors(Y, k), strict=True)
    return 1.0 - np.mean([len(np.intersect1d(*rows)) / k for rows in both])


def length_error(X, Y, k=10):
    """Return the median relative error of lengths between neighbors, at the best scale."""
    near = neighbors(X, k)
    ratios = np.sort(
        (
            np.linalg.norm(Y[:, None] - Y[near], axis=2)
            / np.linalg.norm(X[:, None] - X[near], axis=2)
        ).ravel()
    )
    half = len(ratios) // 2 + 1
    low, high = ratios[: len(ratios) - half + 1], ratios[half - 1 :]
    return float(((high - low) / (high + low)).min())


# Maps that are known


def test_points_of_a_plane_stay_where_they_are():
    X = flat()
    axes = np.linalg.qr(np.random.RandomState(1).normal(size=(9, 2)))[0]
    found = model().fit(X @ axes.T)
    # No length needs to be given up.
    assert found.length_errors_.median < 0.01
    assert found.lost_neighbors_ < 0.02
    assert procrustes_error(found.embedding_, X) < 0.05


def test_points_of_a_line_stay_in_line():
    places = np.sort(np.random.RandomState(0).uniform(size=100))
    found = model(n_components=1).fit(places[:, None] * [[2.0, 1.0, 2.0]])
    assert found.length_errors_.median < 0.02
    steps = np.diff(found.embedding_[:, 0])
    assert (np.sign(steps) == np.sign(steps[0])).mean() > 0.98


def test_points_of_space_keep_their_lengths():
    found = model(n_components=3).fit(np.random.RandomState(0).uniform(size=(200, 3)))
    assert found.length_errors_.median < 0.02
    assert found.lost_neighbors_ < 0.05


@pytest.mark.slow
def test_digits_are_kept_as_by_tsne_with_truer_lengths(few):
    other = TSNE(init="pca", random_state=0).fit_transform(FEW)
    ours = few.embedding_
    assert trustworthiness(FEW, ours) > trustworthiness(FEW, other) - 0.002
    assert lost(FEW, ours) < lost(FEW, other) + 0.005
    assert length_error(FEW, ours) < 0.7 * length_error(FEW, other)


@pytest.mark.slow
def test_all_digits_are_kept_as_by_tsne_with_truer_lengths():
    other = TSNE(init="pca", random_state=0).fit_transform(DIGITS)
    ours = model().fit_transform(DIGITS)
    assert trustworthiness(DIGITS, ours) > trustworthiness(DIGITS, other) - 0.002
    assert continuity(DIGITS, ours) > continuity(DIGITS, other) - 0.002
    assert lost(DIGITS, ours) < lost(DIGITS, other) + 0.005
    assert length_error(DIGITS, ours) < 0.7 * length_error(DIGITS, other)


def test_balance_trades_neighbors_for_lengths(few):
    neighborly, lengthy = (model(balance=balance).fit(FEW) for balance in (0.0, 1.0))
    losses = [found.lost_neighbors_ for found in (neighborly, few, lengthy)]
    errors = [found.length_errors_.median for found in (neighborly, few, lengthy)]
    assert losses[0] < losses[1] + NOISE < losses[2] + 2 * NOISE
    assert losses[0] < losses[2]
    # Without any weight on lengths they are those of t-SNE.
    assert errors[1] < 0.7 * errors[0]
    assert errors[2] < errors[1]
    assert np.diff([found.distortion_.mean() for found in (neighborly, few, lengthy)]).max() < 0.0


# What is told of a map


def test_attributes_are_what_they_say(few):
    graph = few.graph_
    first, second = graph.edges.T
    np.testing.assert_allclose(
        graph.lengths, np.linalg.norm(FEW[first] - FEW[second], axis=1), rtol=1e-6
    )
    mapped = np.linalg.norm(few.embedding_[first] - few.embedding_[second], axis=1)
    errors = np.abs(mapped / graph.lengths - 1.0)
    assert few.length_errors_.median == pytest.approx(np.median(errors))
    at_node = [errors[(graph.edges == node).any(axis=1)].mean() for node in range(50)]
    np.testing.assert_allclose(few.distortion_[:50], at_node)
    assert few.lost_neighbors_ == pytest.approx(lost(FEW, few.embedding_), abs=0.005)
    # Two thirds of fifteen neighbors, either way.
    near = neighbors(FEW, 10)
    wanted = {tuple(sorted((i, j))) for i in range(400) for j in near[i].tolist()}
    found = {tuple(edge) for edge in graph.edges.tolist()}
    # Neighbors at the same distance may be exchanged.
    assert len(wanted ^ found) < 0.02 * len(wanted)
    # Principal axes, and the scale at which the median error is least.
    covariance = np.cov(few.embedding_.T)
    assert abs(covariance[0, 1]) < 1e-9 * covariance[0, 0]
    assert covariance[0, 0] > covariance[1, 1]
    scales = np.linspace(0.8, 1.25, 46)
    least = min(np.median(np.abs(scale * mapped / graph.lengths - 1.0)) for scale in scales)
    assert few.length_errors_.median == pytest.approx(least, abs=0.005)


def test_the_diagnosis_says_what_was_kept(few):
    kept = few.diagnosis_["kept"]
    assert kept.value == pytest.approx(1.0 - few.lost_neighbors_)
    assert "Distances between far samples are not kept" in kept.text()
    assert few.diagnosis_.is_sound
    looked_for = {finding.code for finding in few.diagnosis_.findings}
    assert {"crowded_map", "untrue_lengths"} <= looked_for


# What does not matter


def test_units_of_powers_of_two_change_no_digit(few):
    np.testing.assert_array_equal(model().fit(4.0 * FEW).embedding_, 4.0 * few.embedding_)


@pytest.mark.parametrize("change", ["moved", "rotated", "reordered", "single"])
def test_motions_order_and_precision_hardly_matter(change, few):
    rng = np.random.RandomState(1)
    order = rng.permutation(400) if change == "reordered" else np.arange(400)
    X, unit = FEW[order], 1.0
    if change == "moved":
        X, unit = 3.0 * X + 5.0, 3.0
    elif change == "rotated":
        X = X @ ortho_group.rvs(64, random_state=rng)
    elif change == "single":
        X = X.astype(np.float32)
    found = model().fit(X)
    assert found.embedding_.dtype == X.dtype
    # Rounding decides which way groups drift: what is kept of the data is the same.
    assert found.lost_neighbors_ == pytest.approx(few.lost_neighbors_, abs=NOISE)
    assert found.length_errors_.median == pytest.approx(few.length_errors_.median, abs=NOISE)
    rows = np.repeat(np.arange(400), 10)
    near = neighbors(few.embedding_[order], 10).ravel()
    ours, theirs = (
        np.linalg.norm(Y[rows] - Y[near], axis=1) / scale
        for Y, scale in ((found.embedding_, unit), (few.embedding_[order], 1.0))
    )
    assert np.median(np.abs(ours / theirs - 1.0)) < 0.1


def test_a_plane_is_mapped_the_same_however_it_lies():
    X, turn = flat(100), ortho_group.rvs(2, random_state=0)
    one, other = model().fit(X).embedding_, model().fit(3.0 * X @ turn + 5.0).embedding_
    # Where all lengths can be kept there is one map; sweeps end a little short of it.
    atol = 0.01 * pdist(X).max()
    np.testing.assert_allclose(pdist(other) / 3.0, pdist(one), rtol=0, atol=atol)


def test_copies_change_nothing():
    X = DIGITS[:150]
    chosen = np.r_[np.arange(150), np.arange(60), [0, 0]]
    one, many = model().fit(X), model().fit(X[chosen])
    np.testing.assert_array_equal(many.embedding_, one.embedding_[chosen])
    np.testing.assert_array_equal(many.distortion_, one.distortion_[chosen])
    assert many.graph_.n_nodes == 150


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contract(dtype):
    X = DIGITS[:60].astype(dtype)
    assert_embedder_contract(model(), X, atol=0.0)


def many(n, d=4):
    """Return points whose coordinates no library of matrices has touched."""
    return np.random.default_rng(0).uniform(size=(n, d))


def test_threads_change_no_byte(monkeypatch):
    few, short = DescentRules(n_annealed=3, n_sweeps=4), LengthRules(n_sweeps=6, refreshed=3)
    monkeypatch.setattr(DescentRules, "for_points", lambda _: few)
    monkeypatch.setattr(LengthRules, "balanced", lambda *_: short)
    # Few rows would be left to one thread, whatever was asked for.
    one, two, three = (model(n_jobs=n).fit(many(20_500)).embedding_ for n in (1, 2, 3))
    assert one.tobytes() == two.tobytes() == three.tobytes()


# Where samples start


def test_the_start_may_be_given():
    X = DIGITS[:200]
    start = PCA(2, svd_solver="full").fit_transform(X)
    usual = model().fit(X)
    for init in (start, 1e3 * start + 7.0, PCA(2, svd_solver="full")):
        found = model(init=init).fit(X)
        # Another size of it, rounded otherwise; signs of axes may differ.
        assert found.lost_neighbors_ == pytest.approx(usual.lost_neighbors_, abs=3 * NOISE)
    # Whoever starts near stays near: the first axis is upside down.
    order = np.argsort(CLASSES[:200] == 0, kind="stable")
    ends = np.zeros((200, 2))
    ends[order[-20:], 0] = 50.0
    found = model(init=ends + 0.1 * start).fit(X)
    zeros = found.embedding_[CLASSES[:200] == 0].mean(axis=0)
    others = found.embedding_[CLASSES[:200] != 0].mean(axis=0)
    assert np.linalg.norm(zeros - others) > np.linalg.norm(found.embedding_.std(axis=0))


def test_an_embedder_that_starts_is_not_changed():
    start = PCA(2)
    model(init=start).fit(DIGITS[:60])
    assert not hasattr(start, "components_")


# Distances and graphs


def test_distances_give_a_map_as_good_as_that_of_points(few):
    found = model(metric="precomputed").fit(squareform(pdist(FEW)))
    assert found.lost_neighbors_ == pytest.approx(few.lost_neighbors_, abs=NOISE)
    assert found.length_errors_.median == pytest.approx(few.length_errors_.median, abs=NOISE)


def test_a_graph_gives_a_map_as_good_as_that_of_points():
    # All digits below 5, so that neighbors join them.
    X = DIGITS[CLASSES < 5][:300]
    points = model().fit(X)
    found = model(metric="precomputed").fit(kneighbors_graph(X, 15, mode="distance"))
    # It does not tell how far strangers are, only that they are no neighbors.
    assert found.lost_neighbors_ == pytest.approx(points.lost_neighbors_, abs=5 * NOISE)
    assert found.length_errors_.median == pytest.approx(points.length_errors_.median, abs=5 * NOISE)


def test_new_samples_by_their_distances():
    X, new = DIGITS[:200], DIGITS[200:240]
    found = model(metric="precomputed").fit(squareform(pdist(X)))
    np.testing.assert_array_equal(found.transform(squareform(pdist(X))), found.embedding_)
    images = found.transform(cdist(new, X))
    right = KNeighborsClassifier(5).fit(found.embedding_, CLASSES[:200])
    assert right.score(images, CLASSES[200:240]) > 0.7
    some = sp.csr_array(np.where(cdist(new, X) < 40.0, cdist(new, X), 0.0))
    assert np.isfinite(found.transform(some)).all()


# New samples


def test_new_digits_find_their_neighbors():
    X, new = DIGITS[:700], DIGITS[700:900]
    found = model().fit(X)
    images = found.transform(new)
    plain = KNeighborsClassifier(5).fit(X, CLASSES[:700]).score(new, CLASSES[700:900])
    mapped = KNeighborsClassifier(5).fit(found.embedding_, CLASSES[:700])
    # As labels go, nearly nothing is lost beside neighbors in all 64 dimensions.
    assert mapped.score(images, CLASSES[700:900]) > plain - 0.04
    both = zip(neighbors(X, queries=new), neighbors(found.embedding_, queries=images), strict=True)
    kept = np.mean([len(np.intersect1d(*rows)) / 15 for rows in both])
    # New samples settle among others that stay, and move none of them out of their way.
    assert kept > 0.8 * (1.0 - found.lost_neighbors_)


def test_training_samples_are_returned(few):
    np.testing.assert_array_equal(few.transform(FEW), few.embedding_)
    np.testing.assert_array_equal(few.transform(FEW[7:9]), few.embedding_[7:9])


@pytest.mark.parametrize("size", [1e3, 1e6, 1e60])
def test_far_samples_are_placed_far_away(few, size):
    images = few.transform(FEW[:3] + size)
    assert np.isfinite(images).all()
    assert np.abs(images).max() > min(size, 1e6)


def test_samples_of_one_thread_are_those_of_two(few):
    new = DIGITS[400:1500] + 0.01
    both = model(n_jobs=2).fit(FEW)
    np.testing.assert_array_equal(both.transform(new), few.transform(new))


def test_the_map_does_not_change_with_the_callers_array():
    X = np.random.default_rng(0).normal(size=(60, 4))
    new = X[:5] + 0.1
    model = NeighborMap(random_state=0).fit(X)
    before = model.transform(new)
    X[:] = 0.0
    np.testing.assert_array_equal(model.transform(new), before)
