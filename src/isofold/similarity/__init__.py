"""Kernels and distances of objects that are not rows of numbers.

Each is a small frozen object that is called with one or two collections and returns the matrix of
all pairs: ``SpectrumKernel(3)(strings)``. Nothing is remembered between calls, so that new objects
are compared exactly as the first ones were.
"""

from isofold.similarity.alignment import AlignmentDistance
from isofold.similarity.distance_kernel import DistanceKernel
from isofold.similarity.graphs import ShortestPathKernel, WeisfeilerLehmanKernel, molecule_graphs
from isofold.similarity.histograms import ChiSquaredKernel, IntersectionKernel
from isofold.similarity.latent import LatentKernel
from isofold.similarity.objects import ObjectDistance, ObjectKernel
from isofold.similarity.point_sets import (
    AssignmentDistance,
    HausdorffDistance,
    ShapeContextDistance,
    ShapeContextKernel,
    image_points,
)
from isofold.similarity.repair import (
    distances_from_kernel,
    kernel_from_distances,
    negative_fraction,
    repair_distances,
    repair_kernel,
)
from isofold.similarity.series import DTWDistance
from isofold.similarity.strings import (
    EditDistance,
    MismatchKernel,
    SpectrumKernel,
    SubsequenceKernel,
)
from isofold.similarity.texts import TfidfKernel

__all__ = [
    "AlignmentDistance",
    "AssignmentDistance",
    "ChiSquaredKernel",
    "DTWDistance",
    "DistanceKernel",
    "EditDistance",
    "HausdorffDistance",
    "IntersectionKernel",
    "LatentKernel",
    "MismatchKernel",
    "ObjectDistance",
    "ObjectKernel",
    "ShapeContextDistance",
    "ShapeContextKernel",
    "ShortestPathKernel",
    "SpectrumKernel",
    "SubsequenceKernel",
    "TfidfKernel",
    "WeisfeilerLehmanKernel",
    "distances_from_kernel",
    "image_points",
    "kernel_from_distances",
    "molecule_graphs",
    "negative_fraction",
    "repair_distances",
    "repair_kernel",
]
