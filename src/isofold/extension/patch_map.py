"""The map that aligned charts make: any point to the embedding, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from isofold._base import BaseEmbedder
from isofold._memory import block_rows
from isofold._parallel import ordered_map
from isofold._progress.stages import stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.extension.way_back import LocalInverse
from isofold.linalg import principal_coordinates
from isofold.linalg.motions import RigidMotions
from isofold.linalg.rows import row_product
from isofold.neighbors import Neighbors, NeighborSearch, build_search
from isofold.neighbors.search.exact import inverse_of, query_by_leaves
from isofold.patches import Atlas, Memberships
from isofold.patches._evaluate import blend, distances_from_charts, evaluate, place
from isofold.patches.atlas import bend, joined
from isofold.patches.noise_axes import Reduction
from isofold.stitching.components import StitchedMap
from isofold.stitching.levels import StitchedComponent

__all__ = ["MappedPoints", "PatchMap", "assemble"]

MORE_NEAREST = 2
"""So many more than r nodes lend their patches to a new point; the last one's weight is zero. Fewer
would be equally far from points all over the sheet, where fractions would jump."""

N_SPACING = 12
"""Points are within reach of a node if they are nearer to it than so many other nodes are, in the
median around it. Of points drawn like the nodes exp(-12) are not, six in a million, whatever the
dimension; along a straight edge the reach extends two mean spacings beyond it. Of 200,000 points
of a roll 16 were out of reach of 20,000 nodes that were drawn from as many others, and 46 with
noise of .3, which is more than the nodes are apart."""

MOST_ROWS = 2**16
"""Rows of a block: so few that threads end together, and so many that a search profits."""

REACH = 1.25
"""Radii up to which a chart is bent. Members are within one radius of the seed, but up to 1.23
radii from the origin of their chart."""

INVERSION_STEPS = 6
"""Fixed-point steps that undo the bending of a chart. It is a correction of second order, and each
step gains as many digits as the correction is small."""


@dataclass(frozen=True, eq=False)
class MappedPoints:
    """Images of points, and how far the points are from the charts.

    Attributes
    ----------
    images : ndarray of shape (n, p)
        Where the points go.
    squared_distances : ndarray of shape (n,)
        Their mean squared distances from the surfaces that the charts describe.
    limits : ndarray of shape (n,)
        What these may be before a point counts as an outlier.
    nearest : ndarray of int of shape (n,)
        The nearest node of every point.
    gaps : ndarray of shape (n,)
        The distances from there; without directions of noise if distances are left out.
    """

    images: FloatArray
    squared_distances: FloatArray
    limits: FloatArray
    nearest: IntArray
    gaps: FloatArray

    @property
    def is_off(self) -> BoolArray:
        """Which points are too far from the charts."""
        return np.asarray(self.squared_distances > self.limits)


@dataclass(frozen=True, eq=False)
class PatchMap(LocalInverse):
    """Charts and their motions, with the nodes that tell which charts are near.

    Attributes
    ----------
    search : NeighborSearch
        Finds the nodes nearest to points of the data space.
    image_search : NeighborSearch
        Finds the nodes nearest to points of the embedding.
    memberships : Memberships
        The patches of every node.
    atlas : Atlas
        The charts.
    radii, limits : ndarray of shape (n_patches,)
        How far charts are bent, and squared distances from them that are still normal.
    motions : RigidMotions
        Where the patches go.
    reduction : Reduction or None
        The projection of the data into the space of the charts, if there is one.
    estimators : tuple
        The embedders that are the charts, if there are any.
    """

    search: NeighborSearch
    image_search: NeighborSearch
    memberships: Memberships
    atlas: Atlas
    radii: FloatArray
    limits: FloatArray
    motions: RigidMotions
    reduction: Reduction | None = None
    estimators: tuple[Any, ...] = ()

    @cached_property
    def _cubics(self) -> tuple[IntArray, FloatArray]:
        """What the bending of the charts adds to the images."""
        return self.atlas.cubics(self.motions.rotations)

    @property
    def _charts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Origins, axes and radii of the charts, as the kernels take them."""
        return self.atlas.origins, np.ascontiguousarray(self.atlas.axes), self.radii

    @property
    def _moves(self) -> tuple[FloatArray, FloatArray]:
        """Rotations and translations, as the kernels take them."""
        motions = self.motions
        return np.ascontiguousarray(motions.rotations), np.ascontiguousarray(motions.translations)

    def transform(self, X: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
        """Return the images of points, each by itself."""
        return self.map_points(X, with_distances=False, n_jobs=n_jobs).images

    def distance(self, X: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
        """Return the root mean squared distances of points from the charts near them."""
        return np.sqrt(self.map_points(X, n_jobs=n_jobs).squared_distances)

    def map_points(
        self,
        points: FloatArray,
        *,
        with_distances: bool = True,
        n_jobs: int | None = None,
    ) -> MappedPoints:
        """Map points, each by itself, in blocks of rows, and measure how far off they are."""
        n, p = len(points), self.motions.translations.shape[1]
        result = MappedPoints(
            images=np.empty((n, p), dtype=points.dtype),
            squared_distances=np.full(n, np.nan),
            limits=np.full(n, np.nan),
            nearest=np.empty(n, dtype=np.int32),
            gaps=np.empty(n),
        )

        def work(rows: slice) -> None:
            given, reduction = points[rows], self.reduction
            block = np.ascontiguousarray(given if reduction is None else reduction.apply(given))
            order, near, images, squares, limits = self._place(block, with_distances=with_distances)
            back = inverse_of(order)
            result.images[rows] = images.take(back, axis=0)
            result.nearest[rows] = near.indices[:, 0].take(back)
            result.gaps[rows] = near.distances[:, 0].take(back)
            if with_distances:
                result.squared_distances[rows] = squares.take(back)
                result.limits[rows] = limits.take(back)
            if with_distances and reduction is not None:
                left_out = reduction.squared_distance(given, block)
                result.squared_distances[rows] += left_out
                result.limits[rows] += OUTLIER_FACTOR * reduction.left_out
                result.gaps[rows] = np.sqrt(result.gaps[rows] ** 2 + left_out)

        blocks = _blocks(n, points.shape[1])
        with stage("place points", total=len(blocks)) as steps:
            for _ in ordered_map(work, blocks, n_jobs=n_jobs, steps=steps):
                pass
        return result

    def _place(self, block: FloatArray, *, with_distances: bool) -> tuple[Any, ...]:
        """Return points in some order: nearest nodes, images, squared distances, their limits."""
        surfaces = (self.atlas.coefficients, self.limits) if with_distances else None
        order, near = query_by_leaves(self.search, block, self._n_nearest)
        some, (nodes, gaps) = block.take(order, axis=0), _for_kernels(near)
        memberships, charts = self._node_patches, self._charts
        if not self.estimators:
            motions = self._cubics, self._moves
            placed = place(some, nodes, gaps, memberships, charts, *motions, surfaces)
            return order, near, *placed
        blended = blend(nodes, gaps, *memberships, len(self.radii))
        images = self._by_estimators(some, *blended)
        if surfaces is None:
            return order, near, images, None, None
        return order, near, images, *distances_from_charts(some, *blended, *charts, *surfaces)

    def placed_by(self, points: FloatArray, patches: IntArray) -> FloatArray:
        """Return where one given patch puts each point: what patches disagree about."""
        block = np.ascontiguousarray(points)
        alone = (
            np.arange(len(block) + 1, dtype=np.int64),
            np.ascontiguousarray(patches, dtype=np.int64),
            np.ones(len(block)),
        )
        if self.estimators:
            return self._by_estimators(block, *alone)
        return evaluate(block, *alone, *self._charts, self._cubics, self._moves)

    def inverse_transform(self, Y: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
        """Map points of the embedding back onto the surface that the charts describe.

        If there is none, or data are too thick for it, then by local weights.
        """
        by_charts = self._has_surface
        points = self._on_surface(Y, n_jobs) if by_charts else self.way_back.transform(Y)
        return points if self.reduction is None else self.reduction.undo(points)

    def training_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the nodes, in the space of the charts, and their images."""
        return self.search.points, self.image_search.points

    @property
    def n_features(self) -> int:
        """Number of features of the data."""
        return self.atlas.origins.shape[1] if self.reduction is None else len(self.reduction.axes)

    @property
    def node_points(self) -> FloatArray:
        """The nodes as points of the data, without the noise that was left out."""
        points = self.search.points
        return points if self.reduction is None else self.reduction.undo(points)

    @cached_property
    def reaches(self) -> FloatArray:
        """How far from every node the charts count as known: the usual spacing around it."""
        nodes = self.search.points
        near = self.search.query(nodes, min(N_SPACING + 1, len(nodes)))
        return np.asarray(np.median(near.distances[:, -1][near.indices], axis=1), dtype=np.float64)

    def remoteness(self, mapped: MappedPoints) -> FloatArray:
        """Return how far points are from their nearest nodes along the charts, over the reach.

        What they are off the charts does not count: noise may be thicker than nodes are apart.
        """
        reach = self.reaches[mapped.nearest]
        along = np.sqrt(np.maximum(mapped.gaps**2 - mapped.squared_distances, 0.0))
        beyond = np.where(along > 0.0, np.inf, 0.0)
        return np.divide(along, reach, out=beyond, where=reach > 0.0)

    def moved(self, motions: RigidMotions) -> PatchMap:
        """Return the map after a rigid motion of every patch, or of all of them."""
        moved = replace(self, motions=self.motions.then(motions))
        images = moved.map_points(self.node_points, with_distances=False).images
        return replace(moved, image_search=build_search(images, n_jobs=1))

    @cached_property
    def _has_surface(self) -> bool:
        """Whether charts lead images of nodes back to these as closely as neighbors do."""
        if self.estimators:
            return False
        return self.way_back.misses_more_than(self._on_surface)

    def _on_surface(self, Y: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return points of the surface that the charts describe, in their space."""
        d = self.atlas.origins.shape[1]

        def work(rows: slice) -> tuple[slice, FloatArray]:
            return rows, self._restore_block(np.asarray(Y[rows], dtype=np.float64))

        points = np.empty((len(Y), d))
        for rows, block in ordered_map(work, _blocks(len(Y), d), n_jobs=n_jobs):
            points[rows] = block
        return points

    def _by_estimators(
        self, block: FloatArray, ends: IntArray, chosen: IntArray, fractions: FloatArray
    ) -> FloatArray:
        """Return images by charts that are embedders."""
        images = np.zeros((len(block), self.motions.translations.shape[1]))
        owner = np.repeat(np.arange(len(block)), np.diff(ends))
        for patch in np.unique(chosen):
            entries = np.flatnonzero(chosen == patch)
            estimator, mean = self.estimators[patch]
            if not hasattr(estimator, "transform"):
                msg = (
                    f"chart={estimator!r} has no transform, so that samples which its patches do "
                    f"not hold cannot be placed. Use an embedder with transform."
                )
                raise InvalidInputError(msg)
            u = _transform_rows(estimator, block[owner[entries]]) - mean
            rotated = row_product(u, self.motions.rotations[patch, : u.shape[1]])
            placed = rotated + self.motions.translations[patch]
            np.add.at(images, owner[entries], fractions[entries, None] * placed)
        return images

    def _restore_block(self, images: FloatArray) -> FloatArray:
        near = self.image_search.query(np.ascontiguousarray(images), self._n_nearest)
        nodes, gaps = _for_kernels(near)
        ends, chosen, fractions = blend(nodes, gaps, *self._node_patches, len(self.radii))
        y = np.repeat(images, np.diff(ends), axis=0) - self.motions.translations[chosen]
        surface = np.empty((len(chosen), self.atlas.origins.shape[1]))
        # The chart of every entry is gathered, with its bending and coefficients.
        r, (q, d) = self.atlas.n_components, self.atlas.coefficients.shape[1:]
        width = 8 * ((2 * q + r) * d + r * y.shape[1] + (0 if self.atlas.is_flat else 2 * r**4))
        step = block_rows(width, len(chosen))
        for start in range(0, len(chosen), step):
            block = slice(start, start + step)
            surface[block] = self._surface(chosen[block], y[block])
        return np.asarray(np.add.reduceat(fractions[:, None] * surface, ends[:-1], axis=0))

    def _surface(self, chosen: IntArray, y: FloatArray) -> FloatArray:
        """Return the points of charts whose images are y, relative to the charts' translations."""
        u = (self.motions.rotations[chosen] @ y[:, :, None])[:, :, 0]
        atlas, radii = self.atlas.chosen(chosen), self.radii[chosen][:, None]
        t = u
        for _ in range(INVERSION_STEPS):
            length = np.linalg.norm(t, axis=1, keepdims=True)
            inner = t * np.minimum(1.0, radii / np.maximum(length, radii))
            t = u - (bend(atlas, inner[:, None, :])[:, 0] - inner)
        return atlas.surface(t, radii)

    @cached_property
    def _node_patches(self) -> tuple[IntArray, IntArray, FloatArray]:
        """The patches of nodes and their fractions there, as the kernels take them."""
        nodes = self.memberships
        total = np.add.reduceat(nodes.weights, nodes.indptr[:-1])
        return nodes.indptr, nodes.patches, nodes.weights / total[nodes.points]

    @property
    def _n_nearest(self) -> int:
        """Nodes that lend their patches to a point."""
        return min(self.atlas.n_components + MORE_NEAREST, self.search.n_points)


def _for_kernels(near: Neighbors) -> tuple[IntArray, FloatArray]:
    """Return indices and distances of neighbors as the kernels take them."""
    indices = np.ascontiguousarray(near.indices, dtype=np.int64)
    return indices, np.ascontiguousarray(near.distances, dtype=np.float64)


def _transform_rows(estimator: Any, points: FloatArray) -> FloatArray:
    """Return what an embedder makes of points, one at a time unless it promises that anyway."""
    if isinstance(estimator, BaseEmbedder):
        return np.asarray(estimator.transform(points))
    return np.vstack([estimator.transform(points[i : i + 1]) for i in range(len(points))])


def _blocks(n_rows: int, d: int) -> list[slice]:
    """Return row blocks small enough for several threads, large enough to be worth the call."""
    step = min(MOST_ROWS, block_rows(8 * (d + 40), n_rows))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


OUTLIER_FACTOR, OUTLIER_FRACTION = 25.0, 0.04
"""A point is an outlier if its squared distance from the charts exceeds so many residual variances
plus such a fraction of the squared radius."""


def assemble(
    points: FloatArray, stitched: StitchedMap, reduction: Reduction | None = None
) -> PatchMap:
    """Join the maps of all components into one, centered and in principal axes."""
    embedding = stitched.embedding
    mean = embedding.mean(axis=0)
    axes = principal_coordinates(embedding, embedding.shape[1]).axes
    components = stitched.components
    radii = np.concatenate([each.cover.radii for each in components])
    residual = np.concatenate([each.charts.residual for each in components])
    return PatchMap(
        search=build_search(points, n_jobs=1),
        image_search=build_search((embedding - mean) @ axes, n_jobs=1),
        memberships=_joined_memberships(components, stitched.graph.n_nodes),
        atlas=joined([each.charts.atlas for each in components]),
        radii=REACH * radii,
        limits=OUTLIER_FACTOR * residual + OUTLIER_FRACTION * radii**2,
        motions=RigidMotions.joined(each.alignment.motions for each in components).in_frame(
            mean, axes
        ),
        reduction=reduction,
        estimators=tuple(entry for each in components for entry in each.charts.estimators),
    )


def _joined_memberships(components: Sequence[StitchedComponent], n_nodes: int) -> Memberships:
    """Return the patches of all nodes, those of one component after those of the other."""
    nodes = np.concatenate([each.nodes[each.memberships.points] for each in components])
    shift = np.cumsum([0] + [each.cover.n_patches for each in components[:-1]])
    entry_shift = np.cumsum([0] + [len(each.cover.members) for each in components[:-1]])
    patches = [p.memberships.patches + s for p, s in zip(components, shift, strict=True)]
    entries = [p.memberships.entries + s for p, s in zip(components, entry_shift, strict=True)]
    order = np.argsort(nodes, kind="stable")
    counts = np.bincount(nodes, minlength=n_nodes)
    return Memberships(
        indptr=np.concatenate([[0], np.cumsum(counts)]),
        entries=np.concatenate(entries)[order],
        patches=np.concatenate(patches)[order],
        weights=np.concatenate([each.memberships.weights for each in components])[order],
    )
