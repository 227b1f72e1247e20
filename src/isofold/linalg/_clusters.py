"""Rigid clusters: points and bodies with one velocity field in random free motions.

In a motion drawn at random from all free ones, two bodies share a field v(x) = Wx + t only if they
do so in every free motion. Bodies that extend in all but one dimension have a field of their own.
Of bars two ends that keep a third point at its distance do: in the plane any bar, in space two bars
that meet, if the distance of their far ends does not change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = ["Seeds", "rigid_clusters"]

SAME = 1e-5
"""Difference of two velocity fields, relative to the size of all, up to which they are the same."""

BLUNT = 0.05
"""Sine of the angle of two bars from which on they tell the rotation of their plane."""


@dataclass(frozen=True, eq=False)
class Seeds:
    """Bodies with their velocity fields in each of several motions.

    Attributes
    ----------
    owners, points : ndarray of int of shape (n_entries,)
        Bodies and their points, bodies ascending.
    is_complete : ndarray of bool of shape (n_bodies,)
        Whether a body has a field of its own.
    W : ndarray of shape (n_bodies, n_motions, d, d)
        Rotations of the fields.
    t : ndarray of shape (n_bodies, n_motions, d)
        Velocities at the origin.
    """

    owners: IntArray
    points: IntArray
    is_complete: BoolArray
    W: FloatArray
    t: FloatArray


def rigid_clusters(
    X: FloatArray, V: FloatArray, bodies: Seeds, bars: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the cluster of every body and of every point, from velocities V (n, n_motions, d)."""
    n, n_bodies = len(X), len(bodies.is_complete)
    scale = np.sqrt((V**2).sum(axis=2).mean(axis=0))
    links = np.concatenate([bars, _chords(X, bodies)])
    simplices = _simplices(X, V, links, scale)
    W, t = _fields_of(X, V, simplices)
    complete = np.flatnonzero(bodies.is_complete)
    all_W, all_t = np.concatenate([bodies.W[complete], W]), np.concatenate([bodies.t[complete], t])
    label = _alike(all_W, all_t, scale)
    n_fields = int(label.max(initial=-1)) + 1
    # One field of every cluster stands for it.
    pick = np.unique(label, return_index=True)[1]
    of_body = np.full(n_bodies, -1)
    of_body[complete] = label[: len(complete)]
    own = of_body[bodies.owners] >= 0
    clusters = np.concatenate(
        [of_body[bodies.owners[own]], np.repeat(label[len(complete) :], simplices.shape[1])]
    )
    pairs = np.column_stack([clusters, np.concatenate([bodies.points[own], simplices.ravel()])])
    pairs = _with_ends(pairs, links, X, V, (all_W[pick], all_t[pick]), scale)
    return _numbered(pairs, n_fields, bodies, of_body, bars, n)


def _chords(X: FloatArray, bodies: Seeds) -> IntArray:
    """Return bars that say the same as bodies without a field: from each point to one end."""
    lesser = ~bodies.is_complete[bodies.owners]
    owners, points = bodies.owners[lesser], bodies.points[lesser]
    if not len(owners):
        return np.empty((0, 2), dtype=np.intp)
    number = np.unique(owners, return_inverse=True)[1]
    begin = np.searchsorted(number, np.arange(number[-1] + 1))
    away = np.linalg.norm(X[points] - X[points[begin]][number], axis=1)
    order = np.lexsort((-away, number))
    ends = points[order[begin]][number]
    return np.asarray(np.column_stack([points, ends])[points != ends])


def _simplices(X: FloatArray, V: FloatArray, links: IntArray, scale: FloatArray) -> IntArray:
    """Return d points each that keep their distances: they have a field of their own."""
    d = X.shape[1]
    if d == 1:
        return np.arange(len(X))[:, None]
    if d == 2:
        return links
    if d > 3 or not len(links):
        return np.empty((0, d), dtype=np.intp)
    center, first, second = _wedges(links, len(X))
    p, q = X[first] - X[center], X[second] - X[center]
    sine = np.linalg.norm(np.cross(p, q), axis=1)
    is_blunt = sine > BLUNT * np.linalg.norm(p, axis=1) * np.linalg.norm(q, axis=1)
    across = X[first] - X[second]
    speed = np.abs(np.einsum("ia,ima->im", across, V[first] - V[second]))
    is_kept = (speed <= SAME * np.linalg.norm(across, axis=1)[:, None] * scale).all(axis=1)
    return np.asarray(np.column_stack([center, first, second])[is_blunt & is_kept])


