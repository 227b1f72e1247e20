"""Labels of tesserae: how data are cut into disjoint clusters that lie beside each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._findings import setting
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count
from isofold.clustering.affinity import affinity_labels
from isofold.clustering.connectivity import connected_clusters
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph
from isofold.patches.choices import Cover
from isofold.patches.labels import labels_of

__all__ = ["tessera_labels"]

COVERS = ("affinity", "kmeans", "ldlc")

MOST_TESSERAE, POINTS_A_TESSERA = 100, 12
"""Most tesserae by default, and the fewest points that they have on average. The program that
places them takes time that grows with the cube of their number: a hundred take seconds."""


@stage("tesserae")
def tessera_labels(
    cover: Any,
    points: FloatArray,
    graph: NeighborGraph,
    *,
    n_components: int,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> IntArray:
    """Return the tessera of every distinct sample."""
    n = len(points)
    requested = None
    if isinstance(cover, Cover) and cover.kind == "clusters":
        if cover.n_clusters is not None:
            requested = min(n, check_count(cover.n_clusters, name="n_clusters"))
        cover = cover.content
    if cover is None:
        return np.arange(n)
    if isinstance(cover, str) and cover not in COVERS:
        msg = f"{setting('cover', cover)} names no clustering. Pass one of {', '.join(COVERS)}."
        raise InvalidInputError(msg)
    if isinstance(cover, str) and cover == "affinity":
        labels = affinity_labels(
            points, n_clusters=requested, random_state=random_state, n_jobs=n_jobs
        )
    elif isinstance(cover, str) or hasattr(cover, "fit_predict"):
        default = max(1, min(MOST_TESSERAE, round(np.sqrt(n)), n // POINTS_A_TESSERA))
        labels, _ = labels_of(
            cover,
            points,
            n_patches=default if requested is None else requested,
            random_state=random_state,
            n_components=min(n_components, points.shape[1]),
            n_jobs=n_jobs,
        )
    else:
        samples = np.empty((graph.n_samples, 0))
        given, _ = labels_of(cover, samples, n_patches=None, random_state=None)
        return np.unique(given[graph.sample_of_node], return_inverse=True)[1]
    return connected_clusters(points, labels, graph, n_components=n_components)[0]
