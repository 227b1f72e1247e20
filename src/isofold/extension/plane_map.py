"""The piecewise-linear map of merged planes: any point to the embedding, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.merging.walk import Motions
from isofold.neighbors import NeighborSearch
from isofold.patches.planes import Planes

__all__ = ["PieceMap"]


@dataclass(frozen=True, eq=False)
class PieceMap:
    """Planes and their motions, with the places that tell which piece is near.

    Attributes
    ----------
    planes : Planes
        The planes; their labels are those of the places.
    motions : Motions
        Where they go.
    search : NeighborSearch
        Finds the place nearest to a point of the data space.
    image_search : NeighborSearch
        Finds the place nearest to a point of the embedding.
    is_rigid : bool
        Whether planes are moved rigidly, so that there is a way back.
    """

    planes: Planes
    motions: Motions
    search: NeighborSearch
    image_search: NeighborSearch
    is_rigid: bool = True

    def piece_of(self, points: FloatArray) -> IntArray:
        """Return the piece of the nearest place of every point."""
        return self.planes.labels[self.search.query(points, 1).indices[:, 0]]

    def embed(self, points: FloatArray) -> FloatArray:
        """Map points, each by the plane of its nearest place."""
        return self.images_in(self.piece_of(points), points)

    def images_in(self, pieces: IntArray, points: FloatArray) -> FloatArray:
        """Return the images of points in given pieces, in float64."""
        return self.motions.apply(self.planes.coordinates(points, pieces), pieces)

    def restore(self, images: FloatArray) -> FloatArray:
        """Map points of the embedding back onto the planes."""
        images = images.astype(np.float64, copy=False)
        pieces = self.planes.labels[self.image_search.query(images, 1).indices[:, 0]]
        return self.planes.points(self.motions.undo(images, pieces), pieces)
