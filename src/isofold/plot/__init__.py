"""Figures of maps, and what they are drawn from.

`find` measures a map once; every figure takes what it returns, or a fitted model with its data, or
an array of coordinates. Figures need matplotlib (``pip install "isofold[plot]"``); `find` does not.
"""

from isofold.assessment.findings import (
    Findings,
    LengthRatios,
    MapWords,
    NearPairs,
    PatchGraph,
    ShepardDensity,
    SpectrumFinding,
)
from isofold.assessment.measure import find
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
    "Findings",
    "LengthRatios",
    "MapWords",
    "NearPairs",
    "PatchGraph",
    "ShepardDensity",
    "SpectrumFinding",
    "distortion",
    "embedding",
    "find",
    "length_ratios",
    "neighbor_curve",
    "neighbors_of",
    "overview",
    "patch_graph",
    "shepard",
    "spectrum",
]
