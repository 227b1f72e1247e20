"""Features of a kernel by Nyström's low-rank form: Φ(x)ᵀΦ(y) ≈ k(x, y).

With the kernel K_mm of m landmarks and W = VΛ^-½ of its eigenvalues, Φ(x) = Wᵀk_x, k_x the kernel
values of x against the landmarks. On the training points ΦΦᵀ = K_nm K_mm⁺ K_nmᵀ, without an n × n
matrix (see `isofold.linalg.low_rank`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import (
    check_choice,
    check_count,
    check_points,
    check_positive,
    check_seed,
    check_square,
    check_symmetric,
    check_width,
)
from isofold.clustering.landmarks import check_landmarks, choose_landmarks
from isofold.exceptions import InvalidInputError
from isofold.extension.kernel_ridge import read_gamma
from isofold.linalg import nystrom_coefficients
from isofold.linalg.rows import row_product
from isofold.neighbors.landmarks import farthest_first
from isofold.similarity.kernel_function import KERNELS, KernelFunction

__all__ = ["KernelFeatures", "fit_kernel_features"]


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """Features whose inner products are nearly a kernel, see `fit_kernel_features`.

    Attributes
    ----------
    kernel : KernelFunction
        The kernel.
    landmarks : ndarray of int of shape (m,)
        The landmarks, as numbers of training samples.
    points : ndarray of shape (m, d)
        The landmarks themselves; none (d = 0) with a precomputed kernel.
    coefficients : ndarray of shape (m, rank)
        W.
    n_features : int
        Width of the rows that `transform` takes.
    """

    kernel: KernelFunction
    landmarks: IntArray
    points: FloatArray
    coefficients: FloatArray
    n_features: int

    @property
    def rank(self) -> int:
        """The number of features: that of positive eigenvalues among the landmarks."""
        return int(self.coefficients.shape[1])

    def transform(self, X: Any) -> FloatArray:
        """Return the features of points, each from its own row alone.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The points; with a precomputed kernel their values against all training points.

        Returns
        -------
        ndarray of shape (n, rank)
            Φ, in float64.
        """
        rows = np.ascontiguousarray(check_points(X, min_samples=1), dtype=np.float64)
        check_width(rows, self.n_features, name="X")
        features = np.empty((len(rows), self.rank))
        step = block_rows(8 * 4 * len(self.landmarks), len(rows))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            is_given = self.kernel.kind == "precomputed"
            values: FloatArray = (
                block.take(self.landmarks, axis=1)
                if is_given
                else self.kernel.rows(block, self.points)
            )
            features[start : start + step] = row_product(values, self.coefficients)
        return features


def fit_kernel_features(
    X: Any,
    *,
    kernel: Literal["rbf", "poly", "linear", "precomputed"]
    | KernelFunction
    | Callable[[FloatArray, FloatArray], Any] = "rbf",
    gamma: float | Literal["auto"] = "auto",
    n_landmarks: int = 100,
    landmarks: Literal["random", "kmeans", "maxmin"] | IntArray | Sequence[int] = "maxmin",
    rank: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> KernelFeatures:
    """Return features Φ with ΦΦᵀ ≈ K: Nyström's low-rank form of a kernel.

    Parameters
    ----------
    X : array-like of shape (n, n_features) or (n, n)
        The points, or the kernel itself if `kernel` is "precomputed".
    kernel : {"rbf", "poly", "linear", "precomputed"}, KernelFunction or callable, default="rbf"
        The kernel; a callable takes two tables of points and returns a matrix.
    gamma : float or "auto", default="auto"
        γ of exp(−γ‖x − y‖²) or of (γ⟨x, y⟩ + 1)³. "auto": as in `fit_kernel_ridge`, and 1 for a
        polynomial.
    n_landmarks : int, default=100
        Number m of landmarks, of which there are never more than samples.
    landmarks : {"maxmin", "kmeans", "random"} or array-like of int, default="maxmin"
        How landmarks are chosen, see `LandmarkMVU`. With a precomputed kernel "maxmin" goes by its
        distances, d² = k_ii + k_jj − 2k_ij, and "kmeans" is not possible.
    rank : int or None, default=None
        The most features, those of the largest eigenvalues; None for all that are not zero.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    KernelFeatures
        The features, for training points and for new ones.

    Raises
    ------
    InvalidInputError
        If the arguments cannot be used, or the kernel is not positive semidefinite.

    References
    ----------
    Williams, C. K. I. and Seeger, M. (2001). Using the Nyström method to speed up kernel machines.
    NIPS 13.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from isofold.extension import fit_kernel_features
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> features = fit_kernel_features(X, gamma=1.0, n_landmarks=30, random_state=0).transform(X)
    >>> bool(np.abs(features @ features.T - rbf_kernel(X, gamma=1.0)).max() < 1e-4)
    True
    """
    rows = np.ascontiguousarray(check_points(X, min_samples=1), dtype=np.float64)
    function = _read_kernel(kernel, gamma, rows)
    rng = check_seed(random_state)
    m = check_count(n_landmarks, name="n_landmarks")
    if rank is not None:
        rank = check_count(rank, name="rank")
    is_given = function.kind == "precomputed"
    if is_given:
        check_square(rows.shape, name="X")
        check_symmetric(rows, name="X")
    if not isinstance(landmarks, str):
        chosen = np.unique(check_landmarks(landmarks, len(rows)))
    elif is_given:
        chosen = _choose_by_kernel(rows, landmarks, m, rng)
    else:
        chosen = choose_landmarks(rows, landmarks, m, rng, n_jobs=n_jobs)
    near = np.empty((len(chosen), 0)) if is_given else rows[chosen]
    own = rows[np.ix_(chosen, chosen)] if is_given else function.matrix(near, near)
    coefficients = nystrom_coefficients(own, rank)
    return KernelFeatures(function, chosen, near, coefficients, n_features=rows.shape[1])


def _read_kernel(kernel: Any, gamma: Any, points: FloatArray) -> KernelFunction:
    """Return the kernel function that a name or callable means."""
    if isinstance(kernel, KernelFunction):
        return kernel
    if callable(kernel):
        return KernelFunction(kernel)
    check_choice(kernel, KERNELS, name="kernel")
    if kernel == "rbf":
        return KernelFunction("rbf", gamma=read_gamma(gamma, points))
    return KernelFunction(
        kernel, gamma=1.0 if gamma == "auto" else check_positive(gamma, name="gamma")
    )


def _choose_by_kernel(
    K: FloatArray, how: str, n_landmarks: int, rng: np.random.RandomState
) -> IntArray:
    """Return landmarks of a precomputed kernel."""
    if how == "kmeans":
        msg = (
            "landmarks='kmeans' needs points, but kernel='precomputed' has none. Use 'maxmin', "
            "which goes by the distances of the kernel, or 'random'."
        )
        raise InvalidInputError(msg)
    if how != "maxmin":
        return choose_landmarks(K, how, n_landmarks, rng)
    own = K.diagonal()
    first = int(rng.randint(len(K)))
    return farthest_first(lambda at: own + own[at] - 2.0 * K[at], len(K), n_landmarks, first)
