"""Maps of new points into an embedding that is already there."""

from isofold.extension.barycentric import BarycentricMap, fit_barycentric
from isofold.extension.from_distances import DistanceMap, fit_from_distances
from isofold.extension.goose import GooseMap, fit_goose
from isofold.extension.kernel_map import CorrectedMap, KernelMap, fit_kernel_regression
from isofold.extension.kernel_ridge import fit_kernel_ridge
from isofold.extension.low_rank import KernelFeatures, fit_kernel_features
from isofold.extension.nystrom import NystromMap, fit_nystrom
from isofold.extension.protocol import PointMap
from isofold.extension.region import SampledRegion
from isofold.extension.stress_map import StressMap
from isofold.extension.training_points import TrainingPoints
from isofold.extension.way_back import WayBack, fit_way_back

__all__ = [
    "BarycentricMap",
    "CorrectedMap",
    "DistanceMap",
    "GooseMap",
    "KernelFeatures",
    "KernelMap",
    "NystromMap",
    "PointMap",
    "SampledRegion",
    "StressMap",
    "TrainingPoints",
    "WayBack",
    "fit_barycentric",
    "fit_from_distances",
    "fit_goose",
    "fit_kernel_features",
    "fit_kernel_regression",
    "fit_kernel_ridge",
    "fit_nystrom",
    "fit_way_back",
]
