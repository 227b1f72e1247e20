"""Flaps: parts of a network that may lie mirrored at the nodes that tie them to the rest.

If a part is tied to the rest by nodes on a line (in space: on a plane), mirroring it changes no
range much, and a descent does not get from one side to the other. So both are tried: candidates are
found by `_flaps`, mirrored, relaxed with what surrounds them, and kept where the energy falls. Many
are tried at once, since flaps that are not near each other do not matter to each other. What is
almost as good mirrored is a doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.structure.network._flaps import FlapSearch
from isofold.structure.network.layout import Ranging, squared_errors

__all__ = ["Flap", "FlapRules", "Repaired", "noise_variance", "repair_flaps"]

LEAST_NOISE = 1e-3
"""Noise of ranges that counts as none, relative to the median one."""


@dataclass(frozen=True)
class FlapRules:
    """Constants of the search for flaps.

    Attributes
    ----------
    cheap_in_plane, cheap_in_space : float
        A range holds nothing if mirroring one end adds at most so many variances of the noise.
        In the plane, 1,000 nodes with 5 % noise, 8 networks: at 25 and 50 one of them stayed
        above the energy of the true layout, at 100 none. In space 25 and 200 end alike.
    low : float
        Height above the hinge, in radii, up to which nodes count as part of it.
    reach : float
        Longest hinge in the plane, in radii.
    most : int
        Most nodes of a flap.
    least_noise : float
        Relative noise for which hinges are looked for at least: those of exact ranges are never
        exactly flat.
    steps : int
        Ranges from a flap up to which nodes move with it.
    passes : int
        How often candidates are looked for anew after some were mirrored.
    gain : float
        Variances of the noise that mirroring must save.
    iterations : int
        Iterations of the descent of mirrored flaps.
    doubt : float
        A flap is in doubt if mirroring it adds less than so many variances of the noise to the sum
        of squared errors: 9 is a likelihood ratio of 90.
    """

    cheap_in_plane: float = 100.0
    cheap_in_space: float = 25.0
    low: float = 0.3
    reach: float = 1.5
    most: int = 100
    least_noise: float = 0.01
    steps: int = 2
    passes: int = 5
    gain: float = 0.1
    iterations: int = 100
    doubt: float = 9.0


RULES = FlapRules()


@dataclass(frozen=True, eq=False)
class Flap:
    """A part of a network that may lie mirrored.

    Attributes
    ----------
    nodes : ndarray of int
        The nodes that would move.
    hinge : ndarray of int of shape (n_components,)
        The nodes through which the mirror goes.
    rise : float
        What mirroring adds to the weighted sum of squared errors, in variances of the noise.
    mirrored : ndarray of shape (len(nodes), n_components)
        Where the nodes are if it is mirrored.
    """

    nodes: IntArray
    hinge: IntArray
    rise: float
    mirrored: FloatArray


@dataclass(frozen=True, eq=False)
class Repaired:
    """A layout whose flaps were tried both ways.

    Attributes
    ----------
    coordinates : ndarray of shape (n_nodes, n_components)
        The layout.
    energy : float
        Its energy.
    n_mirrored : int
        How often mirroring a flap was better.
    doubtful : tuple of Flap
        Those that are almost as good mirrored.
    """

    coordinates: FloatArray
    energy: float
    n_mirrored: int
    doubtful: tuple[Flap, ...]


def repair_flaps(
    ranging: Ranging, Y: FloatArray, energy: float, rules: FlapRules = RULES
) -> Repaired:
    """Return a layout in which every flap lies on its better side."""
    graph = ranging.adjacency
    n_mirrored, tried = 0, dict[bytes, Flap]()
    for last in range(rules.passes, -1, -1):
        noise = noise_variance(ranging, Y)
        found = [f for f in _candidates(ranging, graph, Y, noise, rules) if f.key not in tried]
        tries = _try_all(ranging, graph, Y, found, noise, rules)
        tried |= {trial.candidate.key: trial.flap for trial in tries}
        better = [trial for trial in tries if trial.flap.rise < -rules.gain]
        if not better or last == 0:
            break
        mixed, value = _settled(ranging, _switched(Y, better), rules)
        if value >= energy and len(better) > 1:
            # Together they may get into each other's way; the best of them does not.
            better = [min(better, key=lambda trial: trial.flap.rise)]
            mixed, value = _settled(ranging, _switched(Y, better), rules)
        if value >= energy:
            break
        Y, energy, n_mirrored = mixed, value, n_mirrored + len(better)
        moved = _grown(graph, np.concatenate([trial.free for trial in better]))
        tried = {key: flap for key, flap in tried.items() if not moved[flap.nodes].any()}
    doubtful = [flap for flap in tried.values() if flap.rise < rules.doubt]
    return Repaired(Y, energy, n_mirrored, tuple(_told_apart(doubtful, Y, ranging.scale, rules)))


def _told_apart(flaps: Sequence[Flap], Y: FloatArray, scale: float, rules: FlapRules) -> list[Flap]:
    """Return the flaps that lie elsewhere if mirrored, without parts that relaxed back."""
    return [
        flap
        for flap in flaps
        if (np.linalg.norm(flap.mirrored - Y[flap.nodes], axis=1) > rules.low * scale).any()
    ]


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A part that might be mirrored."""

    nodes: IntArray
    hinge: IntArray
    cost: float

    @property
    def key(self) -> bytes:
        return self.nodes.tobytes()


