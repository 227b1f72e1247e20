"""Maps that are linear in the feature space of a kernel: z = (k_x − column means − ...)·Ω."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from sklearn.utils.metaestimators import available_if

from isofold._memory import block_rows
from isofold._parallel import one_blas_thread, ordered_map
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_width
from isofold.extension.barycentric import BarycentricMap
from isofold.extension.way_back import LocalInverse
from isofold.extension.weights import apply_weights
from isofold.linalg import KernelCentering
from isofold.linalg.rows import row_product
from isofold.similarity.kernel_function import KernelFunction

__all__ = ["CorrectedMap", "KernelMap", "fit_kernel_regression"]

REGRESSION_ROWS = 1024
"""Rows of a regression at a time, at most: enough for products, and fair packages for threads."""

NEGLIGIBLE = 1e-13
"""Eigenvalues of the normal equations below this fraction of the largest are left out: they are
squares, so that less would be rounding."""


@dataclass(frozen=True, eq=False)
class KernelMap(LocalInverse):
    """An affine map of feature space, for any points.

    Parameters
    ----------
    kernel : KernelFunction
        The kernel k.
    points : ndarray of shape (n, n_features)
        The points with which new ones are compared, moved by `origin`.
    origin : ndarray of shape (n_features,)
        What is subtracted from every point: the mean of the training points, or zero for a kernel
        function of the user's.
    centering : KernelCentering
        Statistics of the raw kernel of `points`.
    coefficients : ndarray of shape (n, n_components)
        Ω.
    columns : ndarray of shape (n,) or None, default=None
        With a precomputed kernel, the columns of its rows that belong to `points`.
    offset : float or ndarray of shape (n_components,), default=0.0
        What is added at the end.
    """

    kernel: KernelFunction
    points: FloatArray
    origin: FloatArray
    centering: KernelCentering
    coefficients: FloatArray
    columns: IntArray | None = None
    offset: FloatArray | float = 0.0

    def with_coefficients(self, coefficients: FloatArray) -> KernelMap:
        """Return the map with other coefficients Ω."""
        return replace(self, coefficients=coefficients)

    def _has_points(self) -> bool:
        return self.columns is None and self.kernel.kind != "precomputed"

    def training_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the points with which others are compared, and their images."""
        points = self.points + self.origin
        return points, self.transform(points)

    @available_if(_has_points)
    def inverse_transform(self, Y: FloatArray) -> FloatArray:
        """Return points whose images are given; there are none behind a kernel that was given."""
        return super().inverse_transform(Y)

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the images of points, each from its own row alone.

        Parameters
        ----------
        X : ndarray of shape (n_new, n_features)
            The points; with a precomputed kernel their kernel values against `points`.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            Their images, in float64.
        """
        X = np.asarray(X)
        if self._has_points():
            check_width(X, self.points.shape[1])
        out = np.empty((len(X), self.coefficients.shape[1]))
        step = block_rows(8 * 4 * len(self.centering.column_means), len(X))
        for start in range(0, len(X), step):
            # In one layout, and by no product of matrices: rounding would depend on either.
            rows = np.ascontiguousarray(X[start : start + step], dtype=np.float64)
            if self.columns is None:
                raw = self.kernel.rows(rows - self.origin, self.points)
            else:
                raw = rows.take(self.columns, axis=1)
            out[start : start + step] = row_product(self.centering.apply(raw), self.coefficients)
        return out + self.offset


@dataclass(frozen=True, eq=False)
class CorrectedMap(LocalInverse):
    """A smooth map of few landmarks, plus what it leaves at the neighbors of a point.

    Parameters
    ----------
    trend : KernelMap
        The smooth map.
    neighbors : BarycentricMap
        Weights of training points for new ones.
    left : ndarray of shape (n, n_components)
        The embedding of the training points less the smooth map.
    """

    trend: KernelMap
    neighbors: BarycentricMap
    left: FloatArray

    @property
    def kernel(self) -> KernelFunction:
        """The kernel of the smooth map."""
        return self.trend.kernel

    def training_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the training points and their images."""
        points = self.neighbors.training.points
        return points, self.transform(points)

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the images of points, each from its own row alone; a training point gets its own.

        Parameters
        ----------
        X : ndarray of shape (n_new, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            Their images, in float64.
        """
        return self.trend.transform(X) + apply_weights(self.neighbors.weights(X), self.left)


def fit_kernel_regression(
    points: FloatArray,
    values: FloatArray,
    landmarks: IntArray,
    kernel: KernelFunction,
    *,
    n_jobs: int | None = None,
) -> KernelMap:
    """Fit a map of few coefficients to the values at many points, by least squares.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        The points.
    values : ndarray of shape (n, n_components)
        Where they should go.
    landmarks : ndarray of int of shape (m,)
        The points with which others are compared.
    kernel : KernelFunction
        The kernel.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    KernelMap
        The map. With as many landmarks as points and a kernel of full rank it goes through all
        values; otherwise it is the nearest in the least-squares sense.
    """
    origin = np.zeros(points.shape[1])
    if not callable(kernel.kind):
        origin = points[landmarks].mean(axis=0, dtype=np.float64)
    near = points[landmarks].astype(np.float64) - origin
    centering = KernelCentering.from_kernel(kernel.matrix(near, near))
    m, mean = len(landmarks), values.mean(axis=0)
    square, mixed = np.zeros((m + 1, m + 1)), np.zeros((m + 1, values.shape[1]))
    step = min(block_rows(8 * 6 * m, len(points)), REGRESSION_ROWS)

    def products(start: int) -> tuple[FloatArray, FloatArray]:
        rows = points[start : start + step].astype(np.float64) - origin
        features = np.ones((len(rows), m + 1))
        features[:, :m] = centering.apply(kernel.matrix(rows, near))
        return features.T @ features, features.T @ (values[start : start + step] - mean)

    with one_blas_thread():
        for own_square, own_mixed in ordered_map(
            products, range(0, len(points), step), n_jobs=n_jobs
        ):
            square += own_square
            mixed += own_mixed
    spectrum, axes = scipy.linalg.eigh(square)
    kept = spectrum > NEGLIGIBLE * spectrum[-1]
    axes = axes[:, kept]
    solution = axes @ ((axes.T @ mixed) / spectrum[kept, None])
    return KernelMap(
        kernel=kernel,
        points=near,
        origin=origin,
        centering=centering,
        coefficients=solution[:m],
        offset=mean + solution[m],
    )
