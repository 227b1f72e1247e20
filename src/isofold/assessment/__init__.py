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
from isofold.assessment.measure import assess

__all__ = [
    "Assessment",
    "LengthRatios",
    "NearPairs",
    "Origin",
    "PatchGraph",
    "Proof",
    "ShepardDensity",
    "VarianceSpectrum",
    "assess",
]
