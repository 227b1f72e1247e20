import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.exceptions import InvalidInputError
from isofold.quality import (
    continuity,
    coranking_curve,
    mean_relative_rank_error,
    neighbor_error,
    trustworthiness,
)
from isofold.quality.distances import compare
from isofold.quality.ranks import embedded_ranks, excess_ranks, input_ranks
from support import naive
from support.hypothesis_profiles import examples
from support.quick import quick_first

# Sums of at most a few thousand terms of size ≤ 1, in double precision.
ROUNDING = 1e-12


def pair(n=60, d=5, q=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, :q] + 0.3 * rng.standard_normal((n, q))


def tied_pair():
    # Integer points: many equal distances, also across the border of a neighborhood.
    rng = np.random.RandomState(3)
    return rng.randint(0, 4, (50, 20)).astype(float), rng.randint(0, 5, (50, 2)).astype(float)


PAIRS = [pair(), pair(n=40, d=30, seed=1), pair(n=31, d=2, q=1, seed=2), tied_pair()]


@pytest.mark.parametrize("data", PAIRS)
@pytest.mark.parametrize("k", quick_first([5, 1, 12]))
def test_agrees_with_double_loops(data, k):
    X, Y = data
    assert trustworthiness(X, Y, n_neighbors=k) == pytest.approx(
        naive.trustworthiness(X, Y, k), abs=ROUNDING
    )
    assert neighbor_error(X, Y, n_neighbors=k) == pytest.approx(
        naive.neighbor_error(X, Y, k), abs=ROUNDING
    )
    for side in ("input", "embedding"):
        assert mean_relative_rank_error(X, Y, n_neighbors=k, neighbors_of=side) == pytest.approx(
            naive.mrre(X, Y, k, neighbors_of=side), abs=ROUNDING
        )


@pytest.mark.parametrize("data", PAIRS)
def test_continuity_is_trustworthiness_of_the_swapped_pair(data):
    X, Y = data
    assert continuity(X, Y, n_neighbors=5) == pytest.approx(
        naive.trustworthiness(Y, X, 5), abs=ROUNDING
    )
    assert float(continuity(X, Y, n_neighbors=5)) == float(trustworthiness(Y, X, n_neighbors=5))


@pytest.mark.parametrize("data", PAIRS)
def test_coranking_curve_and_area_agree_with_definition(data):
    X, Y = data
    curve = coranking_curve(X, Y)
    expected = naive.rnx(X, Y)
    np.testing.assert_allclose(curve.above_chance, expected, atol=ROUNDING)
    area = np.sum(expected / curve.sizes) / np.sum(1 / curve.sizes)
    assert curve.area == pytest.approx(area, abs=ROUNDING)


def test_kept_share_is_one_minus_neighbor_error():
    X, Y = pair()
    curve = coranking_curve(X, Y)
    for k in (1, 7, 30):
        assert curve.kept[k - 1] == pytest.approx(1 - neighbor_error(X, Y, n_neighbors=k))


@pytest.mark.parametrize("n_samples", [None, 40])
def test_kept_at_some_sizes_has_an_interval_and_values_per_point(n_samples):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((150, 3))
    how = {"n_samples": n_samples, "random_state": 0}
    found = dict(coranking_curve(X, X[:, :2], **how).kept_at)
    assert list(found) == [5, 12, 50]
    for k, kept in found.items():
        lost = neighbor_error(X, X[:, :2], n_neighbors=k, **how)
        assert kept == pytest.approx(1 - lost, abs=ROUNDING)
        np.testing.assert_allclose(kept.per_point, 1 - lost.per_point, atol=ROUNDING)
        assert (kept.interval[0] < kept) == (n_samples is not None)
    # Fifty of a hundred points are no neighborhood, and of eight points not even five.
    assert [k for k, _ in coranking_curve(X[:100], X[:100]).kept_at] == [5, 12]
    assert coranking_curve(X[:8], X[:8]).kept_at == ()


MEASURES = [trustworthiness, continuity, neighbor_error, mean_relative_rank_error]


@pytest.mark.parametrize("measure", MEASURES)
def test_score_is_the_mean_of_its_per_point_form(measure):
    X, Y = pair()
    score = measure(X, Y, n_neighbors=5)
    assert score.per_point.shape == (len(X),)
    assert float(score) == pytest.approx(score.per_point.mean(), abs=ROUNDING)


