"""Extension: maps of new points into an embedding that is already there."""

from isofold.extension.barycentric import BarycentricMap, fit_barycentric
from isofold.extension.distances import DistanceMap, fit_from_distances
from isofold.extension.kernel_map import (
    CorrectedMap,
    KernelMap,
    fit_kernel_regression,
    spread_landmarks,
)
from isofold.extension.landmarks import spread_from_landmarks
from isofold.extension.protocol import Extension
from isofold.extension.reconstruction import reconstruction_weights

__all__ = [
    "BarycentricMap",
    "CorrectedMap",
    "DistanceMap",
    "Extension",
    "KernelMap",
    "fit_barycentric",
    "fit_from_distances",
    "fit_kernel_regression",
    "reconstruction_weights",
    "spread_from_landmarks",
    "spread_landmarks",
]
