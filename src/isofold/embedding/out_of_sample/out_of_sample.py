"""New points for any embedder: fit it once, then place what comes later by its neighbors.

t-SNE, MDS, spectral embeddings and many others map only the points they were fitted to. The
neighborhoods of these points show how the embedding continues at a new point, see
`isofold.extension`.

References
----------
Strange, H. and Zwiggelaar, R. (2011). A generalised solution to the out-of-sample extension problem
in manifold learning. AAAI.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from isofold._base import Fit
from isofold._findings import setting
from isofold._progress.stages import stage
from isofold._typing import Auto, BoolArray, FloatArray, Metric, PairKernel
from isofold._validation import check_choice, check_count, check_points, check_same_rows, check_seed
from isofold.blocks.read import as_blocks
from isofold.embedding.embedder import Embedder
from isofold.embedding.out_of_sample.wrapped import (
    embedding_of,
    fit_embedding,
    fresh_estimator,
    is_precomputed,
)
from isofold.exceptions import InvalidInputError
from isofold.extension import (
    BarycentricMap,
    GooseMap,
    PointMap,
    SampledRegion,
    fit_from_distances,
    fit_kernel_ridge,
    fit_nystrom,
)
from isofold.extension.goose import SCALINGS, refuse_few_neighbors
from isofold.extension.training_points import TrainingPoints, read_training_points
from isofold.neighbors import build_graph, mean_at_nodes
from isofold.neighbors.edge_errors import scaled_edge_errors
from isofold.neighbors.search.build import METHODS as SEARCHES
from isofold.similarity.comparison import PairComparison

__all__ = ["OutOfSample"]

METHODS = ("goose", "barycentric", "kernel_ridge", "nystrom")

CANDIDATES = (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30)
"""Numbers of neighbors that ``n_neighbors="auto"`` compares. The best are 7 to 10 on the thesis's
roll, fewer on sparse ones, more under noise."""

WORST = 0.01
"""Fraction of held-out samples that do not count in the choice of neighbors: on rolls of 500 points
the choice is at worst 3.7 times as bad as the best number then, and 30 times otherwise."""

GRAPH_NEIGHBORS = 12
"""Neighbors whose distances show how true the embedding is."""


class OutOfSample(Embedder):
    """Give any embedder a `transform` for new points, each placed by its neighbors.

    Parameters
    ----------
    estimator : embedder or None, default=None
        What has `fit_transform`, or `fit` and then ``embedding_``. It is cloned. One that is
        fitted already is kept if it is wrapped in scikit-learn's ``FrozenEstimator``, or see
        `from_fitted`; for an embedding without estimator see `from_embedding`.
    method : {"goose", "barycentric", "kernel_ridge", "nystrom"} or callable, default="goose"
        "goose": by the best similarity or affine map of neighbors onto their images.
        "barycentric": by weights that make up the point from its neighbors. "kernel_ridge": by a
        smooth regression on all samples. "nystrom": by the geodesic kernel, for Isomap with the
        same `n_neighbors`. A function (X, Y) that returns an object with ``extend(X_new)``, such
        as ``functools.partial(fit_nystrom, kernel="laplacian")``. Samples given by their distances
        are placed by these, whatever the method.
    n_neighbors : int or "auto", default=10
        Neighbors that place a new point, more than the embedding has coordinates. "auto": for
        "goose", the number that places held-out samples best.
    scaling : {"least_squares", "range", "isotropic"}, default="least_squares"
        How "goose" scales neighborhoods: in any direction, along the coordinates of the embedding
        (the thesis), or in all directions alike (for embeddings that keep distances).
    search : {"auto", "fast", "kd_tree", "brute", "lists", "hnsw"}, default="auto"
        How "goose" and "barycentric" find neighbors. "auto" is exact. "lists" and "hnsw" are
        approximate and several times faster for many features; "hnsw" needs faiss. "fast" takes
        "lists" beyond some thousand samples of many features, else an exact one. A few training
        samples may be placed as if they were new where neighbors are approximate.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds distances), another metric
        of scikit-learn such as "cosine", a function of two samples, or a distance of
        `isofold.similarity`. Distances or kernel values of an estimator that takes them are
        recognized. The estimator gets `X` as it is.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`.
    random_state : int, RandomState or None, default=None
        Seed for an estimator whose own ``random_state`` is None.
    n_jobs : int or None, default=None
        Threads of the placing, by scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        What the estimator made of the samples.
    estimator_ : embedder or None
        The fitted estimator, if there is one.
    map_ : PointMap
        The map behind `transform`.
    n_neighbors_ : int
        Neighbors in use.
    held_out_errors_ : dict of int to float
        Root mean squared distance of samples from where they would be placed if they were new, the
        worst hundredth left out, for each number of neighbors that was tried; empty unless
        ``n_neighbors="auto"``.
    graph_ : NeighborGraph
        Neighbors in the data.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative error of the lengths to neighbors at every sample, in the unit of the
        embedding in which the median length is true.

    See Also
    --------
    isofold.extension : The maps as functions of arrays.

    Notes
    -----
    `transform` returns `embedding_` on the training samples with "goose" and "barycentric"; samples
    with the same features have the image of the first. "nystrom" does so where the embedding
    consists of eigenvectors; "kernel_ridge" smooths it. The embedding is never updated. A point
    outside the sampled region is placed all the same, by extrapolation: ask `is_outside`.
    `inverse_transform` goes back by the neighbors on the map, see
    `isofold.extension.fit_way_back`; a map of your own needs an ``inverse_transform`` for it.

    Examples
    --------
    >>> from sklearn.manifold import MDS
    >>> from isofold import OutOfSample
    >>> from isofold.datasets import s_curve
    >>> X = s_curve(320, random_state=0).X
    >>> mds = OutOfSample(MDS(n_init=1, init="random", random_state=0)).fit(X[:300])
    >>> mds.transform(X[300:]).shape
    (20, 2)
    """

    _takes_distances: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Literal["goose", "barycentric", "kernel_ridge", "nystrom"]
        | Callable[[FloatArray, FloatArray], PointMap] = "goose",
        n_neighbors: int | Auto = 10,
        scaling: Literal["least_squares", "range", "isotropic"] = "least_squares",
        search: Literal["auto", "fast", "kd_tree", "brute", "lists", "hnsw"] = "auto",
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.search = search
        self.metric = metric
        self.kernel = kernel
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def from_embedding(cls, X: Any, Y: Any, **parameters: Any) -> Self:
        """Return a fitted `OutOfSample` for an embedding that is already there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        Y : array-like of shape (n_samples, n_components)
            Their embedding.
        **parameters
            Parameters of `OutOfSample` other than `estimator`.

        Returns
        -------
        OutOfSample
            Ready to `transform`. It cannot be fitted again, since nothing says how.

        Raises
        ------
        InvalidInputError
            If either cannot be used, or they differ in length.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> OutOfSample.from_embedding(X, X[:, :2]).transform(X[:4] + 0.1).shape
        (4, 2)
        """
        model = cls(**parameters)
        model._fit_to(X, Y, None)
        return model

    @classmethod
    def from_fitted(cls, estimator: Any, X: Any, **parameters: Any) -> Self:
        """Return a fitted `OutOfSample` for an estimator that is fitted already.

        Parameters
        ----------
        estimator : embedder
            An estimator with ``embedding_``.
        X : array-like of shape (n_samples, n_features)
            The samples that it was fitted to, in the same order.
        **parameters
            Further parameters of `OutOfSample`.

        Returns
        -------
        OutOfSample
            Ready to `transform`; the estimator is neither changed nor fitted again.
        """
        model = cls(estimator, **parameters)
        model._fit_to(X, embedding_of(estimator), estimator)
        return model

    def _fit_to(self, X: Any, Y: Any, estimator: Any) -> None:
        """Take an embedding as it is."""
        X = self._validate(X, reset=True)
        k = self._check_parameters()
        self._record(self._extend_to(X, Y, estimator, k=k, name="Y"), X)
        self._warn()

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the estimator, and what maps new samples into its embedding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or collection of objects
            The samples, as the estimator takes them.
        y : array-like, optional
            What the estimator takes for it.
        **fit_params
            None.

        Returns
        -------
        self
            The fitted estimator.
        """
        if as_blocks(X) is not None:
            return super().fit(X, y, **fit_params)
        return super().fit(X, y, given=X, **fit_params)

    def _fit(self, X: FloatArray, y: Any, *, given: Any = None) -> Fit:
        if self.estimator is None:
            msg = (
                "There is no estimator to fit. Pass one, or use OutOfSample.from_embedding(X, Y) "
                "for an embedding that is already there."
            )
            raise InvalidInputError(msg)
        # Before the embedder takes its time.
        k = self._check_parameters()
        if isinstance(self.estimator, FrozenEstimator):
            estimator = self.estimator.estimator
            return self._extend_to(X, embedding_of(estimator), estimator, k=k)
        estimator = fresh_estimator(self.estimator, check_seed(self.random_state))
        how = self._intake.comparison
        is_read = how.is_euclidean or (how.is_given and how.kernel is None)
        if given is None and not is_read:
            msg = (
                f"{setting('metric', self.metric)}: OutOfSample takes tables in blocks only with "
                f"metric='euclidean'. Pass the metric to the estimator, or an array."
            )
            raise InvalidInputError(msg)
        embedding = fit_embedding(estimator, X if is_read else given, y)
        return self._extend_to(X, embedding, estimator, k=k)

    def _extend_to(
        self, X: FloatArray, Y: Any, estimator: Any, *, k: int | None, name: str = "the embedding"
    ) -> Fit:
        """Fit the map of new points to an embedding, and measure how true it is."""
        # A copy: whoever made the embedding may go on with it.
        Y = np.array(check_points(Y, name=name[0].upper() + name[1:], min_samples=1))
        check_same_rows(X.shape[0], len(Y), names=("X", name))
        errors: dict[int, float] = {}
        if not self._sees_points:
            k = check_count(k, name="n_neighbors")
            extension: PointMap = fit_from_distances(Y, n_neighbors=k)
            region, n_points = None, X.shape[0]
        else:
            training = read_training_points(X, Y, search=self.search, n_jobs=self.n_jobs)
            if k is None:
                errors = self._try_neighbors(training)
                k = min(errors, key=errors.__getitem__)
            extension = self._make_extension(X, training, k)
            region, n_points = SampledRegion.around(training, k), training.n_points
        graph = build_graph(
            X,
            # A sparse table of distances is a ready graph.
            n_neighbors=None if sp.issparse(X) else max(1, min(GRAPH_NEIGHBORS, n_points - 1)),
            metric=self._seen_metric,
            n_jobs=self.n_jobs,
        )
        relative = scaled_edge_errors(Y[graph.sample_of_node], graph)
        return Fit.of(
            Y,
            map_=extension,
            findings=(),
            estimator=estimator,
            graph=graph,
            held_out_errors=errors,
            n_neighbors=k,
            distortion=mean_at_nodes(relative, graph)[graph.node_of_sample],
            region=region,
        )

    def _check_parameters(self) -> int | None:
        """Refuse unknown options; return the number of neighbors, or None for "auto"."""
        if not callable(self.method):
            check_choice(self.method, METHODS, name="method")
        check_choice(self.scaling, SCALINGS, name="scaling")
        check_choice(self.search, SEARCHES, name="search")
        if not isinstance(self.n_neighbors, str):
            return check_count(self.n_neighbors, name="n_neighbors")
        if self.n_neighbors != "auto" or self.method != "goose" or not self._sees_points:
            msg = (
                f"n_neighbors={self.n_neighbors!r} with method={self.method!r}: pass a whole "
                f"number. 'auto' compares numbers of neighbors for method='goose' on points only."
            )
            raise InvalidInputError(msg)
        return None

    def _try_neighbors(self, training: TrainingPoints) -> dict[int, float]:
        """Return the errors of held-out samples for several numbers of neighbors."""
        q = training.images.shape[1]
        if training.n_points == 1:
            return {q + 1: 0.0}
        goose = GooseMap(training, q + 1, self.scaling, interpolates=True, n_jobs=self.n_jobs)
        most = max(training.n_points - 1, q + 1)
        tried = tuple(k for k in (*CANDIDATES, q + 2, 2 * q + 2) if q < k <= most) or (q + 1,)
        tried = tuple(sorted(set(tried)))
        with stage("number of neighbors"):
            missed = goose.held_out(tried) - training.own_images
        squares = np.sort(np.einsum("knq,knq->kn", missed, missed), axis=1)
        # A few samples at the rim or at tears would decide otherwise.
        n_kept = max(1, int((1.0 - WORST) * squares.shape[1]))
        roots = np.sqrt(squares[:, :n_kept].mean(axis=1))
        return dict(zip(tried, map(float, roots), strict=True))

    def _make_extension(self, X: FloatArray, training: TrainingPoints, k: int) -> PointMap:
        """Return the map of new points."""
        Y, n_jobs = training.images, self.n_jobs
        if callable(self.method):
            extension = self.method(X, Y)
            if not hasattr(extension, "transform"):
                msg = (
                    f"method={self.method!r} returned {type(extension).__name__}, which has no "
                    f"transform(X) to place new points. Return an object that has."
                )
                raise InvalidInputError(msg)
            return extension
        if self.method == "goose":
            refuse_few_neighbors(k, Y.shape[1])
            return GooseMap(training, k, self.scaling, interpolates=True, n_jobs=n_jobs)
        if self.method == "barycentric":
            return BarycentricMap(training, k, n_jobs)
        if self.method == "nystrom":
            return fit_nystrom(X, Y, n_neighbors=k, n_jobs=n_jobs)
        return fit_kernel_ridge(X, Y)

    def is_outside(self, X: Any, *, level: float = 0.01) -> BoolArray:
        """Return which points lie outside of the region that the samples cover.

        There `transform` extrapolates, and its answer is a guess.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            The points.
        level : float, default=0.01
            A point counts as outside if it is farther from its neighbors, compared with what these
            have among themselves, than all but this fraction of the training samples. This is the
            fraction of points inside that are reported by mistake.

        Returns
        -------
        ndarray of bool of shape (n_new,)
            Whether a point lies outside.
        """
        check_is_fitted(self, "embedding_")
        X = self._validate(X, reset=False)
        if self.region_ is None:
            msg = "is_outside needs points, but this estimator was fitted to distances."
            raise InvalidInputError(msg)
        return self.region_.is_outside(X.astype(np.float64, copy=False), level=level)

    def _comparison(self) -> PairComparison:
        """Return how samples are compared, which an estimator of given values determines."""
        if is_precomputed(self.estimator, "metric", "dissimilarity"):
            return PairComparison("precomputed")
        if is_precomputed(self.estimator, "affinity", "kernel"):
            return PairComparison(kernel="precomputed")
        return super()._comparison()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type):
            inner = get_tags(self.estimator)
            tags.non_deterministic = inner.non_deterministic
            tags.input_tags.pairwise = inner.input_tags.pairwise
            tags.input_tags.sparse = not self._sees_points and inner.input_tags.sparse
        return tags
