"""A network in parts that ranges join, each with the anchors that hold it, and each located."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.structure.energy import Intervals
from isofold.structure.network.data import SensorNetwork
from isofold.structure.network.flaps import Flap, Repaired, noise_variance, repair_flaps
from isofold.structure.network.layout import Ranging, relative_weights, squared_errors
from isofold.structure.network.solve import SolveRules, settle, solve_layout
from isofold.structure.network.start import start_layout
from isofold.structure.network.uncertainty import standard_errors

__all__ = [
    "MISFIT",
    "LocateOptions",
    "Located",
    "Parts",
    "components_of",
    "locate_parts",
    "ranging_of",
    "start_of",
]

FLAT_ANCHORS = 1e-3
"""Extent of anchors across their line or plane, relative to that along it, below which a part may
as well be mirrored at it."""

GAP = 2.0
"""Space between parts that lie side by side, in median ranges."""


MISFIT = 5.0
"""Standard deviations of the noise from which on a range does not fit: less than one of a million
does by chance."""

FOLDED = 1e-3
"""Fraction of such ranges from which on another start is made. A few in a large network are those
of a few nodes; another start of all others would not mend them, and costs as much as the first."""

LIFTS = (0.1, 3.0)
"""How far the first start, and others, go out of the plane, in median ranges."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The connected parts of a network, the largest first.

    Attributes
    ----------
    labels : ndarray of int of shape (n_nodes,)
        The part of each node.
    n_anchors : ndarray of int of shape (n_parts,)
        Number of anchors in each.
    is_flat : ndarray of bool of shape (n_parts,)
        Whether a part has enough anchors, but all (nearly) on a line or plane.
    n_components : int
        Dimension of the network.
    """

    labels: IntArray
    n_anchors: IntArray
    is_flat: BoolArray
    n_components: int

    @property
    def is_located(self) -> BoolArray:
        """Whether its anchors hold each part: at least d + 1 of them, not all in line."""
        return np.asarray((self.n_anchors > self.n_components) & ~self.is_flat)

    def __len__(self) -> int:
        return len(self.n_anchors)


@dataclass(frozen=True, eq=False)
class Located:
    """Where the nodes are, in units of the ranges.

    Attributes
    ----------
    coordinates : ndarray of shape (n_nodes, n_components)
        The layout.
    energy : float
        Weighted sum of squared errors, in squared units of the ranges.
    errors : ndarray of shape (n_nodes,)
        Standard errors.
    flaps : tuple of Flap
        Parts that are almost as good mirrored.
    n_mirrored : int
        How often mirroring was better.
    noise : float
        Standard deviation of weighted errors, relative to the median range.
    """

    coordinates: FloatArray
    energy: float
    errors: FloatArray
    flaps: tuple[Flap, ...]
    n_mirrored: int
    noise: float


def components_of(network: SensorNetwork, n_components: int) -> Parts:
    """Return the connected parts of a network."""
    n = network.n_nodes
    ones = np.ones(len(network.pairs))
    graph = sp.coo_array((ones, (network.pairs[:, 0], network.pairs[:, 1])), (n, n))
    n_parts, found = connected_components(graph, directed=False)
    sizes = np.bincount(found, minlength=n_parts)
    rank = np.empty(n_parts, dtype=np.intp)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_parts)
    labels = rank[found]
    anchors = network.anchors
    counts = np.bincount(labels[anchors.points], minlength=n_parts)
    is_flat = np.zeros(n_parts, dtype=bool)
    for part in np.flatnonzero(counts > n_components):
        where = anchors.positions[labels[anchors.points] == part]
        extents = np.linalg.svd(where - where.mean(axis=0), compute_uv=False)
        is_flat[part] = extents[-1] <= FLAT_ANCHORS * extents[0]
    return Parts(labels, counts, is_flat, n_components)


@dataclass(frozen=True)
class LocateOptions:
    """How nodes are located: weights of ranges, most starts, and whether flaps are tried."""

    weights: str = "relative"
    n_init: int = 5
    repair: bool = True


def locate_parts(network: SensorNetwork, parts: Parts, options: LocateOptions, rng: Any) -> Located:
    """Return where the nodes are: those that anchors hold together, other parts one by one."""
    n, d = network.n_nodes, parts.n_components
    unit = float(np.median(network.ranges)) if len(network.ranges) else 1.0
    unit = unit if unit > 0.0 else 1.0
    where, errors = np.zeros((n, d)), np.zeros(n)
    where[network.anchors.points] = network.anchors.positions.reshape(-1, d)
    energy, noise, flaps, n_mirrored = 0.0, 0.0, list[Flap](), 0
    together = np.flatnonzero(parts.is_located[parts.labels])
    alone = [np.flatnonzero(parts.labels == k) for k in np.flatnonzero(~parts.is_located)]
    for nodes in [together, *alone]:
        if len(nodes) < 2:
            continue
        ranging = ranging_of(network, nodes, unit, options.weights)
        tries = list[Repaired]()
        for k in range(options.n_init):
            start = start_of(network, parts.labels[nodes], nodes, unit, d, rng)
            tries.append(_one_layout(ranging, start, options, rng, SolveRules(lift=LIFTS[k > 0])))
            best = min(tries, key=lambda each: each.energy)
            if _is_within_noise(ranging, best.coordinates):
                break
        n_mirrored += best.n_mirrored
        flaps += [
            Flap(nodes[flap.nodes], nodes[flap.hinge], flap.rise, unit * flap.mirrored)
            for flap in best.doubtful
            if nodes is together or not len(network.anchors)
        ]
        variance = noise_variance(ranging, best.coordinates)
        where[nodes] = unit * best.coordinates
        errors[nodes] = unit * standard_errors(ranging, best.coordinates, variance, rng)
        energy += best.energy * unit**2
        noise = max(noise, float(np.sqrt(variance)))
    shifts = _side_by_side(where, parts, GAP * unit)
    flaps = [replace(flap, mirrored=flap.mirrored + shifts[flap.nodes]) for flap in flaps]
    return Located(where + shifts, energy, errors, tuple(flaps), n_mirrored, noise)


def _is_within_noise(ranging: Ranging, Y: FloatArray) -> bool:
    """Return whether hardly a range misses by more than noise does: no large fold is to be seen."""
    errors = squared_errors(ranging.ranges, Y)
    n_large = int((errors > MISFIT**2 * noise_variance(ranging, Y)).sum())
    return n_large <= FOLDED * len(errors)


def _one_layout(
    ranging: Ranging, start: FloatArray, options: LocateOptions, rng: Any, rules: SolveRules
) -> Repaired:
    """Return a layout from a start, flaps tried both ways."""
    Y, energy = solve_layout(ranging, start, rng, rules)
    if not options.repair:
        return Repaired(Y, energy, 0, ())
    found = repair_flaps(ranging, Y, energy)
    Y, energy = settle(ranging, found.coordinates)
    return replace(found, coordinates=Y, energy=energy)


def ranging_of(network: SensorNetwork, nodes: IntArray, unit: float, weights: str) -> Ranging:
    """Return the ranges among some nodes, in a unit."""
    ranges = network.ranges / unit
    relative = relative_weights(ranges, 1.0) if weights == "relative" else np.ones(len(ranges))
    is_anchor = np.zeros(network.n_nodes, dtype=bool)
    is_anchor[network.anchors.points] = True
    radius = None if network.radius is None else network.radius / unit
    # What is missing to the radius weighs as the error of a range of that length.
    at_radius = np.array([1.0 if radius is None else radius])
    apart = float(relative_weights(at_radius, 1.0)[0]) if weights == "relative" else 1.0
    pairs = np.ascontiguousarray(network.pairs, dtype=np.intp)
    whole = Ranging(
        network.n_nodes,
        Intervals(pairs, ranges, ranges, relative),
        is_anchor,
        radius,
        apart,
    )
    return whole.restricted(nodes, np.ones(network.n_nodes, dtype=bool))


def start_of(
    network: SensorNetwork, labels: IntArray, nodes: IntArray, unit: float, d: int, rng: Any
) -> FloatArray:
    """Return where some nodes start, one connected part after the other."""
    start = np.empty((len(nodes), d))
    for label in np.unique(labels):
        inside = labels == label
        own = nodes[inside]
        number = np.full(network.n_nodes, -1)
        number[own] = np.arange(len(own))
        is_own = number[network.pairs[:, 0]] >= 0
        is_anchor = number[network.anchors.points] >= 0
        start[inside] = start_layout(
            len(own),
            number[network.pairs[is_own]],
            network.ranges[is_own] / unit,
            number[network.anchors.points[is_anchor]],
            network.anchors.positions[is_anchor].reshape(-1, d) / unit,
            d,
            rng,
        )
    return start


def _side_by_side(where: FloatArray, parts: Parts, gap: float) -> FloatArray:
    """Return shifts of parts without anchors to beside the others, where no other node is."""
    shifts = np.zeros_like(where)
    placed = parts.n_anchors[parts.labels] > 0
    edge = float(where[placed, 0].max()) if placed.any() else np.nan
    level = where[placed].mean(axis=0) if placed.any() else np.zeros(where.shape[1])
    for part in np.flatnonzero(parts.n_anchors == 0):
        own = parts.labels == part
        shift = level - where[own].mean(axis=0)
        if np.isfinite(edge):
            shift[0] = edge + gap - where[own, 0].min()
        shifts[own] = shift
        edge = float((where[own, 0] + shift[0]).max())
    return shifts
