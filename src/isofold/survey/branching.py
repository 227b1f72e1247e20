"""Branching: a region without which the data fall into three or more arms.

Landmarks stand for the nodes nearest to them. The ball around a landmark is taken out, and what is
left falls into components. A component is an arm if it reaches out far, and a thin one if the path
to its tip leads past nearly all of its nodes. Three arms of which two are thin make a branching.
Sheets do not fall apart in three around any ball, and holes in them do not matter, since the paths
around a hole are joined behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.survey.sketch import Landmarks, SketchedComponent

__all__ = ["Branching", "find_branching"]

MOST_LANDMARKS = 64

RADII = (0.04, 0.07, 0.11, 0.17)
"""Radii of the balls that are taken out, over the largest distance."""

LEAST_ARM_FRACTION = 0.03
"""Fraction of the nodes in an arm."""

LEAST_REACH = 1.5
"""Length of an arm over the radius of the ball."""

MOST_DETOUR = 0.15
"""Mean detour past a node on the path to the tip over the length of the path, up to which an arm is
thin."""

LEAST_ARMS, LEAST_THIN = 3, 2
"""Arms that make a branching, and how many of them must be thin."""


@dataclass(frozen=True)
class Branching:
    """Arms that meet in a region.

    Attributes
    ----------
    n_arms : int
        How many; 0 if no region has two thin ones.
    fractions : tuple of float
        Fractions of the nodes in them, descending.
    """

    n_arms: int = 0
    fractions: tuple[float, ...] = ()


def find_branching(component: SketchedComponent, landmarks: Landmarks) -> Branching:
    """Return the region with most arms."""
    landmarks = landmarks.first(MOST_LANDMARKS)
    distances = landmarks.distances
    cell = landmarks.to_nodes.argmin(axis=0)
    sizes = np.bincount(cell, minlength=len(distances)) / component.n_nodes
    first, second = cell[component.graph.edges.T]
    links = np.zeros(distances.shape, dtype=bool)
    links[first, second] = links[second, first] = True
    np.fill_diagonal(links, val=True)
    best = Branching()
    for center in range(len(distances)):
        for radius in np.array(RADII) * distances.max():
            outside = np.flatnonzero(distances[center] > radius)
            found = _arms(distances, links, sizes, center, outside)
            if (found.n_arms, found.fractions[2:3]) > (best.n_arms, best.fractions[2:3]):
                best = found
    return best


def _arms(
    distances: FloatArray, links: BoolArray, sizes: FloatArray, center: int, outside: IntArray
) -> Branching:
    if len(outside) < LEAST_ARMS:
        return Branching()
    labels = _pieces(links[np.ix_(outside, outside)])
    pieces = np.unique(labels)
    if len(pieces) < LEAST_ARMS:
        return Branching()
    radius = float(distances[center][distances[center] <= distances[center, outside].min()].max())
    fractions, n_thin = [], 0
    for piece in pieces:
        members = outside[labels == piece]
        fraction = float(sizes[members].sum())
        tip = members[distances[center, members].argmax()]
        length = float(distances[center, tip])
        if fraction >= LEAST_ARM_FRACTION and length - radius > LEAST_REACH * radius:
            fractions.append(fraction)
            detours = distances[center, members] + distances[members, tip] - length
            n_thin += float(np.average(detours, weights=sizes[members])) < MOST_DETOUR * length
    if n_thin < LEAST_THIN:
        return Branching()
    return Branching(len(fractions), tuple(sorted(fractions, reverse=True)))


def _pieces(links: BoolArray) -> IntArray:
    """Return the first node that every node is joined to, directly or not."""
    reached = links.astype(np.float32)
    while True:
        # Twice as many steps each time; of so few nodes this is faster than a search.
        wider = (reached @ reached > 0.0).astype(np.float32)
        if (wider == reached).all():
            return np.asarray(reached.argmax(axis=1))
        reached = wider
