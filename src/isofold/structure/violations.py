"""How far a structure is from each thing that was given."""

from __future__ import annotations

import numpy as np

from isofold._typing import BoolArray, FloatArray
from isofold.structure.given import DistanceBounds
from isofold.structure.problem import StructureProblem
from isofold.structure.result import Violations
from isofold.structure.rules import StructureRules
from isofold.structure.start import group_lengths
from isofold.structure.terms import ContactList

__all__ = ["violations_of"]


def violations_of(
    problem: StructureProblem, coordinates: FloatArray, rules: StructureRules
) -> Violations:
    """Return all that was given beside what was found, worst first; contacts only if violated."""
    bounds = problem.bounds
    is_known = bounds.lower == bounds.upper
    tables = [
        ("group", group_lengths(problem)),
        ("distance", _rows(bounds, is_known)),
        ("bound", _rows(bounds, ~is_known)),
        ("angle", problem.angles),
        ("contact", _contacts(problem, coordinates, rules)),
    ]
    kinds = np.concatenate([np.full(len(table), kind) for kind, table in tables])
    pairs = np.concatenate([table.pairs for _, table in tables])
    found = Violations(
        kinds,
        pairs,
        np.concatenate([table.lower for _, table in tables]),
        np.concatenate([table.upper for _, table in tables]),
        np.linalg.norm(coordinates[pairs[:, 0]] - coordinates[pairs[:, 1]], axis=1),
    )
    return found.rows(np.argsort(-np.abs(found.excess), kind="stable"))


def _rows(bounds: DistanceBounds, rows: BoolArray) -> DistanceBounds:
    """Return some of the bounds."""
    return DistanceBounds(
        bounds.pairs[rows], bounds.lower[rows], bounds.upper[rows], bounds.weights[rows]
    )


def _contacts(
    problem: StructureProblem, coordinates: FloatArray, rules: StructureRules
) -> DistanceBounds:
    """Return the contacts that are too near."""
    contacts = ContactList.of(problem, scale=1.0, rules=rules)
    if contacts is None:
        return DistanceBounds()
    near = contacts.near(np.ascontiguousarray(coordinates))
    table = DistanceBounds(near.pairs, near.lower, near.upper, near.weights)
    return _rows(table, near.lengths(coordinates) < near.lower)
