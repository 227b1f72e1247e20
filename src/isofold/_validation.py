"""What comes in: points, distances and counts, checked once with messages that help."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from isofold._errors import InvalidInputError
from isofold._typing import FloatArray

LARGEST_UNIT = 1e70
"""Beyond it (or below its inverse) products of two squared distances leave the range."""


def check_points(X: Any, *, name: str = "X", min_samples: int = 2) -> FloatArray:
    """Return `X` as a finite dense float array, float32 and float64 kept as they are.

    Data frames, lists, integers and read-only memory maps are accepted; nothing is copied
    that need not be.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points.
    name : str, default="X"
        What the error messages call them.
    min_samples : int, default=2
        The least number of rows that makes sense to the caller.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The same points.

    Raises
    ------
    InvalidInputError
        If the input is sparse, not numeric, not two-dimensional, empty or not finite.
    """
    refuse_sparse(X, name=name)
    try:
        array = check_array(
            X,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        msg = (
            f"{name} cannot be read as a table of numbers with one row a point: {error} "
            f"Encode text and categories as numbers first."
        )
        raise InvalidInputError(msg) from error
    if array.shape[1] == 0:
        msg = (
            f"{name} has shape {array.shape}: 0 feature(s), so every point is the same. "
            f"Pass at least one column."
        )
        raise InvalidInputError(msg)
    if array.shape[0] < min_samples:
        msg = (
            f"{name} has {array.shape[0]} row(s), but at least {min_samples} are needed here: "
            f"distances exist only between points. Pass more samples."
        )
        raise InvalidInputError(msg)
    check_finite(array, name=name)
    return array


def refuse_sparse(X: Any, *, name: str) -> None:
    """Raise an error if the points come as a sparse matrix."""
    if sp.issparse(X):
        msg = (
            f"{name} is a sparse matrix, but distances between points need "
            f"dense rows. Pass {name}.toarray(), or reduce it first with "
            f"sklearn.decomposition.TruncatedSVD."
        )
        raise InvalidInputError(msg)


def check_finite(array: FloatArray, *, name: str) -> None:
    """Raise an error that names the first NaN or infinite entry, if there is one."""
    # The sum is NaN or infinite whenever an entry is: one pass without a temporary.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    bad = ~np.isfinite(array)
    if not bad.any():
        return
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    n_nan = int(np.isnan(array).sum())
    n_inf = int(bad.sum()) - n_nan
    msg = (
        f"{name} contains {n_nan} NaN and {n_inf} infinite value(s), the first at index {first}. "
        f"Distances to such a point are undefined. Drop the rows or fill the gaps, for example "
        f"with sklearn.impute.SimpleImputer."
    )
    raise InvalidInputError(msg)


def check_units(array: FloatArray, *, name: str) -> None:
    """Raise an error if squares of the entries overflow or vanish."""
    largest = max(float(array.max()), -float(array.min()))
    if largest > LARGEST_UNIT or 0 < largest < 1 / LARGEST_UNIT:
        msg = (
            f"The largest entry of {name} is {largest:.3g} in size. Squared distances leave the "
            f"range of numbers beyond {LARGEST_UNIT:.0e} and below {1 / LARGEST_UNIT:.0e}. Express "
            f"{name} in other units."
        )
        raise InvalidInputError(msg)


def check_pair(
    first: Any, second: Any, *, names: tuple[str, str] = ("X", "Y"), min_samples: int = 2
) -> tuple[FloatArray, FloatArray]:
    """Return two tables that describe the same points row by row."""
    first = check_points(first, name=names[0], min_samples=min_samples)
    second = check_points(second, name=names[1], min_samples=min_samples)
    check_same_rows(len(first), len(second), names=names)
    check_units(first, name=names[0])
    check_units(second, name=names[1])
    return first, second


def check_same_rows(n_first: int, n_second: int, *, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise an error if two tables of the same points have different lengths."""
    if n_first != n_second:
        msg = (
            f"{names[0]} has {n_first} rows and {names[1]} has {n_second}: row i of both must be "
            f"the same point. Pass both tables for exactly the same samples, in the same order."
        )
        raise InvalidInputError(msg)


def check_n_neighbors(
    n_neighbors: Any, n_samples: int, *, name: str = "n_neighbors", what: str = "points"
) -> int:
    """Return a neighbor count between 1 and ``n_samples - 1``; `what` names the samples."""
    k = check_count(n_neighbors, name=name)
    if k >= n_samples:
        msg = (
            f"{name}={k} but there are only {n_samples} {what}, so a point has at most "
            f"{n_samples - 1} neighbors. Pass {name} <= {n_samples - 1}."
        )
        raise InvalidInputError(msg)
    return k


def check_count(value: Any, *, name: str, minimum: int = 1) -> int:
    """Return a whole number not below `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        msg = f"{name}={value!r} must be a whole number of at least {minimum}."
        raise InvalidInputError(msg)
    return int(value)
