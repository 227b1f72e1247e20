"""Eigenvectors of graph Laplacians: smooth functions on a connected graph.

L v = λ D v with L = D − W. With u = D^½ v these are eigenvectors of S = D^-½ W D^-½ for 1 − λ; the
constant function, of λ = 0, is known and taken out.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, Matrix
from isofold.exceptions import ConvergenceError
from isofold.linalg.eigen import deterministic_signs, eigh_extreme

__all__ = ["laplacian_eigenvectors"]

DEFLATED = 3.0
"""By how much the known eigenvalue 1 of S is lowered: below all others, which are at least -1."""


def laplacian_eigenvectors(weights: Matrix, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    """Return the least λ > 0 of a connected graph, ascending, and vectors v with vᵀ D v = 1.

    Notes
    -----
    Lanczos needs no more memory than the graph. Where it does not converge, as on long chains, the
    Laplacian is factored, which is cheap for such graphs.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> values, vectors = laplacian_eigenvectors(path, 1)
    >>> (values + 0.0).round(12)
    array([1.])
    >>> np.abs(vectors[:, 0]).round(3)
    array([0.707, 0.   , 0.707])
    """
    n = weights.shape[0]
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    roots = np.sqrt(degrees)
    known = roots / np.linalg.norm(roots)
    scale = sp.diags_array(1.0 / roots)
    walk = sp.csr_array(scale @ weights @ scale)

    def product(x: FloatArray) -> FloatArray:
        x = np.asarray(x, dtype=np.float64).reshape(n, -1)
        return np.asarray(walk @ x - DEFLATED * known[:, None] * (known @ x))

    operator = LinearOperator(
        (n, n), matvec=lambda x: product(x).ravel(), matmat=product, dtype=np.float64
    )
    try:
        similarities, vectors = eigh_extreme(operator, n_vectors)
    except ConvergenceError:
        laplacian = sp.csc_array(sp.eye_array(n) - walk)
        values, vectors = eigh_extreme(laplacian, n_vectors + 1, which="smallest")
        similarities, vectors = 1.0 - values[1:], vectors[:, 1:]
    return 1.0 - similarities, deterministic_signs(vectors / roots[:, None])
