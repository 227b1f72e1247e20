"""Points in the space of their rows: the same distances in fewer columns, or the same points."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from isofold.linalg import row_space_coordinates


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-9), (np.float32, 1e-5)])
def test_distances_are_kept(dtype, rtol):
    X = (np.random.RandomState(0).normal(size=(30, 500)) + 7.0).astype(dtype)
    found = row_space_coordinates(X)
    assert found.shape[0] == 30
    assert found.shape[1] <= 30
    assert found.dtype == dtype
    np.testing.assert_allclose(pdist(found), pdist(X), rtol=rtol)


def test_rank_is_seen():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 100))
    found = row_space_coordinates(X)
    assert found.shape == (30, 3)
    np.testing.assert_allclose(pdist(found), pdist(X), rtol=1e-6)


def test_few_columns_stay():
    X = np.random.RandomState(0).normal(size=(30, 30))
    assert row_space_coordinates(X) is X


@pytest.mark.parametrize("near", [0.0, 1e-7])
def test_points_too_near_for_products_stay(near):
    X = np.random.RandomState(0).normal(size=(20, 50))
    X[1] = X[0]
    X[1, 0] += near
    assert row_space_coordinates(X) is X
