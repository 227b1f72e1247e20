"""Structures of proteins from bounds: time and peak memory beside classical methods.

Half of the pairs of hydrogens within 6 Å, with bounds that are 10 % too long at most times, and
rigid groups of the structure. Beside the time stands the root mean squared distance of the backbone
from the structure that the bounds come from (of the folded residues of 2OFG), in Å, and how many
bounds there were. Processor time is that of the method alone. Files come from source archives
(`experiments.structure.molecules`).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from experiments.structure.classical import refined, scaled, shortest_paths, stress_majorized
from experiments.structure.molecules import PROTEINS, Protein, load

from benchmarks.harness import Case
from isofold._typing import FloatArray
from isofold.structure import StructureFromBounds, StructureProblem, protein

SLOW = ("ADK",)


class Given(NamedTuple):
    """A protein, and what is known of it."""

    one: Protein
    molecule: protein.Molecule
    problem: StructureProblem


def _given(one: Protein) -> Given:
    molecule = load(one)
    bounds = molecule.nmr_bounds(random_state=0)
    return Given(one, molecule, molecule.problem(geometry="structure", bounds=bounds))


def _ours(problem: StructureProblem, *, certify: bool = False) -> FloatArray:
    return StructureFromBounds(certify=certify, random_state=0).fit(problem).coordinates_


def _mds(problem: StructureProblem) -> FloatArray:
    return scaled(problem, shortest_paths(problem))


def _refined(problem: StructureProblem) -> FloatArray:
    return refined(problem, _mds(problem))


def _smacof(problem: StructureProblem) -> FloatArray:
    paths = shortest_paths(problem)
    return stress_majorized(problem, paths, scaled(problem, paths))


def _measured(given: Given, *, method: Callable[[StructureProblem], FloatArray]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        found = method(given.problem)
        seconds = time.process_time() - begin
    near = protein.compare(found, given.molecule, given.one.core)
    own = {"backbone": round(near.core, 2), "bounds": len(given.problem.bounds)}
    return {**own, "processor s": round(seconds, 2)}


METHODS: dict[str, Callable[[StructureProblem], FloatArray]] = {
    "isofold StructureFromBounds": _ours,
    "isofold StructureFromBounds, certified": partial(_ours, certify=True),
    "classical MDS of shortest paths": _mds,
    "MDS and refinement in space": _refined,
    "scikit-learn SMACOF": _smacof,
}

CASES = [
    Case(
        one.name,
        name,
        partial(_given, one),
        partial(_measured, method=method),
        is_slow=one.name in SLOW or (name.endswith("certified") and one.name == "2OFG"),
    )
    for one in PROTEINS
    if one.role == "designed"
    for name, method in METHODS.items()
]
