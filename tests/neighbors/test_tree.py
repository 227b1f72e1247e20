"""The compiled tree finds what comparing all pairs finds, ties by index, row by row."""

import numpy as np
import pytest
from scipy.spatial import KDTree

from isofold.neighbors.search.exact import KDTreeSearch


def by_index(queries, points, k):
    """Return distances and indices of the nearest, ties by index."""
    squares = ((queries[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    order = np.lexsort((np.broadcast_to(np.arange(len(points)), squares.shape), squares), axis=1)
    found = order[:, :k]
    return np.sqrt(np.take_along_axis(squares, found, axis=1)), found


# Whole numbers: all sums are exact, and many distances are equal.
@pytest.mark.parametrize("n_columns", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("k", [1, 4, 48, 49, 300])
def test_ties_go_by_index(n_columns, k):
    rng = np.random.RandomState(n_columns)
    points = rng.randint(0, 6, size=(300, n_columns)).astype(float)
    queries = rng.randint(-2, 9, size=(90, n_columns)).astype(float)
    found = KDTreeSearch(points).query(queries, k)
    distances, indices = by_index(queries, points, k)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.distances, distances)


@pytest.mark.parametrize("k", [1, 7, 60])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_a_point_is_not_its_own_neighbor_but_its_copies_are(k, precision):
    points = np.random.RandomState(0).randint(0, 4, size=(200, 3)).astype(precision)
    found = KDTreeSearch(points).query_self(k)
    assert (found.indices != np.arange(200)[:, None]).all()
    assert found.distances.dtype == precision
    # Without itself: the first of all others.
    _, indices = by_index(points, points, 200)
    others = indices[indices != np.arange(200)[:, None]].reshape(200, 199)[:, :k]
    np.testing.assert_array_equal(found.indices, others)
    squares = ((points[:, None, :] - points[others]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.distances, np.sqrt(squares).astype(precision))


@pytest.mark.parametrize("n_columns", [2, 3, 8, 20])
def test_distances_have_the_bits_of_scipy(n_columns):
    rng = np.random.RandomState(1)
    frame = rng.normal(size=(2, n_columns))
    points, queries = rng.normal(size=(3000, 2)) @ frame, 1.5 * rng.normal(size=(500, 2)) @ frame
    found = KDTreeSearch(points).query(queries, 9)
    distances, indices = KDTree(points).query(queries, 9)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.indices, indices)


def test_a_query_alone_finds_what_it_finds_among_others_in_any_number_of_threads():
    rng = np.random.RandomState(2)
    points, queries = rng.normal(size=(40_000, 3)), 2.0 * rng.normal(size=(20_000, 3))
    # So many points and queries are shared out among threads.
    one, two = (KDTreeSearch(points, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.order, two.order)
    many, shared = one.query(queries, 5), two.query(queries, 5)
    assert many.distances.tobytes() == shared.distances.tobytes()
    assert many.indices.tobytes() == shared.indices.tobytes()
    for row in range(0, 20_000, 1999):
        alone = one.query(queries[row : row + 1], 5)
        assert alone.distances.tobytes() == many.distances[row].tobytes()
        assert alone.indices.tobytes() == many.indices[row].tobytes()


def test_queries_in_the_order_of_leaves_are_all_queries():
    rng = np.random.RandomState(3)
    search, queries = KDTreeSearch(rng.normal(size=(500, 2))), rng.normal(size=(300, 2))
    order, near = search.query_by_leaves(queries, 3)
    np.testing.assert_array_equal(np.sort(order), np.arange(300))
    expected = search.query(queries, 3)
    np.testing.assert_array_equal(near.indices, expected.indices[order])
    np.testing.assert_array_equal(near.distances, expected.distances[order])


@pytest.mark.parametrize("n_points", [1, 2, 24, 25, 49])
def test_few_points(n_points):
    points = np.arange(float(n_points))[:, None]
    found = KDTreeSearch(points).query(np.array([[-1.0], [100.0]]), n_points)
    np.testing.assert_array_equal(found.indices, [range(n_points), range(n_points)[::-1]])
