"""Nyström's formula against the methods whose eigenvectors it extends."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA, KernelPCA
from sklearn.manifold import Isomap, SpectralEmbedding

from isofold.exceptions import InvalidInputError
from isofold.extension import NystromMap, fit_nystrom
from isofold.similarity.kernel_function import KernelFunction

# Eigenvectors of matrices of side 150 are exact to their number times eps over the gap of
# eigenvalues, 1e-2 of the largest; images are of size one.
EIGEN = 1e-9

# Scikit-learn's iteration for the Laplacian stops at this residual when it is told so.
ITERATED = 1e-7

# The same sums in another order.
SUM = 1e-12


def sheet(seed, n=150, n_new=40, d=3):
    """A curved rectangle, whose sides differ so that eigenvalues do; and new points on it."""
    rng = np.random.RandomState(seed)
    u, v = rng.rand(2, n + n_new) * [[2.0], [1.0]]
    X = np.column_stack([u, v, 0.3 * np.sin(2 * u)])
    X = X @ np.linalg.qr(rng.randn(d, 3))[0].T
    return X[:n], X[n:]


def laplacian_eigenmaps(X, n_neighbors):
    """Scikit-learn counts a point among its own neighbors."""
    return SpectralEmbedding(
        affinity="nearest_neighbors",
        n_neighbors=n_neighbors + 1,
        eigen_tol=1e-10,
        random_state=0,
    ).fit(X)


# Isomap


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("k", [6, 12])
def test_geodesics_are_those_of_isomap(d, k):
    X, X_new = sheet(0, d=d)
    isomap = Isomap(n_neighbors=k, n_components=2).fit(X)
    nystrom = fit_nystrom(X, isomap.embedding_, n_neighbors=k)
    np.testing.assert_allclose(nystrom.transform(X), isomap.embedding_, rtol=0, atol=EIGEN)
    np.testing.assert_allclose(
        nystrom.transform(X_new), isomap.transform(X_new), rtol=0, atol=EIGEN
    )
    np.testing.assert_allclose(nystrom.eigenvalues, isomap.kernel_pca_.eigenvalues_, rtol=EIGEN)
    assert nystrom.residuals.max() < EIGEN


def test_scale_sign_and_place_of_the_embedding_do_not_matter():
    X, X_new = sheet(1)
    Y = Isomap(n_neighbors=8).fit_transform(X)
    expected = fit_nystrom(X, Y, n_neighbors=8).transform(X_new) * [-3.0, 1e-3] + [5.0, -2.0]
    moved = fit_nystrom(X, Y * [-3.0, 1e-3] + [5.0, -2.0], n_neighbors=8).transform(X_new)
    np.testing.assert_allclose(moved, expected, rtol=0, atol=EIGEN)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit):
    X, X_new = sheet(2)
    Y = Isomap(n_neighbors=8).fit_transform(X)
    expected = fit_nystrom(X, Y, n_neighbors=8).transform(X_new)
    found = fit_nystrom(unit * X, Y, n_neighbors=8).transform(unit * X_new)
    np.testing.assert_allclose(found, expected, rtol=0, atol=EIGEN)


def test_of_copies_the_first_counts():
    X, X_new = sheet(3)
    Y = Isomap(n_neighbors=8).fit_transform(X)
    expected = fit_nystrom(X, Y, n_neighbors=8).transform(X_new)
    copies = fit_nystrom(np.vstack([X, X[:20]]), np.vstack([Y, Y[:20] + 9.0]), n_neighbors=8)
    np.testing.assert_allclose(copies.transform(X_new), expected, rtol=0, atol=SUM)


# Laplacian eigenmaps


@pytest.mark.parametrize("d", [3, 8, 20, 60])
def test_laplacian_eigenmaps_are_reproduced(d):
    rng = np.random.RandomState(d)
    X = np.vstack([sheet(4, d=d)[0], 0.3 * rng.randn(50, d)])
    eigenmaps = laplacian_eigenmaps(X, 9)
    nystrom = fit_nystrom(X, eigenmaps.embedding_, kernel="laplacian", n_neighbors=9)
    size = np.abs(eigenmaps.embedding_).max()
    atol = ITERATED * size
    np.testing.assert_allclose(nystrom.transform(X), eigenmaps.embedding_, rtol=0, atol=atol)
    assert nystrom.residuals.max() < ITERATED


def test_new_points_walk_to_their_neighbors_and_to_those_whose_neighbors_they_are():
    X, X_new = sheet(5)
    k = 7
    Y = laplacian_eigenmaps(X, k).embedding_
    nystrom = fit_nystrom(X, Y, kernel="laplacian", n_neighbors=k)
    radii = np.sort(cdist(X, X), axis=1)[:, k]
    # λ from the walk on the training points themselves.
    for x, image in zip(X_new, nystrom.transform(X_new), strict=True):
        distances = np.linalg.norm(X - x, axis=1)
        listed = distances <= np.sort(distances)[k - 1]
        listing = distances <= radii
        w = 0.5 * listed + 0.5 * listing
        expected = w @ Y / w.sum() / nystrom.eigenvalues
        np.testing.assert_allclose(image, expected, rtol=0, atol=SUM)
    # The walk has eigenvalues 1 − λ of the Laplacian, below one.
    assert (nystrom.eigenvalues < 1).all()
    assert (nystrom.eigenvalues > 0.9).all()


# Kernel functions


@pytest.mark.parametrize("as_function", [False, True])
def test_kernel_pca(as_function):
    X, X_new = sheet(6)
    pca = KernelPCA(n_components=3, kernel="rbf", gamma=0.7).fit(X)
    kernel = KernelFunction("rbf", gamma=0.7)
    if as_function:
        kernel = gaussian
    nystrom = fit_nystrom(X, pca.transform(X), kernel=kernel)
    np.testing.assert_allclose(nystrom.transform(X_new), pca.transform(X_new), rtol=0, atol=EIGEN)
    np.testing.assert_allclose(nystrom.eigenvalues, pca.eigenvalues_, rtol=EIGEN)


def gaussian(A, B):
    return np.exp(-0.7 * cdist(A, B, "sqeuclidean"))


def test_a_linear_kernel_is_pca():
    X, X_new = sheet(7)
    pca = PCA(n_components=2).fit(X + 3.0)
    nystrom = fit_nystrom(X + 3.0, pca.transform(X + 3.0), kernel=lambda A, B: A @ B.T)
    expected = pca.transform(X_new + 3.0)
    np.testing.assert_allclose(nystrom.transform(X_new + 3.0), expected, rtol=0, atol=EIGEN)


# What all kernels promise

FITTED = {
    "geodesic": lambda X: Isomap(n_neighbors=8).fit_transform(X),
    "laplacian": lambda X: laplacian_eigenmaps(X, 8).embedding_,
    gaussian: lambda X: KernelPCA(n_components=2, kernel="rbf", gamma=0.7).fit_transform(X),
}
every_kernel = pytest.mark.parametrize("kernel", FITTED, ids=["geodesic", "laplacian", "gaussian"])


@every_kernel
@pytest.mark.parametrize("d", [3, 20])
def test_rows_do_not_depend_on_each_other(kernel, d, monkeypatch):
    X, X_new = sheet(8, d=d)
    X_new = np.vstack([X_new, X[:3], 1e3 * X[:2]])
    nystrom = fit_nystrom(X, FITTED[kernel](X), kernel=kernel, n_neighbors=8)
    together = nystrom.transform(X_new)
    assert np.isfinite(together).all()
    one_by_one = np.vstack([nystrom.transform(x[None]) for x in X_new])
    assert one_by_one.tobytes() == together.tobytes()
    monkeypatch.setattr("isofold._memory.BLOCK_BYTES", 4 * 8 * len(X) * 5)
    assert nystrom.transform(X_new).tobytes() == together.tobytes()


@every_kernel
def test_threads_pickles_and_later_changes_do_not_matter(kernel):
    X, X_new = sheet(9)
    Y = FITTED[kernel](X)
    nystrom = fit_nystrom(X, Y, kernel=kernel, n_neighbors=8)
    expected = nystrom.transform(X_new)
    threads = fit_nystrom(X, Y, kernel=kernel, n_neighbors=8, n_jobs=2)
    pickled = pickle.loads(pickle.dumps(nystrom))  # noqa: S301 - our own bytes
    assert isinstance(pickled, NystromMap)
    X[:], Y[:] = 0, 0
    for other in (threads, pickled, nystrom):
        np.testing.assert_array_equal(other.transform(X_new), expected)


@every_kernel
def test_precision_of_the_embedding_is_kept(kernel):
    X, X_new = sheet(10)
    Y = FITTED[kernel](X)
    images = fit_nystrom(X, Y.astype(np.float32), kernel=kernel, n_neighbors=8).transform(X_new)
    assert images.dtype == np.float32
    expected = fit_nystrom(X, Y, kernel=kernel, n_neighbors=8).transform(X_new)
    # Rounded coordinates, 6e-8 each, over 150 of them.
    np.testing.assert_allclose(images, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@every_kernel
def test_bad_points_are_refused(kernel):
    X, X_new = sheet(11)
    Y = FITTED[kernel](X)
    nystrom = fit_nystrom(X, Y, kernel=kernel, n_neighbors=8)
    with pytest.raises(InvalidInputError, match="column"):
        nystrom.transform(np.ones((3, 2)))
    X_new[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match="X_new contains 1 NaN"):
        nystrom.transform(X_new)
    with pytest.raises(InvalidInputError, match="150 rows and Y has 149"):
        fit_nystrom(X, Y[:-1], kernel=kernel, n_neighbors=8)


@every_kernel
def test_what_is_no_eigenvector_is_refused(kernel):
    X, _ = sheet(12)
    Y = FITTED[kernel](X)
    wrong = np.column_stack([Y[:, 0], np.random.RandomState(0).randn(len(X))])
    with pytest.raises(InvalidInputError, match=r"Coordinate 1 of Y .*fit_goose"):
        fit_nystrom(X, wrong, kernel=kernel, n_neighbors=8)
    flat = np.column_stack([np.zeros(len(X)), Y[:, 0]])
    with pytest.raises(InvalidInputError, match="Coordinate 0 of Y is no eigenvector"):
        fit_nystrom(X, flat, kernel=kernel, n_neighbors=8)


def test_a_mixture_of_eigenvectors_is_refused():
    """A turned Isomap embedding is as good a map, but no eigenvector."""
    X, _ = sheet(13)
    Y = Isomap(n_neighbors=8).fit_transform(X)
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    with pytest.raises(InvalidInputError, match="no eigenvector"):
        fit_nystrom(X, Y @ turn, n_neighbors=8)


def test_a_graph_in_pieces_is_refused():
    X, _ = sheet(14)
    apart = np.vstack([X, X + 100.0, X - 100.0])
    with pytest.raises(InvalidInputError, match="8 neighbors has 3 components"):
        fit_nystrom(apart, apart[:, :2], n_neighbors=8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel='rbf' is unknown"),
        ({"kernel": None}, "kernel=None is unknown"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 150}, "only 150 distinct points"),
        ({"n_neighbors": 150, "kernel": "laplacian"}, "only 150 distinct points"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters, message):
    X, _ = sheet(15)
    with pytest.raises(InvalidInputError, match=message):
        fit_nystrom(X, X[:, :2], **parameters)
