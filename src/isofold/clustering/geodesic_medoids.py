"""k-medoids with geodesic distances: clusters that are connected, however curved.

Every point goes to the medoid that is nearest along the neighbor graph, and every medoid to where
the squared distances to its points sum up least (thesis, eq. 4.8).

References
----------
.. [1] Khajehpour Tadavani, P. (2013). Nonlinear dimensionality reduction by manifold unfolding.
   PhD thesis, University of Waterloo, section 4.1.1.
"""

from __future__ import annotations

from typing import Any

from isofold._typing import Metric, PairKernel
from isofold._validation import check_count
from isofold.clustering.localized.base import LocalizedClusterer

__all__ = ["GeodesicKMedoids"]


class GeodesicKMedoids(LocalizedClusterer):
    """k-medoids with geodesic distances: clusters that are connected, however curved.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. Data in more components than this get one for each.
    n_components : int, default=2
        Dimension r of the subspaces that are fitted to the clusters, at most that of the data; it
        changes no cluster.
    n_neighbors : int, default=8
        Neighbors in the graph. Two points are joined if either is among the nearest of the other.
    n_init : int, default=3
        Number of restarts; the one with the lowest objective is kept.
    init : {"k-means++", "random"} or array-like of int of shape (n_clusters,), default="k-means++"
        How the first medoids are found: spread out along the graph, drawn evenly, or given as
        numbers of samples (then there is one start).
    max_iter : int, default=100
        The most rounds.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds all distances), another
        metric of scikit-learn such as "cosine", a function of two samples, or a distance of
        `isofold.similarity`. Points that have these distances are clustered then.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads (from 10,000 points on) or processes (from 16 restarts on) for the restarts, by
        scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_samples,)
        The cluster of every sample.
    medoids_ : ndarray of int of shape (n_clusters_,)
        The samples from which squared geodesic distances to a cluster sum up least. In clusters of
        more than 256 points the search for them is local.
    subspaces_ : AffineSubspaces
        The subspaces of the clusters: `centers` and orthonormal `bases`.
    reconstruction_error_ : float
        Sum of the squared distances of the samples from the subspaces of their clusters.
    objective_path_ : ndarray
        The sum of squared geodesic distances after every step of the best restart; it never rises.
    n_clusters_ : int
        Number of clusters.
    nonlocal_clusters_ : ndarray of int
        Clusters that are not connected along the graph: none.
    graph_ : NeighborGraph
        The neighbor graph.
    n_iter_ : int
        Rounds of the best restart.
    model_ : LocalizedModel
        What `predict` uses.
    n_features_in_ : int
        Number of features seen in `fit`.

    See Also
    --------
    LDLC : Clusters that are flat and connected.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold import GeodesicKMedoids
    >>> line = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> model = GeodesicKMedoids(n_clusters=2, n_neighbors=1, init=[0, 5])
    >>> model.fit(line).medoids_
    array([1, 4])
    """

    def __init__(
        self,
        *,
        n_clusters: int = 8,
        n_components: int = 2,
        n_neighbors: int = 8,
        n_init: int = 3,
        init: Any = "k-means++",
        max_iter: int = 100,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.metric = metric
        self.kernel = kernel
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read_rho(self) -> float:
        return 1.0

    def _check_n_components(self, n_features: int) -> int:
        # It changes no cluster, so it should stop none either.
        return min(check_count(self.n_components, name="n_components", minimum=0), n_features)
