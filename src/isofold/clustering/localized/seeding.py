"""Where clusters begin: seeds that are spread out, and the points nearest to each.

k-means++ draws each seed with a probability that grows with the squared distance from the seeds
before it [1]_. Here the distance is that along the graph. Every component gets a seed first,
since no other could reach it.

References
----------
.. [1] Arthur, D. and Vassilvitskii, S. (2007). k-means++: the advantages of careful seeding. SODA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.neighbors import Components, GraphPaths

__all__ = ["Seeding", "geodesic_seeding", "read_seeds", "seeds_at", "straight_seeding"]

INITS = ("k-means++", "random")


@dataclass(frozen=True, eq=False)
class Seeding:
    """Seeds of clusters.

    Attributes
    ----------
    seeds : ndarray of int of shape (n_clusters,)
        Nodes.
    labels : ndarray of int of shape (n_nodes,)
        The nearest seed of every node, of equally near ones the first.
    distances : ndarray of shape (n_nodes,)
        The distance from it.
    """

    seeds: IntArray
    labels: IntArray
    distances: FloatArray


def read_seeds(init: Any, n_clusters: int, node_of_sample: IntArray) -> IntArray | None:
    """Return the nodes that a user gives as seeds, or None if they are to be drawn."""
    if isinstance(init, str):
        if init not in INITS:
            msg = f"init={init!r} is unknown. Choose one of {', '.join(INITS)}, or pass samples."
            raise InvalidInputError(msg)
        return None
    try:
        given = np.asarray(init)
    except ValueError as error:
        msg = f"init cannot be read as the numbers of {n_clusters} samples: {error}"
        raise InvalidInputError(msg) from error
    n_samples = len(node_of_sample)
    if given.shape != (n_clusters,) or given.dtype.kind not in "iu":
        msg = (
            f"init is an array of {given.dtype} of shape {given.shape}, but the numbers of "
            f"{n_clusters} samples are needed, one for each cluster."
        )
        raise InvalidInputError(msg)
    if given.min() < 0 or given.max() >= n_samples:
        msg = (
            f"init names samples {given.min()} to {given.max()}, but there are samples 0 to "
            f"{n_samples - 1}."
        )
        raise InvalidInputError(msg)
    seeds: IntArray = node_of_sample[given]
    if len(np.unique(seeds)) < n_clusters:
        msg = (
            f"Only {len(np.unique(seeds))} of the {n_clusters} samples in init are different "
            f"points, so that some clusters would begin empty. Name different points."
        )
        raise InvalidInputError(msg)
    return seeds


def straight_seeding(
    points: FloatArray,
    weights: FloatArray,
    given: IntArray | None,
    *,
    init: Any,
    n_clusters: int,
    rng: np.random.RandomState,
) -> Seeding:
    """Return seeds and nearest seeds by straight distances."""
    distances = np.full(len(points), np.inf)
    labels = np.zeros(len(points), dtype=np.intp)
    seeds = np.empty(n_clusters, dtype=np.intp)
    is_seed = np.zeros(len(weights), dtype=bool)
    for number in range(n_clusters):
        if given is None:
            seed = _draw(weights, None if init == "random" else distances, is_seed, rng)
        else:
            seed = int(given[number])
        seeds[number], is_seed[seed] = seed, True
        offsets = points - points[seed]
        lengths = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
        nearer = lengths < distances
        # Its own, also where squares cannot tell it from another seed.
        nearer[seed] = True
        distances[nearer], labels[nearer] = lengths[nearer], number
    return Seeding(seeds, labels, distances)


def geodesic_seeding(
    paths: GraphPaths,
    components: Components,
    weights: FloatArray,
    given: IntArray | None,
    *,
    init: Any,
    n_clusters: int,
    rng: np.random.RandomState,
) -> Seeding:
    """Return seeds and nearest seeds by distances along the graph."""
    if given is not None:
        return seeds_at(paths, given)
    seeds = np.empty(n_clusters, dtype=np.intp)
    labels, distances = _unreached(paths.n_nodes)
    is_seed = np.zeros(len(weights), dtype=bool)
    for number in range(n_clusters):
        if number < components.n_components:
            inside = np.flatnonzero(components.labels == number)
            seed = int(inside[_draw(weights[inside], None, is_seed[inside], rng)])
        else:
            is_even = init == "random"
            seed = _draw(weights, None if is_even else distances, is_seed, rng)
        seeds[number], is_seed[seed] = seed, True
        _claim(paths, number, seed, labels, distances)
    return Seeding(seeds, labels, distances)


def seeds_at(paths: GraphPaths, seeds: IntArray) -> Seeding:
    """Return given seeds with what is nearest to them along the graph."""
    labels, distances = _unreached(paths.n_nodes)
    for number, seed in enumerate(seeds):
        _claim(paths, number, int(seed), labels, distances)
    return Seeding(np.array(seeds, dtype=np.intp), labels, distances)


def _unreached(n_nodes: int) -> tuple[IntArray, FloatArray]:
    """Return the labels and distances of nodes before there is a seed."""
    return np.full(n_nodes, -1, dtype=np.intp), np.full(n_nodes, np.inf)


def _claim(
    paths: GraphPaths, number: int, seed: int, labels: IntArray, distances: FloatArray
) -> None:
    """Write into both arrays what is nearer to the next seed than to those before."""
    nodes, lengths = paths.nearer(seed, distances)
    distances[nodes], labels[nodes] = lengths, number


def _draw(
    weights: FloatArray,
    distances: FloatArray | None,
    is_seed: BoolArray,
    rng: np.random.RandomState,
) -> int:
    """Return a node that is no seed yet, by its weight and, if given, its squared distance."""
    chances = np.where(is_seed, 0.0, weights)
    if distances is not None and np.isfinite(distances).all():
        squares = weights * distances**2
        # Where all other points are too close to the seeds for squares, each is as good.
        chances = squares if squares.any() else chances
    sums = np.cumsum(chances / chances.max())
    return int(np.searchsorted(sums, rng.uniform() * sums[-1], side="right"))


def refuse_forgotten(seeds: IntArray, components: Components) -> None:
    """Raise an error if a component has none of the seeds that a user gave."""
    seeded = np.unique(components.labels[seeds])
    if len(seeded) < components.n_components:
        msg = (
            f"The seeds in init lie in {len(seeded)} of the {components.n_components} components "
            f"of the neighbor graph; points of the others are infinitely far from every seed. Name "
            f"at least one sample of each, or raise n_neighbors."
        )
        raise InvalidInputError(msg)
