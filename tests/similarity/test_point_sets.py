from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, directed_hausdorff

from isofold.exceptions import InvalidInputError
from isofold.similarity import (
    AssignmentDistance,
    HausdorffDistance,
    ShapeContextDistance,
    ShapeContextKernel,
    image_points,
)
from support.hypothesis_profiles import examples

ROUNDING = 1e-12


def random_sets(seed, n_sets=4):
    rng = np.random.RandomState(seed)
    return [rng.randn(rng.randint(1, 6), 2) for _ in range(n_sets)]


def best_mean(a, b, cutoff):
    """Return the mean cost of all ways to match, by trying them."""
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    costs = cdist(small, large)
    costs = costs if cutoff is None else np.minimum(costs, cutoff)
    ways = permutations(range(len(large)), len(small))
    way = min(ways, key=lambda way: sum(costs[i, j] for i, j in enumerate(way)))
    rest = [j for j in range(len(large)) if j not in way]
    surplus = [costs[:, j].min() if cutoff is None else cutoff for j in rest]
    return (sum(costs[i, j] for i, j in enumerate(way)) + sum(surplus)) / len(large)


@examples(10)
@given(st.integers(0, 10**6))
def test_hausdorff_is_that_of_scipy(seed):
    sets = random_sets(seed)
    expected = [
        [max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]) for b in sets] for a in sets
    ]
    np.testing.assert_allclose(HausdorffDistance()(sets), expected, rtol=ROUNDING)


@examples(10)
@given(st.integers(0, 10**6), st.sampled_from([None, 0.8]))
def test_assignment_is_the_best_of_all(seed, cutoff):
    sets = random_sets(seed)
    expected = [[best_mean(a, b, cutoff) for b in sets] for a in sets]
    found = AssignmentDistance(cutoff)(sets)
    np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING)


def test_with_a_cutoff_the_triangle_inequality_holds():
    D = AssignmentDistance(0.7)(random_sets(3, 12))
    assert (D[:, :, None] <= D[:, None, :] + D[None, :, :].transpose(0, 2, 1) + ROUNDING).all()


def test_shape_contexts_ignore_place_and_size():
    shape = np.random.RandomState(0).randn(20, 2)
    D = ShapeContextDistance()([shape, 3.0 * shape + 5.0, shape[::-1], shape @ [[0, 1], [-1, 0]]])
    np.testing.assert_allclose(D[0, :3], 0.0, atol=ROUNDING)
    assert D[0, 3] > 0.1


def test_shape_context_of_two_points_by_hand():
    # Each sees the other in one bin, of opposite sectors: no overlap unless turned by a half turn.
    flat, upright = [[0, 0], [1, 0]], [[0, 0], [0, 1]]
    np.testing.assert_allclose(ShapeContextDistance()([flat, upright]), [[0, 1], [1, 0]])
    # Two of four pairs of contexts agree, and with others χ² is 1.
    K = ShapeContextKernel(2.0, normalize=False)([flat, upright])
    same, other = (1 + np.exp(-2.0)) / 2, np.exp(-2.0)
    np.testing.assert_allclose(K, [[same, other], [other, same]], rtol=ROUNDING)


def test_surplus_points_cost():
    D = ShapeContextDistance(unmatched=0.5)([[[0, 0], [1, 0]], [[0, 0], [1, 0], [0, 0]]])
    assert 0.5 / 3 <= D[0, 1] <= 1.0


def test_copies_and_lonely_points_have_contexts_without_counts():
    sets = [[[1.0, 2.0]], [[3.0, 3.0], [3.0, 3.0]]]
    np.testing.assert_array_equal(ShapeContextDistance(unmatched=0.0)(sets), np.zeros((2, 2)))


def test_points_of_an_image():
    image = np.zeros((28, 20))
    image[4:24, 8:12] = 200.0
    points = image_points(image, 60)
    assert points.shape == (60, 2)
    assert len(np.unique(points, axis=0)) == 60
    # Up is up: rows 4 to 23 of 28, columns 8 to 11.
    assert 4.0 <= points[:, 1].min() < points[:, 1].max() <= 24.0
    assert 8.0 <= points[:, 0].min() < points[:, 0].max() <= 12.0
    np.testing.assert_array_equal(points, image_points(image, 60))
    inside = image_points(image, 40, contour=False)
    assert ((inside[:, 0] > 9) & (inside[:, 0] < 11)).any()
    with pytest.raises(InvalidInputError, match="has no points"):
        image_points(np.zeros((5, 5)))


def test_what_is_no_set_is_refused():
    with pytest.raises(InvalidInputError, match="shape"):
        HausdorffDistance()([[1.0, 2.0]])
    with pytest.raises(InvalidInputError, match="same number"):
        HausdorffDistance()([np.ones((2, 2)), np.ones((2, 3))])
    with pytest.raises(InvalidInputError, match="plane"):
        ShapeContextKernel()([np.ones((2, 3))])
