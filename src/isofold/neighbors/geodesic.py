"""Geodesic distances: shortest paths along the graph, from some nodes to all.

All pairs take n² numbers, which is what limits Isomap. So the functions here give rows of
chosen sources, block by block where there are many, and all pairs only under that name.
Nodes that no path reaches are infinitely far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csgraph

from isofold._memory import block_rows, require_memory
from isofold._parallel import ordered_map
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.neighbors import _geodesic
from isofold.neighbors.graph import NeighborGraph

# From one source in so many nodes on, sources of a block are near each other: their paths are found
# together, which takes a third of the time at one source a node.
_NODES_PER_SOURCE = 16

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class NearestSource:
    """The nearest of several sources, for every node.

    Attributes
    ----------
    distances : ndarray of shape (n_nodes,)
        Geodesic distance to it, infinite if none is reached.
    sources : ndarray of shape (n_nodes,)
        Which node it is, -1 if none is reached.
    """

    distances: FloatArray
    sources: IntArray


def geodesic_distances(
    graph: NeighborGraph, sources: Any, *, limit: float | None = None, n_jobs: int | None = None
) -> FloatArray:
    """Return the lengths of the shortest paths from some nodes to all.

    Parameters
    ----------
    graph : NeighborGraph
        The graph.
    sources : array-like of int of shape (n_sources,)
        Nodes to start from. A sample's node is ``graph.node_of_sample[sample]``.
    limit : float or None, default=None
        Do not follow paths longer than this, which saves most of the time.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    ndarray of shape (n_sources, n_nodes)
        Distances in the precision of the graph's lengths; infinite where no path (within the
        limit) leads.

    Raises
    ------
    MemoryLimitError
        If the rows would not fit in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors.graph import build_graph
    >>> corner = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    >>> geodesic_distances(build_graph(corner, n_neighbors=1), [0])
    array([[0., 1., 2.]])
    """
    starts = _check_sources(graph, sources)
    require_memory(
        len(starts) * graph.n_nodes * graph.lengths.dtype.itemsize,
        what=f"Geodesic distances from {len(starts)} to {graph.n_nodes} nodes",
        instead="Use geodesic_blocks, which gives a few rows at a time.",
    )
    distances = np.empty((len(starts), graph.n_nodes), dtype=graph.lengths.dtype)
    done = 0
    with stage("shortest paths", total=len(starts)) as steps:
        for block in geodesic_blocks(graph, starts, limit=limit, n_jobs=n_jobs):
            distances[done : done + len(block)] = block
            done += len(block)
            steps.advance(len(block))
    return distances


def geodesic_blocks(
    graph: NeighborGraph, sources: Any, *, limit: float | None = None, n_jobs: int | None = None
) -> Iterator[FloatArray]:
    """Yield the rows of `geodesic_distances` in blocks of bounded size, in order.

    Parameters
    ----------
    graph, sources, limit, n_jobs
        As in `geodesic_distances`.

    Yields
    ------
    ndarray of shape (n_rows, n_nodes)
        Distances from the next sources.
    """
    return map_geodesics(graph, sources, lambda _, rows: rows, limit=limit, n_jobs=n_jobs)


def map_geodesics(
    graph: NeighborGraph,
    sources: Any,
    function: Callable[[slice, FloatArray], Result],
    *,
    limit: float | None = None,
    n_jobs: int | None = None,
) -> Iterator[Result]:
    """Apply a function to blocks of rows in threads: which of the sources they are, and the rows.

    Results come in order. Sources in the order of `near_first` are done soonest.
    """
    starts = _check_sources(graph, sources).astype(np.int32)
    _check_limit(limit)
    adjacency = graph.adjacency
    arcs = (
        adjacency.indptr.astype(np.int64, copy=False),
        adjacency.indices.astype(np.int32, copy=False),
        adjacency.data.astype(np.float64, copy=False),
    )
    farthest = np.inf if limit is None else float(limit)
    together = not _are_sparse(graph, starts)

    def of_block(which: slice) -> Result:
        rows = np.empty((which.stop - which.start, graph.n_nodes))
        _geodesic.paths(*arcs, starts[which], farthest, together, rows)
        return function(which, rows.astype(graph.lengths.dtype, copy=False))

    step = block_rows(graph.n_nodes * 8, len(starts))
    blocks = [slice(i, min(i + step, len(starts))) for i in range(0, len(starts), step)]
    return ordered_map(of_block, blocks, n_jobs=n_jobs)


def near_first(graph: NeighborGraph, sources: IntArray) -> IntArray:
    """Return an order of sources in which those that follow each other are near each other."""
    if _are_sparse(graph, sources):
        return np.arange(len(sources))
    position = np.empty(graph.n_nodes, dtype=np.intp)
    position[csgraph.reverse_cuthill_mckee(graph.adjacency, symmetric_mode=True)] = np.arange(
        graph.n_nodes
    )
    return np.argsort(position[sources])


def all_pairs_geodesics(graph: NeighborGraph, *, n_jobs: int | None = None) -> FloatArray:
    """Return the lengths of the shortest paths between all nodes.

    Parameters
    ----------
    graph : NeighborGraph
        The graph.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    ndarray of shape (n_nodes, n_nodes)
        Symmetric up to rounding; infinite between components.

    Raises
    ------
    MemoryLimitError
        If n_nodes² distances would not fit in memory.
    """
    return geodesic_distances(graph, np.arange(graph.n_nodes), n_jobs=n_jobs)


def nearest_source(
    graph: NeighborGraph, sources: Any, *, limit: float | None = None
) -> NearestSource:
    """Return the nearest of several sources for every node, in one pass.

    Parameters
    ----------
    graph : NeighborGraph
        The graph.
    sources : array-like of int of shape (n_sources,)
        Nodes to start from, at least one.
    limit : float or None, default=None
        Do not follow paths longer than this.

    Returns
    -------
    NearestSource
        Distances and sources.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors.graph import build_graph
    >>> line = build_graph(np.arange(5.0)[:, None], n_neighbors=2)
    >>> nearest_source(line, [0, 4]).distances
    array([0., 1., 2., 1., 0.])
    """
    starts = _check_sources(graph, sources)
    _check_limit(limit)
    if not len(starts):
        msg = "sources is empty, so no node has a nearest one. Pass at least one node."
        raise InvalidInputError(msg)
    distances, _, nearest = csgraph.dijkstra(
        graph.adjacency,
        directed=True,
        indices=starts,
        min_only=True,
        return_predecessors=True,
        limit=np.inf if limit is None else limit,
    )
    reached = np.isfinite(distances)
    return NearestSource(
        distances=distances.astype(graph.lengths.dtype, copy=False),
        sources=np.where(reached, nearest, -1).astype(np.intp),
    )


def _are_sparse(graph: NeighborGraph, sources: IntArray) -> bool:
    """Whether sources are too far from each other to share steps."""
    return len(sources) * _NODES_PER_SOURCE < graph.n_nodes


def _check_sources(graph: NeighborGraph, sources: Any) -> IntArray:
    """Return the sources as node numbers."""
    starts = np.asarray(sources)
    if starts.size == 0:
        return np.empty(0, dtype=np.intp)
    if starts.ndim != 1 or starts.dtype.kind not in "iu":
        msg = (
            f"sources has shape {starts.shape} and type {starts.dtype}; it must be a list of node "
            f"numbers."
        )
        raise InvalidInputError(msg)
    if starts.min() < 0 or starts.max() >= graph.n_nodes:
        msg = (
            f"sources range from {starts.min()} to {starts.max()}, but the graph's nodes are 0 to "
            f"{graph.n_nodes - 1}. Copies share a node: use graph.node_of_sample for samples."
        )
        raise InvalidInputError(msg)
    return starts.astype(np.intp)


def _check_limit(limit: float | None) -> None:
    """Refuse a limit that is not a length."""
    if limit is not None and not limit >= 0:
        msg = f"limit={limit!r} must be a length of at least 0."
        raise InvalidInputError(msg)
