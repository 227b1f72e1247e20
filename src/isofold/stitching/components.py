"""From a neighbor graph to stitched components in one frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.neighbors import (
    NeighborGraph,
    connected_components,
    enhance,
    find_outliers,
    find_settled,
    subgraph,
)
from isofold.neighbors.edge_errors import edge_errors, mean_at_nodes
from isofold.neighbors.point_set import PointSet
from isofold.patches import ChartFit, PatchCover
from isofold.placement.by_paths import place_by_paths
from isofold.placement.links import Links
from isofold.stitching.levels import (
    StitchedComponent,
    StitchingPlan,
    groups_of_cover,
    outlying_members,
    projected_component,
    stitch_component,
)

__all__ = ["StitchedMap", "project_whole", "stitch_components"]


@dataclass(frozen=True, eq=False)
class StitchedMap:
    """Stitched components in one frame.

    Attributes
    ----------
    components : tuple of StitchedComponent
        The components, the largest first; their nodes count in `graph`.
    graph : NeighborGraph
        The graph of the nodes in use, with the bridges between components.
    used : ndarray of int
        The nodes of the given graph that are in use; the others are outliers.
    """

    components: tuple[StitchedComponent, ...]
    graph: NeighborGraph
    used: IntArray

    @property
    def embedding(self) -> FloatArray:
        """The placed nodes of `graph`."""
        width = self.components[0].embedding.shape[1]
        embedding = np.empty((self.graph.n_nodes, width))
        for component in self.components:
            embedding[component.nodes] = component.embedding
        return embedding

    @property
    def labels(self) -> IntArray:
        """The component of every node."""
        labels = np.empty(self.graph.n_nodes, dtype=np.intp)
        for number, component in enumerate(self.components):
            labels[component.nodes] = number
        return labels

    @property
    def cover(self) -> PatchCover:
        """The patches of all components, over the nodes of `graph`."""
        covers = [component.cover for component in self.components]
        begin = np.cumsum([0] + [len(cover.members) for cover in covers[:-1]])
        ends = [b + cover.indptr[1:] for b, cover in zip(begin, covers, strict=True)]
        return PatchCover(
            n_points=self.graph.n_nodes,
            indptr=np.concatenate([[0], *ends]),
            members=np.concatenate(
                [component.nodes[component.cover.members] for component in self.components]
            ),
            offsets=np.concatenate([cover.offsets for cover in covers]),
            seeds=np.concatenate(
                [component.nodes[component.cover.seeds] for component in self.components]
            ),
            radii=np.concatenate([cover.radii for cover in covers]),
            by_overlap=covers[0].by_overlap,
        )

    @property
    def distortion(self) -> FloatArray:
        """Mean relative length error of the edges at every node, bridges not counted."""
        return mean_at_nodes(edge_errors(self.embedding, self.graph), self.graph)


def stitch_components(
    whole: PointSet, plan: StitchingPlan, *, n_components: int, n_jobs: int | None
) -> StitchedMap:
    """Stitch all components of a graph and put them into one frame."""
    used = whole if plan.covers.has_patches else _without_small(whole, n_components)
    plan = replace(plan, covers=plan.covers.for_whole(used))
    charted = plan.covers.charted(used, 0)
    if charted is not None and plan.covers.has_patches:
        used = _joined_within(used, groups_of_cover(charted[0]), n_components, n_jobs)
    elif charted is not None and not charted[0].by_overlap:
        is_outlier = outlying_members(*charted, find_settled(used.graph))
        if is_outlier.any() and not is_outlier.all():
            used = _without_small(used.restrict(np.flatnonzero(~is_outlier)), n_components)
            charted = None
    components = sorted(
        _stitch_groups(used, plan, charted), key=lambda each: (-len(each.nodes), each.nodes[0])
    )
    components = [
        replace(each, nodes=np.searchsorted(used.samples, each.nodes)) for each in components
    ]
    graph = used.graph
    if len(components) > 1:
        graph = _bridged(used, components, n_components, n_jobs)
        nodes, lengths = [each.nodes for each in components], graph.lengths[graph.is_bridge]
        links = Links.between(nodes, graph.bridges, lengths)
        motions = place_by_paths([each.embedding for each in components], links)
        components = [
            each.moved(motions.restrict(slice(number, number + 1)))
            for number, each in enumerate(components)
        ]
    return StitchedMap(tuple(components), graph, used.samples)


def _joined_within(
    points: PointSet, groups: list[IntArray], n_components: int, n_jobs: int | None
) -> PointSet:
    """Return the points with a graph that connects those which given patches hold together.

    A group of atoms may have one that is far from all others. Without it the group would be flat,
    and lie elsewhere.
    """
    graph = points.graph
    for nodes in groups:
        part = subgraph(graph, nodes)
        if connected_components(part).n_components > 1:
            every = np.arange(len(nodes))
            part = replace(part, node_of_sample=every, sample_of_node=every)
            part = enhance(points.points[nodes], part, dimension=n_components, n_jobs=n_jobs)
            joined = graph.with_bridges(nodes[part.bridges], part.lengths[part.is_bridge])
            # They place no component: these points are one already.
            graph = replace(joined, is_bridge=np.zeros(len(joined.edges), dtype=bool))
    return replace(points, graph=graph)


def _without_small(points: PointSet, n_components: int) -> PointSet:
    """Return the points without groups too small for a chart with a point to spare."""
    is_small = find_outliers(points.graph, least=n_components + 3)
    return points.restrict(np.flatnonzero(~is_small)) if is_small.any() else points


def project_whole(points: FloatArray, graph: NeighborGraph, n_components: int) -> StitchedMap:
    """Return points that fill no more than r dimensions as they are, in a single flat patch."""
    every = np.arange(graph.n_nodes)
    return StitchedMap((projected_component(points, every, n_components),), graph, every)


def _stitch_groups(
    points: PointSet, plan: StitchingPlan, charted: tuple[PatchCover, ChartFit] | None
) -> list[StitchedComponent]:
    """Stitch the groups into which a graph, or its cover, falls, each by itself."""
    groups = connected_components(points.graph).members()
    if len(groups) == 1:
        charted = charted or plan.covers.charted(points, 0)
        groups = [np.arange(points.n_nodes)] if charted is None else groups_of_cover(charted[0])
    if len(groups) == 1:
        return [stitch_component(points, plan, charted)]
    return [
        component
        for group in groups
        for component in _stitch_groups(points.restrict(group), plan, None)
    ]


def _bridged(
    points: PointSet,
    components: list[StitchedComponent],
    n_components: int,
    n_jobs: int | None,
) -> NeighborGraph:
    """Return the graph with bridges between all components.

    They may still be joined by edges along which patches do not overlap. Those are bridges too.
    """
    graph = points.graph
    owner = np.empty(graph.n_nodes, dtype=np.intp)
    for number, component in enumerate(components):
        owner[component.nodes] = number
    crosses = owner[graph.edges[:, 0]] != owner[graph.edges[:, 1]]
    every = np.arange(graph.n_nodes)
    # The points are those of the nodes: copies of a sample are one of them.
    apart = replace(
        graph,
        node_of_sample=every,
        sample_of_node=every,
        edges=graph.edges[~crosses],
        lengths=graph.lengths[~crosses],
        is_bridge=graph.is_bridge[~crosses],
    )
    joined = enhance(points.points, apart, dimension=n_components, n_jobs=n_jobs)
    joined = joined.with_bridges(graph.edges[crosses], graph.lengths[crosses])
    samples, nodes = graph.node_of_sample, graph.sample_of_node
    return replace(joined, node_of_sample=samples, sample_of_node=nodes)
