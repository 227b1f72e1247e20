"""Cases that broke an earlier version: copies in high dimension, ties, units, outliers, blocks."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from isofold import quality
from isofold.exceptions import InvalidInputError
from isofold.quality import distances, global_
from isofold.quality.distances import euclidean_rows
from support import naive
from support.quick import quick_first

ROUNDING = 1e-12


def pair(n, d, q=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, :q] + 0.3 * rng.standard_normal((n, q))


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks of a few rows, whatever the size of the data."""
    monkeypatch.setattr(distances, "DIRECT_BYTES", 8 * 1000)
    monkeypatch.setattr(distances, "PRODUCT_BYTES", 8 * 1000)
    monkeypatch.setattr(distances, "TASK_BYTES", 16 * 1000)
    monkeypatch.setattr(global_, "PRODUCT_BYTES", 8 * 1000)


@pytest.mark.parametrize("d", quick_first([3, 40]))
def test_blocks_and_threads_do_not_change_a_bit(small_blocks, d):
    X, Y = pair(100, d)
    for n_samples in (None, 40):
        options = {"n_samples": n_samples, "random_state": 0}
        one = quality.scorecard(X, Y, n_jobs=1, **options)
        two = quality.scorecard(X, Y, n_jobs=2, **options)
        assert {n: (float(s), s.interval) for n, s in one.items()} == {
            n: (float(s), s.interval) for n, s in two.items()
        }
        np.testing.assert_array_equal(one.curve.kept, two.curve.kept)


@pytest.mark.parametrize("d", [3, 40])
def test_small_blocks_agree_with_one_large_block(d, request):
    X, Y = pair(100, d)
    large = quality.scorecard(X, Y)
    request.getfixturevalue("small_blocks")
    small = quality.scorecard(X, Y)
    for name, score in large.items():
        assert float(small[name]) == pytest.approx(float(score), abs=ROUNDING), name


def test_copies_in_many_columns_are_at_distance_zero():
    rng = np.random.RandomState(0)
    X = np.vstack(
        [np.repeat(rng.standard_normal((5, 50)), 30, axis=0), rng.standard_normal((150, 50))]
    )
    Y = rng.standard_normal((300, 2))
    given = naive_distances(X)
    assert quality.stretch(X, Y, n_neighbors=5) == pytest.approx(
        float(quality.stretch(given, Y, n_neighbors=5, metric="precomputed")), rel=1e-9
    )
    rows = euclidean_rows(X).squared(np.arange(30))
    np.testing.assert_array_equal(rows[:, :30], 0.0)


def test_near_pairs_far_from_the_center_keep_their_order():
    # Two clusters 1e5 apart with a spread of 1e-3: products lose every digit of near distances.
    rng = np.random.RandomState(0)
    X = 1e-3 * rng.standard_normal((60, 20)) + 1e5 * (np.arange(60) % 2)[:, None]
    assert quality.neighbor_error(naive_distances(X), X, metric="precomputed") == 0.0


def naive_distances(X):
    return np.sqrt(np.stack([np.sum((X - x) ** 2, axis=1) for x in X]))


def test_ties_on_a_dyadic_grid_are_broken_by_index_in_high_dimension():
    rng = np.random.RandomState(0)
    X = rng.randint(0, 3, (80, 20)) / 2
    Y = rng.standard_normal((80, 2))
    assert quality.trustworthiness(X, Y, n_neighbors=2) == pytest.approx(
        naive.trustworthiness(X, Y, 2), abs=ROUNDING
    )


def test_sampled_points_of_a_grid_have_their_exact_values():
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2)
    Y = grid + 0.1 * np.random.RandomState(0).standard_normal(grid.shape)
    exact = quality.local_isometry(grid, Y, n_neighbors=6)
    sampled = quality.local_isometry(grid, Y, n_neighbors=6, n_samples=100, random_state=0)
    np.testing.assert_array_equal(sampled.per_point, exact.per_point[sampled.median.rows])


MEASURES = [
    quality.trustworthiness,
    quality.local_isometry,
    quality.stretch,
    quality.normalized_stress,
    quality.shepard_correlation,
    quality.residual_variance,
    quality.procrustes_measure,
    quality.scorecard,
]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
@pytest.mark.parametrize("unit", [1e-80, 1e80])
def test_units_that_cannot_be_squared_are_named(measure, unit):
    X, Y = pair(60, 3)
    with pytest.raises(InvalidInputError, match="other units"):
        measure(unit * X, Y)
    with pytest.raises(InvalidInputError, match="other units"):
        measure(X, unit * Y)


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_unusual_units_change_nothing(unit):
    X, Y = pair(60, 3)
    plain, scaled = quality.scorecard(X, Y), quality.scorecard(unit * X, unit * Y)
    for name, score in plain.items():
        assert float(scaled[name]) == pytest.approx(float(score), rel=1e-9, abs=1e-12), name


