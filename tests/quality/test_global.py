import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.stats import pearsonr, spearmanr
from sklearn.neighbors import kneighbors_graph

from isofold.exceptions import DisconnectedGraphWarning, InvalidInputError
from isofold.quality import normalized_stress, residual_variance, shepard_correlation
from support import naive
from support.quick import quick_first

ROUNDING = 1e-12


def pair(n=50, d=4, q=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, :q] + 0.3 * rng.standard_normal((n, q))


@pytest.mark.parametrize("d", [4, 40])
def test_stress_and_pearson_agree_with_all_pairs(d):
    X, Y = pair(d=d)
    before, after = naive.upper(naive.distances(X)), naive.upper(naive.distances(Y))
    stress = np.sqrt(np.sum((before - after) ** 2) / np.sum(before**2))
    assert normalized_stress(X, Y) == pytest.approx(stress, abs=ROUNDING)
    factor = before @ after / (after @ after)
    scaled = np.sqrt(np.sum((before - factor * after) ** 2) / np.sum(before**2))
    assert normalized_stress(X, Y, scale=True) == pytest.approx(scaled, abs=ROUNDING)
    assert shepard_correlation(X, Y, method="pearson") == pytest.approx(
        pearsonr(before, after).statistic, abs=ROUNDING
    )


@pytest.mark.parametrize(
    ("n", "unit"), quick_first([(60, 1.0), (60, 1e-9), (60, 1e9), (400, 1.0)], 3)
)
def test_spearman_agrees_with_scipy(n, unit):
    X, Y = pair(n=n)
    before, after = naive.upper(naive.distances(X)), naive.upper(naive.distances(Y))
    # Binning merges ranks of pairs equal to 1.2e-4. Among N pairs about N²·1.2e-4/2 couples are
    # merged; each moves two ranks by 1/2 of N, with random sign: 6/N^1.5·√(1.2e-4/2) ≲ 1e-6 for
    # n = 60 (N = 1770). A factor of ten covers the density near the mode.
    assert shepard_correlation(unit * X, Y) == pytest.approx(
        spearmanr(before, after).statistic, abs=1e-5
    )


def test_spearman_is_not_fooled_by_an_outlier():
    X, Y = pair()
    X[0] = 1e8
    before, after = naive.upper(naive.distances(X)), naive.upper(naive.distances(Y))
    assert shepard_correlation(X, Y) == pytest.approx(spearmanr(before, after).statistic, abs=1e-3)


def test_spearman_of_a_monotone_distortion_is_one():
    line = np.sort(np.random.RandomState(0).rand(40))[:, None]
    assert shepard_correlation(line, 5 * line) == pytest.approx(1.0, abs=1e-6)


def test_residual_variance_agrees_with_shortest_paths():
    rng = np.random.RandomState(0)
    angle = np.linspace(0, 5, 80) + 0.02 * rng.standard_normal(80)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    graph = kneighbors_graph(X, 4, mode="distance")
    graph = graph.maximum(graph.T)
    paths = naive.upper(shortest_path(graph, directed=False))
    for Y in (angle[:, None], X[:, :1]):
        expected = 1 - pearsonr(paths, naive.upper(naive.distances(Y))).statistic ** 2
        assert residual_variance(X, Y, n_neighbors=4) == pytest.approx(expected, abs=1e-10)
    assert residual_variance(X, angle[:, None], n_neighbors=4) < 1e-4
    assert residual_variance(X, X[:, :1], n_neighbors=4) > 0.1


def test_residual_variance_handles_copies():
    rng = np.random.RandomState(0)
    X = rng.rand(60, 2)
    X = np.vstack([X, X[:20]])
    value = residual_variance(X, X, n_neighbors=6)
    assert 0 <= value < 0.05


def test_disconnected_graph_warns_and_looks_inside_components():
    rng = np.random.RandomState(0)
    part = rng.rand(40, 2)
    X = np.vstack([part, part + 100])
    # Inside the components the map is perfect; their distance is far off and must not count.
    Y = np.vstack([part, part + 1000])
    with pytest.warns(DisconnectedGraphWarning, match="2 components"):
        value = residual_variance(X, Y, n_neighbors=5)
    assert value < 0.05


def test_per_point_stress_names_the_displaced_point():
    X, _ = pair(d=2)
    Y = X.copy()
    Y[7] += 10
    assert normalized_stress(X, Y).per_point.argmax() == 7


def test_sampled_values_have_intervals_around_them():
    X, Y = pair(n=120)
    for measure in (normalized_stress, shepard_correlation, residual_variance):
        score = measure(X, Y, n_samples=30, random_state=0)
        low, high = score.interval
        assert low < float(score) < high
        assert not score.exact


def test_precomputed_distances_give_the_same():
    X, Y = pair()
    D = naive.distances(X)
    for measure in (normalized_stress, shepard_correlation, residual_variance):
        assert measure(D, Y, metric="precomputed") == pytest.approx(float(measure(X, Y)), abs=1e-9)


def test_equal_distances_have_no_correlation():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    with pytest.raises(InvalidInputError, match="no correlation"):
        shepard_correlation(triangle[:2], triangle[:2], method="pearson")
    with pytest.raises(InvalidInputError, match="coincide"):
        shepard_correlation(triangle, np.zeros((3, 1)))
    with pytest.raises(InvalidInputError, match="coincide"):
        normalized_stress(np.zeros((3, 2)), triangle)
    with pytest.raises(InvalidInputError, match="method"):
        shepard_correlation(triangle, triangle, method="kendall")
