"""Where rigid shapes lie: a turn and a centroid for each, z = (y − ȳ_p) R_p + m_p."""

from __future__ import annotations

from dataclasses import dataclass

from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = ["Layout"]


@dataclass(frozen=True, eq=False)
class Layout:
    """Turns R_p and centroids m_p of all shapes.

    Attributes
    ----------
    turns : ndarray of shape (n_shapes, q, q)
        Orthogonal matrices.
    centroids : ndarray of shape (n_shapes, q)
        Where the centroids of the shapes lie.
    """

    turns: FloatArray
    centroids: FloatArray

    def points(self, owner: IntArray, centered: FloatArray) -> FloatArray:
        """Return points, given relative to the centroids of the shapes that own them."""
        turned: FloatArray = (centered[:, None, :] @ self.turns[owner])[:, 0, :]
        return turned + self.centroids[owner]

    def link_vectors(self, pieces: IntArray, ends: FloatArray) -> FloatArray:
        """Return vectors from the first to the second end of links."""
        return self.points(pieces[:, 1], ends[:, 1]) - self.points(pieces[:, 0], ends[:, 0])

    def turned(self, moved: BoolArray, center: FloatArray, matrix: FloatArray) -> Layout:
        """Return the layout with some shapes turned about a point as one rigid body."""
        turns, centroids = self.turns.copy(), self.centroids.copy()
        turns[moved] = turns[moved] @ matrix
        centroids[moved] = center + (centroids[moved] - center) @ matrix
        return Layout(turns, centroids)

    def shifted(self, moved: BoolArray, by: FloatArray) -> Layout:
        """Return the layout with some shapes moved along a vector."""
        return Layout(self.turns, self.centroids + moved[:, None] * by)
