"""Columns of data frames as rows of numbers: nullable and Arrow types, flags, missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from isofold.blocks.protocol import float_type
from isofold.exceptions import InvalidInputError

__all__ = ["FrameColumns", "chosen_columns"]


@dataclass(frozen=True)
class FrameColumns:
    """The columns that every partition of a data frame has.

    Attributes
    ----------
    labels : tuple
        Their labels.
    dtype : dtype
        Common type of their numbers.
    """

    labels: tuple[Any, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, frame: Any, chosen: Sequence[Any] = ()) -> Self:
        """Return all or some columns of a data frame; refuse those without numbers."""
        frame = chosen_columns(frame, chosen, "X")
        labels = tuple(frame.columns)
        if not labels:
            msg = "X has no columns. Pass a data frame with at least one column of numbers."
            raise InvalidInputError(msg)
        types = []
        for label, dtype in zip(labels, frame.dtypes, strict=True):
            kind = number_type(dtype)
            if kind is None:
                msg = (
                    f"X: column {label!r} holds {dtype}, but features are real numbers. Name the "
                    f"columns to read, without it: isofold.read_blocks(X, columns=[...])."
                )
                raise InvalidInputError(msg)
            types.append(kind)
        return cls(labels, np.result_type(*types))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, which scikit-learn knows only if all are texts."""
        return self.labels if all(isinstance(each, str) for each in self.labels) else ()

    def rows(self, frame: Any, name: str) -> npt.NDArray[Any]:
        """Return the rows of a partition; a missing number is NaN."""
        if tuple(frame.columns) != self.labels:
            msg = (
                f"{name}: this partition has the columns {_listed(frame.columns)}, but the table "
                f"has {_listed(self.labels)}. All partitions need the same columns in one order."
            )
            raise InvalidInputError(msg)
        types = [number_type(dtype) or np.dtype(np.float64) for dtype in frame.dtypes]
        wanted = float_type(np.result_type(*types)) if len(frame) else float_type(self.dtype)
        try:
            return np.asarray(frame.to_numpy(dtype=wanted, na_value=np.nan))
        except (TypeError, ValueError) as error:
            msg = f"{name}: this partition holds what is no number: {error}. Features are numbers."
            raise InvalidInputError(msg) from error


def chosen_columns(frame: Any, chosen: Sequence[Any], name: str) -> Any:
    """Return a data frame of chosen columns, or as it is; refuse columns that it lacks."""
    absent = [label for label in chosen if label not in frame.columns]
    if absent:
        msg = f"{name}: there is no column {absent[0]!r}. There are {_listed(frame.columns)}."
        raise InvalidInputError(msg)
    return frame[list(chosen)] if chosen else frame


def number_type(dtype: Any) -> np.dtype[Any] | None:
    """Return the NumPy type of a column of real numbers or flags, or None for any other."""
    plain = getattr(dtype, "numpy_dtype", dtype)
    return plain if isinstance(plain, np.dtype) and plain.kind in "biuf" else None


def _listed(labels: Any) -> str:
    shown = ", ".join(repr(label) for label in list(labels)[:8])
    return f"{shown}, ..." if len(labels) > 8 else shown or "none"