def _wedges(links: IntArray, n: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return all pairs of links that meet: their common point and their far ends."""
    near, far = np.concatenate([links, links[:, ::-1]]).T
    order = np.argsort(near, kind="stable")
    near, far = near[order], far[order]
    counts = np.bincount(near, minlength=n)
    end = np.cumsum(counts)[near]
    # Every link with each of those after it at the same point.
    n_after = end - 1 - np.arange(len(near))
    first = np.repeat(np.arange(len(near)), n_after)
    step = np.arange(len(first)) - np.repeat(np.cumsum(n_after) - n_after, n_after)
    second = first + 1 + step
    return near[first], far[first], far[second]


def _fields_of(X: FloatArray, V: FloatArray, simplices: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return W and t of simplices from the velocities of their points."""
    (m, k), d, n_motions = simplices.shape, X.shape[1], V.shape[1]
    W = np.zeros((m, n_motions, d, d))
    at, speed = X[simplices[:, 0]], V[simplices[:, 0]]
    if d > 1 and m:
        edges = X[simplices[:, 1:]] - at[:, None]
        rates = V[simplices[:, 1:]] - speed[:, None]
        first, second = np.triu_indices(d, 1)
        system = np.zeros((m, k - 1, d, len(first)))
        plane = np.arange(len(first))
        system[:, :, second, plane] = edges[:, :, first]
        system[:, :, first, plane] = -edges[:, :, second]
        system = system.reshape(m, -1, len(first))
        spins = np.linalg.pinv(system) @ rates.swapaxes(2, 3).reshape(m, -1, n_motions)
        W[:, :, second, first] = spins.swapaxes(1, 2)
        W[:, :, first, second] = -spins.swapaxes(1, 2)
    return W, speed - np.einsum("imab,ib->ima", W, at)


def _alike(W: FloatArray, t: FloatArray, scale: FloatArray) -> IntArray:
    """Return a label for every field, equal where fields are the same up to rounding."""
    m = len(t)
    if not m:
        return np.empty(0, dtype=np.intp)
    flat = np.concatenate(
        [(W / scale[:, None, None]).reshape(m, -1), (t / scale[:, None]).reshape(m, -1)], axis=1
    )
    rng = np.random.default_rng(0)
    label = np.zeros(m, dtype=np.intp)
    for direction in rng.standard_normal((3, flat.shape[1])):
        value = flat @ direction
        order = np.lexsort((value, label))
        is_new = np.diff(value[order]) > SAME * np.linalg.norm(direction)
        is_new |= np.diff(label[order]) > 0
        label[order] = np.concatenate([[0], np.cumsum(is_new)])
    return label


def _with_ends(
    pairs: IntArray,
    links: IntArray,
    X: FloatArray,
    V: FloatArray,
    fields: tuple[FloatArray, FloatArray],
    scale: FloatArray,
) -> IntArray:
    """Return pairs (cluster, point) with the far ends of links that move along with a cluster."""
    n, (W, t) = len(X), fields
    table = sp.csr_array(
        (np.ones(len(pairs), dtype=bool), (pairs[:, 1], pairs[:, 0])), shape=(n, max(1, len(t)))
    )
    table.sum_duplicates()
    near, far = np.concatenate([links, links[:, ::-1]]).T
    held = sp.coo_array(table[near])
    clusters, points = held.col, far[held.row]
    field = np.einsum("imab,ib->ima", W[clusters], X[points]) + t[clusters]
    speed = np.linalg.norm(field - V[points], axis=2)
    moves_along = (speed <= SAME * scale).all(axis=1)
    more = np.column_stack([clusters, points])[moves_along]
    return np.unique(np.concatenate([pairs, more]), axis=0)


def _numbered(
    pairs: IntArray, n_fields: int, bodies: Seeds, of_body: IntArray, bars: IntArray, n: int
) -> tuple[IntArray, IntArray]:
    """Return clusters of bodies and points: those of fields, lesser bodies and bars, by size."""
    # Bars, and bodies without a field of their own, as sets of points.
    lesser = np.flatnonzero(of_body < 0)
    inside = of_body[bodies.owners] < 0
    rows = np.searchsorted(lesser, bodies.owners[inside])
    n_sets = len(lesser) + len(bars)
    rows = np.concatenate([rows, np.repeat(np.arange(len(lesser), n_sets), 2)])
    points = np.concatenate([bodies.points[inside], bars.ravel()])
    sets = sp.csr_array((np.ones(len(rows)), (rows, points)), shape=(n_sets, n))
    table = sp.csr_array(
        (np.ones(len(pairs)), (pairs[:, 1], pairs[:, 0])), shape=(n, max(1, n_fields))
    )
    shared = sp.coo_array(sets @ table)
    is_whole = shared.data == np.bincount(rows, minlength=n_sets)[shared.row]
    homes = np.column_stack([shared.row, shared.col])[is_whole]
    is_loose = np.ones(n_sets, dtype=bool)
    is_loose[homes[:, 0]] = False
    number = np.where(is_loose, n_fields + np.cumsum(is_loose) - 1, -1)
    more = np.column_stack([number[rows], points])[is_loose[rows]]
    clusters, points = np.concatenate([pairs, more]).T
    n_clusters = n_fields + int(is_loose.sum())
    rank = np.empty(n_clusters, dtype=np.intp)
    sizes = np.bincount(clusters, minlength=n_clusters)
    least = np.full(n_clusters, n)
    np.minimum.at(least, clusters, points)
    rank[np.lexsort((least, -sizes))] = np.arange(n_clusters)
    of_points = np.full(n, n_clusters)
    np.minimum.at(of_points, points, rank[clusters])
    of_sets = np.where(is_loose, rank[number], n_clusters)
    np.minimum.at(of_sets, homes[:, 0], rank[homes[:, 1]])
    ranked = np.where(of_body < 0, 0, rank[of_body])
    ranked[lesser] = of_sets[: len(lesser)]
    used = np.unique(np.concatenate([of_points, ranked]))
    return np.searchsorted(used, ranked), np.searchsorted(used, of_points)
