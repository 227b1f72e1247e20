"""Neighbors: who is near whom, and how far apart along the data."""

from isofold.neighbors.search import (
    BruteForceSearch,
    HNSWSearch,
    KDTreeSearch,
    Neighbors,
    NeighborSearch,
    RadiusNeighbors,
    build_search,
    kneighbors,
)

__all__ = [
    "BruteForceSearch",
    "HNSWSearch",
    "KDTreeSearch",
    "NeighborSearch",
    "Neighbors",
    "RadiusNeighbors",
    "build_search",
    "kneighbors",
]
