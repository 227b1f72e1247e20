"""Low-dimensional localized clustering: clusters that are flat and connected.

LDLC minimizes (1 - ρ) Σ e² + ρ Σ d²: the squared distances of points from the subspace of their
cluster, and their squared distances along the neighbor graph from its medoid. ρ = 0 is VQPCA, whose
clusters may be scattered over the manifold; ρ = 1 is k-medoids with geodesic distances, whose
clusters are connected but curved.

References
----------
.. [1] Khajehpour Tadavani, P. (2013). Nonlinear dimensionality reduction by manifold unfolding.
   PhD thesis, University of Waterloo, chapter 4.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray, Metric, PairKernel
from isofold.clustering.localized.base import LocalizedClusterer
from isofold.exceptions import InvalidInputError

__all__ = ["LDLC"]


class LDLC(LocalizedClusterer):
    """Low-dimensional localized clustering: clusters that are flat and connected.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. Data in more components than this get one for each.
    n_components : int, default=2
        Dimension r of the subspace of a cluster. It ought to be less than the number of features:
        with as many, every point lies in every subspace, and only the geodesic part decides.
    rho : "auto" or float, default="auto"
        Weight of the geodesic part, from 0 (flat clusters, perhaps scattered) to 1 (connected ones,
        perhaps curved). "auto" searches the smallest with which clusters are connected along the
        graph but for a few single points (at most 5 %), which then go to the clusters around them.
        With a number clusters are what they are: see `nonlocal_clusters_`. 0.01 is a good guess.
        With 0 nothing of the graph counts, and LDLC is `VQPCA`.
    n_neighbors : int, default=8
        Neighbors in the graph. Two points are joined if either is among the nearest of the other.
    n_init : int, default=3
        Number of restarts. That with the lowest objective is kept; if ``rho="auto"``, that with the
        lowest reconstruction error.
    init : {"k-means++", "random"} or array-like of int of shape (n_clusters,), default="k-means++"
        How the first medoids are found: spread out along the graph, drawn evenly, or given as
        numbers of samples (then there is one start).
    max_iter : int, default=100
        The most rounds in which subspaces are fitted.
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
        The samples from which squared geodesic distances to a cluster sum up least. One may have
        gone over to another cluster. With ``rho=0``, the member nearest to the mean.
    subspaces_ : AffineSubspaces
        The subspaces: `centers` and orthonormal `bases`.
    reconstruction_error_ : float
        Sum of the squared distances of the samples from the subspaces of their clusters.
    objective_path_ : ndarray
        The objective after every step of the best restart. It never rises, except in a last step in
        which `absorbed_samples_` are moved.
    absorbed_samples_ : ndarray of int
        Samples that ``rho="auto"`` gave to the cluster around them instead of the cheapest.
    rho_ : float
        The fraction of the geodesic part that was used.
    n_clusters_ : int
        Number of clusters.
    nonlocal_clusters_ : ndarray of int
        Clusters that are not connected along the graph; none if ``rho="auto"``.
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
    VQPCA : The same without the graph.
    GeodesicKMedoids : The same without the subspaces.
    MPPCA : A probabilistic model with soft clusters.
    isofold.quality.is_localized : Whether clusters are connected.

    Notes
    -----
    `predict` gives a point the cluster with the least cost; its geodesic distance leads through
    the best of its `n_neighbors` nearest samples. The samples themselves get their labels.

    Examples
    --------
    >>> from isofold import LDLC
    >>> from isofold.datasets import sinusoid
    >>> wave = sinusoid(300, random_state=0)
    >>> ldlc = LDLC(n_clusters=6, n_components=1, random_state=0).fit(wave.X)
    >>> len(ldlc.nonlocal_clusters_)
    0
    >>> bool((ldlc.predict(wave.X) == ldlc.labels_).all())
    True
    """

    def __init__(
        self,
        *,
        n_clusters: int = 8,
        n_components: int = 2,
        rho: Any = "auto",
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
        self.rho = rho
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.metric = metric
        self.kernel = kernel
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read_rho(self) -> float | str:
        if isinstance(self.rho, str) and self.rho == "auto":
            return "auto"
        is_number = isinstance(self.rho, Real) and not isinstance(self.rho, bool)
        if not is_number or not 0.0 <= float(self.rho) <= 1.0:
            msg = (
                f"rho={self.rho!r} must be 'auto' or a number from 0 (flat clusters) to 1 "
                f"(connected clusters)."
            )
            raise InvalidInputError(msg)
        return float(self.rho)

    def _fit_clusters(self, X: FloatArray, rng: np.random.RandomState) -> IntArray:
        labels = super()._fit_clusters(X, rng)
        self.rho_ = self.model_.rho
        absorbed = self.model_.partition.absorbed
        self.absorbed_samples_ = np.flatnonzero(np.isin(self.graph_.node_of_sample, absorbed))
        return labels
