"""Objects that are not rows of numbers, and how they are compared.

A kernel or a distance of objects is a small frozen object that is called with two sequences and
returns the matrix of all pairs: ``SpectrumKernel(3)(strings, others)``. Any estimator takes it as
``kernel=`` or ``metric=``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError

__all__ = ["ObjectDistance", "ObjectKernel", "is_table", "read_objects"]


class ObjectKernel(ABC):
    """A positive semidefinite similarity of objects: ``kernel(A, B)[i, j] = k(A[i], B[j])``.

    A value depends on its two objects alone, to the last bit, whatever comes with them.
    """

    @abstractmethod
    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the kernel of every object of A with every object of B, or of A with itself."""


class ObjectDistance(ABC):
    """A distance of objects: ``distance(A, B)[i, j] = d(A[i], B[j])``.

    A value depends on its two objects alone, to the last bit, whatever comes with them.
    """

    @abstractmethod
    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the distance of every object of A to every object of B, or of A to itself."""


def is_table(X: Any) -> bool:
    """Return whether X is a table of numbers, whose rows are points."""
    if sp.issparse(X):
        return True
    dtype, ndim = getattr(X, "dtype", None), getattr(X, "ndim", None)
    if ndim == 2 and dtype is None:  # a frame, whose columns have types of their own
        return all(getattr(each, "kind", "f") in "fiub" for each in getattr(X, "dtypes", ()))
    return ndim == 2 and getattr(dtype, "kind", "O") in "fiub"


def read_objects(X: Any, *, name: str = "X") -> Sequence[Any]:
    """Return the objects of a collection in order, as they are: nothing is turned into numbers."""
    if isinstance(X, str | bytes) or not isinstance(X, Iterable) or not isinstance(X, Sized):
        msg = (
            f"{name} is a {type(X).__name__}, but a collection of objects is needed, one for each "
            f"sample. Pass a list of them."
        )
        raise InvalidInputError(msg)
    if getattr(X, "ndim", 1) == 2:
        # A table of text: its rows, or what its only column holds.
        table = np.asarray(X, dtype=object)
        X = table[:, 0] if table.shape[1] == 1 else [tuple(row) for row in table]
    objects = list(X)
    if not objects:
        msg = f"{name} is empty, but at least one object is needed. Pass what is to be compared."
        raise InvalidInputError(msg)
    if any(item is None for item in objects):
        first = next(i for i, item in enumerate(objects) if item is None)
        msg = f"{name}[{first}] is None, which cannot be compared. Leave such samples out."
        raise InvalidInputError(msg)
    return objects
