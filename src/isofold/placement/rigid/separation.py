"""Shapes kept as far from each other as in the data, with links as long as possible.

A link is the shortest path between two shapes, so a shape may come no nearer to others than its
shortest link. Variance alone does not see to that: sheets that faced each other in the data close
up like scissors, and what had room in space has none in the plane. Pairs of points that are too
near become lower bounds of the same program (`tightening`); it rotates shapes
about their link ends and keeps links. What still lies on something is pushed outward along with
its branch, which lengthens its link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from isofold._typing import BoolArray, FloatArray
from isofold.linalg.motions import RigidMotions
from isofold.placement.clearance import NEAR_ENOUGH, clearing_push
from isofold.placement.rigid.link_tree import LinkTree
from isofold.placement.rigid.tightening import Bounds, Tolerance, tighten

__all__ = ["Crowd"]

MOST_POINTS = 400
"""Points of a shape among which the nearest to other shapes are sought."""

LOOK_AHEAD = 1.2
"""Pairs nearer than so many gaps are bounded: others of a crowd would come too near next."""

PAIRS_EACH = 6
"""Bounds between two shapes in one round: their edges are nearly straight."""

MOST_ROUNDS = 6
"""Rounds of new bounds."""

COARSELY = Tolerance(violation=1e-4, gradient=1e-5, rounds=6, steps=50)
"""Lower bounds need not be exact: links are set right afterwards."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Shapes with their gaps.

    Attributes
    ----------
    shapes : tuple of ndarray of shape (n_p, q)
        Points relative to their centroids.
    gaps : ndarray of shape (n_shapes,)
        How far every shape is from all others in the data.
    weights : ndarray of shape (n_shapes,)
        Weights in the variance.
    """

    shapes: tuple[FloatArray, ...]
    gaps: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, shapes: list[FloatArray], gaps: FloatArray, weights: FloatArray) -> Crowd:
        """Return a crowd of shapes, thinned out where they have many points."""
        return cls(tuple(Y[:: -(-len(Y) // MOST_POINTS)] for Y in shapes), gaps, weights)

    def placed(self, motions: RigidMotions, shape: int) -> FloatArray:
        """Return the moved points of a shape."""
        moved: FloatArray = (
            self.shapes[shape] @ motions.rotations[shape] + motions.translations[shape]
        )
        return moved

    def separated(self, motions: RigidMotions, links: Bounds, tree: LinkTree) -> RigidMotions:
        """Return motions after which no shape comes nearer to another than its gap."""
        found = self._too_near(motions)
        if found is None:
            return motions
        bounds = [links]
        # On a line nothing can rotate aside.
        for _ in range(MOST_ROUNDS if motions.translations.shape[1] > 1 else 0):
            bounds.append(found)
            motions = tighten(motions, self.weights, Bounds.joined(bounds), COARSELY)
            # More than before: there is no room to rotate.
            before, found = found, self._too_near(motions)
            if found is None or len(found.lengths) > len(before.lengths):
                break
        return self._pushed(motions, links, tree)

    def _too_near(self, motions: RigidMotions) -> Bounds | None:
        """Return lower bounds on near pairs, or None if no two shapes are too near."""
        points = [self.placed(motions, p) for p in range(len(self.shapes))]
        trees = [KDTree(Z) for Z in points]
        centers = np.array([Z.mean(axis=0) for Z in points])
        reach = np.array(
            [np.linalg.norm(Z - c, axis=1).max() for Z, c in zip(points, centers, strict=True)]
        )
        shapes, ends, lengths, crowded = [], [], [], False
        for p in range(len(points)):
            for other in range(p):
                gap = max(self.gaps[p], self.gaps[other])
                apart = np.linalg.norm(centers[p] - centers[other]) - reach[p] - reach[other]
                if apart >= gap or gap == 0.0:
                    continue
                distances, nearest = map(np.asarray, trees[p].query(points[other]))
                if distances.min() >= (1.0 - NEAR_ENOUGH) * gap:
                    continue
                crowded = True
                near = np.flatnonzero(distances < LOOK_AHEAD * gap)
                near = near[np.argsort(distances[near], kind="stable")]
                # The nearest, and others spread evenly over the rest.
                near = near[np.unique(np.linspace(0, len(near) - 1, PAIRS_EACH).astype(np.intp))]
                shapes += [(p, other)] * len(near)
                ends.append(
                    np.stack([self.shapes[p][nearest[near]], self.shapes[other][near]], axis=1)
                )
                lengths += [gap] * len(near)
        if not crowded:
            return None
        return Bounds(
            np.array(shapes), np.concatenate(ends), np.array(lengths), -np.ones(len(lengths))
        )

    def _pushed(self, motions: RigidMotions, links: Bounds, tree: LinkTree) -> RigidMotions:
        """Give links their lengths again, and push out the branches that are still too near."""
        for step, shape in enumerate(tree.order[1:], start=1):
            branch = tree.branches[shape]
            parent = tree.parent[shape]
            end = motions.translations[parent] + tree.near[shape] @ motions.rotations[parent]
            link = motions.translations[shape] + tree.far[shape] @ motions.rotations[shape] - end
            size = float(np.linalg.norm(link))
            if size > 0.0 and tree.is_bridge(shape, links.shapes):
                motions = _shifted(motions, branch, (tree.length[shape] / size - 1.0) * link)
            others = np.concatenate([self.placed(motions, p) for p in tree.order[:step]])
            center = (
                self.weights[branch] @ motions.translations[branch] / self.weights[branch].sum()
            )
            directions = [center - others.mean(axis=0), link]
            push = self._push(motions, shape, KDTree(others), directions)
            motions = _shifted(motions, branch, push)
        return motions

    def _push(
        self, motions: RigidMotions, shape: int, others: KDTree, directions: list[FloatArray]
    ) -> FloatArray:
        """Return the shortest push, in one of several directions, that clears a shape of others."""
        own, gap = self.placed(motions, shape), self.gaps[shape]
        pushes = [clearing_push(others, own, direction, gap) for direction in directions]
        return min(pushes, key=lambda push: float(np.linalg.norm(push)))


def _shifted(motions: RigidMotions, moved: BoolArray, by: FloatArray) -> RigidMotions:
    """Return the motions with some shapes moved along a vector."""
    return RigidMotions(motions.rotations, motions.translations + moved[:, None] * by)
