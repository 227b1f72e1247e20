"""The piecewise-linear map of merged planes: any point to the embedding, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.linalg.motions import RigidMotions
from isofold.neighbors import NeighborSearch
from isofold.patches.planes import Planes

__all__ = ["PlaneMap"]


@dataclass(frozen=True, eq=False)
class PlaneMap:
    """Planes and their motions, with the nodes that tell which cell is near.

    Attributes
    ----------
    planes : Planes
        The planes; their labels are those of the nodes.
    motions : RigidMotions
        Where they go.
    search : NeighborSearch
        Finds the node nearest to a point of the data space.
    image_search : NeighborSearch
        Finds the node nearest to a point of the embedding.
    is_rigid : bool
        Whether planes are moved rigidly, so that the map has an inverse.
    """

    planes: Planes
    motions: RigidMotions
    search: NeighborSearch
    image_search: NeighborSearch
    is_rigid: bool = True

    def cell_of(self, points: FloatArray) -> IntArray:
        """Return the cell of the nearest node of every point."""
        return self.planes.labels[self.search.query(points, 1).indices[:, 0]]

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the images of points, each by the plane of its nearest node."""
        return self.images_in(self.cell_of(X), X)

    def images_in(self, cells: IntArray, points: FloatArray) -> FloatArray:
        """Return the images of points in given cells, in float64."""
        return self.motions.apply(self.planes.coordinates(points, cells), cells)

    def inverse_transform(self, Y: FloatArray) -> FloatArray:
        """Return the points of the planes whose images are given."""
        if not self.is_rigid:
            msg = "Planes were projected onto each other, which has no inverse. Use another merge."
            raise InvalidInputError(msg)
        images = Y.astype(np.float64, copy=False)
        cells = self.planes.labels[self.image_search.query(images, 1).indices[:, 0]]
        return self.planes.points(self.motions.undo(images, cells), cells)

    def distance(self, X: FloatArray) -> FloatArray:
        """Return the distances of points from the planes of their nearest nodes."""
        cells = self.cell_of(X)
        on_plane = self.planes.points(self.planes.coordinates(X, cells), cells)
        return np.asarray(np.linalg.norm(X - on_plane, axis=1))
