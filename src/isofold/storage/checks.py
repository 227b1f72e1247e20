"""Whether numbers of a file fit each other, before compiled code relies on it.

Our kernels, and those of SciPy's sparse matrices, do not look whether an index is within an array:
a hostile file could read or write anywhere. Each function here checks one class, whose fields were
checked before. What is only used through NumPy needs no check, since NumPy checks itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._memory import require_memory
from isofold.patches.atlas import n_coefficients
from isofold.storage.validation import require

MOST_DIMENSIONS = 128
"""Dimensions of bent charts: the bending of one takes r⁴ numbers, and a minute beyond this."""


def check_atlas(atlas: Any) -> None:
    """Look at the charts, whose arrays the kernels walk through."""
    require(atlas.axes.ndim == 3, "the axes of charts have a wrong shape")
    n, d, r = atlas.axes.shape
    shapes = [
        (atlas.origins, (n, d)),
        (atlas.coefficients, (n, 0 if atlas.is_flat else n_coefficients(r), d)),
        (atlas.shrinkage, (n,)),
    ]
    _check_shapes(shapes, "charts")
    n_bent = int(np.count_nonzero(atlas.shrinkage))
    require(not n_bent or not atlas.is_flat, "bent charts have no coefficients")
    require(not n_bent or r <= MOST_DIMENSIONS, "charts have too many dimensions")
    # As `Atlas.cubics` needs it, for as many columns of the map.
    require_memory(
        8 * (n_bent * r**4 // 6 + min(n_bent, 1) * 4 * r**4),
        what="The charts",
        instead="Load it on a machine with more memory.",
    )


def check_memberships(memberships: Any) -> None:
    """Look at the patches of every node."""
    n = len(memberships.patches)
    _check_rows(memberships.indptr, n, "patches of nodes")
    every = (memberships.entries, memberships.patches, memberships.weights)
    _check_shapes([(array, (n,)) for array in every], "patches of nodes")


def check_reduction(reduction: Any) -> None:
    """Look at a projection."""
    require(reduction.axes.ndim == 2, "the axes of a projection have a wrong shape")
    _check_shapes([(reduction.mean, (len(reduction.axes),))], "a projection")


def check_patch_map(found: Any) -> None:
    """Look whether nodes, patches and charts are each other's."""
    require(found.motions.translations.ndim == 2, "patches have no motions")
    n, d, r = found.atlas.axes.shape
    p = found.motions.translations.shape[1]
    shapes = [
        (found.radii, (n,)),
        (found.limits, (n,)),
        (found.motions.rotations, (n, r, p)),
        (found.motions.translations, (n, p)),
    ]
    _check_shapes(shapes, "patches")
    _check_within(found.memberships.patches, n, "patches")
    n_nodes = len(found.memberships.indptr) - 1
    for search, width in ((found.search, d), (found.image_search, p)):
        require(search._points.shape == (n_nodes, width), "nodes are not those of the patches")
    if found.reduction is not None:
        require(
            found.reduction.axes.shape[1] == d, "a projection has other dimensions than the charts"
        )
    require(len(found.estimators) in (0, n), "patches have no charts")
    for pair in found.estimators:
        require(isinstance(pair, tuple) and len(pair) == 2, "a patch has no chart")


def check_extended_map(found: Any) -> None:
    """Look whether maps are of one space, and lead into one."""
    require(found.maps, "an extended map is empty")
    sizes = {(each.n_features, each.motions.translations.shape[1]) for each in found.maps}
    require(len(sizes) == 1, "maps are of different spaces")
    n = len(found.waiting_samples)
    shapes = [(found.waiting, (n, found.maps[0].n_features)), (found.waiting_samples, (n,))]
    _check_shapes(shapes, "waiting points")
    require(np.isfinite(found.waiting).all(), "waiting points are not finite")


def check_planes(planes: Any) -> None:
    """Look at the planes of cells."""
    require(planes.axes.ndim == 3, "the axes of planes have a wrong shape")
    _check_within(planes.labels, len(planes.axes), "cells")
    _check_shapes([(planes.means, planes.axes.shape[:2])], "planes")


def check_plane_map(found: Any) -> None:
    """Look whether nodes are those of the cells."""
    n, d = len(found.planes.labels), found.planes.means.shape[1]
    require(found.search._points.shape == (n, d), "nodes are not those of the cells")
    require(len(found.image_search._points) == n, "images are not those of the cells")


