"""Free motions of a network: what is held by its neighbors is found first, the rest is counted.

A node with d ranges in independent directions to nodes that do not move does not move either, to
first order. Starting from the anchors this reaches nearly all nodes of most networks, so that a
sparse factor is needed only for the rest: of 20,000 nodes in space it would take a minute.
"""

from __future__ import annotations

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.structure.network.data import SensorNetwork
from isofold.structure.problem import StructureProblem
from isofold.structure.result import FreeMotions
from isofold.structure.rigidity import free_motions

__all__ = ["network_motions"]

INDEPENDENT = 1e-4
"""Least eigenvalue of Σ u uᵀ, with u the directions of ranges, of directions that hold a node. What
is held less firmly is left to the exact count."""


def network_motions(network: SensorNetwork, Y: FloatArray) -> FreeMotions:
    """Return the free motions of a network in a layout, as `free_motions` does."""
    held = _held(network, Y)
    if not held.any():
        return free_motions(network.problem(), Y)
    first, second = network.pairs.T
    # Held nodes that no other one has a range to do not matter to the count.
    matters = ~held
    matters[first[~held[second]]] = True
    matters[second[~held[first]]] = True
    # With the anchors, the whole has no motion of its own.
    matters[network.anchors.points] = True
    nodes = np.flatnonzero(matters)
    bodies = np.zeros(network.n_nodes, dtype=np.intp)
    if held.all():
        return FreeMotions(0, bodies)
    problem = _restricted(network, nodes).with_anchors(
        np.flatnonzero(held[nodes]), Y[nodes[held[nodes]]]
    )
    rest = free_motions(problem, Y[nodes])
    return FreeMotions(rest.n_motions, _bodies_of_all(rest.bodies, nodes, held))


def _held(network: SensorNetwork, Y: FloatArray) -> BoolArray:
    """Return which nodes are held by anchors, directly or through others; none if too few are."""
    n, d = Y.shape
    held = np.zeros(n, dtype=bool)
    anchors = network.anchors
    where = anchors.positions
    if len(anchors) <= d or np.linalg.matrix_rank(where - where[:1], tol=1e-9) < d:
        return held
    held[anchors.points] = True
    both = np.concatenate([network.pairs, network.pairs[:, ::-1]])
    steps = Y[both[:, 0]] - Y[both[:, 1]]
    lengths = np.maximum(np.linalg.norm(steps, axis=1), np.finfo(np.float64).tiny)
    units = steps / lengths[:, None]
    products = (units[:, :, None] * units[:, None, :]).reshape(-1, d * d)
    grip = np.zeros((n, d * d))
    new = held.copy()
    while new.any():
        rows = new[both[:, 1]] & ~held[both[:, 0]]
        touched = np.unique(both[rows, 0])
        np.add.at(grip, both[rows, 0], products[rows])
        new = np.zeros(n, dtype=bool)
        least = np.linalg.eigvalsh(grip[touched].reshape(-1, d, d))[:, 0]
        new[touched[least > INDEPENDENT]] = True
        held |= new
    return held


def _restricted(network: SensorNetwork, nodes: IntArray) -> StructureProblem:
    """Return the ranges among some nodes as a problem."""
    number = np.full(network.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    pairs = number[network.pairs]
    kept = (pairs >= 0).all(axis=1)
    return StructureProblem(len(nodes)).with_distances(pairs[kept], network.ranges[kept])


def _bodies_of_all(bodies: IntArray, nodes: IntArray, held: BoolArray) -> IntArray:
    """Return the body of every node, the largest first; all held ones are one body."""
    labels = np.full(len(held), -1)
    labels[nodes] = bodies
    if held[nodes].any():
        # A node that is rigid with held ones is one of them.
        ground = np.unique(labels[nodes[held[nodes]]])
        labels[np.isin(labels, ground)] = -1
    labels[held] = -1
    _, first, which, counts = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[which.ravel()])
