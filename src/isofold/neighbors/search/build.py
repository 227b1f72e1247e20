"""Nearest neighbors: one protocol, exact by default, approximate only on request.

A KD-tree answers in O(log n) while the data fill few dimensions, whatever the number of
columns; in many dimensions at once it visits every leaf, and comparing all pairs is faster, most of
them by bounds (`isofold.neighbors.search.screened`). Both are exact. Inverted lists
(`isofold.neighbors.search.inverted`) and HNSW (`isofold.neighbors.search.approximate`) are not, and
"auto" never chooses them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray, Metric
from isofold._validation import check_choice, check_n_neighbors, check_points
from isofold.exceptions import InvalidInputError
from isofold.neighbors.duplicates import Distinct, find_distinct
from isofold.neighbors.levina_bickel import inverse_dimensions
from isofold.neighbors.precomputed import check_distances, nearest_in_rows
from isofold.neighbors.search.approximate import HNSWSearch
from isofold.neighbors.search.exact import KDTreeSearch
from isofold.neighbors.search.inverted import InvertedListSearch
from isofold.neighbors.search.protocol import (
    Neighbors,
    NeighborSearch,
    RadiusNeighbors,
    drop_own,
    refuse_overflow,
)
from isofold.neighbors.search.screened import BruteForceSearch

__all__ = [
    "BruteForceSearch",
    "HNSWSearch",
    "InvertedListSearch",
    "KDTreeSearch",
    "NeighborSearch",
    "Neighbors",
    "RadiusNeighbors",
    "build_search",
    "kneighbors",
]

METHODS = ("auto", "fast", "kd_tree", "brute", "lists", "hnsw")
METRICS = ("euclidean", "precomputed")

# Seconds for k = 10 of 20,000 points among themselves on two cores, tree / all pairs.
# Uniform noise: .04/.8 in R^3, .3/.9 in R^8, .9/.8 in R^10, 1.8/1.4 in R^12, 8/1 in R^20.
# A curved sheet: .07/1.3 in R^20, .2/1.5 in R^50, .5/2.3 in R^100, 1.3/4.5 in R^300.
# A flat cube of 6 dimensions: .7/1.1 in R^20, 14/4 in R^100; of 8: 1.4/.9 in R^20.
# So the tree always wins up to ten columns. Beyond, the dimension that the data fill
# decides, and its limit falls with the columns, since the tree cuts along their axes. All
# pairs grow with n², so that a wrong choice against the tree costs more than one for it.
_ALWAYS_TREE_COLUMNS = 10
_NEVER_TREE_COLUMNS = 300
_MODERATE_COLUMNS = 50
_MAX_TREE_DIMENSION_MODERATE = 6.0
_MAX_TREE_DIMENSION_MANY = 4.0

# Where speed matters more than the last neighbor. Processor seconds for k = 15, exact / lists:
# digits in 784 columns, 5,000: 1.3/.5, 20,000: 15/1.4; in 50, 10,000: .5/.3, 20,000: 1.9/.3;
# noise, 100,000 points, tree / lists: 1.2/1.0 in R^5, 9/1.5 in R^8, 26/1.8 in R^10.
_ALWAYS_EXACT_POINTS = 5000
_MOST_EXACT_WORK = 10**10
_MAX_FAST_TREE_DIMENSION = 5.0

# Points from which the filled dimension is judged; up to twice as many are simply compared.
_PROBE_POINTS = 1000
_PROBE_NEIGHBORS = 10


def build_search(X: Any, *, method: str = "auto", n_jobs: int | None = None) -> NeighborSearch:
    """Build an index over points.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points.
    method : {"auto", "fast", "kd_tree", "brute", "lists", "hnsw"}, default="auto"
        "kd_tree" and "brute" are exact, "lists" and "hnsw" are approximate; "hnsw" needs faiss.
        "auto" takes one of the exact ones by the dimension of the data. "fast" takes an exact
        one up to 5,000 points, or 14,000 in 50 columns, and beyond where the data fill few
        dimensions; "lists" otherwise.
    n_jobs : int or None, default=None
        Threads of a query, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    NeighborSearch
        The index.

    Raises
    ------
    InvalidInputError
        If the points cannot be used or the method is unknown.
    MissingDependencyError
        If method is "hnsw" and faiss is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> search = build_search(np.array([[0.0], [1.0], [5.0]]))
    >>> search.query(np.array([[1.2]]), 2).indices
    array([[1, 0]])
    """
    points = check_points(X, min_samples=1)
    check_choice(method, METHODS, name="method")
    refuse_overflow(points)
    _refuse_vanishing(points)
    if method == "auto":
        method = choose_method(points)
    if method == "fast":
        method = choose_fast_method(points)
    return make_search(points, method=method, n_jobs=n_jobs)


def kneighbors(
    X: Any,
    n_neighbors: int,
    *,
    method: str = "auto",
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> Neighbors:
    """Return the nearest neighbors of the data among themselves.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The points, or their distances if `metric` is "precomputed".
    n_neighbors : int
        Neighbors of a point, itself not counted; its copies are.
    method : {"auto", "fast", "kd_tree", "brute", "lists", "hnsw"}, default="auto"
        How to search, see `build_search`.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds distances), another metric
        of scikit-learn, a function of two samples, or a distance of `isofold.similarity`. `method`
        is for "euclidean".
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    Neighbors
        Distances (in the precision of `X`) and indices; a point's own index never appears.

    Raises
    ------
    InvalidInputError
        If the data cannot be used or have too few points.

    Examples
    --------
    >>> import numpy as np
    >>> found = kneighbors(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> found.indices.ravel(), found.distances.ravel()
    (array([1, 0, 1]), array([1., 1., 2.]))
    """
    if not (isinstance(metric, str) and metric in METRICS):
        # The door of all other samples is beside this room, and knows it.
        from isofold.similarity.intake import read_compared
        from isofold.similarity.nearest import nearest_samples

        comparison, samples = read_compared(X, metric)
        k = check_n_neighbors(n_neighbors, len(samples))
        return nearest_samples(samples, comparison, k, n_jobs=n_jobs)
    if metric == "precomputed":
        lengths = check_distances(X)
        k = check_n_neighbors(n_neighbors, len(lengths))
        return Neighbors(*nearest_in_rows(lengths, k, own=np.arange(len(lengths))))
    points = check_points(X)
    k = check_n_neighbors(n_neighbors, len(points))
    return neighbors_in_order(points, k, method=method, n_jobs=n_jobs)[0]


def neighbors_in_order(
    points: FloatArray, k: int, *, method: str = "auto", n_jobs: int | None = None
) -> tuple[Neighbors, IntArray]:
    """Return the k nearest of all points, and points in an order with near ones together.

    Only a tree knows such an order; without it, that of the points is returned.
    """
    distinct = find_distinct(points)
    if distinct.has_copies:
        near = _neighbors_with_copies(points, distinct, k, method=method, n_jobs=n_jobs)
        return near, np.arange(len(points))
    search = build_search(points, method=method, n_jobs=n_jobs)
    order = search.order if isinstance(search, KDTreeSearch) else np.arange(len(points))
    return search.query_self(k), order


def choose_method(points: FloatArray) -> str:
    """Return the exact method that suits the dimension of the points, for ``method="auto"``."""
    n_points, n_columns = points.shape
    if n_columns <= _ALWAYS_TREE_COLUMNS:
        return "kd_tree"
    if n_columns > _NEVER_TREE_COLUMNS or n_points <= 2 * _PROBE_POINTS:
        return "brute"
    limit = (
        _MAX_TREE_DIMENSION_MODERATE if n_columns <= _MODERATE_COLUMNS else _MAX_TREE_DIMENSION_MANY
    )
    return "kd_tree" if _fill_at_most(points, limit) else "brute"


def choose_fast_method(points: FloatArray) -> str:
    """Return an exact method where it is fast, and lists where it is not, for ``method="fast"``."""
    n_points, n_columns = points.shape
    if n_points <= _ALWAYS_EXACT_POINTS or n_points**2 * n_columns <= _MOST_EXACT_WORK:
        return choose_method(points)
    if n_columns > _ALWAYS_TREE_COLUMNS:
        return "kd_tree" if choose_method(points) == "kd_tree" else "lists"
    few = n_columns <= _MAX_FAST_TREE_DIMENSION
    return "kd_tree" if few or _fill_at_most(points, _MAX_FAST_TREE_DIMENSION) else "lists"


def _fill_at_most(points: FloatArray, limit: float) -> bool:
    """Return whether points fill no more dimensions than a limit, by Levina and Bickel's mean."""
    # Evenly spaced rows: a choice without chance.
    probe = points[np.linspace(0, len(points) - 1, _PROBE_POINTS).astype(np.intp)]
    distances = kneighbors(probe, _PROBE_NEIGHBORS, method="brute").distances
    # Rows of copies say nothing about dimension.
    inverses = inverse_dimensions(distances[distances[:, 0] > 0])
    return bool(inverses.sum() * limit >= len(inverses))


def make_search(points: FloatArray, *, method: str, n_jobs: int | None) -> NeighborSearch:
    """Build an index over points that are checked already, by a method that is chosen."""
    if method == "hnsw":
        return HNSWSearch(points, n_jobs=n_jobs)
    if method == "lists":
        return InvertedListSearch(points, n_jobs=n_jobs)
    if method == "kd_tree":
        return KDTreeSearch(points, n_jobs=n_jobs)
    return BruteForceSearch(points, n_jobs=n_jobs)


def _refuse_vanishing(points: FloatArray) -> None:
    """Refuse points whose squared distances would be lost, nine digits below the largest."""
    largest = max(float(points.max()), -float(points.min()))
    if 0 < largest < 1e9 * float(np.sqrt(np.finfo(np.float64).tiny)):
        msg = (
            f"The largest entry is {largest:.3g}: squared distances between such points vanish. "
            f"Express the data in smaller units."
        )
        raise InvalidInputError(msg)


def _neighbors_with_copies(
    points: FloatArray, distinct: Distinct, k: int, *, method: str, n_jobs: int | None
) -> Neighbors:
    """Search among the distinct points, then give every node as many samples as it holds.

    A tree cannot split equal points, so many copies would make every query walk through
    all of them.
    """
    distinct_points = np.ascontiguousarray(points[distinct.sample_of_node])
    search = build_search(distinct_points, method=method, n_jobs=n_jobs)
    near = search.query(distinct_points, min(k + 1, distinct.n_nodes))
    indptr, samples = distinct.samples_by_node()
    counts = np.diff(indptr)[near.indices]
    before = np.cumsum(counts, axis=1) - counts
    # k + 1 samples a node: the first copies of the nearest nodes until the row is full.
    taken = np.clip(k + 1 - before, 0, counts)
    first = np.repeat(indptr[near.indices].ravel(), taken.ravel())
    within = np.arange(len(first)) - np.repeat(
        np.cumsum(taken.ravel()) - taken.ravel(), taken.ravel()
    )
    shape = (distinct.n_nodes, k + 1)
    indices = samples[first + within].reshape(shape)
    distances = np.repeat(near.distances.ravel(), taken.ravel()).reshape(shape)
    node = distinct.node_of_sample
    return drop_own(Neighbors(distances[node], indices[node]), np.arange(len(node)))
