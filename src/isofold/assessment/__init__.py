"""What is known of a map: measured, proved, found."""

from isofold.assessment.assessment import (
    Assessment,
    LengthRatios,
    NearPairs,
    Origin,
    PatchGraph,
    Proof,
    ShepardDensity,
    VarianceSpectrum,
)
from isofold.assessment.density import DensityFrame, DensityRules, DensityTiles
from isofold.assessment.measure import assess

__all__ = [
    "Assessment",
    "DensityFrame",
    "DensityRules",
    "DensityTiles",
    "LengthRatios",
    "NearPairs",
    "Origin",
    "PatchGraph",
    "Proof",
    "ShepardDensity",
    "VarianceSpectrum",
    "assess",
]
