"""Distances from kernels and back, and repair of what is asymmetric, incomplete or indefinite.

A kernel is an inner product, so that d² = k(a, a) + k(b, b) − 2 k(a, b) are squared distances. The
other way, exp(−γ d²) is a kernel only for Euclidean distances; for others its matrix may have
negative eigenvalues. `negative_fraction` tells how much of a matrix they are, and `repair_kernel`
removes them.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from isofold._typing import Auto, FloatArray
from isofold._validation import (
    check_choice,
    check_distances,
    check_finite,
    check_flag,
    check_positive,
    check_square,
    check_symmetric,
)
from isofold.exceptions import InvalidInputError
from isofold.similarity.counts import unit_diagonal

__all__ = [
    "distances_from_kernel",
    "kernel_from_distances",
    "negative_fraction",
    "repair_distances",
    "repair_kernel",
]

ROUNDING = 16 * np.finfo(float).eps
"""Squared distances below this fraction of both kernels are those of copies."""


def repair_distances(
    D: Any,
    *,
    asymmetric: Literal["mean", "min", "max"] = "mean",
    missing: Literal["absent", "paths"] = "absent",
) -> FloatArray | sp.csr_array:
    """Return distances without asymmetry, in a form that says which of them are unknown.

    Parameters
    ----------
    D : array-like or sparse matrix of shape (n_samples, n_samples)
        Distances. In a dense matrix NaN and infinity are unknown, in a sparse one what is not
        stored. The diagonal does not matter.
    asymmetric : {"mean", "min", "max"}, default="mean"
        What becomes of two different values for the same pair. Where only one is known, it counts.
    missing : {"absent", "paths"}, default="absent"
        What becomes of unknown distances. "absent": they stay unknown, and the result is a sparse
        matrix of the known ones if there are unknown ones. "paths": they become the lengths of
        the shortest paths through known ones.

    Returns
    -------
    distances : ndarray or csr_array of shape (n_samples, n_samples)
        Ready for ``metric="precomputed"``. In a sparse matrix, stored zeros are copies.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.similarity import repair_distances
    >>> D = np.array([[0.0, 1.0, np.nan], [3.0, 0.0, 1.0], [np.nan, np.nan, 0.0]])
    >>> repair_distances(D, missing="paths")
    array([[0., 2., 3.],
           [2., 0., 1.],
           [3., 1., 0.]])
    >>> repair_distances(D).nnz  # two known pairs, each stored twice
    4
    """
    check_choice(asymmetric, ("mean", "min", "max"), name="asymmetric")
    check_choice(missing, ("absent", "paths"), name="missing")
    rows, columns, lengths, n = _known_pairs(D)
    smallest = float(lengths.min(initial=0.0))
    if smallest < 0:
        msg = (
            f"D has {int((lengths < 0).sum())} negative entries, down to {smallest:.3g}. "
            f"Similarities are not distances: see distances_from_kernel."
        )
        raise InvalidInputError(msg)
    pairs, where = np.unique(
        np.minimum(rows, columns) * n + np.maximum(rows, columns), return_inverse=True
    )
    if asymmetric == "mean":
        merged = np.bincount(where, lengths, len(pairs)) / np.bincount(where, minlength=len(pairs))
    else:
        merge = np.minimum if asymmetric == "min" else np.maximum
        merged = np.full(len(pairs), np.inf if asymmetric == "min" else 0.0)
        merge.at(merged, where, lengths)
    one, other = np.divmod(pairs, n)
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    twice = np.concatenate([merged, merged])
    is_whole = len(pairs) == n * (n - 1) // 2
    if not is_whole and missing == "absent":
        return sp.csr_array((twice, ends), shape=(n, n))
    whole = np.full((n, n), np.inf)
    np.fill_diagonal(whole, 0.0)
    whole[ends] = twice
    return whole if is_whole else _filled_by_paths(whole)


def repair_kernel(
    K: Any, *, negative: Literal["clip", "flip", "shift"] = "clip", normalize: bool = False
) -> FloatArray:
    """Return the kernel matrix without negative eigenvalues.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Symmetric similarities.
    negative : {"clip", "flip", "shift"}, default="clip"
        What becomes of negative eigenvalues. "clip": zero, which is the nearest kernel. "flip":
        their absolute value. "shift": all eigenvalues grow by that of the most negative one, which
        changes only the diagonal.
    normalize : bool, default=False
        Give the result a diagonal of ones.

    Returns
    -------
    kernel : ndarray of shape (n_samples, n_samples)
        Positive semidefinite up to rounding.

    Notes
    -----
    The repair belongs to these samples. Rows of new samples are not repaired by it.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.similarity import repair_kernel
    >>> repair_kernel(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    check_choice(negative, ("clip", "flip", "shift"), name="negative")
    check_flag(normalize, name="normalize")
    kernel = _read_kernel(K)
    values, vectors = np.linalg.eigh(kernel)
    lowest = min(float(values[0]), 0.0)
    if lowest < 0 and negative == "shift":
        kernel = kernel - lowest * np.eye(len(kernel))
    elif lowest < 0:
        mended = np.maximum(values, 0.0) if negative == "clip" else np.abs(values)
        kernel = (vectors * mended) @ vectors.T
        kernel = (kernel + kernel.T) / 2.0
    if not normalize:
        return kernel
    own = np.maximum(kernel.diagonal(), 0.0)
    return unit_diagonal(kernel, own, own)


def negative_fraction(K: Any) -> float:
    """Return the sum of the negative eigenvalues of a matrix, as a fraction of all in size.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Symmetric similarities.

    Returns
    -------
    fraction : float
        0 for a kernel; up to some hundredths a repair changes little.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.similarity import negative_fraction
    >>> negative_fraction(np.array([[0.0, 1.0], [1.0, 0.0]]))
    0.5
    """
    values = np.linalg.eigvalsh(_read_kernel(K))
    # Eigenvalues are found up to rounding of the largest.
    sure = values[np.abs(values) > len(values) * np.finfo(float).eps * np.abs(values).max()]
    return float(abs(sure[sure < 0].sum()) / max(float(np.abs(sure).sum()), np.finfo(float).tiny))


def distances_from_kernel(K: Any) -> FloatArray:
    """Return the distances that a kernel means: d² = k(a, a) + k(b, b) − 2 k(a, b).

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Symmetric similarities. Where they are not positive semidefinite, squares may be negative:
        they become 0.

    Returns
    -------
    distances : ndarray of shape (n_samples, n_samples)
        Ready for ``metric="precomputed"``.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.similarity import distances_from_kernel
    >>> distances_from_kernel(np.array([[4.0, 2.0], [2.0, 1.0]]))
    array([[0., 1.],
           [1., 0.]])
    """
    kernel = _read_kernel(K)
    own = kernel.diagonal()
    both = own[:, None] + own
    squares = both - 2.0 * kernel
    squares[squares <= ROUNDING * np.abs(both)] = 0.0
    np.fill_diagonal(squares, 0.0)
    return np.asarray(np.sqrt(squares))


def kernel_from_distances(D: Any, *, gamma: float | Auto = "auto") -> FloatArray | sp.csr_array:
    """Return the Gaussian kernel of distances, exp(−γ d²).

    Parameters
    ----------
    D : array-like or sparse matrix of shape (n_samples, n_samples)
        Distances. Of a sparse matrix those that are stored are known.
    gamma : float or "auto", default="auto"
        How fast the kernel falls. "auto": 1 / (2 m²) with m the median of positive distances.

    Returns
    -------
    kernel : ndarray or csr_array of shape (n_samples, n_samples)
        Sparse for sparse distances, with ones on the diagonal and nothing where a distance is
        unknown. Positive semidefinite for Euclidean distances; see `negative_fraction` and
        `repair_kernel` for others.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.similarity import kernel_from_distances
    >>> kernel_from_distances(np.array([[0.0, 2.0], [2.0, 0.0]])).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    is_sparse: bool = sp.issparse(D)
    lengths: Any = repair_distances(D) if is_sparse else check_distances(D, name="D")
    is_sparse = sp.issparse(lengths)
    known = lengths.data if is_sparse else lengths
    if isinstance(gamma, str):
        check_choice(gamma, ("auto",), name="gamma")
        positive = known[known > 0]
        rate = 0.5 / float(np.median(positive)) ** 2 if positive.size else 1.0
    else:
        rate = check_positive(gamma, name="gamma")
    if not is_sparse:
        return np.asarray(np.exp(-rate * lengths**2))
    kernel = lengths.copy()
    kernel.data = np.exp(-rate * kernel.data**2)
    return sp.csr_array(kernel + sp.eye_array(kernel.shape[0]))


def _known_pairs(D: Any) -> tuple[Any, Any, FloatArray, int]:
    """Return rows, columns and lengths of the known distances off the diagonal."""
    is_sparse: bool = sp.issparse(D)
    if is_sparse:
        n = check_square(D.shape, name="D")
        stored: Any = sp.coo_array(D)
        rows, columns = (ends.astype(np.int64) for ends in stored.coords)
        lengths = stored.data.astype(float)
    else:
        table = np.asarray(D, dtype=float)
        n = check_square(table.shape, name="D")
        rows, columns = (ends.ravel() for ends in np.indices((n, n)))
        lengths = table.ravel()
    known = (rows != columns) & np.isfinite(lengths)
    return rows[known], columns[known], lengths[known], n


def _filled_by_paths(whole: FloatArray) -> FloatArray:
    """Return all distances, the unknown ones (infinite) as lengths of shortest paths."""
    from scipy.sparse.csgraph import csgraph_from_dense

    # Zeros are copies, not absent edges.
    graph = csgraph_from_dense(whole, null_value=np.inf)
    paths = shortest_path(graph, directed=False)
    n_unknown = int(np.isinf(paths).sum()) // 2
    if n_unknown:
        msg = (
            f"{n_unknown:,} pairs of samples are not connected by known distances, so that there "
            f'is no path between them. Pass missing="absent".'
        )
        raise InvalidInputError(msg)
    return np.asarray(np.where(np.isinf(whole), paths, whole))


def _read_kernel(K: Any) -> FloatArray:
    """Return a symmetric matrix, its rounding removed."""
    is_sparse: bool = sp.issparse(K)
    whole: Any = K.toarray() if is_sparse else K
    kernel: FloatArray = np.asarray(whole, dtype=np.float64)
    check_square(kernel.shape, name="K")
    check_finite(kernel, name="K", advice="Every similarity must be known.")
    check_symmetric(kernel, name="K")
    return np.asarray((kernel + kernel.T) / 2.0)
