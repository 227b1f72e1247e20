"""The piecewise-linear map of merged planes: any point to the embedding, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.utils.metaestimators import available_if

from isofold._typing import FloatArray, IntArray
from isofold.extension.way_back import LocalInverse
from isofold.linalg.motions import RigidMotions
from isofold.neighbors import NeighborSearch
from isofold.patches.planes import Planes

__all__ = ["PlaneMap"]


@dataclass(frozen=True, eq=False)
class PlaneMap(LocalInverse):
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

    # Orthogonal projection lays cells on top of each other: there is no inverse.
    @available_if(lambda plane_map: plane_map.is_rigid)
    def inverse_transform(self, Y: FloatArray) -> FloatArray:
        """Return the points of the planes whose images are given; or, if closer, of neighbors."""
        return self._on_planes(Y) if self._has_planes else super().inverse_transform(Y)

    def training_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the nodes and their images."""
        return self.search.points, self.image_search.points

    @cached_property
    def _has_planes(self) -> bool:
        """Whether planes lead images of nodes back to these as closely as neighbors do."""
        return self.way_back.misses_more_than(self._on_planes)

    def _on_planes(self, Y: FloatArray) -> FloatArray:
        images = Y.astype(np.float64, copy=False)
        cells = self.planes.labels[self.image_search.query(images, 1).indices[:, 0]]
        return self.planes.points(self.motions.undo(images, cells), cells)

    def distance(self, X: FloatArray) -> FloatArray:
        """Return the distances of points from the planes of their nearest nodes."""
        cells = self.cell_of(X)
        on_plane = self.planes.points(self.planes.coordinates(X, cells), cells)
        return np.asarray(np.linalg.norm(X - on_plane, axis=1))
