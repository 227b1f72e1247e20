"""Closed directions: loops that cannot be laid flat, and hollows.

A loop of landmarks that nothing fills may go around a hole of a sheet, which a map keeps, or around
the data, which no map of their dimension can keep. If all nodes are near the loop, the data are a
closed curve. Otherwise the loop is rolled out in the plane (`develop`): only around the data its
ends come apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csgraph

from isofold._typing import FloatArray, IntArray
from isofold.neighbors import nearest_source
from isofold.survey.curves import closing_gap
from isofold.survey.development import Development, develop, hangs_on_thread, trace
from isofold.survey.loops import find_classes, shortest_loops
from isofold.survey.sketch import Landmarks, SketchedComponent
from isofold.survey.voids import NO_VOID, Void, enclosing_radius, most_lasting_void

__all__ = ["Closure", "find_closure"]

LEAST_DEATH = 2.5
"""Distance at which a loop is filled, over that of neighboring landmarks, from which on it is
looked at: most gaps between landmarks of a sheet are filled before."""

MOST_LOOPS = 12
"""Loops that are looked at, those filled last."""

LEAST_FLATNESS = 0.88
"""Fraction of the variance of charts in their plane from which on they are two-dimensional."""

SEPARATE = 0.55
"""Ends of a loop that are this fraction of its length apart are not the same point."""

CORE, STRIP = 1.5, 4.0
"""Distances from a loop, in units of the median edge, between which nodes are on one of its
sides."""

LAST_VOID, LEAST_VOID = 4.0, 4.1
"""Distances, over that of neighboring landmarks, up to which a hollow is closed, and from which on
it is filled, to be one."""

MOST_VOID_LANDMARKS = 72
"""Landmarks among which hollows are looked for."""


@dataclass(frozen=True)
class Closure:
    """What is closed about a component of the data.

    Attributes
    ----------
    slenderness : float
        Length of the longest loop over the distance of the nodes from it; 0 without a loop.
    length : float
        Length of that loop.
    directions : tuple of Development
        Independent loops around the data.
    void : Void
        The most lasting hollow.
    """

    slenderness: float = 0.0
    length: float = 0.0
    directions: tuple[Development, ...] = ()
    void: Void = NO_VOID


def find_closure(component: SketchedComponent, landmarks: Landmarks) -> Closure:
    """Return what is closed about a component of the data."""
    void = _void(landmarks)
    ring = closing_gap(component, landmarks)
    if ring is not None:
        return Closure(ring.slenderness, ring.length, void=void)
    distances = landmarks.distances
    least = LEAST_DEATH * _spacing(distances)
    if enclosing_radius(distances) <= least:
        return Closure(void=void)
    classes = find_classes(distances, last_birth=_last_birth(component, landmarks))
    n_wanted = sum(c.death > least for c in classes[:MOST_LOOPS])
    loops = shortest_loops(distances, classes, n_wanted)
    if not loops:
        return Closure(void=void)
    paths = [trace(component, landmarks.nodes[loop.landmarks]) for loop in loops]
    width = float(np.quantile(nearest_source(component.graph, paths[-1]).distances, 0.95))
    length = loops[-1].length
    slenderness = length / max(width, np.finfo(float).eps * length)
    directions = _independent(component, paths)
    return Closure(slenderness, length, directions, void)


def _spacing(distances: FloatArray) -> float:
    """Return the median distance of landmarks from their nearest."""
    return float(np.median(np.sort(distances, axis=1)[:, 1]))


def _last_birth(component: SketchedComponent, landmarks: Landmarks) -> float:
    """Return a distance up to which all loops of the graph appear among the landmarks."""
    radius = float(landmarks.to_nodes.min(axis=0).max())
    return 2 * radius + float(component.graph.lengths.max())


def _void(landmarks: Landmarks) -> Void:
    """Return the most lasting hollow, if it outlasts the gaps between landmarks."""
    few = landmarks.first(MOST_VOID_LANDMARKS)
    spacing = _spacing(few.distances)
    if enclosing_radius(few.distances) <= LEAST_VOID * spacing:
        return NO_VOID
    void = most_lasting_void(few.distances, last_birth=LAST_VOID * spacing)
    return void if void.death > LEAST_VOID * spacing else NO_VOID


def _independent(component: SketchedComponent, paths: list[IntArray]) -> tuple[Development, ...]:
    """Return a loop around the data, and those that cross all before oddly."""
    found = [develop(component, path) for path in paths]
    chosen: list[int] = []
    for at in sorted(range(len(found)), key=lambda i: -found[i].gap):
        is_around = found[at].gap > SEPARATE and found[at].flatness > LEAST_FLATNESS
        is_around = is_around and not hangs_on_thread(component, paths[at])
        if is_around and all(_cross(component, paths[other], paths[at]) for other in chosen):
            chosen.append(at)
    return tuple(found[at] for at in chosen)


def _cross(component: SketchedComponent, first: IntArray, second: IntArray) -> bool:
    """Return whether two loops cross an odd number of times, as no two do on a sheet with holes.

    Near the first loop, but not too near, there are nodes on its left and on its right. The second
    crosses if it comes from one side and leaves to the other.
    """
    away = nearest_source(component.graph, first).distances
    edge = float(np.median(component.graph.lengths))
    beside = np.flatnonzero((away > CORE * edge) & (away < STRIP * edge))
    if len(beside) < 2:
        return False
    _, labels = csgraph.connected_components(component.graph.adjacency[beside][:, beside])
    left, right = np.argsort(-np.bincount(labels, minlength=2), kind="stable")[:2]
    side = np.zeros(component.n_nodes, dtype=np.intp)
    side[beside[labels == left]], side[beside[labels == right]] = 1, -1
    # Far nodes separate the visits; those in the core do not.
    seen = [(side[node], away[node] >= STRIP * edge) for node in np.append(second, second)]
    n_crossings, last = 0, 0
    for at, (here, is_far) in enumerate(seen):
        if here and last == -here and at >= len(second):
            n_crossings += 1
        last = 0 if is_far else here or last
    return n_crossings % 2 == 1
