"""The Levina-Bickel estimator: intrinsic dimension from the growth of neighbor distances.

In d dimensions the number of points within radius t grows as t^d, so the logarithms of the
distance ratios T_k / T_j, j < k, are exponential variables of mean 1/d.

References
----------
Levina, E. and Bickel, P. J. (2004). Maximum likelihood estimation of intrinsic dimension.
NIPS 17. MacKay, D. J. C. and Ghahramani, Z. (2005). Comments on the same (average the
inverses).
"""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray


def inverse_dimensions(distances: FloatArray) -> FloatArray:
    """Return the inverse of every point's dimension, from its k nearest distances.

    Parameters
    ----------
    distances : ndarray of shape (n_points, k)
        Positive distances, ascending in every row; k >= 3.

    Returns
    -------
    ndarray of shape (n_points,)
        1/m with m = (k - 2) / Σ_{j<k} ln(T_k / T_j), whose expectation is the dimension
        (the factor k - 1 of the paper would overestimate it).
    """
    k = distances.shape[1]
    logarithms = np.log(distances.astype(np.float64))
    total = (k - 1) * logarithms[:, -1] - logarithms[:, :-1].sum(axis=1)
    # Equal distances leave rounding of either sign.
    inverse: FloatArray = np.maximum(total, 0.0) / (k - 2)
    return inverse