@dataclass(frozen=True, eq=False)
class _Trial:
    """A candidate that was mirrored and relaxed, with where its free nodes are then."""

    candidate: _Candidate
    flap: Flap
    free: IntArray
    places: FloatArray


def noise_variance(ranging: Ranging, Y: FloatArray) -> float:
    """Return the variance of weighted errors, from their median: flaps are outliers."""
    errors = squared_errors(ranging.ranges, Y)
    n_free = int((~ranging.is_fixed).sum()) * Y.shape[1]
    # The median of χ² with one degree of freedom is 0.455; a fit takes some of the error away.
    left = max(len(errors) - n_free, len(errors) // 10, 1)
    found = float(np.median(errors)) / 0.455 * len(errors) / left
    return float(max(found, _least(ranging, LEAST_NOISE)))


def _least(ranging: Ranging, relative: float) -> float:
    """Return the variance of a relative noise of the median range."""
    typical = float(np.median(ranging.ranges.upper))
    return float((relative * typical) ** 2)


def _candidates(
    ranging: Ranging, graph: sp.csr_array, Y: FloatArray, noise: float, rules: FlapRules
) -> list[_Candidate]:
    """Return the parts that might be mirrored, the cheapest first."""
    hinges = _hinges(ranging, graph, Y, rules)
    number = graph.data - 1
    search = FlapSearch(
        np.ascontiguousarray(Y),
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int64),
        ranging.ranges.upper[number],
        ranging.ranges.weights[number],
        ranging.is_fixed.astype(np.uint8),
    )
    most = min(rules.most, ranging.n_nodes // 2)
    cheap = rules.cheap_in_plane if Y.shape[1] == 2 else rules.cheap_in_space
    cheap *= max(noise, _least(ranging, rules.least_noise))
    begin, members, rows, costs = search.find(hinges, cheap, rules.low * ranging.scale, most)
    best = dict[bytes, _Candidate]()
    for k, (row, cost) in enumerate(zip(rows, costs, strict=True)):
        one = _Candidate(np.sort(members[begin[k] : begin[k + 1]]), hinges[row], float(cost))
        if one.key not in best or one.cost < best[one.key].cost:
            best[one.key] = one
    return sorted(best.values(), key=lambda one: (one.cost, one.key))


def _hinges(ranging: Ranging, graph: sp.csr_array, Y: FloatArray, rules: FlapRules) -> IntArray:
    """Return rows of d nodes: near pairs in the plane, triangles of ranges in space."""
    d = Y.shape[1]
    if d == 2:
        near = cKDTree(Y).query_pairs(rules.reach * ranging.scale, output_type="ndarray")
        hinges: IntArray = np.sort(near, axis=1)
    else:
        hinges = _triangles(graph)
    # A node with d ranges has its own hinge, which may be long.
    few = np.flatnonzero(np.diff(graph.indptr) == d)
    own = graph.indices[graph.indptr[few][:, None] + np.arange(d)]
    return np.unique(np.concatenate([hinges, own]).astype(np.int64), axis=0)


def _triangles(graph: sp.csr_array) -> IntArray:
    """Return all triangles of a graph, nodes ascending."""
    upper = sp.triu(graph, 1, format="csr")
    first = np.repeat(np.arange(upper.shape[0]), np.diff(upper.indptr))
    second = upper.indices
    # Every edge (i, j) with every edge (j, k) that follows; the third one must be there.
    n_next = np.diff(upper.indptr)[second]
    edge = np.repeat(np.arange(len(second)), n_next)
    step = np.arange(len(edge)) - np.repeat(np.cumsum(n_next) - n_next, n_next)
    third = upper.indices[upper.indptr[second[edge]] + step]
    i, j = first[edge], second[edge]
    n = upper.shape[0]
    known = first.astype(np.int64) * n + second
    closed = np.isin(i.astype(np.int64) * n + third, known)
    return np.column_stack([i, j, third])[closed]


def _try_all(
    ranging: Ranging,
    graph: sp.csr_array,
    Y: FloatArray,
    candidates: Sequence[_Candidate],
    noise: float,
    rules: FlapRules,
) -> list[_Trial]:
    """Mirror every candidate, as many at once as do not touch; return what came out."""
    waiting = [(one, np.flatnonzero(_grown(graph, one.nodes, rules.steps))) for one in candidates]
    trials = list[_Trial]()
    while waiting:
        taken, later = np.zeros(ranging.n_nodes, dtype=bool), []
        batch = []
        for one, free in waiting:
            if taken[free].any():
                later.append((one, free))
                continue
            batch.append((one, free))
            taken |= _grown(graph, free)
        trials += _try_batch(ranging, graph, Y, batch, noise, rules)
        waiting = later
    return trials


def _try_batch(
    ranging: Ranging,
    graph: sp.csr_array,
    Y: FloatArray,
    batch: Sequence[tuple[_Candidate, IntArray]],
    noise: float,
    rules: FlapRules,
) -> list[_Trial]:
    """Mirror candidates that do not touch, and relax them together."""
    start = Y.copy()
    owner = np.full(ranging.n_nodes, -1)
    for k, (one, free) in enumerate(batch):
        start[one.nodes] = _mirrored(Y[one.nodes], Y[one.hinge])
        owner[free] = k
    start[ranging.is_fixed] = Y[ranging.is_fixed]
    is_free = owner >= 0
    nodes = np.flatnonzero(_near(ranging, graph, is_free, Y, start))
    local = ranging.restricted(nodes, is_free)
    Z = start.copy()
    for _ in range(2):
        Z[nodes], _ = local.descended(Z[nodes], rules.iterations // 2)
    rises = _rises(local, Y[nodes], Z[nodes], owner[nodes], len(batch)) / noise
    return [
        _Trial(one, Flap(one.nodes, one.hinge, float(rise), Z[one.nodes]), free, Z[free])
        for (one, free), rise in zip(batch, rises, strict=True)
    ]


def _near(
    ranging: Ranging, graph: sp.csr_array, is_free: BoolArray, Y: FloatArray, Z: FloatArray
) -> BoolArray:
    """Return the nodes that matter to free ones: neighbors, and what may come too near."""
    near = _grown(graph, np.flatnonzero(is_free))
    if ranging.radius is not None:
        tree = cKDTree(Y)
        for places in (Y[is_free], Z[is_free]):
            rows = tree.query_ball_point(places, 2.0 * ranging.radius)
            near[np.concatenate([[], *rows]).astype(np.intp)] = True
    return near


def _rises(
    local: Ranging, Y: FloatArray, Z: FloatArray, owner: IntArray, n_parts: int
) -> FloatArray:
    """Return what the energy grows by if one part after the other goes from Y to Z, alone."""
    rises = np.zeros(n_parts)
    for terms in (local.ranges, local.apart(Y, Z)):
        before = squared_errors(terms, Y)
        first, second = owner[terms.pairs[:, 0]], owner[terms.pairs[:, 1]]
        is_within = (first == second) & (first >= 0)
        for rows, part, after in (
            (is_within, first, squared_errors(terms, Z)),
            (~is_within & (first >= 0), first, squared_errors(terms, Z, Y)),
            (~is_within & (second >= 0), second, squared_errors(terms, Y, Z)),
        ):
            np.add.at(rises, part[rows], (after - before)[rows])
    return rises


def _settled(ranging: Ranging, Y: FloatArray, rules: FlapRules) -> tuple[FloatArray, float]:
    """Return a layout after a descent of all nodes."""
    Y, _ = ranging.descended(Y, rules.iterations)
    return ranging.descended(Y, rules.iterations)


def _switched(Y: FloatArray, trials: Sequence[_Trial]) -> FloatArray:
    """Return a layout in which some flaps lie mirrored."""
    Z = Y.copy()
    for trial in trials:
        if (Z[trial.free] == Y[trial.free]).all():
            Z[trial.free] = trial.places
    return Z


def _mirrored(points: FloatArray, hinge: FloatArray) -> FloatArray:
    """Return points mirrored at the line or plane through the points of a hinge."""
    normal = np.linalg.svd(hinge[1:] - hinge[0])[2][-1]
    return np.asarray(points - 2.0 * np.outer((points - hinge[0]) @ normal, normal))


def _grown(graph: sp.csr_array, nodes: IntArray, steps: int = 1) -> BoolArray:
    """Return whether each node is one of some, or at most so many ranges away."""
    inside = np.zeros(graph.shape[0], dtype=bool)
    inside[nodes] = True
    for _ in range(steps):
        rows = np.flatnonzero(inside)
        begin, end = graph.indptr[rows], graph.indptr[rows + 1]
        spans = [graph.indices[a:b] for a, b in zip(begin, end, strict=True)]
        inside[np.concatenate([[], *spans]).astype(np.intp)] = True
    return inside
