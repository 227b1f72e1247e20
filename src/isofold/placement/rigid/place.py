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
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csgraph, csr_array
from scipy.spatial import KDTree
from sklearn.utils import check_random_state

from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_distances, check_points, refuse_no_distances
from isofold.exceptions import InvalidInputError
from isofold.linalg import classical_scaling, principal_coordinates, procrustes
from isofold.linalg.motions import Layout
from isofold.placement.rigid.link_tree import LinkTree
from isofold.placement.rigid.separation import Crowd
from isofold.placement.rigid.straightening import straighten
from isofold.placement.rigid.ties import TieBreaker
from isofold.placement.rigid.tightening import Bounds, tighten_from_several
from isofold.sdp import SDPSolution

__all__ = ["Links", "Placement", "check_links", "check_shapes", "mixed_share", "place_rigidly"]

FLAT = 1e-3
"""Directions in which a component extends less than this part of its longest have no extent: what
is left there is what the solver's tolerance on lengths allows."""

TOO_LONG = 1e-9
"""Links that close cycles and are longer than allowed by more than this part are shortened."""


@dataclass(frozen=True, eq=False)
class Links:
    """Links between points of different components.

    Attributes
    ----------
    pieces : ndarray of int of shape (n_links, 2)
        The two components of every link.
    members : ndarray of int of shape (n_links, 2)
        The two end points, as row numbers within their components.
    lengths : ndarray of shape (n_links,)
        Distances of the end points in the data.
    """

    pieces: IntArray
    members: IntArray
    lengths: FloatArray


