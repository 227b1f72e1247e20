"""Near copies that no map can tell apart, merged as copies are."""

from __future__ import annotations

import numpy as np

from isofold.neighbors.directed import Arrows, contract, edges_of, pair_keys
from isofold.neighbors.duplicates import Distinct
from isofold.neighbors.graph import NeighborGraph

__all__ = ["merge_unresolved"]


def merge_unresolved(graph: NeighborGraph) -> NeighborGraph:
    """Return a graph in which nodes are one whose distance is lost beside the longest edge.

    A map that holds the longest edge has coordinates that round by more than such a distance; in
    a program its square would be zero, or its inverse infinite.
    """
    lengths = graph.lengths
    is_lost = lengths < lengths.max(initial=0.0) * np.finfo(np.float64).eps
    if not is_lost.any():
        return graph
    tails, heads = graph.edges.T
    distinct, arrows = contract(
        Distinct(graph.node_of_sample, graph.sample_of_node),
        Arrows(tails, heads, np.where(is_lost, 0.0, lengths).astype(lengths.dtype)),
    )
    n_nodes = distinct.n_nodes
    edges, kept, _ = edges_of(arrows, n_nodes)
    # An edge is a bridge if all that became this edge are.
    ends = distinct.node_of_sample[graph.sample_of_node][graph.edges[~graph.is_bridge]]
    plain = pair_keys(np.sort(ends, axis=1), n_nodes)
    return NeighborGraph(
        n_nodes=n_nodes,
        edges=edges,
        lengths=kept,
        node_of_sample=distinct.node_of_sample,
        sample_of_node=distinct.sample_of_node,
        is_bridge=~np.isin(pair_keys(edges, n_nodes), plain),
    )
