"""A new stitching beside an older map: moved into its frame, and compared with it at the seam.

The new stitching holds the nodes of the older map as well. One rigid motion for each component
takes these to where they are already: those in patches with new nodes count, and the others a
little, so that a seam in a straight line cannot flip what is beyond it. There is no scaling:
lengths of both maps are those of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._findings import Diagnosis, Finding
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.extension.extended_map import ExtendedMap, PlacedPoints
from isofold.extension.patch_map import PatchMap
from isofold.linalg import SimilarityTransform, procrustes
from isofold.linalg.motions import RigidMotions
from isofold.neighbors import build_search
from isofold.patches import PatchCover

__all__ = ["RULES", "JointNodes", "Seam", "SeamRules", "align", "find_seam", "measure_seam"]


@dataclass(frozen=True)
class SeamRules:
    """When an extension fits the map that it extends.

    Attributes
    ----------
    far_weight : float
        Weight of all old nodes away from the seam, against one of those at it.
    nearest, farthest : float
        Remoteness of the points at which both maps are compared: the older one ends at one.
    largest_tear : float
        How far apart both maps may put a point of the seam, in units of the reach.
    """

    far_weight: float = 0.1
    nearest: float = 0.5
    farthest: float = 1.5

    # Halves of rolls of 1,000 to 8,000 points, root mean squared: .01 without noise, .12 with noise
    # of .3, .35 in 16 steps. Digits, which are no sheet, have 1.6; where the whole is closed, or
    # layers were bridged, it is 2.8 and more.
    largest_tear: float = 0.5


RULES = SeamRules()


@dataclass(frozen=True, eq=False)
class JointNodes:
    """The nodes of a stitching that holds the nodes of an older map and new ones.

    Attributes
    ----------
    images : ndarray of shape (n_nodes, r)
        Their images in the frame of the stitching.
    component : ndarray of int of shape (n_nodes,)
        Their components.
    old : ndarray of int of shape (n_nodes,)
        Which node of the older map each of them is; -1 of a new one.
    cover : PatchCover
        The patches.
    """

    images: FloatArray
    component: IntArray
    old: IntArray
    cover: PatchCover

    @property
    def is_old(self) -> BoolArray:
        """Which nodes the older map has."""
        return np.asarray(self.old >= 0)

    @property
    def is_beside_new(self) -> BoolArray:
        """Which old nodes are in a patch with a new one."""
        has_new = np.zeros(self.cover.n_patches, dtype=bool)
        has_new[self.cover.patches[~self.is_old[self.cover.members]]] = True
        is_beside = np.zeros(len(self.old), dtype=bool)
        is_beside[self.cover.members[has_new[self.cover.patches]]] = True
        return is_beside & self.is_old

    def old_labels(self, labels: IntArray) -> IntArray:
        """Return the old component that every component continues; -1 of a new one.

        `labels` are those of the nodes of the older map. Of several, that with the most nodes at
        the seam, or with the most nodes if there is no seam.
        """
        least = self.images.shape[1] + 1
        found = np.full(int(self.component.max()) + 1, -1)
        for number in range(len(found)):
            inside = (self.component == number) & self.is_old
            at_seam = inside & self.is_beside_new
            chosen = at_seam if at_seam.any() else inside
            if inside.sum() >= least:
                found[number] = int(np.bincount(labels[self.old[chosen]]).argmax())
        return found


def align(
    newer: PatchMap,
    nodes: JointNodes,
    old_images: FloatArray,
    labels: IntArray,
    rules: SeamRules = RULES,
) -> PatchMap:
    """Return a stitching in the frame of the older map, given images and labels of its nodes.

    At least one component has to continue an old one.
    """
    continued = nodes.old_labels(labels)
    motions = {}
    for number in np.flatnonzero(continued >= 0):
        inside = np.flatnonzero((nodes.component == number) & nodes.is_old)
        inside = inside[labels[nodes.old[inside]] == continued[number]]
        motions[int(number)] = _motion(nodes, inside, old_images, rules)
    # A new component was placed beside another one, and goes with it.
    leaders = [
        number if label >= 0 else _nearest_component(newer.search.points, nodes, continued, number)
        for number, label in enumerate(continued)
    ]
    stacked = RigidMotions.stacked(motions[leader] for leader in leaders)
    return newer.moved(stacked.restrict(nodes.component[nodes.cover.seeds]))


def _motion(
    nodes: JointNodes, inside: IntArray, old_images: FloatArray, rules: SeamRules
) -> SimilarityTransform:
    """Return the rigid motion of old nodes onto their old images."""
    is_beside = nodes.is_beside_new[inside]
    weights = np.full(len(inside), rules.far_weight / max(1, int((~is_beside).sum())))
    if is_beside.any():
        weights[is_beside] = 1.0 / is_beside.sum()
    return procrustes(
        nodes.images[inside], old_images[nodes.old[inside]], weights=weights
    ).transform


def _nearest_component(
    points: FloatArray, nodes: JointNodes, continued: IntArray, number: int
) -> int:
    """Return which of the components that continue old ones is nearest to another component."""
    others = np.flatnonzero(continued[nodes.component] >= 0)
    near = build_search(points[others]).query(points[nodes.component == number], 1)
    return int(nodes.component[others[near.indices[near.distances[:, 0].argmin(), 0]]])


@dataclass(frozen=True)
class Seam:
    """How far apart two maps put the points where one takes over from the other.

    Attributes
    ----------
    tear : float
        Root mean squared distance, in units of the reach: of the lengths between neighbors.
    jump : float
        The same in the unit of the map.
    """

    tear: float
    jump: float


def measure_seam(
    older: ExtendedMap,
    newer: PatchMap,
    points: FloatArray,
    before: PlacedPoints,
    nodes: FloatArray,
    rules: SeamRules = RULES,
) -> Seam | None:
    """Return how well two maps agree at the seam; None if they do not meet.

    `before` is where the older one puts the points. Of these count those about as far from its
    nodes as it reaches, and on its charts: there it is extrapolated the farthest, and that is what
    the map jumps by. Where they are too few, its nodes at the seam count.
    """
    is_near = (before.remoteness >= rules.nearest) & (before.remoteness <= rules.farthest)
    rows = np.flatnonzero(is_near & ~before.mapped.is_off)
    images = before.mapped.images[rows]
    if len(rows) <= images.shape[1]:
        points, rows = nodes, np.arange(len(nodes))
        images = older.transform(nodes)
    if not len(rows):
        return None
    after = newer.map_points(points[rows])
    squares = ((after.images - images).astype(np.float64) ** 2).sum(axis=1)
    reaches = newer.reaches[after.nearest]
    unit = float((reaches**2).mean())
    jump = float(squares.mean())
    return Seam(float(np.sqrt(jump / unit)) if unit > 0.0 else 0.0, float(np.sqrt(jump)))


def find_seam(
    seam: Seam | None,
    embedding: FloatArray,
    known: Diagnosis,
    n_extensions: int,
    rules: SeamRules = RULES,
) -> Finding | None:
    """Return the finding about all seams so far: the worst tear, and all errors together."""
    before = next((finding for finding in known if finding.code == "seam"), None)
    if seam is None:
        return before
    centered = embedding.astype(np.float64) - embedding.mean(axis=0, dtype=np.float64)
    extent = float(np.sqrt((centered**2).sum() / len(centered)))
    error, tear = seam.jump / extent if extent > 0.0 else 0.0, seam.tear
    if before is not None:
        error = float(np.hypot(error, dict(before.parameters)["error"]))
        tear = max(tear, before.value)
    return Finding.checked(
        "seam",
        tear,
        rules.largest_tear,
        is_raised=tear > rules.largest_tear,
        error=error,
        n=n_extensions,
    )
