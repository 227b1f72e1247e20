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

    def inverse_transform(self, Y: FloatArray) -> FloatArray:
        """Return the points of the subspace whose images are given; the axes are orthonormal."""
        return row_product(Y, self.axes.T) + self.mean
