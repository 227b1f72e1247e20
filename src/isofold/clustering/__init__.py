"""Clustering: points divided into groups that are small enough to be nearly flat.

`LDLC` finds clusters that are flat and connected; `VQPCA`, `GeodesicKMedoids` and `MPPCA` are
what it is compared with. `kmeans` and the rest serve the covers of IPA.
"""

from isofold.clustering.classifier import LocalSubspaceClassifier
from isofold.clustering.connectivity import connected_clusters, count_fragments
from isofold.clustering.geodesic_medoids import GeodesicKMedoids
from isofold.clustering.kmeans import Clusters, kmeans
from isofold.clustering.ldlc import LDLC
from isofold.clustering.mppca import MPPCA
from isofold.clustering.subspaces import AffineSubspaces
from isofold.clustering.vqpca import VQPCA

__all__ = [
    "LDLC",
    "MPPCA",
    "VQPCA",
    "AffineSubspaces",
    "Clusters",
    "GeodesicKMedoids",
    "LocalSubspaceClassifier",
    "connected_clusters",
    "count_fragments",
    "kmeans",
]
