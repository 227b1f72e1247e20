"""What only looks like rows of numbers, refused with words about what to pass instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold.exceptions import InputTypeError, InvalidInputError

__all__ = ["POINT_ADVICE", "refuse_foreign", "refuse_masked", "refuse_sparse"]

POINT_ADVICE = (
    "Distances to such a point are undefined. Drop the rows or fill the gaps, for example with "
    "sklearn.impute.SimpleImputer."
)


def refuse_sparse(X: Any, *, name: str) -> None:
    """Raise an error if the points come as a sparse matrix."""
    if sp.issparse(X):
        msg = (
            f"{name} is a sparse matrix, but distances between points need "
            f"dense rows. Pass {name}.toarray(), or reduce it first with "
            f"sklearn.decomposition.TruncatedSVD."
        )
        raise InvalidInputError(msg)


def refuse_foreign(X: Any, *, name: str) -> None:
    """Raise an error if the points come as something that only looks like a table of numbers."""
    names = getattr(getattr(X, "dtype", None), "names", None)
    if isinstance(X, np.matrix):
        seen, do = "a np.matrix, whose products are not those of arrays", f"np.asarray({name})"
    elif names is not None:
        seen = f"a structured array with the fields {', '.join(names)}, not a table"
        do = f"numpy.lib.recfunctions.structured_to_unstructured({name})"
    elif isinstance(X, Mapping):
        seen, do = f"a {type(X).__name__}, which has no rows", f"pandas.DataFrame({name})"
    elif isinstance(X, Iterable) and not hasattr(X, "__len__") and not hasattr(X, "__array__"):
        seen, do = f"a {type(X).__name__}, which can be read only once", f"list({name})"
    else:
        return
    msg = f"{name} is {seen}. Rows of numbers are needed, one a sample. Pass {do}."
    raise InputTypeError(msg)


def refuse_masked(X: Any, *, name: str) -> None:
    """Raise an error if entries are masked: what is stored below the mask is no data."""
    n_masked = int(np.ma.count_masked(X)) if isinstance(X, np.ma.MaskedArray) else 0
    if n_masked:
        msg = f"{name} is a masked array with {n_masked} masked value(s). {POINT_ADVICE}"
        raise InvalidInputError(msg)
