"""Projection on principal axes, as a candidate beside the methods that unfold."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._base import Fit
from isofold._typing import FloatArray
from isofold.embedding.embedder import Embedder
from isofold.extension.linear_map import LinearMap
from isofold.linalg import principal_coordinates

__all__ = ["Projection"]


class Projection(Embedder):
    """Projection on the principal axes; zeros beyond the dimension of the data.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the map.
    """

    def __init__(self, *, n_components: int = 2) -> None:
        self.n_components = n_components

    def _fit(self, X: FloatArray, y: Any) -> Fit:
        principal = principal_coordinates(X, min(self.n_components, X.shape[1]))
        missing = self.n_components - principal.axes.shape[1]
        linear = LinearMap(np.pad(principal.axes, ((0, 0), (0, missing))), principal.mean)
        return Fit.of(linear.transform(X), map_=linear, findings=())
