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
    forward = arrows.tails < arrows.heads
    keys = np.where(forward, arrows.tails, arrows.heads).astype(np.int64)
    keys *= n_nodes
    keys += np.where(forward, arrows.heads, arrows.tails)
    order = np.argsort(keys)
    keys = keys[order]
    is_first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    if not len(first):
        return np.empty((0, 2), dtype=np.intp), arrows.lengths, np.empty(0, dtype=bool)
    lengths = np.minimum.reduceat(arrows.lengths[order], first)
    forward = forward[order]
    both_ways = np.logical_or.reduceat(forward, first) & np.logical_or.reduceat(~forward, first)
    return np.stack(np.divmod(keys[first], n_nodes), axis=1), lengths, both_ways


def pair_keys(pairs: IntArray, n_nodes: int) -> IntArray:
    """Return one number a pair that sorts as the pairs do."""
    return pairs[:, 0].astype(np.int64) * n_nodes + pairs[:, 1]
