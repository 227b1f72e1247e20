"""Directed edges: lengths from node to node, before they become the edges of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.neighbors import _edges
from isofold.neighbors.duplicates import Distinct, from_labels
from isofold.neighbors.spanning import component_labels


@dataclass(frozen=True, eq=False)
class DirectedEdges:
    """Directed lengths among nodes, before they become edges."""

    tails: IntArray
    heads: IntArray
    lengths: FloatArray


def edges_from_lists(distances: FloatArray, indices: IntArray) -> DirectedEdges:
    """Return neighbor lists of equal length as directed edges."""
    n_nodes, k = indices.shape
    return DirectedEdges(np.repeat(np.arange(n_nodes), k), indices.ravel(), distances.ravel())


def no_directed_edges(like: FloatArray) -> DirectedEdges:
    """Return no edges, for a single node."""
    none = np.empty(0, dtype=np.intp)
    return DirectedEdges(none, none, np.empty(0, dtype=like.dtype))


def contract(distinct: Distinct, directed: DirectedEdges) -> tuple[Distinct, DirectedEdges]:
    """Merge nodes that are zero apart, and drop the edges that stay at one node."""
    zero = directed.lengths == 0
    loops = directed.tails == directed.heads
    if (zero & ~loops).any():
        same = np.stack([directed.tails[zero], directed.heads[zero]], axis=1)
        merged = from_labels(component_labels(distinct.n_nodes, same))
        distinct = Distinct(
            node_of_sample=merged.node_of_sample[distinct.node_of_sample],
            sample_of_node=distinct.sample_of_node[merged.sample_of_node],
        )
        tails = merged.node_of_sample[directed.tails]
        heads = merged.node_of_sample[directed.heads]
        directed = DirectedEdges(tails, heads, directed.lengths)
        loops = tails == heads
    if loops.any():
        directed = DirectedEdges(
            directed.tails[~loops], directed.heads[~loops], directed.lengths[~loops]
        )
    return distinct, directed


def edges_of(directed: DirectedEdges, n_nodes: int) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return every edge once with its shortest length, and whether it goes in both directions."""
    n_directed = len(directed.tails)
    edges, lengths = np.empty((n_directed, 2), dtype=np.intp), np.empty_like(directed.lengths)
    in_both = np.empty(n_directed, dtype=bool)
    n_edges = _edges.merge(
        n_nodes,
        np.ascontiguousarray(directed.tails),
        np.ascontiguousarray(directed.heads),
        np.ascontiguousarray(directed.lengths),
        edges,
        lengths,
        in_both,
    )
    # Cut in place: there was room for all directed edges.
    edges.resize((n_edges, 2), refcheck=False)
    lengths.resize(n_edges, refcheck=False)
    in_both.resize(n_edges, refcheck=False)
    return edges, lengths, in_both


def pair_keys(pairs: IntArray, n_nodes: int) -> IntArray:
    """Return one number a pair that sorts as the pairs do."""
    return pairs[:, 0].astype(np.int64) * n_nodes + pairs[:, 1]
