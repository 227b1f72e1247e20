"""Stitching problems from a cover of points by overlapping patches with local PCA charts.

Patch i has the chart x ↦ V_iᵀ(x − m_i) of r coordinates. A rotation R_i (r × p) and a translation
t_i put it into place. The misfit of two overlapping patches, the mean of
‖R_iᵀu + t_i − R_jᵀv − t_j‖² over their shared points with charts u and v, is a quadratic form of
(R_i, t_i, R_j, t_j) that count, mean and second moment of the shared points determine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from isofold.datasets import holed_swiss_roll
from isofold.linalg import procrustes
from isofold.sdp import GramSDP

NEAREST_CENTERS = 4
"""Patches that a point can belong to."""


@dataclass(frozen=True, eq=False)
class Stitch:
    """A stitching problem with what it takes to judge its solution.

    Parameters
    ----------
    problem : GramSDP
        The alignment of patches; rows of patch i are r rows of its rotation, then its translation.
    points, patches : ndarray of shape (n_memberships,)
        Which point belongs to which patch.
    charts : ndarray of shape (n_memberships, r)
        The local coordinates of the point in the patch.
    truth : ndarray of shape (n_points, r)
        The coordinates from which the points were made.
    """

    problem: GramSDP
    points: Any
    patches: Any
    charts: Any
    truth: Any

    def error(self, coordinates: Any) -> float:
        """Return the root mean square distance to the truth after a rigid motion, relative."""
        r = self.truth.shape[1]
        blocks = np.asarray(coordinates)[:, :r].reshape(-1, r + 1, r)
        placed = np.einsum("ma,mak->mk", self.charts, blocks[self.patches, :r])
        placed += blocks[self.patches, r]
        count = np.bincount(self.points, minlength=len(self.truth))
        kept = count > 0
        Y = np.column_stack(
            [np.bincount(self.points, column, minlength=len(count)) for column in placed.T]
        )
        Y = Y[kept] / count[kept, None]
        truth = self.truth[kept] - self.truth[kept].mean(axis=0)
        fit = procrustes(Y, truth)
        return float(fit.residual * np.sqrt(len(truth)) / np.linalg.norm(truth))


def holed_roll(
    n_points: int, n_patches: int, *, noise: float = 0.0, overlap: float = 0.15, seed: int = 0
) -> Stitch:
    """Return the stitching of a holed Swiss roll."""
    data = holed_swiss_roll(n_points, hole=(0.2, 0.4), noise=noise, random_state=seed)
    return stitch(data.X, data.truth, n_patches, overlap=overlap, seed=seed)


def bent_sheet(n_points: int, n_patches: int, *, noise: float = 0.0, seed: int = 0) -> Stitch:
    """Return the stitching of a three-dimensional sheet that is rolled up in five dimensions."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n_points, 3)) * [6.0, 6.0, 3.0]
    first, second = truth[:, 0] / 2, truth[:, 1] / 2
    X = np.column_stack(
        [2 * np.cos(first), 2 * np.sin(first), 2 * np.cos(second), 2 * np.sin(second), truth[:, 2]]
    )
    X += noise * rng.standard_normal(X.shape)
    return stitch(X, truth, n_patches, overlap=0.3, seed=seed)


def stitch(X: Any, truth: Any, n_patches: int, *, overlap: float, seed: int) -> Stitch:
    """Cover points by patches around centers of clusters and pose their alignment."""
    r = truth.shape[1]
    centers = _centers(X, n_patches, seed)
    points, patches = _memberships(X, centers, overlap)
    mean, _, second = _moments(X[points], patches, n_patches)
    axes = np.linalg.eigh(second)[1][:, :, ::-1][:, :, :r]
    first, other, count, edge_mean, edge_second = _overlaps(X, points, patches, n_patches)
    blocks = _misfits(axes, mean, first, other, edge_mean, edge_second)
    keep = count > 2 * r + 1
    first, other, blocks = first[keep], other[keep], [block[keep] for block in blocks]
    used = _largest_component(first, other, n_patches)
    number = np.cumsum(used) - 1
    inside = used[first]
    objective = _joint_matrix(
        number[first[inside]],
        number[other[inside]],
        [block[inside] for block in blocks],
        int(used.sum()),
    )
    n_used, member = int(used.sum()), used[patches]
    begin = np.arange(n_used) * (r + 1)
    problem = GramSDP.stitching(objective, np.column_stack([begin, np.full(n_used, r)]))
    charts = np.einsum("md,mda->ma", X[points] - mean[patches], axes[patches])
    return Stitch(problem, points[member], number[patches[member]], charts[member], truth)


