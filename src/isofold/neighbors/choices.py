"""Which neighbor graph a method is to use: small objects, one for every way to make a graph.

They only hold what the user asks for. `isofold.neighbors.resolve.resolve_graph` reads them, so that
a wrong number is refused when the graph is made, as scikit-learn does with parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Bridged", "Enhanced", "GraphChoice", "Knn", "Lengths", "Mutual", "Radius"]


@dataclass(frozen=True)
class Knn:
    """Each point and its nearest neighbors, connected or not.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        Neighbors of a point, lowered to what the number of distinct points allows. The default of
        the method if None.

    Examples
    --------
    >>> Knn(12)
    Knn(n_neighbors=12)
    """

    n_neighbors: int | None = None


@dataclass(frozen=True)
class Mutual:
    """Points that list each other among their nearest neighbors.

    This avoids short-cuts where data are sparse. What falls apart is joined by the shortest of the
    other edges.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        As in `Knn`.
    """

    n_neighbors: int | None = None


@dataclass(frozen=True)
class Radius:
    """All points up to a distance from each other, connected or not.

    Parameters
    ----------
    radius : float
        The distance, in the units of the data.
    """

    radius: float


@dataclass(frozen=True)
class Bridged:
    """As `Knn`, with connected components joined by their closest points, see `connect`.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        As in `Knn`.
    """

    n_neighbors: int | None = None


@dataclass(frozen=True)
class Enhanced:
    """As `Knn`, with connected components joined by several edges (ENG), see `enhance`.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        As in `Knn`.
    """

    n_neighbors: int | None = None


@dataclass(frozen=True, eq=False)
class Lengths:
    """A ready graph, as a sparse matrix of lengths, whatever the distances of the points are.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_samples, n_samples)
        A stored entry is an edge; one direction of it is enough.
    """

    matrix: Any


GraphChoice: TypeAlias = Knn | Mutual | Radius | Bridged | Enhanced | Lengths
