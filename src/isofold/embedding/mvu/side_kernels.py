"""Kernels on side information: classes, regression targets, tags."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpstrf as pstrf
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.multiclass import type_of_target

from isofold._findings import setting
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError

__all__ = ["factor_of_kernel", "side_factor", "side_kernel"]

KERNELS = ("auto", "delta", "rbf", "linear", "identity", "precomputed")

CONSTANT = (
    "All samples have the same label or target, so that it says nothing about them. Use MVU, or "
    "pass labels that differ."
)

RANK_TOLERANCE = 1e-12
"""Entries of a kernel that are left below this fraction of the largest are its rounding."""

NEGATIVE = 1e-8
"""Eigenvalues of a kernel below minus this fraction of the largest are not rounding."""


def side_kernel(y: Any, n_samples: int, kernel: Any) -> FloatArray:
    """Return the kernel matrix of side information, with a mean diagonal of one."""
    values, kernel = _read(y, n_samples, kernel)
    if callable(kernel):
        return _checked(kernel(y), n_samples, is_given=True)
    if kernel == "identity":
        return np.eye(n_samples)
    if kernel == "precomputed":
        return _checked(values, n_samples, is_given=True)
    if kernel == "delta":
        classes = _classes(values)
        L = (classes[:, None] == classes[None, :]).astype(np.float64)
    elif kernel == "linear":
        columns = _centered(values)
        L = columns @ columns.T
    else:
        L = _radial(_numbers(values, kernel))
    return _checked(L, n_samples, is_given=False)


def side_factor(y: Any, n_samples: int, kernel: Any, *, most: int) -> FloatArray | None:
    """Return F with L = FFᵀ where that is known, at most so many columns; else None."""
    values, kernel = _read(y, n_samples, kernel)
    if kernel == "delta":
        classes = _classes(values)
        n_classes = int(classes.max()) + 1
        if n_classes > most:
            return None
        F = (classes[:, None] == np.arange(n_classes)).astype(np.float64)
        is_constant = n_classes == 1
    elif kernel == "linear":
        F = _centered(values)
        if F.shape[1] > most:
            return None
        is_constant = not F.any()
    else:
        return None
    if is_constant:
        raise InvalidInputError(CONSTANT)
    factor: FloatArray = F / np.sqrt(np.vdot(F, F) / n_samples)
    return factor


def factor_of_kernel(L: FloatArray, *, most: int) -> FloatArray | None:
    """Return F with L = FFᵀ up to rounding, by pivoted Cholesky; None if it has more columns."""
    lower, pivots, rank, _ = pstrf(L, tol=RANK_TOLERANCE * float(L.diagonal().max()), lower=1)
    if rank > most:
        return None
    F = np.empty((len(L), rank))
    F[pivots - 1] = np.tril(lower)[:, :rank]
    return F


def _read(y: Any, n_samples: int, kernel: Any) -> tuple[Any, Any]:
    """Return side information as an array and the kernel that suits it, both checked."""
    values = np.asarray(y)
    if values.shape[:1] != (n_samples,):
        msg = (
            f"y has shape {values.shape}, but X has {n_samples} samples. Pass one label, target or "
            f"row of tags for every sample."
        )
        raise InvalidInputError(msg)
    if callable(kernel):
        return values, kernel
    if not isinstance(kernel, str) or kernel not in KERNELS:
        msg = (
            f"{setting('label_kernel', kernel)} must be a function or one of {', '.join(KERNELS)}."
        )
        raise InvalidInputError(msg)
    if kernel not in ("identity", "precomputed"):
        _refuse_nan(values)
    if kernel == "auto":
        kernel = _suiting(values, n_classes=int(_classes(values).max()) + 1)
    return values, kernel


def _refuse_nan(values: Any) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        msg = "y holds NaN or infinite values. Leave these samples out, or fill them."
        raise InvalidInputError(msg)


def _classes(values: Any) -> IntArray:
    """Return the number of every sample's class: samples with equal rows have the same class."""
    columns = values.reshape(len(values), -1)
    try:
        codes = [np.unique(column, return_inverse=True)[1] for column in columns.T]
    except TypeError as error:
        msg = f"y holds values that cannot be compared: {error}. Pass labels of one kind."
        raise InvalidInputError(msg) from error
    return np.asarray(np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1]).ravel()


def _suiting(values: Any, *, n_classes: int) -> str:
    """Distinguish classes, tags and numbers, by scikit-learn's rules."""
    try:
        target = type_of_target(values, input_name="y", raise_unknown=True)
    except ValueError as error:
        raise InvalidInputError(str(error)) from error
    if target.startswith("multilabel"):
        return "linear"
    # Ages or counts are whole numbers, too, but hardly any two samples share one.
    is_number = values.dtype.kind in "iuf" and n_classes > len(values) / 2
    return "rbf" if target.startswith("continuous") or is_number else "delta"


def _numbers(values: Any, kernel: str) -> FloatArray:
    """Return side information as columns of numbers."""
    try:
        columns: FloatArray = values.reshape(len(values), -1).astype(np.float64)
    except ValueError as error:
        msg = (
            f"{setting('label_kernel', kernel)} needs numbers, but y holds {values.dtype}: {error}"
        )
        raise InvalidInputError(msg) from error
    _refuse_nan(columns)
    return columns


def _centered(values: Any) -> FloatArray:
    """Return the columns whose products are the linear kernel."""
    columns = _numbers(values, "linear")
    return np.asarray(columns - columns.mean(axis=0))


def _radial(columns: FloatArray) -> FloatArray:
    """Return Gaussians of the distances, as wide as their median."""
    distances = pdist(columns, "sqeuclidean")
    positive = distances[distances > 0]
    # The usual width: the median of the distances.
    width = float(np.median(positive)) if len(positive) else 1.0
    return np.exp(-squareform(distances) / width)


def _checked(L: Any, n_samples: int, *, is_given: bool) -> FloatArray:
    """Return a kernel that is square, finite, symmetric and positive semidefinite, scaled."""
    try:
        matrix = np.asarray(L, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = (
            f"The kernel of y is a {type(L).__name__} that cannot be read as a matrix of real "
            f"numbers ({error}). It must be a finite matrix of shape {(n_samples, n_samples)}."
        )
        raise InvalidInputError(msg) from error
    if matrix.shape != (n_samples, n_samples) or not np.isfinite(matrix).all():
        msg = (
            f"The kernel of y has shape {matrix.shape}, or entries that are not finite. It must be "
            f"a finite matrix of shape {(n_samples, n_samples)}."
        )
        raise InvalidInputError(msg)
    largest = float(np.abs(matrix).max(initial=0.0))
    if np.abs(matrix - matrix.T).max(initial=0.0) > NEGATIVE * largest:
        msg = "The kernel of y is not symmetric. Pass (L + L.T) / 2 if that is what you mean."
        raise InvalidInputError(msg)
    if is_given:
        least = float(np.linalg.eigvalsh(matrix)[0])
        if least < -NEGATIVE * largest:
            msg = (
                f"The kernel of y has the eigenvalue {least:.3g}, but a kernel is positive "
                f"semidefinite. Pass a kernel, not distances."
            )
            raise InvalidInputError(msg)
    scale = float(np.trace(matrix)) / n_samples
    if np.ptp(matrix) <= NEGATIVE * largest:
        raise InvalidInputError(CONSTANT)
    return (matrix + matrix.T) / (2.0 * scale)
