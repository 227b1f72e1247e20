"""The sampled region: calibrated inside, alarmed in holes and off the sheet."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isofold.exceptions import InvalidInputError
from isofold.extension import SampledRegion
from isofold.extension.training_points import read_training_points

# Sums of ten distances, twice.
SUM = 1e-12

# Alarms among new points are binomial, and the limit itself is a quantile of as many training
# points: twice the variance. Neighbors of neighbors are shared, which correlates what is counted:
# over repeated draws the variance is four to eight times that of a binomial count.
VARIANCE = 8.0
DEVIATIONS = 4.0


def region_of(X, n_neighbors=10):
    return SampledRegion.around(read_training_points(X, X[:, :1], n_jobs=1), n_neighbors)


def square(seed, n):
    return np.random.RandomState(seed).rand(n, 2)


def normal(seed, n):
    return np.random.RandomState(seed).randn(n, 3)


def curved(seed, n):
    u, v = np.random.RandomState(seed).rand(2, n)
    return np.column_stack([np.cos(4 * u), np.sin(4 * u), 3 * v])


@pytest.mark.parametrize("draw", [square, normal, curved])
@pytest.mark.parametrize("k", [3, 10])
def test_false_alarms_are_as_frequent_as_the_level_says(draw, k):
    n, n_draws = 600, 20
    alarms = dict.fromkeys((0.01, 0.05, 0.2), 0)
    for seed in range(n_draws):
        region, new = region_of(draw(seed, n), k), draw(1000 + seed, n)
        for level in alarms:
            alarms[level] += region.is_outside(new, level=level).sum()
    for level, count in alarms.items():
        deviation = np.sqrt(VARIANCE * level * (1 - level) / (n * n_draws))
        assert abs(count / (n * n_draws) - level) < DEVIATIONS * deviation


def test_remoteness_as_its_definition_reads():
    X, X_new, k = square(2, 60), 1.5 * square(3, 20), 6
    region = region_of(X, k)
    np.testing.assert_allclose(region.spacings, naive_spacings(X, k), rtol=SUM)
    expected = [naive_remoteness(x, X, k) for x in X_new]
    np.testing.assert_allclose(region.remoteness_of(X_new), expected, rtol=SUM)
    # Training points as if they were new.
    expected = [naive_remoteness(x, np.delete(X, i, axis=0), k) for i, x in enumerate(X)]
    np.testing.assert_allclose(region.remoteness, sorted(expected), rtol=SUM)


def naive_spacings(X, k):
    return [np.mean(sorted(row)[1 : k + 1]) for row in cdist(X, X)]


def naive_remoteness(x, X, k):
    spacings = naive_spacings(X, k)
    near = sorted((np.linalg.norm(x - y), j) for j, y in enumerate(X))[:k]
    return np.mean([d for d, _ in near]) / np.mean([spacings[j] for _, j in near])


def test_a_point_in_a_hole_is_outside():
    angle, radius = np.random.RandomState(0).rand(2, 600)
    angle, radius = 6.283 * angle, 1 + radius
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    region = region_of(ring)
    # Points of the ring are a tenth apart, the hole has a radius of one.
    in_hole = np.array([[0.0, 0.0], [0.3, 0.2], [-0.4, 0.1]])
    assert region.is_outside(in_hole, level=0.01).all()
    assert not region.is_outside(1.5 * ring[:20] / radius[:20, None], level=0.01).any()


def test_points_off_the_sheet_are_outside():
    sheet, more = (np.column_stack([square(seed, 900), np.zeros(900)]) for seed in (4, 5))
    region = region_of(sheet)
    off = more[:50] + np.array([0.0, 0.0, 0.3])
    assert region.is_outside(off, level=0.01).all()
    # The farther, the more remote.
    heights = [
        region.remoteness_of(more[:50] + np.array([0.0, 0.0, h])).min() for h in (0.3, 1.0, 1e3)
    ]
    assert heights[0] < heights[1] < heights[2]


def test_points_beyond_the_rim_are_outside():
    region = region_of(square(6, 900))
    assert region.is_outside(np.array([[1.3, 0.5], [-0.3, -0.3], [1e6, 0.0]]), level=0.01).all()


def test_sparse_parts_are_inside():
    """Ten times fewer points in the right half: what is usual there counts, not overall."""
    X, X_new = square(7, 1100), square(8, 400)
    X[100:, 0] *= 0.5
    X[:100, 0] = 0.5 + 0.5 * X[:100, 0]
    region = region_of(X)
    sparse = X_new[(X_new[:, 0] > 0.6) & (np.abs(X_new - 0.5).max(axis=1) < 0.4)]
    assert region.is_outside(sparse, level=0.05).mean() < 0.3
    dense_spacing = region.spacings[region.training.points[:, 0] < 0.5].mean()
    assert (region.spacings[region.training.points[:, 0] > 0.6] > dense_spacing).all()


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit):
    X, X_new = square(9, 200), 1.5 * square(10, 50)
    expected = region_of(X).remoteness_of(X_new)
    np.testing.assert_allclose(region_of(unit * X).remoteness_of(unit * X_new), expected, rtol=SUM)


def test_copies_do_not_count():
    X, X_new = square(11, 200), 1.5 * square(12, 50)
    expected = region_of(X)
    doubled = region_of(np.vstack([X, X[:150], X[:20]]))
    np.testing.assert_array_equal(doubled.remoteness, expected.remoteness)
    np.testing.assert_array_equal(doubled.remoteness_of(X_new), expected.remoteness_of(X_new))


def test_training_points_are_less_remote_than_if_they_were_new():
    X = square(13, 300)
    region = region_of(X)
    # Their own distance of zero counts.
    assert (np.sort(region.remoteness_of(X)) < region.remoteness).all()
    # With a share below one in n nobody is left out.
    assert not region.is_outside(X, level=1e-4).any()


def test_levels_are_nested():
    X, X_new = square(14, 300), 1.3 * square(15, 300)
    region = region_of(X)
    outside = [region.is_outside(X_new, level=level) for level in (1e-3, 0.01, 0.1, 0.9)]
    for strict, loose in pairwise(outside):
        assert (loose | ~strict).all()
    assert outside[0].sum() < outside[3].sum()


@pytest.mark.parametrize("copies", [1, 4])
def test_one_place(copies):
    region = region_of(np.tile([[1.0, 2.0]], (copies, 1)))
    outside = region.is_outside(np.array([[1.0, 2.0], [1.0, 2.1]]), level=0.01)
    np.testing.assert_array_equal(outside, [False, True])


def test_two_places():
    region = region_of(np.array([[0.0, 0.0], [1.0, 0.0]]))
    new = np.array([[0.0, 0.0], [0.5, 0.0], [3.0, 0.0]])
    np.testing.assert_array_equal(region.is_outside(new, level=0.1), [False, False, True])


def test_fewer_points_than_neighbors():
    X = square(16, 5)
    region = region_of(X, 50)
    assert region.n_neighbors == 4
    assert np.isfinite(region.remoteness_of(X)).all()


@pytest.mark.parametrize("level", [0, 1, -0.1, 2.0, np.nan, "low", True, None], ids=str)
def test_levels_that_make_no_sense(level):
    with pytest.raises(InvalidInputError, match="level="):
        region_of(square(17, 20)).is_outside(square(18, 5), level=level)