@dataclass(frozen=True, eq=False)
class Placement:
    """Where components lie: z = y A_p + b_p for the points y of component p.

    Attributes
    ----------
    maps : ndarray of shape (n_components, q, q)
        The matrices A_p.
    translations : ndarray of shape (n_components, q)
        The vectors b_p.
    singular_values : ndarray of shape (n_components, q)
        By how much every map stretches its component, descending: 1 is isometric, 0 is squashed.
        Directions in which a component has no extent count as 1.
    link_lengths : ndarray of shape (n_links,)
        Lengths of the links in the map.
    variance : float
        Mean squared distance of all points to their mean.
    mixed : float
        Share of points whose nearest neighbor belongs to another component, see `mixed_share`.
    solution : SDPSolution or None
        The solution of the semidefinite program behind an affine placement.
    """

    maps: FloatArray
    translations: FloatArray
    singular_values: FloatArray
    link_lengths: FloatArray
    variance: float
    mixed: float
    solution: SDPSolution | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        shapes: Sequence[FloatArray],
        links: Links,
        maps: FloatArray,
        translations: FloatArray,
        *,
        solution: SDPSolution | None = None,
    ) -> Placement:
        """Return the placement by given maps, turned into principal axes, with its figures."""
        placed = _apply(shapes, maps, translations)
        frame = principal_coordinates(np.concatenate(placed), maps.shape[2])
        maps, translations = maps @ frame.axes, (translations - frame.mean) @ frame.axes
        placed = _apply(shapes, maps, translations)
        first, second = (
            np.array([placed[p][i] for p, i in zip(pieces, members, strict=True)])
            for pieces, members in zip(links.pieces.T, links.members.T, strict=True)
        )
        return cls(
            maps=maps,
            translations=translations,
            singular_values=np.array([_stretch(Y, A) for Y, A in zip(shapes, maps, strict=True)]),
            link_lengths=np.linalg.norm((first - second).reshape(-1, maps.shape[2]), axis=1),
            variance=frame.total_variance,
            mixed=mixed_share(placed),
            solution=solution,
        )

    def apply(self, shapes: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the points of every component where they belong."""
        placed = _apply(shapes, self.maps, self.translations)
        return [Z.astype(Y.dtype, copy=False) for Z, Y in zip(placed, shapes, strict=True)]


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
    >>> from isofold.placement.rigid.place import Links, place_rigidly
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
        layout = Layout(np.eye(means.shape[1])[None], np.zeros_like(means))
    else:
        sizes = np.array([len(Y) for Y in shapes])
        bounds = _link_bounds(local, links)
        tree = LinkTree.of(links.pieces, bounds.ends, links.lengths, sizes)
        weights = sizes.astype(np.float64)
        source = check_random_state(random_state)
        directions = _start_directions(
            tree, owner, distances, source.normal(size=(n_starts, *means.shape))
        )
        layout = straighten(tree, weights, directions)
        breaker = TieBreaker.of(owner, centered - means[owner], distances)
        layout = breaker.settled(layout, tree, bounds.only(tree.link[tree.order[1:]]), weights)
        reached = np.linalg.norm(layout.link_vectors(links.pieces, bounds.ends), axis=1)
        if np.any(reached > links.lengths + TOO_LONG * tree.unit):
            starts = [layout, _data_layout(breaker)]
            layout = tighten_from_several(starts, weights, bounds, source)
            layout = breaker.settled(layout, tree, bounds, weights)
        if keep_apart:
            gaps = np.full(len(shapes), np.inf)
            np.minimum.at(gaps, links.pieces, links.lengths[:, None])
            layout = Crowd.of(local, gaps, weights).separated(layout, bounds, tree)
    translations = layout.centroids - (means[:, None, :] @ layout.turns)[:, 0, :]
    return Placement.of(shapes, links, layout.turns, translations)


def mixed_share(placed: Sequence[FloatArray]) -> float:
    """Return the share of points whose nearest neighbor belongs to another component."""
    sizes = np.array([len(Z) for Z in placed])
    points, owner = np.concatenate(placed), np.repeat(np.arange(len(placed)), sizes)
    counted = sizes[owner] > 1
    if not counted.any():
        return 0.0
    # The nearest but itself; of points at the same place any may come first.
    nearest = np.asarray(KDTree(points).query(points[counted], k=2)[1])
    itself = nearest[:, 0] == np.flatnonzero(counted)
    other = np.where(itself, nearest[:, 1], nearest[:, 0])
    return float((owner[other] != owner[counted]).mean())


def check_shapes(shapes: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the local embeddings of components, checked to have the same number of columns."""
    checked = [check_points(Y, name=f"shapes[{p}]", min_samples=1) for p, Y in enumerate(shapes)]
    widths = sorted({Y.shape[1] for Y in checked})
    if len(widths) != 1:
        msg = (
            f"Components have {widths or 'no'} columns, but they are to lie in one space. Pass at "
            f"least one component, all with the same number of columns; add zeros to the others."
        )
        raise InvalidInputError(msg)
    return checked


def check_links(links: Links, shapes: Sequence[FloatArray]) -> Links:
    """Return links, checked to be between points of these shapes and to connect them all."""
    pieces, members = (
        np.asarray(part, dtype=np.intp).reshape(-1, 2) for part in (links.pieces, links.members)
    )
    lengths = np.asarray(links.lengths, dtype=np.float64)
    refuse_no_distances(lengths, name="Lengths of links")
    sizes = np.array([len(Y) for Y in shapes])
    if not len(pieces) == len(members) == len(lengths):
        msg = (
            f"There are {len(pieces)} pairs of components, {len(members)} pairs of members and "
            f"{len(lengths)} lengths. Every link has one of each."
        )
        raise InvalidInputError(msg)
    known = bool(np.all((pieces >= 0) & (pieces < len(sizes))))
    if not known or np.any((members < 0) | (members >= sizes[pieces])):
        msg = (
            f"A link names a point that does not exist: there are {len(sizes)} components of "
            f"{sizes.min()} to {sizes.max()} points, counted from 0."
        )
        raise InvalidInputError(msg)
    graph = csr_array(
        (np.ones(len(pieces)), (pieces[:, 0], pieces[:, 1])), shape=(len(sizes), len(sizes))
    )
    n_groups = csgraph.connected_components(graph, directed=False)[0]
    if n_groups > 1 or np.any(pieces[:, 0] == pieces[:, 1]):
        msg = (
            f"{len(pieces)} links leave {len(sizes)} components in {n_groups} group(s), and "
            f"{int((pieces[:, 0] == pieces[:, 1]).sum())} of them join a component to itself. "
            f"Groups could lie anywhere. Link every component to another one, as "
            f"isofold.neighbors.connect does."
        )
        raise InvalidInputError(msg)
    return Links(pieces, members, lengths)


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
    """Return links as bounds from above between points relative to centroids."""
    ends = [
        [local[p][i] for p, i in zip(pieces, members, strict=True)]
        for pieces, members in zip(links.pieces, links.members, strict=True)
    ]
    return Bounds(links.pieces, np.array(ends), links.lengths, np.ones(len(ends)))


def _start_directions(
    tree: LinkTree, owner: IntArray, distances: FloatArray, directions: FloatArray
) -> FloatArray:
    """Return directions of links: as between components in the data first, then random ones."""
    n_shapes, q = directions.shape[1:]
    share = (owner == np.arange(n_shapes)[:, None]) / np.bincount(owner)[:, None]
    squares = share @ distances**2 @ share.T
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


def _data_layout(breaker: TieBreaker) -> Layout:
    """Return shapes moved onto the classical scaling of their representatives' distances."""
    q = breaker.centered.shape[1]
    squares = breaker.distances**2
    scaled = classical_scaling(squares, min(q, len(squares))).coordinates
    scaled = np.pad(scaled, ((0, 0), (0, q - scaled.shape[1])))
    motions = [
        procrustes(breaker.centered[own], scaled[own]).transform
        for own in breaker.owner == np.unique(breaker.owner)[:, None]
    ]
    # Shapes are given relative to their centroids, so translations are where these go.
    return Layout(
        np.array([motion.rotation for motion in motions]),
        np.array([motion.translation for motion in motions]),
    )


def _apply(
    shapes: Sequence[FloatArray], maps: FloatArray, translations: FloatArray
) -> list[FloatArray]:
    return [Y @ A + b for Y, A, b in zip(shapes, maps, translations, strict=True)]


def _stretch(shape: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return the singular values of a map on the directions in which a shape has extent."""
    principal = principal_coordinates(shape)
    # Along a line a solver leaves some noise across, which is no extent.
    extent = principal.axes[:, principal.variances > FLAT**2 * principal.variances.max(initial=0.0)]
    values = np.ones(len(matrix))
    values[: extent.shape[1]] = np.linalg.svd(extent.T @ matrix, compute_uv=False)
    return np.sort(values)[::-1]
