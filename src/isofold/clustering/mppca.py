"""MPPCA: a mixture of Gaussians, each with a few axes of its own and noise around them.

The mixture is fitted by maximum likelihood (`ppca_em`), from several starts. It is the soft
counterpart of VQPCA: clusters near subspaces of r dimensions, but with a density along the
subspace, which keeps most of them together.

References
----------
Tipping, M. E. and Bishop, C. M. (1999). Mixtures of probabilistic principal component analyzers.
Neural Computation 11(2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._findings import Finding, Severity, emit
from isofold._parallel import ordered_map
from isofold._progress.stages import interrupted, interruptible, stage, until_interrupted
from isofold._typing import FloatArray, IntArray, Metric, PairKernel
from isofold._validation import check_count, check_positive, check_repeats
from isofold.clustering.base import BaseClusterer
from isofold.clustering.localized.seeding import read_seeds, straight_seeding
from isofold.clustering.ppca_em import MixtureRun, climb, normalized
from isofold.clustering.subspaces import AffineSubspaces, fit_subspaces
from isofold.neighbors.duplicates import find_distinct

__all__ = ["MPPCA"]

TIE = 1e-9
"""Log-densities closer than this fraction of their size (or of 1) are equal but for rounding."""


class MPPCA(BaseClusterer):
    """Mixture of probabilistic principal component analyzers.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of components.
    n_components : int, default=2
        Number r of axes of a component, from 0 (equal variance in all directions) to the number of
        features (a full covariance).
    n_init : int, default=3
        Number of starts, of which that with the highest likelihood is kept (see Notes). One if
        `init` gives the seeds.
    init : {"k-means++", "random"} or array-like of int of shape (n_clusters,), default="k-means++"
        The seeds: drawn far from each other, drawn at random, or these rows of `X`. Every point
        starts in the component of its nearest seed.
    max_iter : int, default=200
        Most steps of a run.
    tol : float, default=1e-5
        A run ends when a step raises the mean log-likelihood of a point by less than this fraction.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds all distances), another
        metric of scikit-learn such as "cosine", a function of two samples, or a distance of
        `isofold.similarity`. Points that have these distances are clustered then.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    random_state : int, RandomState or None, default=None
        Draws the seeds.
    n_jobs : int or None, default=None
        Number of starts that run at the same time, in threads. The result does not depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n_samples,)
        The component that is most responsible for each point. A component may be that of none.
    weights_ : ndarray of shape (n_clusters,)
        Fraction of each component.
    subspaces_ : AffineSubspaces
        Mean and axes of each component. An axis is zero where there is no variance along it.
    variances_ : ndarray of shape (n_clusters, n_components)
        Variances along the axes, the largest first.
    noise_variances_ : ndarray of shape (n_clusters,)
        Variance in every direction across the axes.
    log_likelihood_ : float
        Log-likelihood of all points.
    log_likelihood_path_ : ndarray of shape (n_steps,)
        The same after every step of the best run. It never falls but for rounding. It starts anew
        when a component that lost all its points is moved elsewhere, which is rare.
    reconstruction_error_ : float
        Sum of squared distances of the points from the best subspaces of their clusters as
        labelled. These are not quite `subspaces_`, which weigh every point by its responsibility.
        So it can be compared with that of VQPCA and LDLC.
    n_iter_ : int
        Number of steps of the best run.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    No variance is less than 1e-8 of that of the data (the mean over the features; of 1 if all
    points are equal). Without such a floor the likelihood has no upper bound. With it every step
    still raises the likelihood, that of the model with the floor. Its highest maxima are spurious
    all the same: a component of r + 1 points or fewer is free of noise whatever the data are. So
    starts that end with fewer of these are preferred to those of higher likelihood.

    With as many axes as features there is nothing across the axes, and `noise_variances_` is the
    floor.

    With more than 128 features the axes of a large component come from a few block iterations and
    are those of its covariance approximately. A step costs O(n d r) then, O(n d² + d³) below.

    References
    ----------
    Tipping, M. E. and Bishop, C. M. (1999). Mixtures of probabilistic principal component
    analyzers. Neural Computation 11(2).

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.clustering.mppca import MPPCA
    >>> t = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> cross = np.vstack([t * [1.0, 0.0], t * [0.0, 1.0] + [4.0, 0.0]])
    >>> mppca = MPPCA(n_clusters=2, n_components=1, random_state=0).fit(cross)
    >>> np.bincount(mppca.labels_)
    array([20, 20])
    >>> mppca.weights_.round(3)
    array([0.5, 0.5])
    """

    def __init__(
        self,
        *,
        n_clusters: int = 8,
        n_components: int = 2,
        n_init: int = 3,
        init: Any = "k-means++",
        max_iter: int = 200,
        tol: float = 1e-5,
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
        self.tol = tol
        self.metric = metric
        self.kernel = kernel
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the responsibilities of the components for points.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New or old points.

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
            Rows that sum to one.
        """
        return normalized(self._log_joint(self._read(X)))[1]

    def score_samples(self, X: Any) -> FloatArray:
        """Return the logarithm of the density at points.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New or old points.

        Returns
        -------
        ndarray of shape (n_new,)
            Log-densities in the units of `X`.
        """
        X = self._read(X)
        return np.asarray(normalized(self._log_joint(X))[0] - X.shape[1] * np.log(self._unit))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn's signature
        """Return the mean log-likelihood of points.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New or old points.
        y : None
            Ignored; there for scikit-learn's model selection.

        Returns
        -------
        float
            Mean of `score_samples`.
        """
        return float(self.score_samples(X).mean())

    def _fit_clusters(self, X: FloatArray, rng: np.random.RandomState) -> IntArray:
        r = self._check_n_components(X.shape[1])
        nodes = find_distinct(X)
        c = self._check_n_clusters(nodes.n_nodes)
        given = read_seeds(self.init, c, nodes.node_of_sample)
        n_init = check_repeats(self.n_init, name="n_init") if given is None else 1
        max_iter = check_count(self.max_iter, name="max_iter")
        tol = check_positive(self.tol, name="tol")

        # Computed about the mean and in units of the spread: likelihoods of points far from the
        # origin keep their digits, and the floor of the variances needs no unit.
        self._origin = X.mean(axis=0, dtype=np.float64)
        spread = float(np.sqrt(np.mean(X.var(axis=0, dtype=np.float64))))
        self._unit = spread if nodes.n_nodes > 1 else 1.0
        points = self._standardized(X)
        distinct = points[nodes.sample_of_node]
        copies = np.bincount(nodes.node_of_sample).astype(np.float64)
        run_seeds = rng.randint(np.iinfo(np.int32).max, size=n_init)

        init, node_of_sample = self.init, nodes.node_of_sample

        def run(seed: int) -> MixtureRun:
            own = np.random.RandomState(seed)
            start = straight_seeding(distinct, copies, given, init=init, n_clusters=c, rng=own)
            labels = start.labels[node_of_sample]
            return climb(points, labels, r, n_clusters=c, max_iter=max_iter, tol=tol, rng=own)

        with interruptible(), stage("clusters", total=n_init) as steps:
            found = ordered_map(run, run_seeds, n_jobs=self.n_jobs, is_pure=True, steps=steps)
            best = max(until_interrupted(found), key=lambda run: run.rank)
        self._keep(best, len(X))
        labels = self._predict(X)
        self.reconstruction_error_ = self._unit**2 * _reconstruction_error(points, labels, r)
        return labels

    def _keep(self, run: MixtureRun, n_samples: int) -> None:
        """Set the fitted attributes, in the units of the data."""
        if not run.has_converged and not interrupted():
            finding = Finding.of(
                "mixture", Severity.DOUBT, max_iter=self.max_iter, tol=float(self.tol)
            )
            emit((finding,))
        mixture, square = run.mixture, self._unit**2
        self._mixture = mixture
        self.weights_ = mixture.weights
        self.subspaces_ = AffineSubspaces(
            centers=self._origin + self._unit * mixture.subspaces.centers,
            bases=mixture.subspaces.bases,
        )
        self.variances_ = square * mixture.variances
        self.noise_variances_ = square * mixture.noise
        n_numbers = n_samples * len(self._origin)
        self.log_likelihood_path_ = run.path - n_numbers * np.log(self._unit)
        self.log_likelihood_ = float(self.log_likelihood_path_[-1])
        self.n_iter_ = run.n_iter

    def _predict(self, X: FloatArray) -> IntArray:
        joint = self._log_joint(X)
        greatest = joint.max(axis=1, keepdims=True)
        margin = TIE * np.maximum(1.0, np.abs(greatest))
        return np.asarray(np.argmax(joint >= greatest - margin, axis=1))

    def _standardized(self, X: FloatArray) -> FloatArray:
        return np.asarray((X - self._origin) / self._unit)

    def _log_joint(self, X: FloatArray) -> FloatArray:
        return self._mixture.log_joint(self._standardized(X))


def _reconstruction_error(points: FloatArray, labels: IntArray, n_components: int) -> float:
    """Return the squared distances of points from the best subspaces of their clusters, summed."""
    used, compact = np.unique(labels, return_inverse=True)
    subspaces = fit_subspaces(points, compact, n_components, n_clusters=len(used))
    return float(subspaces.own_squared_distances(points, compact).sum())
