"""transform treats every row by itself: the same bytes alone, among others, in any layout."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, SpectralEmbedding
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from isofold import (
    EAT,
    IPA,
    MVU,
    PLML,
    ColoredMVU,
    DisjointMVU,
    FastMVU,
    KernelLaplacianEigenmaps,
    LandmarkMVU,
    LocalMDS,
    NeighborMap,
    OutOfSample,
    TesseraMap,
    TwinKernelEmbedding,
    Unfold,
)
from isofold.embedding.unfold.projection import Projection
from isofold.extension import fit_barycentric, fit_kernel_regression, fit_nystrom
from isofold.extension.kernel_map import CorrectedMap
from isofold.patches.noise_axes import Reduction
from isofold.similarity.kernel_function import KernelFunction
from support.quick import quick_are

# Row counts around those at which BLAS, vector units and our own tiles change their ways.
SIZES = (1, 2, 3, 5, 8, 13, 17, 33)


def sheet(n=60, d=3):
    """A bent sheet, turned into d dimensions in which it has a little noise."""
    rng = np.random.default_rng(n)
    angle, height = rng.uniform(size=(2, n))
    flat = np.column_stack([np.cos(2 * angle), np.sin(2 * angle), height, np.zeros((n, d - 3))])
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return flat @ turn + 1e-3 * (d > 3) * rng.normal(size=(n, d))


def blob(n=120, d=6):
    return np.random.default_rng(0).normal(size=(n, d))


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=0.5)


def cubic(A, B):
    return polynomial_kernel(A, B, degree=3, gamma=0.5)


ISOMAP = Isomap(n_neighbors=8)
KERNELS = {"rbf": "rbf", "poly": "poly", "linear": "linear", "gaussian": gaussian, "cubic": cubic}
CASES = {
    "ipa": (IPA(), sheet(200)),
    "ipa-reduced": (IPA(), sheet(300, 20)),
    "ipa-single": (IPA(), sheet(300, 20).astype(np.float32)),
    "ipa-kmeans": (IPA(cover="kmeans", chart="pca", n_patches=8), sheet(300, 20)),
    "ipa-embedder": (IPA(chart=PCA(2), cover="kmeans", n_patches=4), sheet(60, 20)),
    "ipa-paths": (IPA(), blob()),
    "plml": (PLML(), sheet(120, 20)),
    "plml-orthogonal": (PLML(merge="orthogonal"), sheet(120)),
    "local-mds": (LocalMDS(n_epochs=5), sheet(60, 20)),
    "local-mds-distances": (LocalMDS(n_epochs=5, metric="precomputed"), "distances"),
    "neighbor-map": (NeighborMap(), sheet(60, 20)),
    "neighbor-map-wide": (NeighborMap(n_components=3), sheet(40, 900)),
    "neighbor-map-single": (NeighborMap(balance=1.0), blob().astype(np.float32)),
    "neighbor-map-distances": (NeighborMap(metric="precomputed"), "distances"),
    "mvu": (MVU(), sheet()),
    "mvu-distances": (MVU(metric="precomputed"), "distances"),
    "mvu-wide": (MVU(), sheet(40, 900)),
    "colored-mvu": (ColoredMVU(), sheet(40)),
    "fast-mvu": (FastMVU(), sheet(60, 20)),
    "landmark-mvu": (LandmarkMVU(n_landmarks=12), sheet(60, 20)),
    "disjoint-mvu": (DisjointMVU(), sheet(60, 20)),
    "goose": (OutOfSample(ISOMAP), sheet(60, 20)),
    "goose-range": (OutOfSample(ISOMAP, scaling="range"), sheet()),
    "goose-isotropic": (OutOfSample(ISOMAP, scaling="isotropic"), sheet(60, 20)),
    "goose-brute": (OutOfSample(ISOMAP, search="brute"), sheet(60, 20)),
    "barycentric": (OutOfSample(ISOMAP, method="barycentric"), sheet(40, 900)),
    "kernel-ridge": (OutOfSample(ISOMAP, method="kernel_ridge"), sheet(60, 20)),
    "nystrom": (OutOfSample(ISOMAP, method="nystrom", n_neighbors=8), sheet(60, 20)),
    "nystrom-laplacian": (
        OutOfSample(
            SpectralEmbedding(affinity="nearest_neighbors", n_neighbors=9, random_state=0),
            method=partial(fit_nystrom, kernel="laplacian", n_neighbors=8),
        ),
        sheet(),
    ),
    "nystrom-function": (
        OutOfSample(PCA(2), method=partial(fit_nystrom, kernel=lambda A, B: A @ B.T)),
        sheet(60, 20),
    ),
    "unfold": (Unfold(max_seconds=5), sheet(60, 20)),
    "projection": (Projection(n_components=2), sheet(60, 20)),
    "eat-precomputed": (EAT(kernel="precomputed"), "kernel"),
    "kernel-eigenmaps": (KernelLaplacianEigenmaps(), sheet(60, 20)),
    "kernel-eigenmaps-linear": (KernelLaplacianEigenmaps(kernel="linear"), sheet(40, 900)),
    "kernel-eigenmaps-function": (KernelLaplacianEigenmaps(kernel=gaussian), sheet(60, 20)),
    "kernel-eigenmaps-values": (KernelLaplacianEigenmaps(kernel="precomputed"), "kernel"),
    "twin-kernel": (TwinKernelEmbedding(max_iter=20), sheet(60, 20)),
    "twin-kernel-constrained": (
        TwinKernelEmbedding(back_constraint="kernel", max_iter=20),
        sheet(60, 20),
    ),
    **{
        f"{method.__name__.lower()}-{name}": (method(kernel=kernel, n_components=r), sheet(40, d))
        for method in (EAT, TesseraMap)
        for (name, kernel), r, d in zip(
            KERNELS.items(), (1, 2, 2, 1, 2), (3, 20, 3, 20, 3), strict=True
        )
    },
}

# Maps of the same classes as others, on wider tables or with other kernels.
LIKE_OTHERS = {
    "mvu-wide",
    "colored-mvu",
    "neighbor-map-wide",
    "kernel-eigenmaps-function",
    "twin-kernel-constrained",
    "tesseramap-poly",
    "tesseramap-linear",
    "tesseramap-gaussian",
    "tesseramap-cubic",
}
ONE_WAY = ("ipa-embedder", "plml-orthogonal")


def arrangements(X):
    """Yield the rows of a table in parts, with the numbers of the rows."""
    every = np.arange(len(X))
    for size in (*SIZES, len(X) // 2):
        starts = range(0, len(X), size)
        yield f"{size} at a time", [X[start : start + size] for start in starts], every
    order = np.random.default_rng(1).permutation(len(X))
    yield "permuted", [X[order]], order
    yield "backwards", [X[::-1]], every[::-1]
    yield "by columns", [np.asfortranarray(X)], every
    spread = np.zeros((2 * len(X), 2 * X.shape[1]), dtype=X.dtype)
    spread[::2, ::2] = X
    yield "strided", [spread[::2, ::2]], every


def assert_by_rows(function, X):
    together = function(X)
    for name, parts, order in arrangements(X):
        images = np.vstack([function(part) for part in parts])
        np.testing.assert_array_equal(images, together[order], err_msg=name)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize("case", quick_are([c for c in CASES if c not in LIKE_OTHERS], CASES))
def test_rows_do_not_depend_on_each_other(case):
    embedder, X = clone(CASES[case][0]), CASES[case][1]
    if isinstance(X, str):
        X = cdist(sheet(), sheet()) if X == "distances" else rbf_kernel(sheet(), gamma=0.3)
    if "random_state" in embedder.get_params():
        embedder.set_params(random_state=0)
    embedder.fit(X, X[:, 0] > 0)
    # Not on training points, where many maps return what is stored.
    new = X[:37] + (0.01 * blob(37, X.shape[1])).astype(X.dtype) * (len(X) != X.shape[1])
    assert_by_rows(embedder.transform, new)
    if hasattr(embedder, "inverse_transform") and case not in ONE_WAY:
        assert_by_rows(embedder.inverse_transform, embedder.transform(new))


def test_rows_of_a_corrected_regression():
    # The map of TesseraMap for more samples than a test has the time for.
    X, rng = sheet(80, 20), np.random.default_rng(0)
    Y, marks = rng.normal(size=(80, 2)), np.arange(0, 80, 4)
    trend = fit_kernel_regression(X, Y, marks, KernelFunction("rbf", gamma=0.5))
    corrected = CorrectedMap(trend, fit_barycentric(X, Y), Y - trend.transform(X))
    assert_by_rows(corrected.transform, X[:37] + 0.01)


def test_rows_of_a_reduction():
    X = sheet(60, 40)
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 7)))[0]
    reduction = Reduction(X.mean(axis=0), axes, 0.0)
    assert_by_rows(reduction.apply, X)
    assert_by_rows(reduction.undo, reduction.apply(X))
    assert_by_rows(lambda part: reduction.squared_distance(part, reduction.apply(part))[:, None], X)
