"""Free motions of rigid bodies that share points, are held by bars, or rest on fixed points.

A body moves to first order as v(x) = W(x - c) + t with W skew. Bodies that share a point give it
the same velocity, a bar keeps the distance of its ends, (x - y)·(v(x) - v(y)) = 0, and a fixed
point has none. All of this is K z = 0 for the velocities z of the bodies, and the null space of K
holds the motions. Its dimension is the number of eigenvalues of KᵀK below a small σ: the inertia
of one sparse factor. Counted by bodies and not by the bars within them, flat bodies hold their
shape out of their planes as well.

Axes of W are the principal ones of each body, in units of its radius about them. What does not
move the body, such as the spin of a straight one about itself, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._typing import BoolArray, FloatArray, IntArray, Matrix
from isofold.linalg._clusters import Seeds, rigid_clusters
from isofold.linalg.ldl import SingularMatrixError, SymmetricFactor

__all__ = ["BodyMotions", "free_motions_of", "null_vectors", "nullity"]

TOLERANCE = 1e-9
"""Eigenvalue of KᵀK, relative to the mean of its diagonal, below which it is zero. True zeros are
below 1e-14 and others above 1e-3 in proteins; long slender trusses, which bend easily, have the
rest: with n cells their softest mode is of the order of 500/n⁴."""

FLAT = 1e-6
"""Extent of a body along an axis, relative to its largest, below which it has none there."""

SMALL = 400
"""Unknowns up to which eigenvalues of a dense matrix are the quicker way."""

N_PROBES, N_STEPS = 2, 3
"""Random motions by which clusters are told apart, and steps of inverse iteration to each."""


@dataclass(frozen=True, eq=False)
class BodyMotions:
    """Motions that leave bodies and bars as they are, to first order.

    Attributes
    ----------
    n_motions : int
        Number of independent motions beyond those of the whole in space. Fixed points leave the
        whole fewer of those, or none.
    cluster_of_bodies : ndarray of int of shape (n_bodies,)
        Rigid cluster of every body: bodies of one cluster do not move against each other.
    cluster_of_points : ndarray of int of shape (n_points,)
        Rigid cluster of every point, the largest first. A point of several clusters (a hinge) has
        the first of them.
    """

    n_motions: int
    cluster_of_bodies: IntArray
    cluster_of_points: IntArray


@dataclass(frozen=True, eq=False)
class _Bodies:
    """Bodies as entries (owner, point), owners ascending, with their frames and unknowns.

    `columns` numbers the unknowns of every body: d of its translation, then one for each plane of
    two of its axes; negative where there is none. `planes` lists these pairs of axes.
    """

    owners: IntArray
    points: IntArray
    centers: FloatArray
    axes: FloatArray
    radii: FloatArray
    columns: IntArray
    planes: IntArray
    n_unknowns: int

    @property
    def is_complete(self) -> BoolArray:
        """Whether the velocities of a body determine its rotation in full."""
        d = self.centers.shape[1]
        return np.asarray((self.radii > 0.0).all(axis=1) | (d == 1))

    @classmethod
    def of(cls, X: FloatArray, owners: IntArray, points: IntArray, ground: int | None) -> _Bodies:
        """Return bodies with the frames of their points; the ground does not move."""
        n, d = int(owners[-1]) + 1, X.shape[1]
        begin = np.searchsorted(owners, np.arange(n))
        counts = np.bincount(owners, minlength=n)[:, None]
        centers = np.add.reduceat(X[points], begin) / counts
        offsets = X[points] - centers[owners]
        moments = np.add.reduceat(offsets[:, :, None] * offsets[:, None, :], begin)
        axes = np.linalg.eigh(moments / counts[:, :, None])[1]
        # Extents along the axes anew: squares below rounding are no use.
        along = np.einsum("ia,iab->ib", offsets, axes[owners])
        extents = np.sqrt(np.add.reduceat(along**2, begin) / counts)
        extents[extents <= FLAT * extents.max(axis=1, keepdims=True)] = 0.0
        first, second = np.triu_indices(d, 1)
        radii = np.hypot(extents[:, first], extents[:, second])
        has = np.column_stack([np.ones((n, d), dtype=bool), radii > 0.0])
        if ground is not None:
            has[ground] = False
        columns = np.full(has.shape, -1)
        columns[has] = np.arange(has.sum())
        planes = np.column_stack([first, second])
        return cls(owners, points, centers, axes, radii, columns, planes, int(has.sum()))

    def velocities(self, X: FloatArray, owners: IntArray, points: IntArray) -> FloatArray:
        """Return the velocities of points in bodies, linear in these: shape (m, d, unknowns)."""
        d = X.shape[1]
        axes, (first, second) = self.axes[owners], self.planes.T
        along = np.einsum("ia,iab->ib", X[points] - self.centers[owners], axes)
        radii = np.where(self.radii > 0.0, self.radii, 1.0)[owners]
        spins = (
            along[:, None, first] * axes[:, :, second] - along[:, None, second] * axes[:, :, first]
        )
        still = np.broadcast_to(np.eye(d), (len(points), d, d))
        return np.concatenate([still, spins / radii[:, None, :]], axis=2)

    def fields(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return W and the velocity at the origin of every body in a motion."""
        d = self.centers.shape[1]
        padded = np.append(z, 0.0)[self.columns]
        moved, spins = padded[:, :d], padded[:, d:]
        rates = spins / np.where(self.radii > 0.0, self.radii, 1.0)
        first, second = self.planes.T
        local = np.zeros((len(padded), d, d))
        local[:, second, first], local[:, first, second] = rates, -rates
        W = self.axes @ local @ self.axes.swapaxes(1, 2)
        return W, moved - np.einsum("iab,ib->ia", W, self.centers)


