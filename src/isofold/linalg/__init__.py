"""Linear algebra for coordinates: centering, extreme eigenvectors, rigid motions, factoring.

Points are rows. A Gram matrix G = Y Yᵀ and the squared distances D of its points determine
each other once the points are centered: G = −½ H D H with H = I − 11ᵀ/n. Coordinates come back
from G through its leading eigenvectors, and are known only up to a rigid motion, which
`procrustes` finds. Every eigenvector that leaves this room has a deterministic sign.
"""

from isofold.linalg.centering import KernelCentering, center, double_center
from isofold.linalg.eigen import deterministic_signs, eigh_extreme
from isofold.linalg.gram import (
    GramFactor,
    PrincipalCoordinates,
    coordinates_from_gram,
    gram_from_distances,
    numerical_rank,
    principal_coordinates,
)
from isofold.linalg.low_rank import nystrom_coefficients
from isofold.linalg.procrustes import ProcrustesFit, SimilarityTransform, procrustes
from isofold.linalg.row_space import row_space_coordinates
from isofold.linalg.scaling import PrincipalFrame, classical_scaling, landmark_scaling

__all__ = [
    "GramFactor",
    "KernelCentering",
    "PrincipalCoordinates",
    "PrincipalFrame",
    "ProcrustesFit",
    "SimilarityTransform",
    "center",
    "classical_scaling",
    "coordinates_from_gram",
    "deterministic_signs",
    "double_center",
    "eigh_extreme",
    "gram_from_distances",
    "landmark_scaling",
    "numerical_rank",
    "nystrom_coefficients",
    "principal_coordinates",
    "procrustes",
    "row_space_coordinates",
]
