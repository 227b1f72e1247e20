"""A linear map: new points by their projection on some axes."""

from __future__ import annotations

from dataclasses import dataclass

from isofold._typing import FloatArray
from isofold.linalg.rows import row_product

__all__ = ["LinearMap"]


@dataclass(frozen=True, eq=False)
class LinearMap:
    """Projection on axes (d × r) through a mean."""

    axes: FloatArray
    mean: FloatArray

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the images of points, each by its own row."""
        return row_product(X - self.mean, self.axes)
