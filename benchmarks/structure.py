"""Structures from bounds and ranges: time and peak memory beside classical methods.

Proteins: half of the pairs of hydrogens within 6 Å, with bounds that are up to some 10 % too long,
and rigid groups of the structure. Beside the time stands the root mean squared distance of the
backbone from the structure that the bounds come from (of the folded residues of 2OFG), in Å, and
how many bounds there were. Processor time is that of the method alone. Files come from source
archives (`experiments.structure.molecules`).

Sensor networks in the plane: some ten ranges a node with 5 % noise, one node of twenty an anchor.
Beside the time stands the median error of the nodes, relative to the reach of the radios.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from experiments.structure.classical import refined, scaled, shortest_paths, stress_majorized
from experiments.structure.molecules import PROTEINS, Protein, load
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from sklearn.manifold import smacof

from benchmarks.harness import Case
from isofold._typing import FloatArray
from isofold.linalg import procrustes
from isofold.linalg.scaling import classical_scaling
from isofold.structure import StructureFromBounds, StructureProblem, protein
from isofold.structure.network import NetworkLocalizer, SensorNetwork, make_network

SLOW = ("ADK",)
SIZES, SLOW_SIZE = (1000, 5000, 20_000), 20_000
MOST_FOR_SMACOF = 1000
"""Nodes up to which all distances are majorized."""


Method = Callable[[Any], FloatArray]


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


def _located(network: SensorNetwork, *, repair: bool) -> FloatArray:
    return NetworkLocalizer(repair=repair, random_state=0).fit(network).coordinates_


def _majorized_network(network: SensorNetwork) -> FloatArray:
    """Return SMACOF of shortest paths, moved and scaled onto the anchors."""
    shape = (network.n_nodes, network.n_nodes)
    paths = dijkstra(csr_array((network.ranges, tuple(network.pairs.T)), shape), directed=False)
    # Nodes that nothing joins are put as far away as the farthest that something does.
    paths[~np.isfinite(paths)] = paths[np.isfinite(paths)].max()
    start = classical_scaling(paths**2, 2).coordinates
    found, _ = smacof(paths, n_components=2, init=start, n_init=1, normalized_stress=False)
    anchors = network.anchors
    fit = procrustes(found[anchors.points], anchors.positions, scale=True)
    return fit.transform.apply(found)


def _timed(work: Callable[[Any], FloatArray], given: Any) -> tuple[FloatArray, float]:
    """Return what a method finds, and its seconds of processor time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        return work(given), time.process_time() - begin


def _protein_figures(given: Given, *, method: Method) -> dict[str, Any]:
    found, seconds = _timed(method, given.problem)
    near = protein.compare(found, given.molecule, given.one.core)
    own = {"backbone": round(near.core, 2), "bounds": len(given.problem.bounds)}
    return {**own, "processor s": round(seconds, 2)}


def _network_figures(network: SensorNetwork, *, method: Method) -> dict[str, Any]:
    found, seconds = _timed(method, network)
    errors = np.linalg.norm(found - network.positions, axis=1) / network.radius
    return {"median error": round(float(np.median(errors)), 3), "processor s": round(seconds, 2)}


PROTEIN_METHODS: dict[str, Method] = {
    "isofold StructureFromBounds": _ours,
    "isofold StructureFromBounds, certified": partial(_ours, certify=True),
    "classical MDS of shortest paths": _mds,
    "MDS and refinement in space": _refined,
    "scikit-learn SMACOF": _smacof,
}
NETWORK_METHODS: dict[str, Method] = {
    "isofold NetworkLocalizer": partial(_located, repair=True),
    "isofold NetworkLocalizer, flaps not looked for": partial(_located, repair=False),
    "scikit-learn SMACOF": _majorized_network,
}

CASES = [
    Case(
        one.name,
        name,
        partial(_given, one),
        partial(_protein_figures, method=method),
        is_slow=one.name in SLOW or (name.endswith("certified") and one.name == "2OFG"),
    )
    for one in PROTEINS
    if one.role == "designed"
    for name, method in PROTEIN_METHODS.items()
] + [
    Case(
        f"network, n = {n:,}",
        name,
        partial(make_network, n, n_anchors=n // 20, random_state=0),
        partial(_network_figures, method=method),
        is_slow=n >= SLOW_SIZE,
    )
    for n in SIZES
    for name, method in NETWORK_METHODS.items()
    if n <= MOST_FOR_SMACOF or "isofold" in name
]
