"""Rigid motions of many shapes at once, y = u R_i + t_i: one rotation and one translation each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.linalg.procrustes import SimilarityTransform

__all__ = ["RigidMotions"]


@dataclass(frozen=True, eq=False)
class RigidMotions:
    """Motions u ↦ u R_i + t_i of patches, cells or components.

    Attributes
    ----------
    rotations : ndarray of shape (n, r, p)
        The matrices R with orthonormal rows. Methods that project or stretch shapes, for
        comparison, put their matrices here as well; then there is nothing to undo.
    translations : ndarray of shape (n, p)
        The vectors t.
    """

    rotations: FloatArray
    translations: FloatArray

    def __len__(self) -> int:
        return len(self.translations)

    @classmethod
    def identity(cls, n: int, dimension: int) -> RigidMotions:
        """Return motions that leave n shapes as they are."""
        return cls(np.tile(np.eye(dimension), (n, 1, 1)), np.zeros((n, dimension)))

    @classmethod
    def stacked(cls, motions: Iterable[SimilarityTransform]) -> RigidMotions:
        """Return single motions, of scale one, as one stack."""
        pairs = [(motion.rotation, motion.translation) for motion in motions]
        rotations, translations = zip(*pairs, strict=True)
        return cls(np.stack(rotations), np.stack(translations))

    @classmethod
    def joined(cls, stacks: Iterable[RigidMotions]) -> RigidMotions:
        """Return the motions of several stacks, one stack after the other."""
        pairs = [(motions.rotations, motions.translations) for motions in stacks]
        rotations, translations = zip(*pairs, strict=True)
        return cls(np.concatenate(rotations), np.concatenate(translations))

    def apply(self, coordinates: FloatArray, owners: IntArray) -> FloatArray:
        """Return the images of coordinates, row by row, each moved by the motion of its owner."""
        rotated = (coordinates[:, None, :] @ self.rotations[owners])[:, 0]
        return np.asarray(rotated + self.translations[owners])

    def apply_each(self, shapes: Sequence[FloatArray]) -> list[FloatArray]:
        """Return all shapes, each moved by its own motion."""
        motions = zip(shapes, self.rotations, self.translations, strict=True)
        return [points @ rotation + translation for points, rotation, translation in motions]

    def undo(self, images: FloatArray, owners: IntArray) -> FloatArray:
        """Return the coordinates of images, row by row; rotations must have orthonormal rows."""
        offsets = images - self.translations[owners]
        return np.asarray((self.rotations[owners] @ offsets[:, :, None])[:, :, 0])

    def then(self, after: RigidMotions) -> RigidMotions:
        """Return these motions followed by others: one for all of them, or one for each."""
        if len(after) == 1:
            moved = self.translations @ after.rotations[0]
        else:
            moved = (self.translations[:, None, :] @ after.rotations)[:, 0]
        return RigidMotions(self.rotations @ after.rotations, moved + after.translations)

    def in_frame(self, center: FloatArray, axes: FloatArray) -> RigidMotions:
        """Return the motions as seen from a center, along given axes."""
        return RigidMotions(self.rotations @ axes, (self.translations - center) @ axes)

    def restrict(self, chosen: IntArray | slice) -> RigidMotions:
        """Return some of the motions, or motions repeated, by their numbers."""
        return RigidMotions(self.rotations[chosen], self.translations[chosen])