def free_motions_of(
    X: FloatArray,
    bodies: Sequence[Any],
    *,
    bars: IntArray | None = None,
    fixed: IntArray | None = None,
    tolerance: float = TOLERANCE,
) -> BodyMotions:
    """Count the motions that bodies and bars leave, and find what moves as one.

    Parameters
    ----------
    X : ndarray of shape (n_points, d)
        Where the points are. A point in no body moves on its own.
    bodies : sequence of array-like of int
        The points of every body.
    bars : ndarray of int of shape (n_bars, 2) or None, default=None
        Pairs of points that keep their distance.
    fixed : ndarray of int of shape (n_fixed,) or None, default=None
        Points that do not move.
    tolerance : float, default=1e-9
        Eigenvalue of KᵀK, relative to the mean of its diagonal, below which it is zero.

    Returns
    -------
    BodyMotions
        The number of motions, and the rigid clusters.
    """
    X = np.asarray(X, dtype=np.float64)
    X = X - X.mean(axis=0)
    X = X / (float(np.sqrt((X**2).sum(axis=1).mean())) or 1.0)
    pairs = np.empty((0, 2), dtype=np.intp) if bars is None else np.asarray(bars, dtype=np.intp)
    held = np.empty(0, dtype=np.intp) if fixed is None else np.unique(fixed)
    owners, points, ground = _entries(len(X), bodies, held)
    label, owners, points = _merged(X, owners, points)
    rest = None if ground is None else int(label[ground])
    moving = _Bodies.of(X, owners, points, rest)
    home = np.full(len(X), -1)
    home[points[::-1]] = owners[::-1]
    pairs = pairs[home[pairs[:, 0]] != home[pairs[:, 1]]]
    K = _constraints(X, moving, home, pairs)
    H: Matrix = sp.csc_array(K.T @ K)
    n_null, sigma = nullity(H, tolerance)
    n_motions = n_null - _n_of_space(X, held)
    given = label[: len(bodies)]
    if n_motions <= 0:
        alone = np.zeros(len(given), dtype=np.intp), np.zeros(len(X), dtype=np.intp)
        return BodyMotions(max(n_motions, 0), *alone)
    Z = null_vectors(H, sigma)
    V = np.stack([_point_velocities(X, moving, home, z) for z in Z], axis=1)
    W, t = (np.stack(part, axis=1) for part in zip(*(moving.fields(z) for z in Z), strict=True))
    seeds = Seeds(owners, points, moving.is_complete, W, t)
    of_merged, of_points = rigid_clusters(X, V, seeds, pairs)
    return BodyMotions(n_motions, of_merged[given], of_points)


