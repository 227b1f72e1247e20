"""Patches laid onto a coarse layout: motions and points by turns, from shortest paths.

Where patches contradict each other, the lowest misfit is that of a folded map: of several starts
the one with the lowest misfit keeps the fewest neighbors. So the layout begins with the shortest
paths (Isomap), which is unfolded, and is improved for a few rounds only: each patch is moved onto
the positions of its points, then each point to the mean of its images.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray
from isofold.linalg import landmark_scaling
from isofold.linalg.motions import RigidMotions
from isofold.neighbors import NeighborGraph, geodesic_distances
from isofold.patches import Memberships, PatchCover
from isofold.stitching.rules import RULES, StitchingRules
from isofold.stitching.stitch import Alignment

__all__ = ["alternate", "layout_by_paths"]


def layout_by_paths(
    graph: NeighborGraph,
    n_components: int,
    *,
    n_jobs: int | None,
    rules: StitchingRules = RULES,
) -> FloatArray:
    """Return coordinates whose distances are about the shortest paths of a connected graph."""
    n = graph.n_nodes
    count = n if n <= rules.most_landmarks else rules.n_landmarks
    landmarks = np.linspace(0, n - 1, count).astype(np.intp)
    paths = geodesic_distances(graph, landmarks, n_jobs=n_jobs).astype(np.float64)
    squares = np.minimum(paths, paths[np.isfinite(paths)].max()) ** 2
    tol = float(np.finfo(np.float64).eps) * count
    layout = landmark_scaling(squares, landmarks, min(n_components, count), tol=tol)
    return np.pad(layout, ((0, 0), (0, n_components - layout.shape[1])))


def alternate(
    cover: PatchCover,
    memberships: Memberships,
    coordinates: FloatArray,
    start: FloatArray,
    *,
    n_rounds: int = RULES.n_rounds,
) -> Alignment:
    """Move patches onto a layout, and the layout onto the patches, by turns."""
    c, r = cover.n_patches, coordinates.shape[1]
    column = np.arange(int(cover.sizes.max()))
    is_member = column < cover.sizes[:, None]
    entries = np.where(is_member, cover.indptr[:-1][:, None] + column, 0)
    weight_of_entry = np.zeros(len(cover.members))
    weight_of_entry[memberships.entries] = memberships.weights
    w = np.where(is_member, weight_of_entry[entries], 0.0)[..., None]
    members = cover.members[entries]
    total = w.sum(axis=1)
    u_mean = (w * coordinates[entries]).sum(axis=1) / total
    u = coordinates[entries] - u_mean[:, None, :]
    weighted = (w * u).swapaxes(1, 2)
    gather = sp.csr_array(
        (w.ravel(), (members.ravel(), np.arange(members.size))),
        shape=(cover.n_points, members.size),
    )
    weight_of_point = np.asarray(gather.sum(axis=1))[:, None]
    layout = start
    for _ in range(n_rounds):
        targets = layout[members]
        centers = (w * targets).sum(axis=1) / total
        left, _, right = np.linalg.svd(weighted @ targets)
        rotations = left @ right
        images = u @ rotations + centers[:, None, :]
        layout = gather @ images.reshape(-1, r) / weight_of_point
    misfit = float((w * (images - layout[members]) ** 2).sum())
    variance = float((w * u**2).sum())
    relative = float(np.sqrt(misfit / variance)) if variance > 0.0 else 0.0
    translations = centers - (u_mean[:, None, :] @ rotations)[:, 0]
    motions = RigidMotions(rotations.reshape(c, r, r), translations)
    return Alignment(motions, None, None, relative)
