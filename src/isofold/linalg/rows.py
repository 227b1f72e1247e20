"""Products in which a row does not depend on the rows beside it, not even in its last bit."""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray
from isofold.linalg._rows import multiply

__all__ = ["row_product"]

PANEL = 4
"""Columns of a panel, as the kernel takes them."""


def row_product(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return ``rows @ matrix``, the same bytes for a row alone, among others or in another order.

    Notes
    -----
    BLAS promises none of this: it takes one routine for one row and another for several, and cuts
    the work up by the number of threads. Use it for products that are not made row by row.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg.rows import row_product
    >>> X = np.random.default_rng(0).normal(size=(7, 300))
    >>> Y = row_product(X, X.T)
    >>> all(np.array_equal(row_product(X[i : i + 1], X.T)[0], Y[i]) for i in range(7))
    True
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    m, q = matrix.shape
    n_panels = -(-q // PANEL)
    panels = np.zeros((n_panels, m, PANEL))
    whole = q // PANEL
    panels[:whole] = matrix[:, : whole * PANEL].reshape(m, whole, PANEL).swapaxes(0, 1)
    if whole < n_panels:
        panels[whole, :, : q - whole * PANEL] = matrix[:, whole * PANEL :]
    out = np.zeros((len(rows), q))
    multiply(rows, panels, out)
    return out
