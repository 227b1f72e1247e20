"""Locality: whether clusters are connected along the neighbor graph.

References
----------
Khajehpour Tadavani (2013), sections 4.3.5 and 4.4: breadth-first search inside of each cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from isofold.clustering import count_fragments
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph
from isofold.quality.groups import check_labels

__all__ = ["is_localized", "nonlocal_clusters"]


def is_localized(labels: Any, graph: NeighborGraph) -> bool:
    """Whether every cluster is connected along the neighbor graph.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Cluster of every sample: numbers or text.
    graph : NeighborGraph
        The graph of the samples, for example ``isofold.neighbors.build_graph(X, n_neighbors=8)``.

    Returns
    -------
    bool
        True if no path between two samples of a cluster needs to leave it.

    Raises
    ------
    InvalidInputError
        If there is not one label for each sample of a graph.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> from isofold.quality import is_localized
    >>> graph = build_graph(np.arange(6.0)[:, None], n_neighbors=2)
    >>> is_localized(["a", "a", "a", "b", "b", "b"], graph)
    True
    >>> is_localized(["a", "a", "b", "b", "b", "a"], graph)
    False
    """
    return len(nonlocal_clusters(labels, graph)) == 0


def nonlocal_clusters(labels: Any, graph: NeighborGraph) -> npt.NDArray[Any]:
    """Return the clusters that fall into several fragments along the neighbor graph.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Cluster of every sample: numbers or text.
    graph : NeighborGraph
        The graph of the samples.

    Returns
    -------
    ndarray
        Labels of the clusters, ascending.

    Raises
    ------
    InvalidInputError
        If there is not one label for each sample of a graph.
    """
    if not isinstance(graph, NeighborGraph):
        msg = (
            f"graph is a {type(graph).__name__}, but a NeighborGraph is needed. Pass "
            f"isofold.neighbors.build_graph(X, n_neighbors=8)."
        )
        raise InvalidInputError(msg)
    clusters = check_labels(labels, graph.n_samples)
    return np.unique(np.asarray(labels))[count_fragments(clusters, graph) > 1]
