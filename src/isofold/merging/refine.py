"""All overlaps of planes, not only those along a tree: IPA's stitching, started from their map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isofold._typing import FloatArray
from isofold.linalg import procrustes
from isofold.linalg.motions import RigidMotions
from isofold.merging.tears import is_torn
from isofold.neighbors import NeighborGraph, build_graph
from isofold.neighbors.spanning import spanning_forest_of
from isofold.patches import fit_charts
from isofold.patches.from_clusters import cover_from_labels
from isofold.patches.planes import Planes
from isofold.sdp import LowRankSDP, SDPSolution
from isofold.stitching.levels import strongest_memberships
from isofold.stitching.stitch import stitch

__all__ = ["stitch_planes"]


def stitch_planes(
    points: FloatArray,
    planes: Planes,
    images: FloatArray,
    *,
    n_neighbors: int,
    solver: LowRankSDP,
    n_jobs: int | None = None,
) -> tuple[Planes, RigidMotions, SDPSolution | None]:
    """Grow cells until they overlap, and fit them to each other wherever they do."""
    q = images.shape[1]
    k = min(n_neighbors, len(points) - 1)
    graph = _untorn(build_graph(points, n_neighbors=k, n_jobs=n_jobs), planes, images)
    cover = cover_from_labels(points, planes.labels, n_components=q, graph=graph, centers=None)
    charts = fit_charts(points, cover, q, quadratic=True, n_jobs=n_jobs)
    memberships = strongest_memberships(cover, charts)
    found = stitch(
        cover,
        memberships,
        charts.coordinates,
        solver=solver,
        start=images,
        dimensions=charts.dimensions,
    )
    grown = replace(planes, means=charts.atlas.origins, axes=charts.atlas.axes)
    moved = found.motions.apply(grown.coordinates(points, grown.labels), grown.labels)
    back = RigidMotions.stacked([procrustes(moved, images).transform])
    return grown, found.motions.then(back), found.solution


def _untorn(graph: NeighborGraph, planes: Planes, images: FloatArray) -> NeighborGraph:
    """Return the graph without the neighbors that the map tears apart.

    Where layers are close to each other some neighbors lie across. Cells must not grow there.
    """
    kept = ~is_torn(
        np.linalg.norm(images[graph.edges[:, 0]] - images[graph.edges[:, 1]], axis=1),
        graph.lengths,
        planes.labels[graph.edges],
        planes.extents,
    )
    # Whatever holds the points together stays.
    kept[spanning_forest_of(graph.n_nodes, graph.edges, graph.lengths)] = True
    return replace(
        graph,
        edges=graph.edges[kept],
        lengths=graph.lengths[kept],
        is_bridge=graph.is_bridge[kept],
    )
