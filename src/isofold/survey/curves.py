"""Curves whose ends meet: a ring that the neighbor graph leaves open.

Where a curve is sampled at random, the largest gap between its points may be too wide for the
neighbor graph, which is then an open curve. It is taken for a ring if its ends are not farther
apart than other neighbors along it are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from isofold.neighbors.spanning import spanning_forest_of
from isofold.survey.sketch import Landmarks, SketchedComponent

__all__ = ["Ring", "closing_gap"]

MOST_DETOUR = 0.03
"""Mean detour past a node on the path from end to end, over its length, up to which a component is
a curve."""

END = 0.04
"""Fraction of the length that belongs to an end."""

WIDER = 2.0
"""Gap between the ends over the widest gap elsewhere, up to which they meet."""


@dataclass(frozen=True)
class Ring:
    """A curve whose ends meet.

    Attributes
    ----------
    length : float
        Its length with the gap.
    slenderness : float
        Length over the mean detour.
    """

    length: float
    slenderness: float


def closing_gap(component: SketchedComponent, landmarks: Landmarks) -> Ring | None:
    """Return the ring if a component is a curve whose ends meet, else None."""
    if component.points is None:
        return None
    from_start = landmarks.to_nodes[0]
    # The second landmark is the farthest from the first.
    from_stop = landmarks.to_nodes[1]
    length = float(from_start.max())
    detour = float((from_start + from_stop - length).mean())
    if detour > MOST_DETOUR * length:
        return None
    first, last = from_start < END * length, from_stop < END * length
    gap = float(cdist(component.points[first], component.points[last]).min())
    forest = spanning_forest_of(component.n_nodes, component.graph.edges, component.graph.lengths)
    if gap > WIDER * float(component.graph.lengths[forest].max()):
        return None
    return Ring(length + gap, length / max(detour, np.finfo(float).eps * length))