def test_functions_of_truth_and_groups_name_units_too():
    Y = np.random.RandomState(0).rand(20, 2)
    for call in (
        lambda: quality.procrustes_error(1e200 * Y, Y),
        lambda: quality.out_of_sample_error(1e200 * Y, Y),
        lambda: quality.spectrum(1e200 * Y),
        lambda: quality.reconstruction_error(1e200 * Y, np.zeros(20), n_components=1),
        lambda: quality.one_nn_error(1e200 * Y, np.zeros(20)),
    ):
        with pytest.raises(InvalidInputError, match="other units"):
            call()


@pytest.mark.parametrize("outlier", [1e10, 1e15])
def test_spearman_with_an_extreme_outlier(outlier):
    X, Y = pair(50, 4)
    X[0] = outlier
    before, after = naive.upper(naive_distances(X)), naive.upper(naive_distances(Y))
    # The outlier's own 49 distances are equal in double precision or nearly so: their ranks,
    # 4 % of all pairs, are averaged here and broken at random by SciPy's exact ranks.
    assert quality.shepard_correlation(X, Y) == pytest.approx(
        spearmanr(before, after).statistic, abs=2e-2
    )


def test_spearman_of_distances_that_are_no_metric():
    X, Y = pair(50, 4)
    D = naive_distances(X)
    D[0] *= 1e-3
    D[:, 0] *= 1e-3
    expected = spearmanr(naive.upper(D), naive.upper(naive_distances(Y))).statistic
    assert quality.shepard_correlation(D, Y, metric="precomputed") == pytest.approx(
        expected, abs=1e-4
    )


def test_stress_is_accurate_for_nearly_perfect_maps():
    X, _ = pair(50, 4)
    # Every distance is off by a factor 1 + 1e-9, and distances carry a relative rounding 1e-16.
    assert quality.normalized_stress(X, X * (1 + 1e-9)) == pytest.approx(1e-9, rel=1e-5)
    assert quality.normalized_stress(X, X) == 0.0


def test_constant_tables_are_recognized():
    # 0.1 is not a binary number: the mean of equal entries differs from them in the last digit.
    constant = np.full((30, 2), 0.1)
    Y = np.random.RandomState(0).rand(30, 2)
    np.testing.assert_array_equal(quality.spectrum(constant), [0, 0])
    with pytest.raises(InvalidInputError, match="coincide"):
        quality.procrustes_error(Y, constant)
    simplex = np.eye(30) @ np.linalg.qr(np.random.RandomState(1).standard_normal((30, 30)))[0]
    with pytest.raises(InvalidInputError, match="no correlation"):
        quality.shepard_correlation(simplex, Y, method="pearson")


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0.0, 1.0, np.nan]),
        np.array(["a", None, "b"], dtype=object),
        np.array(["a", np.nan, "b"], dtype=object),
        np.array(["2026-01-01", "NaT", "2026-01-02"], dtype="datetime64[D]"),
        pd.array([1, None, 2], dtype="Int64"),
    ],
)
def test_missing_labels_are_named(labels):
    with pytest.raises(InvalidInputError, match="1 missing"):
        quality.one_nn_error(np.eye(3), labels)


def test_purity_of_distinct_values_needs_no_table():
    n = 50_000  # a table of all clusters by all labels would take 20 GB
    assert quality.purity(np.arange(n), np.arange(n)) == 1.0


def test_wider_embedding_than_input():
    X, _ = pair(60, 2)
    Y = np.hstack([X, np.zeros((60, 3))])
    card = quality.scorecard(X, Y)
    assert card["trustworthiness"] == 1.0
    assert card["procrustes_measure"] == pytest.approx(0.0, abs=1e-12)


def test_bad_options_are_named():
    X, Y = pair(60, 3)
    for options, words in (
        ({"random_state": "x"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": "2"}, "n_jobs"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            quality.trustworthiness(X, Y, n_samples=20, **options)
    for n_samples in (np.arange(3), 2.5, -1):
        with pytest.raises(InvalidInputError, match="n_samples"):
            quality.scorecard(X, Y, n_samples=n_samples)
    with pytest.raises(InvalidInputError, match="without the pairs"):
        quality.preservation_error(X, Y, targets=[1.0])
    with pytest.raises(InvalidInputError, match="> 0"):
        quality.stretch(X, Y, pairs=[[0, 1]], targets=[-1.0])
    with pytest.raises(InvalidInputError, match="table of numbers"):
        quality.stretch(X, Y, pairs=[[0, 1]], targets=["a"])
    with pytest.raises(InvalidInputError, match="must be a pair"):
        quality.out_of_sample_error(Y, Y, reference=Y)


def test_scorecards_compare_as_mappings():
    X, Y = pair(60, 3)
    assert quality.scorecard(X, Y) == quality.scorecard(X, Y)
    assert quality.scorecard(X, Y) != quality.scorecard(X, X)
