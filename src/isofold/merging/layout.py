"""From points to planes that are laid out along a tree, component by component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph
from scipy.spatial import KDTree

from isofold._progress.stages import stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.linalg import principal_coordinates
from isofold.linalg.motions import RigidMotions
from isofold.merging.folds import place_means
from isofold.merging.walk import CellTree, lift_tree, merge
from isofold.neighbors import Neighbors, SpanningTree, build_search
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.spanning import component_labels, tree_of_places
from isofold.patches.planes import Planes, fit_planes
from isofold.placement.by_paths import place_by_paths
from isofold.placement.links import Links
from isofold.sdp import SDPSolution

__all__ = ["CoreNodes", "Merged", "components_of", "find_core", "lay_out", "sound_planes"]

Improve: TypeAlias = Callable[
    [IntArray, Planes, FloatArray], tuple[Planes, RigidMotions, SDPSolution | None]
]

FEW_IN_MEMORY = 10_000
"""Points up to which their order in memory makes no difference in time."""

VANISHING = 1e-140
"""Fraction of the largest coordinate below which a coordinate makes no distance."""

LISTED = 16
"""Neighbors that are listed for the spanning tree."""


@dataclass(frozen=True, eq=False)
class CoreNodes:
    """The distinct samples that make cells, in an order in which neighbors are near each other.

    Attributes
    ----------
    points : ndarray of shape (n_nodes, d)
        Where they are, in float64.
    samples : ndarray of int of shape (n_nodes,)
        The first sample at every node.
    node_of : ndarray of int of shape (n_samples,)
        The node of every sample; the nearest one for samples that make no cells.
    is_core : ndarray of bool of shape (n_samples,)
        Whether a sample is at a node, rather than near one.
    near : Neighbors
        The nearest other nodes of every node.
    tree : SpanningTree
        Their spanning tree.
    components : ndarray of int of shape (n_nodes,)
        Their components in the graph of neighbors, the largest first.
    """

    points: FloatArray
    samples: IntArray
    node_of: IntArray
    is_core: BoolArray
    near: Neighbors
    tree: SpanningTree
    components: IntArray

    @cached_property
    def is_bridge(self) -> BoolArray:
        """Which edges of the tree lie between components."""
        ends = self.components[self.tree.edges]
        return np.asarray(ends[:, 0] != ends[:, 1])

    @property
    def bridges(self) -> SpanningTree:
        """The edges of the tree between components."""
        return self.tree.some(self.is_bridge)

    @property
    def forest(self) -> SpanningTree:
        """The edges of the tree within components."""
        return self.tree.some(~self.is_bridge)


@dataclass(frozen=True, eq=False)
class Merged:
    """Planes in one frame.

    Attributes
    ----------
    planes : Planes
        The planes.
    motions : RigidMotions
        Where they go: centered, in principal axes.
    tree : CellTree
        The tree, or forest, along which they were merged.
    angles : ndarray of shape (n_edges,)
        Angles between the planes that it joins.
    images : ndarray of shape (n_points, q)
        The embedded points.
    solution : SDPSolution or None
        The solution behind the improved motions of the largest component, if there is one.
    """

    planes: Planes
    motions: RigidMotions
    tree: CellTree
    angles: FloatArray
    images: FloatArray
    solution: SDPSolution | None = None


@stage("neighbors")
def find_core(
    X: FloatArray, *, n_neighbors: int, least: int, n_jobs: int | None = None
) -> CoreNodes | None:
    """Find the samples that make cells."""
    X = without_traces(X)
    distinct = find_distinct(X)
    rows, node_of = distinct.sample_of_node, distinct.node_of_sample
    if len(rows) < 2:
        return None
    rows, node_of = _neighbors_together(X, rows, node_of)
    near, tree, components = _hanging_together(X[rows], n_neighbors, n_jobs)
    is_large = np.bincount(components)[components] >= least
    is_core = np.ones(len(X), dtype=bool)
    if is_large.any() and not is_large.all():
        is_core, kept = is_large[node_of], np.flatnonzero(is_large)
        search = build_search(X[rows[kept]].astype(np.float64), n_jobs=n_jobs)
        number = np.empty(len(rows), dtype=np.intp)
        number[kept] = np.arange(len(kept))
        number[~is_large] = search.query(X[rows[~is_large]].astype(np.float64), 1).indices[:, 0]
        rows, node_of = rows[kept], number[node_of]
        near, tree, components = _hanging_together(X[rows], n_neighbors, n_jobs)
    points = X[rows].astype(np.float64)
    return CoreNodes(points, rows, node_of, is_core, near, tree, components)


def without_traces(X: FloatArray) -> FloatArray:
    """Return samples with coordinates set to zero whose squares vanish beside others."""
    sizes = np.abs(X)
    traces = (sizes > 0) & (sizes < VANISHING * sizes.max())
    return np.where(traces, 0.0, X).astype(X.dtype) if traces.any() else X


def _neighbors_together(
    X: FloatArray, rows: IntArray, node_of: IntArray
) -> tuple[IntArray, IntArray]:
    """Return nodes in the order of the leaves of a KD-tree, and the node of every sample.

    What is near each other in space is then near in memory, which halves the time at a million
    points. Few points stay in their own order, which does not change when the data are rotated.
    """
    if len(rows) <= FEW_IN_MEMORY:
        return rows, node_of
    order = KDTree(X[rows], balanced_tree=False).indices
    number = np.empty(len(rows), dtype=np.intp)
    number[order] = np.arange(len(rows))
    return rows[order], number[node_of]


def _hanging_together(
    points: FloatArray, n_neighbors: int, n_jobs: int | None
) -> tuple[Neighbors, SpanningTree, IntArray]:
    """Return neighbors, spanning tree and components of points."""
    points = points.astype(np.float64)
    most = len(points) - 1
    k = min(n_neighbors, most)
    lists = build_search(points, n_jobs=n_jobs).query_self(min(max(LISTED, k), most))
    tree = tree_of_places(points, lists, n_jobs=n_jobs)
    near = Neighbors(lists.distances[:, :k], lists.indices[:, :k])
    return near, tree, components_of(near, tree)


def components_of(near: Neighbors, tree: SpanningTree) -> IntArray:
    """Return the component of every point in the graph of neighbors, the largest first."""
    n, k = near.indices.shape
    reach = near.distances[:, -1].astype(np.float64)
    if (tree.lengths <= reach[tree.edges].max(axis=1)).all():
        return np.zeros(n, dtype=np.intp)
    ones = np.ones(n * k, dtype=np.int8)
    links = sp.csr_array((ones, near.indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    linked = csgraph.connected_components(links, directed=False)[1]
    # What hangs together by edges that the tree does without falls apart here: the tree must span
    # every component.
    inside = linked[tree.edges[:, 0]] == linked[tree.edges[:, 1]]
    labels = component_labels(n, tree.edges[inside])
    order = np.argsort(-np.bincount(labels), kind="stable")
    number = np.empty(len(order), dtype=np.intp)
    number[order] = np.arange(len(order))
    return number[labels]


@stage("planes")
def sound_planes(
    points: FloatArray, labels: IntArray, tree: SpanningTree, n_components: int
) -> Planes:
    """Fit planes to cells; those whose points span too little join the nearest along the tree."""
    planes = fit_planes(points, labels, n_components)
    while len(thin := np.flatnonzero(planes.ranks < n_components)):
        cells = lift_tree(tree, planes)
        gaps = np.linalg.norm(np.diff(points[cells.crossings], axis=1)[:, 0], axis=1)
        number = np.arange(planes.n_cells)
        is_joined = np.zeros(planes.n_cells, dtype=bool)
        is_thin = np.zeros(planes.n_cells, dtype=bool)
        is_thin[thin] = True
        for edge in np.argsort(gaps, kind="stable"):
            one, other = cells.edges[edge]
            if (is_thin[one] or is_thin[other]) and not (is_joined[one] or is_joined[other]):
                number[other] = one
                is_joined[[one, other]] = True
        if not is_joined.any():
            break
        labels = np.unique(number[planes.labels], return_inverse=True)[1]
        planes = fit_planes(points, labels, n_components)
    return planes


@stage("merge cells")
def lay_out(
    core: CoreNodes,
    planes: Planes,
    *,
    hinge: str,
    start: int = 0,
    improve: Improve | None = None,
) -> Merged:
    """Merge the planes of every component, and put the components into one frame."""
    points, components = core.points, core.components
    cells = lift_tree(core.forest, planes)
    owner = np.empty(planes.n_cells, dtype=np.intp)
    owner[planes.labels] = components
    roots = np.unique(owner, return_index=True)[1]
    roots[components[start]] = planes.labels[start]
    walk = "parallel" if hinge == "isomap" else hinge
    motions, angles = merge(points, planes, cells, roots=roots, hinge=walk)
    members: list[IntArray] = [np.flatnonzero(components == k) for k in range(len(roots))]
    if hinge == "isomap":
        motions = _by_folds(planes, cells, owner)
    labels, flat = planes.labels, planes.coordinates(points, planes.labels)
    solution = None
    if improve is not None:
        images = motions.apply(flat, labels)
        planes, motions, solution = _improved(planes, motions, members, images, owner, improve)
        flat = planes.coordinates(points, labels)
    if len(roots) > 1:
        images = motions.apply(flat, labels)
        motions = _arranged(motions, members, images, core.bridges, owner)
    principal = principal_coordinates(motions.apply(flat, labels), flat.shape[1])
    to_mean = -principal.mean @ principal.axes
    motions = motions.then(RigidMotions(principal.axes[None], to_mean[None]))
    images = motions.apply(flat, labels)
    return Merged(planes, motions, cells, angles, images, solution)


def _by_folds(planes: Planes, tree: CellTree, owner: IntArray) -> RigidMotions:
    """Place the cells of every component by the lengths over their folds."""
    q = planes.axes.shape[2]
    motions = RigidMotions.identity(planes.n_cells, q)
    for component in range(int(owner.max()) + 1):
        own = np.flatnonzero(owner == component)
        number = np.full(planes.n_cells, -1)
        number[own] = np.arange(len(own))
        edges = tree.edges[owner[tree.edges[:, 0]] == component]
        some = _some_planes(planes, own)
        placed = place_means(some, CellTree(number[edges], edges))
        motions.translations[own] = placed.translations
    return motions


def _improved(
    planes: Planes,
    motions: RigidMotions,
    members: list[IntArray],
    images: FloatArray,
    owner: IntArray,
    improve: Improve,
) -> tuple[Planes, RigidMotions, SDPSolution | None]:
    """Return what is made of the planes and motions of every component."""
    means, axes = planes.means.copy(), planes.axes.copy()
    rotations, translations = motions.rotations.copy(), motions.translations.copy()
    solution = None
    for component, own_points in enumerate(members):
        own = np.flatnonzero(owner == component)
        if len(own) == 1:
            continue
        number = np.full(planes.n_cells, -1)
        number[own] = np.arange(len(own))
        some = replace(_some_planes(planes, own), labels=number[planes.labels[own_points]])
        better, moved, found = improve(own_points, some, images[own_points])
        solution = found if component == 0 else solution
        means[own], axes[own] = better.means, better.axes
        rotations[own], translations[own] = moved.rotations, moved.translations
    return replace(planes, means=means, axes=axes), RigidMotions(rotations, translations), solution


def _some_planes(planes: Planes, own: IntArray) -> Planes:
    """Return some of the planes, without their points."""
    none = np.empty(0, dtype=np.intp)
    return replace(
        planes,
        labels=none,
        means=planes.means[own],
        axes=planes.axes[own],
        ranks=planes.ranks[own],
        off=planes.off[own],
        extents=planes.extents[own],
    )


def _arranged(
    motions: RigidMotions,
    members: list[IntArray],
    images: FloatArray,
    bridges: SpanningTree,
    owner: IntArray,
) -> RigidMotions:
    """Return the motions with the components in one frame."""
    links = Links.between(members, bridges.edges, bridges.lengths)
    placing = place_by_paths([images[own] for own in members], links)
    return motions.then(placing.restrict(owner))
