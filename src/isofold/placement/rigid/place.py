"""Components in one frame by rigid motions: the global stage of MVU on disjoint manifolds.

Costa's thesis (section 3.1.2) unfolds representatives of all components once more and maps each
component back by an affine map, which may squash it (`isofold.placement.affine`). Here
the same program, largest variance with links of given lengths, is solved over rigid motions in the
target space itself. Shapes being rigid, the variance of all points is that of the centroids,
weighted by numbers of points. The steps: a spanning tree of links is pulled straight
(`straightening`), links that close cycles are brought to their lengths (`tightening`), ties are
settled by distances between components (`ties`), and crowded components are moved apart
(`separation`).

References
----------
Costa, J. Maximum variance unfolding on disjoint manifolds. MSc thesis, Lisbon.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_distances
from isofold.exceptions import InvalidInputError
from isofold.linalg import classical_scaling, procrustes
from isofold.linalg.motions import RigidMotions
from isofold.placement.links import Links, check_links, check_shapes
from isofold.placement.placement import Placement
from isofold.placement.rigid.link_tree import LinkTree
from isofold.placement.rigid.separation import Crowd
from isofold.placement.rigid.straightening import straighten
from isofold.placement.rigid.ties import TieBreaker
from isofold.placement.rigid.tightening import Bounds, tighten_from_several

__all__ = ["place_rigidly"]

TOO_LONG = 1e-9
"""Links that close cycles and are longer than allowed by more than this fraction are shortened."""


@stage("place components")
def place_rigidly(
    shapes: Sequence[FloatArray],
    links: Links,
    representatives: Sequence[IntArray],
    distances: FloatArray,
    *,
    keep_apart: bool = True,
    n_starts: int = 8,
    random_state: Any = None,
) -> Placement:
    """Place components by rigid motions so that the variance of all points is largest.

    Notes
    -----
    The layout across the line of a link is not a matter of variance. Among all layouts of the same
    variance the one is taken whose squared distances between representatives differ least,
    relative to their size, from those of the data.

    Examples
    --------
    Two unit segments, linked by their ends: one line of length 1 + 2 + 1.

    >>> import numpy as np
    >>> from isofold.placement.links import Links
    >>> from isofold.placement.rigid.place import place_rigidly
    >>> segment = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> links = Links(np.array([[0, 1]]), np.array([[1, 0]]), np.array([2.0]))
    >>> both = [np.array([0, 1])] * 2
    >>> line = np.array([0.0, 1.0, 3.0, 4.0])
    >>> placement = place_rigidly([segment] * 2, links, both, abs(line[:, None] - line))
    >>> float(np.ptp(np.concatenate(placement.apply([segment] * 2))[:, 0]).round(9))
    4.0
    """
    shapes = check_shapes(shapes)
    links = check_links(links, shapes)
    owner, centered, distances = _check_representatives(shapes, representatives, distances)
    n_starts = check_count(n_starts, name="n_starts")
    means = np.array([Y.mean(axis=0, dtype=np.float64) for Y in shapes])
    local = [Y - mean for Y, mean in zip(shapes, means, strict=True)]
    if len(shapes) == 1:
        motions = RigidMotions.identity(1, means.shape[1])
    else:
        sizes = np.array([len(Y) for Y in shapes])
        bounds = _link_bounds(local, links)
        tree = LinkTree.of(links.owners, bounds.ends, links.lengths, sizes)
        weights = sizes.astype(np.float64)
        source = check_random_state(random_state)
        directions = _start_directions(
            tree, owner, distances, source.normal(size=(n_starts, *means.shape))
        )
        motions = straighten(tree, weights, directions)
        breaker = TieBreaker.of(owner, centered - means[owner], distances)
        motions = breaker.settled(motions, tree, bounds.only(tree.link[tree.order[1:]]), weights)
        reached = np.linalg.norm(bounds.vectors(motions), axis=1)
        if np.any(reached > links.lengths + TOO_LONG * tree.unit):
            starts = [motions, _motions_onto_data(breaker)]
            motions = tighten_from_several(starts, weights, bounds, source)
            motions = breaker.settled(motions, tree, bounds, weights)
        if keep_apart:
            gaps = np.full(len(shapes), np.inf)
            np.minimum.at(gaps, links.owners, links.lengths[:, None])
            motions = Crowd.of(local, gaps, weights).separated(motions, bounds, tree)
    # Shapes were moved about their centroids; their points are given about the origin.
    centers = (means[:, None, :] @ motions.rotations)[:, 0, :]
    motions = RigidMotions(motions.rotations, motions.translations - centers)
    return Placement.of(shapes, links, motions)


def _check_representatives(
    shapes: Sequence[FloatArray], representatives: Sequence[IntArray], distances: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the owner and coordinates of every representative, and their distances."""
    counts = [len(rows) for rows in representatives]
    distances = check_distances(distances, name="distances").astype(np.float64, copy=False)
    if len(counts) != len(shapes) or min(counts) == 0 or sum(counts) != len(distances):
        msg = (
            f"There are {len(shapes)} components, {len(counts)} lists of representatives of "
            f"{counts} points, and distances of {len(distances)} points. Pass at least one "
            f"representative for every component, and the distances between all of them."
        )
        raise InvalidInputError(msg)
    chosen = [Y[rows].astype(np.float64) for Y, rows in zip(shapes, representatives, strict=True)]
    return np.repeat(np.arange(len(counts)), counts), np.concatenate(chosen), distances


def _link_bounds(local: list[FloatArray], links: Links) -> Bounds:
    """Return links as upper bounds between points relative to centroids."""
    ends = [
        [local[p][i] for p, i in zip(owners, members, strict=True)]
        for owners, members in zip(links.owners, links.members, strict=True)
    ]
    return Bounds(links.owners, np.array(ends), links.lengths, np.ones(len(ends)))


def _start_directions(
    tree: LinkTree, owner: IntArray, distances: FloatArray, directions: FloatArray
) -> FloatArray:
    """Return directions of links: as between components in the data first, then random ones."""
    n_shapes, q = directions.shape[1:]
    fraction = (owner == np.arange(n_shapes)[:, None]) / np.bincount(owner)[:, None]
    squares = fraction @ distances**2 @ fraction.T
    # Of the means of two sets: the mean square between them less half of those within.
    within = np.diag(squares)
    squares = np.maximum(squares - (within[:, None] + within) / 2.0, 0.0)
    squares = (squares + squares.T) / 2.0
    np.fill_diagonal(squares, 0.0)
    width = min(q, n_shapes)
    means = classical_scaling(squares, width).coordinates
    directions[0, :, :width] = means - means[tree.parent]
    directions[0, :, width:] = 0.0
    lengths = np.linalg.norm(directions, axis=2, keepdims=True)
    return np.where(lengths > 0.0, directions / np.where(lengths > 0.0, lengths, 1.0), 1.0 / q)


def _motions_onto_data(breaker: TieBreaker) -> RigidMotions:
    """Return motions of shapes onto the classical scaling of their representatives' distances."""
    q = breaker.centered.shape[1]
    squares = breaker.distances**2
    scaled = classical_scaling(squares, min(q, len(squares))).coordinates
    scaled = np.pad(scaled, ((0, 0), (0, q - scaled.shape[1])))
    return RigidMotions.stacked(
        procrustes(breaker.centered[own], scaled[own]).transform
        for own in breaker.owner == np.unique(breaker.owner)[:, None]
    )