def _centers(X: Any, n_patches: int, seed: int) -> Any:
    """Return the centers of a few rounds of Lloyd's method on a sample."""
    rng = np.random.default_rng(seed)
    sample = X[rng.permutation(len(X))[: 16 * n_patches]]
    centers = sample[:n_patches].copy()
    for _ in range(6):
        label = cKDTree(centers).query(sample, workers=-1)[1]
        count = np.bincount(label, minlength=n_patches)
        total = np.column_stack([np.bincount(label, x, minlength=n_patches) for x in sample.T])
        centers[count > 0] = total[count > 0] / count[count > 0, None]
    return centers


def _memberships(X: Any, centers: Any, overlap: float) -> tuple[Any, Any]:
    """Return points and patches: the nearest, and those whose bisector is near the point."""
    k = min(NEAREST_CENTERS, len(centers))
    distance, index = cKDTree(centers).query(X, k=k, workers=-1)
    distance, index = distance.reshape(len(X), k), index.reshape(len(X), k)
    spacing = ((centers[index] - centers[index[:, :1]]) ** 2).sum(axis=2)
    belongs = distance**2 - distance[:, :1] ** 2 <= 2 * overlap * spacing
    belongs[:, 0] = True
    points, place = np.nonzero(belongs)
    return points, index[points, place]


def _moments(X: Any, group: Any, n_groups: int) -> tuple[Any, Any, Any]:
    """Return means, counts and covariances of groups of points."""
    count = np.maximum(np.bincount(group, minlength=n_groups), 1)
    mean = np.column_stack([np.bincount(group, x, minlength=n_groups) for x in X.T])
    mean /= count[:, None]
    centered = X - mean[group]
    d = X.shape[1]
    second = np.empty((n_groups, d, d))
    for a in range(d):
        for b in range(a + 1):
            product = np.bincount(group, centered[:, a] * centered[:, b], minlength=n_groups)
            second[:, a, b] = second[:, b, a] = product / count
    return mean, count, second


def _overlaps(X: Any, points: Any, patches: Any, n_patches: int) -> tuple[Any, ...]:
    """Return the pairs of patches that share points, with the moments of those."""
    size = np.bincount(points, minlength=len(X))
    begin = np.concatenate([[0], np.cumsum(size)])[:-1]
    keys, shared = [], []
    for a in range(NEAREST_CENTERS):
        for b in range(a + 1, NEAREST_CENTERS):
            both = np.flatnonzero(size > b)
            i, j = patches[begin[both] + a], patches[begin[both] + b]
            keys.append(np.minimum(i, j).astype(np.int64) * n_patches + np.maximum(i, j))
            shared.append(both)
    pairs, edge = np.unique(np.concatenate(keys), return_inverse=True)
    mean, count, second = _moments(X[np.concatenate(shared)], edge, len(pairs))
    return pairs // n_patches, pairs % n_patches, count, mean, second


def _misfits(
    axes: Any, mean: Any, first: Any, other: Any, edge_mean: Any, edge_second: Any
) -> list[Any]:
    """Return the blocks (i, i), (j, j) and (i, j) of the quadratic form of every overlap."""
    ends = [axes[first], axes[other]]
    middles = [
        np.einsum("eda,ed->ea", axes[i], edge_mean - mean[i], optimize=True) for i in (first, other)
    ]
    out = []
    for i, j, sign in ((0, 0, 1.0), (1, 1, 1.0), (0, 1, -1.0)):
        r = axes.shape[2]
        block = np.ones((len(first), r + 1, r + 1))
        block[:, :r, :r] = ends[i].swapaxes(1, 2) @ edge_second @ ends[j]
        block[:, :r, :r] += middles[i][:, :, None] * middles[j][:, None, :]
        block[:, :r, r], block[:, r, :r] = middles[i], middles[j]
        out.append(sign * block)
    return out


def _largest_component(first: Any, other: Any, n_patches: int) -> Any:
    graph = sp.coo_array((np.ones(len(first)), (first, other)), shape=(n_patches, n_patches))
    label = connected_components(graph, directed=False)[1]
    return label == np.bincount(label).argmax()


def _joint_matrix(first: Any, other: Any, blocks: list[Any], n_patches: int) -> sp.csr_array:
    """Return the sum of all misfits as a sparse matrix of blocks of side r + 1."""
    own, mirrored, cross = blocks
    side = own.shape[1]
    rows = np.concatenate([first, other, first, other])
    columns = np.concatenate([first, other, other, first])
    data = np.concatenate([own, mirrored, cross, cross.swapaxes(1, 2)])
    offset = np.arange(side)
    places = (
        np.broadcast_to(rows[:, None, None] * side + offset[:, None], data.shape).ravel(),
        np.broadcast_to(columns[:, None, None] * side + offset, data.shape).ravel(),
    )
    total = n_patches * side
    return sp.csr_array(sp.coo_array((data.ravel(), places), shape=(total, total)))
