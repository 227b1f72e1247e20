"""Neighbors: who is near whom, and how far apart along the data."""

from isofold.neighbors.balls import GraphBalls, balls_around, cover_by_balls
from isofold.neighbors.choices import Bridged, Enhanced, GraphChoice, Knn, Lengths, Mutual, Radius
from isofold.neighbors.components import Components, connected_components
from isofold.neighbors.connect import connect
from isofold.neighbors.dimension import (
    DimensionEstimate,
    eigenvalue_jump_dimension,
    levina_bickel_dimension,
    local_pca_dimension,
)
from isofold.neighbors.dimension_table import DimensionTable, estimate_dimension
from isofold.neighbors.edge_errors import (
    LengthErrors,
    dimension_of_lengths,
    edge_errors,
    mean_at_nodes,
)
from isofold.neighbors.enhanced import enhance
from isofold.neighbors.geodesic import (
    NearestSource,
    all_pairs_geodesics,
    geodesic_blocks,
    geodesic_distances,
    nearest_source,
)
from isofold.neighbors.global_dimension import (
    correlation_dimension,
    packing_dimension,
    spanning_tree_dimension,
)
from isofold.neighbors.graph import NeighborGraph, build_graph, shortest_edges, subgraph
from isofold.neighbors.landmarks import spread_landmarks
from isofold.neighbors.outliers import find_outliers, find_settled
from isofold.neighbors.paths import GraphPaths, RememberedPaths
from isofold.neighbors.point_set import PointSet
from isofold.neighbors.resolve import join_shared, resolve_graph
from isofold.neighbors.search.build import (
    BruteForceSearch,
    HNSWSearch,
    InvertedListSearch,
    KDTreeSearch,
    Neighbors,
    NeighborSearch,
    RadiusNeighbors,
    build_search,
    kneighbors,
)
from isofold.neighbors.spanning import (
    SpanningTree,
    euclidean_spanning_tree,
    graph_spanning_tree,
)

__all__ = [
    "Bridged",
    "BruteForceSearch",
    "Components",
    "DimensionEstimate",
    "DimensionTable",
    "Enhanced",
    "GraphBalls",
    "GraphChoice",
    "GraphPaths",
    "HNSWSearch",
    "InvertedListSearch",
    "KDTreeSearch",
    "Knn",
    "LengthErrors",
    "Lengths",
    "Mutual",
    "NearestSource",
    "NeighborGraph",
    "NeighborSearch",
    "Neighbors",
    "PointSet",
    "Radius",
    "RadiusNeighbors",
    "RememberedPaths",
    "SpanningTree",
    "all_pairs_geodesics",
    "balls_around",
    "build_graph",
    "build_search",
    "connect",
    "connected_components",
    "correlation_dimension",
    "cover_by_balls",
    "dimension_of_lengths",
    "edge_errors",
    "eigenvalue_jump_dimension",
    "enhance",
    "estimate_dimension",
    "euclidean_spanning_tree",
    "find_outliers",
    "find_settled",
    "geodesic_blocks",
    "geodesic_distances",
    "graph_spanning_tree",
    "join_shared",
    "kneighbors",
    "levina_bickel_dimension",
    "local_pca_dimension",
    "mean_at_nodes",
    "nearest_source",
    "packing_dimension",
    "resolve_graph",
    "shortest_edges",
    "spanning_tree_dimension",
    "spread_landmarks",
    "subgraph",
]
