"""A fitted model as a function from arrays to arrays, to be sent to where the rows are."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn import config_context

from isofold._base import BaseEmbedder
from isofold._typing import FloatArray

__all__ = ["RowMap"]


@dataclass(frozen=True, eq=False)
class RowMap:
    """Maps arrays of rows, each row by itself, whatever names and containers the user has set.

    Attributes
    ----------
    model : BaseEmbedder
        The fitted model, without the names of its features: blocks of rows have none.
    """

    model: BaseEmbedder

    @classmethod
    def of(cls, model: BaseEmbedder) -> Self:
        """Return the map of a model; a later fit of the model does not change it."""
        plain = copy(model)
        for name in ("feature_names_in_", "_sklearn_output_config"):
            plain.__dict__.pop(name, None)
        return cls(plain)

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return the images of rows."""
        with config_context(transform_output="default"):
            return np.asarray(self.model.transform(rows))