def check_tesserae(tesserae: Any) -> None:
    """Look at tesserae, of which a sparse matrix is made."""
    require(tesserae.local.ndim == 2, "the coordinates of tesserae have a wrong shape")
    n, r = tesserae.local.shape
    _check_shapes([(tesserae.labels, (n,))], "tesserae")
    _check_within(tesserae.labels, len(tesserae.ranks), "tesserae")
    _check_within(tesserae.ranks, r + 1, "dimensions of tesserae")


def check_neighbor_graph(graph: Any) -> None:
    """Look at the edges, along which paths are searched."""
    n = graph.n_nodes
    _check_edges(graph, "a graph")
    _check_shapes([(graph.sample_of_node, (n,)), (graph.is_bridge, (len(graph.edges),))], "a graph")
    _check_within(graph.node_of_sample, n, "a graph")


def check_spanning_tree(tree: Any) -> None:
    """Look at the edges of a tree."""
    _check_edges(tree, "a tree")


def check_patch_cover(cover: Any) -> None:
    """Look at the members of patches."""
    n = len(cover.members)
    _check_rows(cover.indptr, n, "members of patches")
    _check_within(cover.members, cover.n_points, "members of patches")
    _check_shapes([(cover.seeds, (len(cover.indptr) - 1,))], "patches")


def check_training_points(training: Any) -> None:
    """Look at training points: their samples become columns of a sparse matrix."""
    points, images = training.points, training.images
    require(points.ndim == images.ndim == 2, "training points are no table")
    n = len(points)
    _check_shapes([(training.samples, (n,)), (training.rounding, (n,))], "training points")
    _check_within(training.samples, len(images), "samples of training points")
    require(training.search._points.shape == points.shape, "a search is among other points")
    for table in (points, images):
        require(np.isfinite(table).all(), "training points are not finite")


def check_region(region: Any) -> None:
    """Look at the region of training points."""
    _check_shapes([(region.spacings, (region.training.n_points,))], "a region")


def check_distinct(distinct: Any) -> None:
    """Look at which samples are copies of each other."""
    for array in (distinct.node_of_sample, distinct.sample_of_node):
        require(array.ndim == 1, "the indices of samples have a wrong shape")
    _check_within(distinct.node_of_sample, distinct.n_nodes, "nodes of samples")
    _check_within(distinct.sample_of_node, distinct.n_samples, "samples of nodes")


def check_distance_map(found: Any) -> None:
    """Look at images: their samples become columns of a sparse matrix."""
    require(found.images.ndim == 2, "images have a wrong shape")
    require(found.distinct.n_samples == len(found.images), "images are not those of the samples")


def check_stress_map(found: Any) -> None:
    """Look at what the kernels walk through when new points settle."""
    n = found.training.n_points
    _check_shapes([(found.reach, (n,))], "a map of neighbors")
    require(found.reach.dtype == np.float32, "how far neighbors are has a wrong precision")
    require(np.isfinite(found.reach).all(), "how far neighbors are is not finite")
    require(found.n_neighbors >= 1, "points of a map have no neighbors")
    require(1 <= found.training.images.shape[1] <= 3, "a map of neighbors has too many dimensions")
    require(np.isfinite(found.unit) and found.unit > 0.0, "the unit of a map is no length")


def check_frame(frame: Any) -> None:
    """Look at points whose products with new rows a kernel computes."""
    require(frame.coordinates.ndim == 2, "points of a frame have a wrong shape")
    n = len(frame.centering.column_means)
    _check_shapes(
        [
            (frame.centering.column_means, (n,)),
            (frame.coordinates, (n, frame.coordinates.shape[1])),
            (frame.inverse, frame.coordinates.shape),
        ],
        "a frame",
    )


def check_intake(intake: Any) -> None:
    """Look whether a frame is that of the samples."""
    if intake.frame is not None:
        is_known = intake.nodes is not None and intake.nodes.ndim == 1
        require(is_known and len(intake.nodes) == len(intake.frame.inverse), "samples are missing")
    if intake.own is not None:
        require(intake.own.ndim == 1, "the kernel of samples has a wrong shape")


