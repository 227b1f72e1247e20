"""Patches that are given: read from a table, a sparse matrix or lists of indices, and checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._typing import IntArray
from isofold.exceptions import InvalidInputError

__all__ = ["read_memberships"]

FORMS = (
    "Pass a table of zeros and ones with a row for each point and a column for each patch, or for "
    "each patch the list of its points."
)


def read_memberships(memberships: Any, n_points: int) -> tuple[IntArray, IntArray]:
    """Return the entries of patches, patch by patch."""
    if sp.issparse(memberships) or len(getattr(memberships, "shape", ())) == 2:
        return _read_table(memberships, n_points)
    return _read_lists(memberships, n_points)


def _read_table(memberships: Any, n_points: int) -> tuple[IntArray, IntArray]:
    shape = memberships.shape
    if len(shape) != 2 or shape[0] != n_points or shape[1] == 0:
        msg = f"memberships has shape {shape}, but there are {n_points} points. {FORMS}"
        raise InvalidInputError(msg)
    given: Any = memberships if sp.issparse(memberships) else np.asarray(memberships)
    if given.dtype.kind not in "biuf":
        msg = f"memberships holds {given.dtype} entries, not zeros and ones. {FORMS}"
        raise InvalidInputError(msg)
    table = sp.csc_array(given, copy=True)
    table.sum_duplicates()
    strange = table.data[(table.data != 0) & (table.data != 1)]
    if len(strange):
        msg = (
            f"memberships holds {len(strange)} entries that are neither 0 nor 1, the first of them "
            f"{strange[0]}. Decide who is a member, for example by memberships > 0.5. {FORMS}"
        )
        raise InvalidInputError(msg)
    table.eliminate_zeros()
    sizes = np.diff(table.indptr)
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        raise InvalidInputError(_empty_patch(int(empty[0])))
    return np.repeat(np.arange(shape[1]), sizes), table.indices.astype(np.int64)


def _read_lists(memberships: Any, n_points: int) -> tuple[IntArray, IntArray]:
    given = list(memberships) if isinstance(memberships, Iterable) else []
    if not given:
        msg = f"memberships={memberships!r} holds no patches. {FORMS}"
        raise InvalidInputError(msg)
    lists = [_read_list(indices, patch, n_points) for patch, indices in enumerate(given)]
    return np.repeat(np.arange(len(lists)), [len(own) for own in lists]), np.concatenate(lists)


def _read_list(indices: Any, patch: int, n_points: int) -> IntArray:
    """Return the points of a patch in order."""
    given = np.asarray(indices)
    if given.ndim == 1 and given.size == 0:
        raise InvalidInputError(_empty_patch(patch))
    if given.ndim != 1 or given.dtype.kind not in "iu":
        msg = (
            f"Patch {patch} of memberships reads as an array of {given.dtype} of shape "
            f"{given.shape}, not as a list of points. {FORMS}"
        )
        raise InvalidInputError(msg)
    own, counts = np.unique(given, return_counts=True)
    if own[0] < 0 or own[-1] >= n_points:
        wrong = own[0] if own[0] < 0 else own[-1]
        msg = f"Patch {patch} holds the point {wrong}, but points are 0 to {n_points - 1}."
        raise InvalidInputError(msg)
    if counts.max() > 1:
        msg = (
            f"Patch {patch} holds the point {own[counts.argmax()]} {counts.max()} times. A point "
            f"is in a patch or not: list it once."
        )
        raise InvalidInputError(msg)
    return own.astype(np.int64)


def _empty_patch(patch: int) -> str:
    return f"Patch {patch} of memberships holds no points, so that it has no center. Leave it out."
