"""Classical distance geometry on the same data: what others would do."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse.csgraph import dijkstra
from sklearn.manifold import smacof

from isofold._typing import FloatArray
from isofold.linalg.scaling import classical_scaling
from isofold.structure import StructureProblem
from isofold.structure.energy import descend
from isofold.structure.rules import StructureRules
from isofold.structure.start import known_reach
from isofold.structure.terms import Terms

__all__ = ["refined", "scaled", "shortest_paths", "stress_majorized"]

ROUNDS, STEPS = 12, 100
"""Of the refinement: contacts are listed anew in each round."""


def shortest_paths(problem: StructureProblem) -> FloatArray:
    """Return distances smoothed by upper bounds: shortest paths through lengths and bounds."""
    return np.asarray(dijkstra(known_reach(problem), directed=False))


def scaled(problem: StructureProblem, paths: FloatArray) -> FloatArray:
    """Return classical multidimensional scaling of shortest paths, of the hand of most centers."""
    return _of_right_hand(problem, classical_scaling(paths**2, 3).coordinates)


def refined(problem: StructureProblem, Y: FloatArray) -> FloatArray:
    """Return a structure refined in space by distances, volumes, bounds and contacts."""
    terms = _terms(problem)
    for _ in range(ROUNDS):
        Y, _ = descend(terms.soft(Y, with_contacts=True), Y, STEPS)
    return Y


def stress_majorized(problem: StructureProblem, paths: FloatArray, Y: FloatArray) -> FloatArray:
    """Return scikit-learn's SMACOF of shortest paths from a start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, _ = smacof(paths, n_components=3, init=Y, n_init=1, normalized_stress=False)
    return _of_right_hand(problem, found)


def _of_right_hand(problem: StructureProblem, Y: FloatArray) -> FloatArray:
    """Return a structure or its mirror image, whichever most centers agree with."""
    hands = _terms(problem).hands
    vote = np.sign(hands.found(Y)) @ hands.volumes
    return np.ascontiguousarray(Y * [1.0, 1.0, -1.0 if vote < 0.0 else 1.0])


def _terms(problem: StructureProblem) -> Terms:
    return Terms.of(problem, 3, unit=1.0, slack=1.0, rules=StructureRules())