def check_kernel_source(source: Any) -> None:
    """Look whether objects are as many as their kernel values."""
    require(source.own.ndim == 1 and len(source.own) > 0, "a kernel has no objects")
    if source.signatures is not None:
        _check_shapes([(source.signatures, (len(source.own),))], "a kernel")
    if source.objects is not None:
        require(len(source.objects) == len(source.own), "objects are not those of the kernel")


def check_kernel_nodes(nodes: Any) -> None:
    """Look at columns and neighbors of training objects."""
    n = nodes.source.n_objects
    _check_shapes([(nodes.reach, (n,))], "a kernel graph")
    require(nodes.n_neighbors >= 1, "objects of a kernel graph have no neighbors")
    require((nodes.columns is None) == (nodes.source.objects is not None), "objects are missing")
    if nodes.columns is not None:
        _check_shapes([(nodes.columns, (n,))], "a kernel graph")
        require(nodes.columns.min() >= 0, "columns of a kernel are out of range")


def check_kernel_eigen_map(found: Any) -> None:
    """Look whether eigenvectors and components are those of the objects."""
    require(found.images.ndim == 2 and found.factors.ndim == 2, "images have a wrong shape")
    n, (n_parts, r) = found.nodes.source.n_objects, found.factors.shape
    shapes = [
        (found.images, (n, r)),
        (found.shapes, (n, r)),
        (found.component, (n,)),
        (found.motions.rotations, (n_parts, r, r)),
        (found.motions.translations, (n_parts, r)),
    ]
    _check_shapes(shapes, "eigenvectors")
    _check_within(found.component, n_parts, "components")


def check_twin_kernel_map(found: Any) -> None:
    """Look whether images are those of the objects."""
    require(found.images.ndim == 2, "images have a wrong shape")
    require(len(found.images) == found.nodes.source.n_objects, "images are not those of objects")


def check_back_constrained_map(found: Any) -> None:
    """Look at coefficients, which a kernel multiplies with rows of values."""
    require(found.coefficients.ndim == 2, "coefficients have a wrong shape")
    n, r = found.nodes.source.n_objects, found.coefficients.shape[1]
    _check_shapes([(found.coefficients, (n, r)), (found.offset, (r,))], "a kernel map")


def check_localized_model(model: Any) -> None:
    """Look at clusters whose medoids are sources of paths in a graph."""
    require(model.points.ndim == 2, "points have a wrong shape")
    if model.graph is None:
        return
    n, partition = model.graph.n_nodes, model.partition
    require(len(model.points) == n, "points are not those of the graph")
    _check_shapes([(partition.labels, (n,)), (partition.distances, (n,))], "clusters")
    _check_within(partition.medoids, n, "medoids")
    _check_within(partition.labels, len(partition.medoids), "clusters")
    require(partition.medoids.ndim == 1, "medoids have a wrong shape")


def _check_edges(graph: Any, what: str) -> None:
    n = graph.n_nodes
    require(1 <= n <= np.iinfo(np.int32).max, f"{what} has an invalid number of nodes")
    require(
        graph.edges.ndim == 2 and graph.edges.shape[1] == 2,
        f"the edges of {what} have a wrong shape",
    )
    _check_within(graph.edges, n, what)
    _check_shapes([(graph.lengths, (len(graph.edges),))], what)
    # Along negative lengths a path would never end.
    require(
        np.isfinite(graph.lengths).all() and (graph.lengths >= 0).all(),
        f"{what} has invalid lengths",
    )


def _check_rows(indptr: Any, n_entries: int, what: str) -> None:
    """Look at the begin and end of rows."""
    require(indptr.ndim == 1 and len(indptr) >= 1, f"rows of {what} are missing")
    is_whole = indptr[0] == 0 and indptr[-1] == n_entries
    require(is_whole and (np.diff(indptr) >= 0).all(), f"rows of {what} overlap")


def _check_within(array: Any, end: int, what: str) -> None:
    """Look whether all numbers are indices below an end."""
    is_within = array.size == 0 or (int(array.min()) >= 0 and int(array.max()) < end)
    require(is_within, f"{what} have indices out of range")


def _check_shapes(pairs: list[tuple[Any, tuple[int, ...]]], what: str) -> None:
    for array, shape in pairs:
        require(array.shape == shape, f"arrays of {what} are not of one size")
