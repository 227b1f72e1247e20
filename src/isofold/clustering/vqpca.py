"""Vector quantization PCA: clusters that are flat, wherever their points are.

It minimizes the squared distances of points from the subspace of their cluster by fitting subspaces
and reassigning points in turn [1]_: Lloyd's algorithm with subspaces for centers. A subspace has no
end, so that points of distant parts of the data that happen to lie in it come to one cluster.
`LDLC` keeps them apart.

References
----------
.. [1] Kambhatla, N. and Leen, T. K. (1997). Dimension reduction by local principal component
   analysis. Neural Computation 9(7), 1493-1516.
"""

from __future__ import annotations

from typing import Any

from isofold._typing import Metric, PairKernel
from isofold.clustering.localized.base import LocalizedClusterer

__all__ = ["VQPCA"]


class VQPCA(LocalizedClusterer):
    """Vector quantization PCA: clusters that are flat, wherever their points are.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int, default=2
        Dimension r of the subspace of a cluster; 0 is k-means. It ought to be less than the number
        of features: with as many, every point lies in every subspace, and only centers tell them
        apart.
    n_init : int, default=3
        Number of restarts; the one with the lowest error is kept.
    init : {"k-means++", "random"} or array-like of int of shape (n_clusters,), default="k-means++"
        How clusters begin: around samples that are spread out, drawn evenly, or given by number
        (then there is one start). Every point goes to the nearest.
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
    medoids_ : ndarray of int of shape (n_clusters,)
        The member of each cluster that is nearest to its mean.
    subspaces_ : AffineSubspaces
        The subspaces: `centers` and orthonormal `bases`.
    reconstruction_error_ : float
        Sum of the squared distances of the samples from the subspaces of their clusters.
    objective_path_ : ndarray
        The same after every step of the best restart; it never rises.
    n_clusters_ : int
        Number of clusters.
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
    >>> from isofold import VQPCA
    >>> cross = np.array([[-2.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> cross = np.concatenate([cross, cross[:, ::-1] + [0.0, 5.0]])
    >>> VQPCA(n_clusters=2, n_components=1, random_state=0).fit(cross).reconstruction_error_
    0.0
    """

    def __init__(
        self,
        *,
        n_clusters: int = 8,
        n_components: int = 2,
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
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.metric = metric
        self.kernel = kernel
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read_rho(self) -> float:
        return 0.0
