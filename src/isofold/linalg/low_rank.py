"""Nyström's low-rank form of a kernel: K ≈ K_nm K_mm⁺ K_nmᵀ from its columns at m landmarks.

With K_mm = VΛVᵀ and W = VΛ^-½ over the positive eigenvalues, the factor F = K_nm W has FFᵀ equal to
that product. It takes O(nm² + m³) time and O(nm) numbers. The form is exact if the landmarks span
the feature space of all points, and what it lacks, K - FFᵀ, is positive semidefinite.

References
----------
Williams, C. K. I. and Seeger, M. (2001). Using the Nyström method to speed up kernel machines.
NIPS 13. Drineas, P. and Mahoney, M. W. (2005). On the Nyström method for approximating a Gram
matrix for improved kernel-based learning. JMLR 6.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError
from isofold.linalg._checks import as_symmetric_matrix
from isofold.linalg.eigen import deterministic_signs

__all__ = ["nystrom_coefficients"]

NEGATIVE = 1e-3
"""Negative eigenvalues up to this fraction of the largest are zero: kernels that were rounded to
few digits have such. A function that is not a kernel has larger ones."""


def nystrom_coefficients(K_mm: FloatArray, rank: int | None = None) -> FloatArray:
    """Return W = VΛ^-½, so that F = K_nm W factors the low-rank kernel K_nm K_mm⁺ K_nmᵀ.

    Examples
    --------
    Points on a line through the origin have a linear kernel of rank one: one landmark is enough.

    >>> import numpy as np
    >>> from isofold.linalg import nystrom_coefficients
    >>> x = np.array([[1.0], [2.0], [5.0]])
    >>> K = x @ x.T
    >>> F = K[:, 1:2] @ nystrom_coefficients(K[1:2, 1:2])
    >>> bool(np.allclose(F @ F.T, K))
    True
    """
    kernel = as_symmetric_matrix(K_mm, name="K_mm").astype(np.float64, copy=False)
    if len(kernel) == 0:
        msg = "K_mm is empty: a kernel has no low-rank form without landmarks. Pass at least one."
        raise InvalidInputError(msg)
    values, vectors = scipy.linalg.eigh((kernel + kernel.T) / 2)
    size = float(np.abs(values).max())
    if values[0] < -NEGATIVE * size:
        msg = (
            f"K_mm has the eigenvalue {values[0]:.3g} beside {values[-1]:.3g}: it is not positive "
            f"semidefinite, so that no points have these inner products. Pass a kernel; distances "
            f"d become one by exp(-gamma * d**2)."
        )
        raise InvalidInputError(msg)
    # Rounding of the eigenvalues, or what the lowest one shows of errors in the entries.
    nothing = max(len(kernel) * np.finfo(np.float64).eps * size, -2.0 * float(values[0]))
    kept = np.flatnonzero(values > nothing)[::-1][:rank]
    return np.asarray(deterministic_signs(vectors[:, kept]) / np.sqrt(values[kept]))
