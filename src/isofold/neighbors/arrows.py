"""Arrows: directed lengths between nodes, on their way to the edges of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.neighbors.duplicates import Distinct, from_labels
from isofold.neighbors.spanning import component_labels


@dataclass(frozen=True, eq=False)
class Arrows:
    """Directed lengths among nodes, before they become edges."""

    tails: IntArray
    heads: IntArray
    lengths: FloatArray


def arrows_from_lists(distances: FloatArray, indices: IntArray) -> Arrows:
    """Return neighbor lists of equal length as arrows."""
    n_nodes, k = indices.shape
    return Arrows(np.repeat(np.arange(n_nodes), k), indices.ravel(), distances.ravel())


def no_arrows(like: FloatArray) -> Arrows:
    """Return no arrows, for a single node."""
    none = np.empty(0, dtype=np.intp)
    return Arrows(none, none, np.empty(0, dtype=like.dtype))


def contract(distinct: Distinct, arrows: Arrows) -> tuple[Distinct, Arrows]:
    """Merge nodes that are zero apart, and drop the arrows that stay at one node."""
    zero = arrows.lengths == 0
    loops = arrows.tails == arrows.heads
    if (zero & ~loops).any():
        same = np.stack([arrows.tails[zero], arrows.heads[zero]], axis=1)
        merged = from_labels(component_labels(distinct.n_nodes, same))
        distinct = Distinct(
            node_of_sample=merged.node_of_sample[distinct.node_of_sample],
            sample_of_node=distinct.sample_of_node[merged.sample_of_node],
        )
        tails = merged.node_of_sample[arrows.tails]
        heads = merged.node_of_sample[arrows.heads]
        arrows = Arrows(tails, heads, arrows.lengths)
        loops = tails == heads
    if loops.any():
        arrows = Arrows(arrows.tails[~loops], arrows.heads[~loops], arrows.lengths[~loops])
    return distinct, arrows


def edges_of(arrows: Arrows, n_nodes: int) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return every edge once with its shortest length, and whether arrows go both ways."""
    pairs = np.stack(
        [np.minimum(arrows.tails, arrows.heads), np.maximum(arrows.tails, arrows.heads)], axis=1
    )
    keys = pair_keys(pairs, n_nodes)
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    if not len(first):
        return pairs, arrows.lengths, np.empty(0, dtype=bool)
    direction = np.where(arrows.tails < arrows.heads, 1, 2).astype(np.uint8)[order]
    directions = np.bitwise_or.reduceat(direction, first)
    lengths = np.minimum.reduceat(arrows.lengths[order], first)
    return pairs[order[first]], lengths, directions == 3


def pair_keys(pairs: IntArray, n_nodes: int) -> IntArray:
    """Return one number a pair that sorts as the pairs do."""
    return pairs[:, 0].astype(np.int64) * n_nodes + pairs[:, 1]
