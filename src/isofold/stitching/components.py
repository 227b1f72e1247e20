"""From a neighbor graph to unfolded pieces in one frame."""

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
from isofold.patches import ChartFit, PatchCover
from isofold.placement.by_paths import place_by_paths
from isofold.placement.links import Links
from isofold.stitching.levels import (
    Piece,
    Recipe,
    flat_piece,
    parts_of_cover,
    stray_members,
    unfold_piece,
)

__all__ = ["Unfolding", "leave_flat", "unfold"]


@dataclass(frozen=True, eq=False)
class Unfolding:
    """Unfolded pieces in one frame.

    Attributes
    ----------
    pieces : list of Piece
        The pieces, the largest first; their nodes count in `graph`.
    graph : NeighborGraph
        The graph of the nodes in use, with the bridges between pieces.
    used : ndarray of int
        The nodes of the given graph that are in use; the others are strays.
    """

    pieces: list[Piece]
    graph: NeighborGraph
    used: IntArray

    @property
    def embedding(self) -> FloatArray:
        """The placed nodes of `graph`."""
        width = self.pieces[0].embedding.shape[1]
        embedding = np.empty((self.graph.n_nodes, width))
        for piece in self.pieces:
            embedding[piece.nodes] = piece.embedding
        return embedding

    @property
    def labels(self) -> IntArray:
        """The piece of every node."""
        labels = np.empty(self.graph.n_nodes, dtype=np.intp)
        for number, piece in enumerate(self.pieces):
            labels[piece.nodes] = number
        return labels

    @property
    def cover(self) -> PatchCover:
        """The patches of all pieces, over the nodes of `graph`."""
        covers = [piece.cover for piece in self.pieces]
        begin = np.cumsum([0] + [len(cover.members) for cover in covers[:-1]])
        ends = [b + cover.indptr[1:] for b, cover in zip(begin, covers, strict=True)]
        return PatchCover(
            n_points=self.graph.n_nodes,
            indptr=np.concatenate([[0], *ends]),
            members=np.concatenate([piece.nodes[piece.cover.members] for piece in self.pieces]),
            offsets=np.concatenate([cover.offsets for cover in covers]),
            seeds=np.concatenate([piece.nodes[piece.cover.seeds] for piece in self.pieces]),
            radii=np.concatenate([cover.radii for cover in covers]),
            by_overlap=covers[0].by_overlap,
        )

    @property
    def distortion(self) -> FloatArray:
        """Mean relative length error of the edges at every node, bridges not counted."""
        return mean_at_nodes(edge_errors(self.embedding, self.graph), self.graph)


def unfold(
    points: FloatArray,
    graph: NeighborGraph,
    recipe: Recipe,
    *,
    n_components: int,
    n_jobs: int | None,
) -> Unfolding:
    """Unfold all pieces of a graph and put them into one frame."""
    used = np.arange(graph.n_nodes)
    charted = None
    for turn in range(2):
        # Groups too small for a chart with a point to spare are no pieces.
        kept = np.flatnonzero(~find_outliers(graph, least=n_components + 3))
        if len(kept) < len(used):
            used, points, graph = used[kept], points[kept], subgraph(graph, kept)
            charted = None
        if turn:
            break
        charted = recipe.charted(points, graph, used, 0)
        if charted is None or charted[0].by_overlap:
            break
        strays = stray_members(*charted, find_settled(graph))
        if not strays.any() or strays.all():
            break
        kept = np.flatnonzero(~strays)
        used, points, graph = used[kept], points[kept], subgraph(graph, kept)
        charted = None
    pieces = _unfold_parts(points, graph, np.arange(graph.n_nodes), used, recipe, charted)
    if len(pieces) > 1:
        pieces.sort(key=lambda piece: (-len(piece.nodes), piece.nodes[0]))
        graph = _bridged(points, graph, pieces, n_components, n_jobs)
        lengths = graph.lengths[graph.is_bridge]
        links = Links.between([piece.nodes for piece in pieces], graph.bridges, lengths)
        motions = place_by_paths([piece.embedding for piece in pieces], links)
        pieces = [piece.moved(motions.restrict(slice(k, k + 1))) for k, piece in enumerate(pieces)]
    return Unfolding(pieces, graph, used)


def leave_flat(points: FloatArray, graph: NeighborGraph, n_components: int) -> Unfolding:
    """Return points that fill no more than r dimensions as they are, in a single flat patch."""
    every = np.arange(graph.n_nodes)
    return Unfolding([flat_piece(points, every, n_components)], graph, every)


def _unfold_parts(
    points: FloatArray,
    graph: NeighborGraph,
    nodes: IntArray,
    numbers: IntArray,
    recipe: Recipe,
    charted: tuple[PatchCover, ChartFit] | None,
) -> list[Piece]:
    """Unfold the parts into which a graph, or its cover, falls.

    `nodes` are the numbers of the nodes in the graph in use, `numbers` those in the given one.
    """
    parts = connected_components(graph).members()
    if len(parts) == 1:
        charted = charted or recipe.charted(points, graph, numbers, 0)
        parts = [np.arange(len(nodes))] if charted is None else parts_of_cover(charted[0])
    if len(parts) == 1:
        piece = unfold_piece(points, graph, numbers, recipe, charted=charted)
        return [replace(piece, nodes=nodes)]
    return [
        piece
        for part in parts
        for piece in _unfold_parts(
            points[part], subgraph(graph, part), nodes[part], numbers[part], recipe, None
        )
    ]


def _bridged(
    points: FloatArray,
    graph: NeighborGraph,
    pieces: list[Piece],
    n_components: int,
    n_jobs: int | None,
) -> NeighborGraph:
    """Return the graph with bridges between all pieces.

    Pieces may still be joined by edges along which patches do not overlap. Those are bridges too.
    """
    owner = np.empty(graph.n_nodes, dtype=np.intp)
    for number, piece in enumerate(pieces):
        owner[piece.nodes] = number
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
    joined = enhance(points, apart, dimension=n_components, n_jobs=n_jobs)
    joined = joined.with_bridges(graph.edges[crosses], graph.lengths[crosses])
    samples, nodes = graph.node_of_sample, graph.sample_of_node
    return replace(joined, node_of_sample=samples, sample_of_node=nodes)
