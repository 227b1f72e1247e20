"""Motions that a structure is free to make, to first order, and what moves as one body."""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray
from isofold.linalg.body_velocities import free_motions_of
from isofold.structure.problem import StructureProblem
from isofold.structure.result import FreeMotions

__all__ = ["free_motions"]


def free_motions(
    problem: StructureProblem, coordinates: FloatArray, *, with_bounds: bool = False
) -> FreeMotions:
    """Count the motions that rigid groups, known distances and anchors leave.

    Parameters
    ----------
    problem : StructureProblem
        What is known.
    coordinates : array-like of shape (n_points, n_components)
        A structure. The count is that of its first-order motions: at special structures (all in
        one plane, say) there may be more than at others.
    with_bounds : bool, default=False
        Whether upper bounds count as known distances. What then still moves is what nothing was
        given about.

    Returns
    -------
    FreeMotions
        Their number, and the rigid cluster of each point.

    Examples
    --------
    Four bars in the plane have one motion:

    >>> from isofold.structure import StructureProblem, free_motions
    >>> square = StructureProblem(4).with_distances([[0, 1], [1, 2], [2, 3], [3, 0]], 1.0)
    >>> free_motions(square, [[0, 0], [1, 0], [1, 1], [0, 1]]).n_motions
    1
    """
    given = problem.bounds.joined(problem.angles)
    is_bar = given.lower == given.upper
    if with_bounds:
        is_bar |= np.isfinite(given.upper)
    found = free_motions_of(
        np.asarray(coordinates, dtype=np.float64),
        [group.points for group in problem.groups],
        bars=given.pairs[is_bar],
        fixed=problem.anchors.points,
    )
    return FreeMotions(found.n_motions, found.cluster_of_points)