def null_vectors(H: Matrix, sigma: float, n: int = N_PROBES, seed: int = 0) -> FloatArray:
    """Return random vectors of the null space of a positive semidefinite matrix, as rows."""
    side = H.shape[0]
    Z: FloatArray = np.random.default_rng(seed).standard_normal((side, n))
    factor = SymmetricFactor(H + sigma * sp.eye_array(side, format="csc"))
    for _ in range(N_STEPS):
        Z = sigma * factor.solve(Z)
    return np.asarray(Z.T)


def _entries(
    n: int, bodies: Sequence[Any], held: IntArray
) -> tuple[IntArray, IntArray, int | None]:
    """Return the entries of all bodies, of the ground, and of points in none of them."""
    parts: list[IntArray] = [np.asarray(body, dtype=np.intp).ravel() for body in bodies]
    ground = len(parts) if len(held) else None
    if len(held):
        parts.append(held)
    points = np.concatenate([*parts, np.empty(0, dtype=np.intp)])
    owners = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    single = np.setdiff1d(np.arange(n), points)
    owners = np.concatenate([owners, len(parts) + np.arange(len(single))])
    return owners, np.concatenate([points, single]), ground


def _merged(
    X: FloatArray, owners: IntArray, points: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the number of every body after joining those that share d independent points."""
    n = int(owners[-1]) + 1
    label: IntArray = np.arange(n)
    while True:
        ties = _ties(X, owners, points)
        if not len(ties):
            return label, owners, points
        links = sp.csr_array((np.ones(len(ties)), tuple(ties.T)), shape=(n, n))
        n, joined = connected_components(links, directed=False)
        label = joined[label]
        keys = np.unique(joined[owners] * len(X) + points)
        owners, points = np.divmod(keys, len(X))


def _ties(X: FloatArray, owners: IntArray, points: IntArray) -> IntArray:
    """Return pairs of bodies that share points of which d are affinely independent."""
    d, n = X.shape[1], int(owners[-1]) + 1
    order = np.argsort(points, kind="stable")
    begin = np.searchsorted(points[order], np.arange(len(X) + 1))
    counts = np.diff(begin)
    keys, shared = [], []
    for b in range(1, int(counts.max(initial=0))):
        start = begin[:-1][counts > b]
        for a in range(b):
            i, j = owners[order[start + a]], owners[order[start + b]]
            keys.append(np.minimum(i, j) * n + np.maximum(i, j))
            shared.append(points[order[start]])
    if not keys:
        return np.empty((0, 2), dtype=np.intp)
    key, point = np.concatenate(keys), np.concatenate(shared)
    found, number, count = np.unique(key, return_inverse=True, return_counts=True)
    inside = count[number] >= d
    if not inside.any():
        return np.empty((0, 2), dtype=np.intp)
    found, number, point = found[count >= d], number[inside], point[inside]
    number = np.unique(number, return_inverse=True)[1]
    order = np.argsort(number, kind="stable")
    spans = _spans(X[point[order]], number[order])
    return np.column_stack(np.divmod(found[spans >= d - 1], n))


def _spans(rows: FloatArray, owners: IntArray) -> IntArray:
    """Return how many dimensions the points of every owner span; owners ascend."""
    n = int(owners[-1]) + 1
    begin, counts = np.searchsorted(owners, np.arange(n)), np.bincount(owners)[:, None]
    offsets = rows - (np.add.reduceat(rows, begin) / counts)[owners]
    axes = np.linalg.eigh(np.add.reduceat(offsets[:, :, None] * offsets[:, None, :], begin))[1]
    along = np.einsum("ia,iab->ib", offsets, axes[owners])
    extents = np.sqrt(np.add.reduceat(along**2, begin) / counts)
    # A hundred times what flat means: a nearly flat overlap is left to the count of motions.
    return np.asarray((extents > 1e2 * FLAT * extents.max(axis=1, keepdims=True)).sum(axis=1))


def _constraints(X: FloatArray, bodies: _Bodies, home: IntArray, bars: IntArray) -> Matrix:
    """Return K: rows for shared points and for bars, columns for the unknowns of bodies."""
    d = X.shape[1]
    again = bodies.owners != home[bodies.points]
    points, others = bodies.points[again], bodies.owners[again]
    ends = X[bars[:, 0]] - X[bars[:, 1]]
    lengths = np.linalg.norm(ends, axis=1)
    has_length = lengths > FLAT**2
    # Ends of a bar without length are one point.
    same, bars = bars[~has_length], bars[has_length]
    units = ends[has_length] / lengths[has_length, None]
    left = np.concatenate([points, same[:, 0]])
    right, right_owners = (
        np.concatenate([points, same[:, 1]]),
        np.concatenate([others, home[same[:, 1]]]),
    )
    n_rows = d * len(left)
    numbers = np.arange(n_rows).reshape(-1, d)
    parts = [
        (numbers, bodies.velocities(X, home[left], left), home[left]),
        (numbers, -bodies.velocities(X, right_owners, right), right_owners),
    ]
    numbers = n_rows + np.arange(len(bars)).reshape(-1, 1)
    for side, sign in ((bars[:, 0], 1.0), (bars[:, 1], -1.0)):
        moved = bodies.velocities(X, home[side], side)
        parts.append(
            (numbers, sign * np.einsum("ia,iab->ib", units, moved)[:, None, :], home[side])
        )
    rows, columns, values = [], [], []
    for number, block, owners in parts:
        column = np.broadcast_to(bodies.columns[owners][:, None, :], block.shape)
        used = (column >= 0) & (block != 0.0)
        rows.append(np.broadcast_to(number[:, :, None], block.shape)[used])
        columns.append(column[used])
        values.append(block[used])
    entries = (np.concatenate(rows), np.concatenate(columns))
    shape = (n_rows + len(bars), bodies.n_unknowns)
    return sp.csr_array((np.concatenate(values), entries), shape=shape)


def nullity(H: Matrix, tolerance: float) -> tuple[int, float]:
    """Return how many eigenvalues are zero, and the limit below which they are."""
    side = H.shape[0]
    scale = float(H.diagonal().mean()) if side else 0.0
    sigma = tolerance * (scale or 1.0)
    if side <= SMALL:
        return int((np.linalg.eigvalsh(H.toarray()) < sigma).sum()) if side else 0, sigma
    # A pivot may happen to vanish at one shift, not at several.
    for factor in (1.0, 1.37, 0.83):
        shifted = H - factor * sigma * sp.eye_array(side, format="csc")
        try:
            return SymmetricFactor(shifted).n_negative, sigma
        except SingularMatrixError:
            continue
    return int((np.linalg.eigvalsh(H.toarray()) < sigma).sum()), sigma


def _n_of_space(X: FloatArray, held: IntArray) -> int:
    """Return the number of motions of the whole in space that fixed points leave."""
    d = X.shape[1]
    span = int(_spans(X, np.zeros(len(X), dtype=np.intp))[0])
    unseen = (d - span) * (d - span - 1) // 2
    if not len(held):
        return int(d + d * (d - 1) // 2 - unseen)
    about = d - int(_spans(X[held], np.zeros(len(held), dtype=np.intp))[0])
    return int(about * (about - 1) // 2 - unseen)


def _point_velocities(X: FloatArray, bodies: _Bodies, home: IntArray, z: FloatArray) -> FloatArray:
    """Return the velocities of all points in a motion."""
    W, t = bodies.fields(z)
    return np.asarray(np.einsum("iab,ib->ia", W[home], X) + t[home])
