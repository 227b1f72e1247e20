"""Projection on principal axes, as a candidate beside the methods that unfold."""

from __future__ import annotations

import numpy as np

from isofold._base import BaseEmbedder
from isofold._typing import FloatArray
from isofold.linalg import principal_coordinates
from isofold.linalg.rows import row_product

__all__ = ["Projection"]


class Projection(BaseEmbedder):
    """Projection on the principal axes; zeros beyond the dimension of the data.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the map.
    """

    def __init__(self, *, n_components: int = 2) -> None:
        self.n_components = n_components

    def _fit_embedding(self, X: FloatArray) -> FloatArray:
        principal = principal_coordinates(X, min(self.n_components, X.shape[1]))
        missing = self.n_components - principal.axes.shape[1]
        self.axes_, self.mean_ = np.pad(principal.axes, ((0, 0), (0, missing))), principal.mean
        return self._transform(X)

    def _transform(self, X: FloatArray) -> FloatArray:
        return row_product(X - self.mean_, self.axes_)
