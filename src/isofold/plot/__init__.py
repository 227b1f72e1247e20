"""Figures of maps.

Every figure takes what `isofold.assess` returns, or a fitted model with its data, or an array of
coordinates. Figures need matplotlib (``pip install "isofold[plot]"``).
"""

from isofold.plot.map_figures import distortion, embedding, neighbors_of
from isofold.plot.measure_figures import (
    length_ratios,
    neighbor_curve,
    patch_graph,
    shepard,
    spectrum,
)
from isofold.plot.overview import overview

__all__ = [
    "distortion",
    "embedding",
    "length_ratios",
    "neighbor_curve",
    "neighbors_of",
    "overview",
    "patch_graph",
    "shepard",
    "spectrum",
]