@pytest.mark.parametrize("measure", MEASURES)
def test_sampled_rows_have_the_exact_per_point_values(measure):
    X, Y = pair(n=80)
    exact = measure(X, Y, n_neighbors=5)
    sampled = measure(X, Y, n_neighbors=5, n_samples=20, random_state=0)
    assert sampled.n_sampled == 20
    np.testing.assert_array_equal(sampled.per_point, exact.per_point[sampled.rows])


def test_sampled_area_has_the_exact_per_point_values():
    X, Y = pair(n=80)
    exact = coranking_curve(X, Y).area
    sampled = coranking_curve(X, Y, n_samples=20, random_state=0).area
    np.testing.assert_allclose(sampled.per_point, exact.per_point[sampled.rows], atol=ROUNDING)


@pytest.mark.parametrize("measure", MEASURES)
def test_threads_do_not_change_a_bit(measure):
    X, Y = pair(n=300, d=40)
    one = measure(X, Y, n_neighbors=7, n_jobs=1)
    two = measure(X, Y, n_neighbors=7, n_jobs=2)
    np.testing.assert_array_equal(one.per_point, two.per_point)


@pytest.mark.parametrize("measure", MEASURES)
def test_precomputed_distances_give_the_same(measure):
    X, Y = pair()
    from_points = measure(X, Y, n_neighbors=5)
    from_distances = measure(naive.distances(X), Y, n_neighbors=5, metric="precomputed")
    assert float(from_points) == float(from_distances)


@examples(25)
@given(
    st.integers(0, 10_000),
    st.floats(0.1, 100.0),
    st.floats(-1e3, 1e3),
)
def test_ranks_ignore_rigid_motion_scale_and_order(seed, factor, shift):
    X, Y = pair(n=30, seed=seed)
    rng = np.random.RandomState(seed)
    rotation = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    order = rng.permutation(30)
    moved = (factor * X @ rotation + shift)[order]
    for measure in MEASURES:
        assert measure(moved, Y[order], n_neighbors=4) == pytest.approx(
            measure(X, Y, n_neighbors=4), abs=ROUNDING
        )


def test_perfect_and_collapsed_maps():
    X, _ = pair()
    assert trustworthiness(X, X) == 1.0
    assert continuity(X, X) == 1.0
    assert neighbor_error(X, X) == 0.0
    assert mean_relative_rank_error(X, X) == 0.0
    assert coranking_curve(X, X).area == pytest.approx(1.0)
    collapsed = np.zeros((len(X), 2))
    assert 0 <= trustworthiness(X, collapsed) < 0.9


def test_random_map_is_at_chance():
    # Under chance E[R_NX] = 0; 300 points put the area within ±0.05 (20 standard errors).
    rng = np.random.RandomState(0)
    area = coranking_curve(rng.standard_normal((300, 3)), rng.standard_normal((300, 2))).area
    assert abs(area) < 0.05


def test_duplicated_rows_are_ranked_by_index():
    X, Y = pair(n=25)
    X, Y = np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)
    assert trustworthiness(X, Y, n_neighbors=6) == pytest.approx(
        naive.trustworthiness(X, Y, 6), abs=ROUNDING
    )


def test_arguments_that_make_no_sense_are_named():
    X, Y = pair(n=20)
    with pytest.raises(InvalidInputError, match="at least 3"):
        trustworthiness(X[:2], Y[:2], n_neighbors=1)
    with pytest.raises(InvalidInputError, match="n_neighbors <= 9"):
        trustworthiness(X, Y, n_neighbors=10)
    with pytest.raises(InvalidInputError, match=r"'input' \(MRRE_X\)"):
        mean_relative_rank_error(X, Y, neighbors_of="both")
    with pytest.raises(InvalidInputError, match="at least 4 points"):
        coranking_curve(X[:3], Y[:3])


@pytest.mark.parametrize("noise", [0.0, 1e-3, 0.3])
def test_ranks_beyond_k_are_those_of_all_distances(noise):
    grid = np.stack(np.meshgrid(np.arange(15.0), np.arange(15.0)), axis=-1).reshape(-1, 2)
    rng = np.random.default_rng(0)
    for points in (grid, rng.normal(size=(200, 3)), np.repeat(grid[:60], 4, axis=0)):
        comparison = compare(points, points + noise * rng.normal(size=points.shape))
        found = excess_ranks(comparison, 5)
        exact = input_ranks(comparison, 5), embedded_ranks(comparison, 5)
        for some, all_ranks in zip(found, exact, strict=True):
            np.testing.assert_array_equal(
                np.sort(np.maximum(some, 5)), np.sort(np.maximum(all_ranks, 5))
            )
