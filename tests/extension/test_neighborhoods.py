import numpy as np
import pytest

from isofold.extension._neighborhoods import decompose
from isofold.extension.neighborhoods import Offsets, Products, find_neighborhoods, neighborhoods_of


def matrices(k, seed=0):
    factors = np.random.RandomState(seed).standard_normal((40, k, k + 3))
    factors[0] = 0.0
    factors[1, 1:] = factors[1, :1]
    factors[2, k // 2 :] *= 1e-9
    factors[3] *= 1e-150
    factors[4] *= 1e140
    factors[5] = np.eye(k, k + 3)
    return np.ascontiguousarray(factors @ factors.swapaxes(1, 2))


@pytest.mark.parametrize("k", [1, 2, 3, 10, 25])
def test_decompositions_are_those_of_lapack(k):
    given = matrices(k)
    values, vectors = np.empty(given.shape[:2]), np.empty(given.shape)
    decompose(given, values, vectors)
    rounding = 20 * k * np.finfo(np.float64).eps
    sizes = np.abs(given).max(axis=(1, 2))[:, None]
    expected = np.linalg.eigvalsh(given)[:, ::-1]
    assert np.all(np.abs(values - expected) <= rounding * sizes)
    back = (vectors * values[:, None]) @ vectors.swapaxes(1, 2)
    assert np.all(np.abs(back - given) <= rounding * sizes[:, :, None])
    assert np.abs(vectors.swapaxes(1, 2) @ vectors - np.eye(k)).max() <= rounding


def test_a_matrix_is_decomposed_alike_alone_and_among_others():
    given = matrices(10)
    values, vectors = np.empty(given.shape[:2]), np.empty(given.shape)
    decompose(given, values, vectors)
    for i in range(len(given)):
        alone, columns = np.empty((1, 10)), np.empty((1, 10, 10))
        decompose(given[i : i + 1], alone, columns)
        np.testing.assert_array_equal(alone[0], values[i])
        np.testing.assert_array_equal(columns[0], vectors[i])


def test_products_say_what_coordinates_say():
    rng = np.random.RandomState(0)
    points, queries = rng.standard_normal((200, 30)), rng.standard_normal((50, 30))
    used = np.array([rng.permutation(200)[:8] for _ in queries])
    fractions, anchors = rng.dirichlet(np.ones(8), 50), rng.dirichlet(np.ones(8), 50)
    products = find_neighborhoods(points, used, queries)
    near = points[used] - points[used[:, :1]]
    offsets = Offsets(near, queries - points[used[:, 0]])
    assert isinstance(products, Products)
    assert isinstance(neighborhoods_of(near[:, :, :5], offsets.targets[:, :5]), Offsets)
    for found in (products, neighborhoods_of(near, offsets.targets)):
        np.testing.assert_allclose(found.lengths(), offsets.lengths(), atol=1e-12)
        np.testing.assert_allclose(
            found.from_means(fractions), offsets.from_means(fractions), atol=1e-11
        )
        expected, spread = offsets.spread(fractions), found.spread(fractions)
        np.testing.assert_allclose(spread.widths[:, :7], expected.widths[:, :7], atol=1e-12)
        # Signs of axes are free.
        signs = np.sign(np.einsum("mkr,mkr->mr", spread.left, expected.left))[:, :7]
        np.testing.assert_allclose(
            signs * found.toward(spread, anchors)[:, :7],
            offsets.toward(expected, anchors)[:, :7],
            atol=1e-11,
        )
        np.testing.assert_allclose(
            signs[:, None, :3] * found.along(spread, 3), offsets.along(expected, 3), atol=1e-11
        )
