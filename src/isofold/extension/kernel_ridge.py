r"""Kernel ridge regression of an embedding on its points (Yang et al.).

With the kernel K of the training points, its centered form HKH and the centered kernel values
k̃_x = H(k_x − K1/n) of a new point,

    y = ȳ + Yᵀ H (HKH + λI)⁻¹ k̃_x.

It is smooth and global: one solve of n³ operations, and n kernel values for every new point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from isofold._memory import require_memory
from isofold._typing import FloatArray
from isofold._validation import check_pair, check_positive
from isofold.exceptions import InvalidInputError
from isofold.extension.kernel_map import KernelMap
from isofold.linalg import KernelCentering, double_center
from isofold.neighbors import kneighbors
from isofold.neighbors.duplicates import find_distinct
from isofold.similarity.kernel_function import KernelFunction

__all__ = ["fit_kernel_ridge"]

WIDTHS, WIDTH_NEIGHBOR = 4.0, 10
"""By default the kernel is so many times as wide as the distance of this neighbor. Yang's width of
10 on the thesis's roll of 2,000 points is about seven times it; sparser rolls need narrower
ones."""


def fit_kernel_ridge(X: Any, Y: Any, *, gamma: Any = "auto", ridge: float = 1e-4) -> KernelMap:
    """Return the map that regresses an embedding on a Gaussian kernel of its points.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training points.
    Y : array-like of shape (n, q)
        Their embedding, by whatever method.
    gamma : float or "auto", default="auto"
        γ of exp(−γ‖x − x'‖²), 1/σ². "auto": σ is four times the median distance of the tenth
        neighbor.
    ridge : float, default=1e-4
        λ. Training points keep their images the better the smaller it is.

    Returns
    -------
    KernelMap
        The map.

    Raises
    ------
    InvalidInputError
        If the points, the embedding or the parameters cannot be used.
    MemoryLimitError
        If the n × n kernel does not fit into memory.

    References
    ----------
    .. [1] Y. Yang, F. Nie, S. Xiang, Y. Zhuang and W. Wang, "Local and global regressive mapping
       for manifold learning with out-of-sample extrapolation", AAAI, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> ridge = fit_kernel_ridge(X, np.sin(3 * X), gamma=4.0)
    >>> bool(abs(ridge.transform(np.array([[0.51]])) - np.sin(1.53)) < 1e-3)
    True
    """
    points, images = check_pair(X, Y)
    ridge = check_positive(ridge, name="ridge")
    kernel = KernelFunction("rbf", gamma=read_gamma(gamma, points))
    n = len(points)
    require_memory(
        3 * 8 * n * n,
        what=f"The kernel of {n} points",
        instead="Use fit_goose, which looks at neighbors only.",
    )
    # Near the origin, differences of points lose no digits.
    origin = points.mean(axis=0, dtype=np.float64)
    near = points - origin
    raw = kernel.matrix(near, near)
    centering = KernelCentering.from_kernel(raw)
    centered = double_center(raw)
    centered[np.diag_indices(n)] += ridge
    mean = images.mean(axis=0, dtype=np.float64)
    try:
        factor = scipy.linalg.cho_factor(centered, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError as error:
        msg = (
            f"The kernel of {n} points with ridge={ridge:g} is singular to rounding. Pass a larger "
            f"ridge, or a larger gamma, with which points differ more."
        )
        raise InvalidInputError(msg) from error
    return KernelMap(
        kernel=kernel,
        points=near,
        origin=origin,
        centering=centering,
        coefficients=scipy.linalg.cho_solve(factor, images - mean),
        offset=mean,
    )


def read_gamma(gamma: Any, points: FloatArray) -> float:
    """Return γ, by default from the distances of neighbors."""
    if not isinstance(gamma, str):
        return check_positive(gamma, name="gamma")
    if gamma != "auto":
        msg = f"gamma={gamma!r} must be a positive number or 'auto'."
        raise InvalidInputError(msg)
    distinct = points[find_distinct(points).sample_of_node]
    if len(distinct) < 2:
        return 1.0
    k = min(WIDTH_NEIGHBOR, len(distinct) - 1)
    return float((WIDTHS * np.median(kneighbors(distinct, k).distances[:, -1])) ** -2.0)
