"""The Levina-Bickel estimator: intrinsic dimension from the growth of neighbor distances.

In d dimensions the number of points within radius t grows as t^d, so the k - 1 logarithms
of the distance ratios T_k / T_j, j < k, are independent exponential variables of mean 1/d.
Their mean L is an unbiased estimate of 1/d, and averages of L over points stay unbiased; the
inverse of a single one is too large by (k - 1) / (k - 2) in expectation.

References
----------
Levina, E. and Bickel, P. J. (2004). Maximum likelihood estimation of intrinsic dimension.
NIPS 17. MacKay, D. J. C. and Ghahramani, Z. (2005). Comments on "Maximum likelihood
estimation of intrinsic dimension" (on averaging the inverses).
"""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray


def inverse_dimensions(distances: FloatArray) -> FloatArray:
    """Return an unbiased estimate of 1/d at every point, from its k nearest distances."""
    logarithms = np.log(distances.astype(np.float64, copy=False))
    inverse: FloatArray = logarithms[:, -1] - logarithms[:, :-1].mean(axis=1)
    # Equal distances leave rounding of either sign.
    return np.maximum(inverse, 0.0)
