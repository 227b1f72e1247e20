"""Graph balls: the nodes nearest to a seed along the graph, and covers made of them.

Distances along the graph, unlike straight ones, do not jump from one layer of a roll to the
next. A ball is found by Dijkstra's algorithm, which stops as soon as it has enough nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._parallel import n_workers, ordered_map
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.neighbors._balls import BallSearch
from isofold.neighbors.graph import NeighborGraph

__all__ = ["GraphBalls", "balls_around", "cover_by_balls"]


@dataclass(frozen=True, eq=False)
class GraphBalls:
    """Balls of nodes around seeds, in rows of different length.

    Attributes
    ----------
    seeds : ndarray of shape (n_balls,)
        The nodes at the centers.
    indptr : ndarray of shape (n_balls + 1,)
        Ball i holds ``nodes[indptr[i]:indptr[i + 1]]``.
    nodes : ndarray of shape (n_entries,)
        The nodes of the balls, nearest first; each ball begins with its seed.
    distances : ndarray of shape (n_entries,)
        Their distances from the seed along the graph.
    """

    seeds: IntArray
    indptr: IntArray
    nodes: IntArray
    distances: FloatArray

    @property
    def sizes(self) -> IntArray:
        """Number of nodes in every ball."""
        return np.diff(self.indptr)

    @property
    def radii(self) -> FloatArray:
        """Distance of the last node of every ball."""
        return self.distances[self.indptr[1:] - 1]


def balls_around(
    graph: NeighborGraph, seeds: IntArray, sizes: IntArray, *, n_jobs: int | None = None
) -> GraphBalls:
    """Return the balls of given sizes around seeds.

    Parameters
    ----------
    graph : NeighborGraph
        The graph.
    seeds : ndarray of int of shape (n_balls,)
        Their centers.
    sizes : ndarray of int of shape (n_balls,)
        How many nodes each holds; fewer if its component has no more.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    GraphBalls
        The balls, in the order of the seeds.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import balls_around, build_graph
    >>> graph = build_graph(np.array([[0.0], [1.0], [3.0], [6.0]]), n_neighbors=1)
    >>> balls_around(graph, np.array([1]), np.array([3])).nodes
    array([1, 0, 2])
    """
    seeds, sizes = np.asarray(seeds, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    if seeds.shape != sizes.shape or seeds.ndim != 1 or (sizes < 1).any():
        msg = f"seeds {seeds.shape} and sizes {sizes.shape} must be alike, and sizes positive."
        raise InvalidInputError(msg)
    if len(seeds) and not (seeds.min() >= 0 and seeds.max() < graph.n_nodes):
        msg = f"seeds must be nodes of the graph, 0 to {graph.n_nodes - 1}."
        raise InvalidInputError(msg)
    adjacency = adjacency_arrays(graph)
    blocks = np.array_split(np.arange(len(seeds)), min(n_workers(n_jobs), max(1, len(seeds))))

    def search(block: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        return BallSearch(*adjacency).balls(seeds[block], sizes[block])

    found = list(ordered_map(search, blocks, n_jobs=n_jobs))
    counts = np.concatenate([np.diff(part[0]) for part in found])
    return GraphBalls(
        seeds=seeds,
        indptr=np.concatenate([[0], np.cumsum(counts)]),
        nodes=np.concatenate([part[1] for part in found]),
        distances=np.concatenate([part[2] for part in found]),
    )


def cover_by_balls(
    graph: NeighborGraph, sizes: IntArray, *, core: float, centers: BoolArray | None = None
) -> GraphBalls:
    """Return balls whose cores cover the graph.

    The next node that no core holds becomes a seed. Its core is the fraction `core` of its ball
    that is nearest to it.

    Parameters
    ----------
    graph : NeighborGraph
        The graph.
    sizes : ndarray of int of shape (n_nodes,)
        The size of the ball around every node, should it become a seed.
    core : float
        Fraction of a ball that counts as covered, above 0 and at most 1.
    centers : ndarray of bool of shape (n_nodes,) or None, default=None
        The nodes that are to be covered by cores, all if None. Those of the others that no ball
        holds then are covered in the same way.

    Returns
    -------
    GraphBalls
        The balls.
    """
    if not 0.0 < core <= 1.0:
        msg = f"core={core!r} must be a fraction of a ball, above 0 and at most 1."
        raise InvalidInputError(msg)
    if np.shape(sizes) != (graph.n_nodes,) or np.min(sizes) < 1:
        msg = f"sizes must hold a positive number for each of the {graph.n_nodes} nodes."
        raise InvalidInputError(msg)
    search = BallSearch(*adjacency_arrays(graph))
    sizes = np.ascontiguousarray(sizes, dtype=np.int64)
    every = np.arange(graph.n_nodes, dtype=np.int64)
    balls = GraphBalls(*search.cover(every if centers is None else every[centers], sizes, core))
    is_held = np.zeros(graph.n_nodes, dtype=bool)
    is_held[balls.nodes] = True
    if is_held.all():
        return balls
    rest = GraphBalls(*search.cover(every[~is_held], sizes, core))
    return GraphBalls(
        seeds=np.concatenate([balls.seeds, rest.seeds]),
        indptr=np.concatenate([balls.indptr, balls.indptr[-1] + rest.indptr[1:]]),
        nodes=np.concatenate([balls.nodes, rest.nodes]),
        distances=np.concatenate([balls.distances, rest.distances]),
    )


def adjacency_arrays(graph: NeighborGraph) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows, columns and lengths of the adjacency matrix as the kernel takes them."""
    adjacency = graph.adjacency
    return (
        adjacency.indptr.astype(np.int32),
        adjacency.indices.astype(np.int32),
        adjacency.data.astype(np.float64),
    )
