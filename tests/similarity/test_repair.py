import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from isofold.exceptions import InvalidInputError
from isofold.similarity import (
    distances_from_kernel,
    kernel_from_distances,
    negative_fraction,
    repair_distances,
    repair_kernel,
)

# Eigenvalues near one of matrices of side ten to thirty.
ROUNDING = 1e-12
UNKNOWN = np.nan


def points(n=12, seed=0):
    return np.random.RandomState(seed).randn(n, 3)


@pytest.mark.parametrize(("how", "value"), [("mean", 2.0), ("min", 1.0), ("max", 3.0)])
def test_asymmetric_pairs_are_merged(how, value):
    D = np.array([[9.0, 1.0, 4.0], [3.0, 0.0, UNKNOWN], [4.0, 5.0, 0.0]])
    expected = [[0, value, 4], [value, 0, 5], [4, 5, 0]]
    np.testing.assert_array_equal(repair_distances(D, asymmetric=how), expected)


def test_clean_distances_stay_as_they_are():
    D = cdist(points(), points())
    D = (D + D.T) / 2
    np.testing.assert_array_equal(repair_distances(D), D)


def test_unknown_distances_are_absent_and_copies_stay():
    D = np.array([[0, 0, UNKNOWN], [0, 0, 2], [np.inf, 2, 0]], dtype=float)
    graph = repair_distances(D)
    assert sp.issparse(graph)
    assert graph.nnz == 4  # 0-1 of length 0, stored, and 1-2
    assert {(i, j): d for i, j, d in zip(*graph.tocoo().coords, graph.data, strict=True)} == {
        (0, 1): 0.0, (1, 0): 0.0, (1, 2): 2.0, (2, 1): 2.0,
    }  # fmt: skip
    again = repair_distances(graph)
    assert (again.nnz, again.sum()) == (4, 4.0)
    np.testing.assert_array_equal(
        repair_distances(D, missing="paths"), [[0, 0, 2], [0, 0, 2], [2, 2, 0]]
    )


def test_no_path_is_said():
    D = np.full((4, 4), UNKNOWN)
    D[0, 1] = D[2, 3] = 1.0
    with pytest.raises(InvalidInputError, match="4 pairs"):
        repair_distances(D, missing="paths")


def test_similarities_are_no_distances():
    with pytest.raises(InvalidInputError, match="2 negative entries, down to -1"):
        repair_distances([[0.0, -1.0], [-1.0, 0.0]])


def indefinite():
    basis = np.linalg.qr(np.random.RandomState(1).randn(6, 6))[0]
    return basis, np.array([4.0, 2.0, 1.0, 0.5, -0.5, -2.0])


@pytest.mark.parametrize(
    ("how", "change"),
    [("clip", lambda v: np.maximum(v, 0)), ("flip", np.abs), ("shift", lambda v: v + 2.0)],
)
def test_negative_eigenvalues_are_removed(how, change):
    basis, values = indefinite()
    K = (basis * values) @ basis.T
    expected = (basis * change(values)) @ basis.T
    np.testing.assert_allclose(repair_kernel(K, negative=how), expected, atol=ROUNDING)
    unit = repair_kernel(K, negative=how, normalize=True)
    np.testing.assert_array_equal(unit.diagonal(), 1.0)


def test_the_negative_fraction():
    basis, values = indefinite()
    assert negative_fraction((basis * values) @ basis.T) == pytest.approx(0.25)
    X = points()
    assert negative_fraction(X @ X.T) == 0.0
    assert negative_fraction(np.zeros((3, 3))) == 0.0


def test_a_kernel_that_is_one_stays():
    X = points()
    K = X @ X.T + np.eye(12)
    np.testing.assert_array_equal(repair_kernel(K), (K + K.T) / 2)


def test_distances_of_a_linear_kernel_are_those_of_its_points():
    X = points()
    X[3] = X[5]
    D = distances_from_kernel(X @ X.T)
    np.testing.assert_allclose(D, cdist(X, X), atol=1e-7)  # √ of rounding at copies
    assert D[3, 5] == 0.0
    assert (D.diagonal() == 0).all()


def test_the_gaussian_kernel_of_distances():
    X = points(30)
    D = cdist(X, X)
    np.fill_diagonal(D, 0.0)
    K = kernel_from_distances(D, gamma=0.7)
    np.testing.assert_allclose(K, np.exp(-0.7 * D**2), rtol=ROUNDING)
    assert negative_fraction(K) < ROUNDING
    median = np.median(D[D > 0])
    assert kernel_from_distances(D)[0, 1] == pytest.approx(np.exp(-0.5 * (D[0, 1] / median) ** 2))


def test_the_kernel_of_known_distances_is_sparse():
    D = np.array([[0, 0, UNKNOWN], [0, 0, 2], [UNKNOWN, 2, 0]], dtype=float)
    K = kernel_from_distances(repair_distances(D), gamma=0.5)
    same = np.exp(-2.0)
    np.testing.assert_allclose(K.toarray(), [[1, 1, 0], [1, 1, same], [0, same, 1]])


def test_asymmetric_kernels_are_refused():
    with pytest.raises(InvalidInputError, match="not symmetric"):
        distances_from_kernel([[1.0, 0.5], [0.2, 1.0]])
