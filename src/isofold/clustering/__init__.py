"""Clustering: points divided into groups that are small enough to be nearly flat."""

from isofold.clustering.kmeans import Clusters, kmeans
from isofold.clustering.labels import labels_of
from isofold.clustering.pieces import connected_clusters

__all__ = ["Clusters", "connected_clusters", "kmeans", "labels_of"]
