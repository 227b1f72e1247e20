"""Unfold: looks at the data, decides between methods, and says what was lost.

1. Survey the data: components, copies, outliers, intrinsic dimension, noise.
2. If they may be a sheet, stitch them (IPA). If patches fit together, this is the map.
3. Else rehearse the candidates on a sample, judged by samples that they did not see, and take the
   best. On data of more dimensions than the map this is NeighborMap as a rule.
4. Measure the map, look for shapes that no flat map can keep, and explain the decision.

No step knows a true answer. Where time is short, a sample of the data is fitted and the rest placed
by the map.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from isofold._base import Fit
from isofold._findings import setting
from isofold._progress.stages import interrupted, stage
from isofold._typing import Auto, FloatArray, Metric, PairKernel
from isofold._validation import (
    check_count,
    check_flag,
    check_fraction,
    check_positive,
    check_seed,
    check_units,
)
from isofold.embedding.embedder import Embedder
from isofold.embedding.unfold.budget import Clock
from isofold.embedding.unfold.decision import Decision, explain
from isofold.embedding.unfold.measuring import MEASURED_NEIGHBORS, measure
from isofold.embedding.unfold.trial import Trial
from isofold.embedding.unfold.trials import Trials
from isofold.exceptions import InvalidInputError
from isofold.extension import fit_from_distances
from isofold.linalg import PrincipalFrame, row_space_coordinates
from isofold.neighbors import NeighborGraph
from isofold.neighbors.graph import distances_between_nodes
from isofold.neighbors.near_points import NearPoints
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.survey import (
    Survey,
    survey_graph,
    survey_neighbors,
    survey_samples,
    survey_shapes,
)
from isofold.survey.data import MOST_SAMPLES

__all__ = ["Unfold"]

logger = logging.getLogger("isofold")

MOST_EMBEDDED = 5000
"""Samples up to which distances are converted to points, if points have such distances."""

EIGENVALUES_A_SECOND, FRACTION_FOR_POINTS = 1e9, 0.2
"""Cube of the number of samples whose eigenvalues take a second, and the fraction of all time."""

LARGEST_ERROR = 0.01
"""Relative error of distances between neighbors up to which they are those of points."""


class Unfold(Embedder):
    """Unfolds data by the method that suits them, and says what it did and what was lost.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension of the map; "auto" takes the smallest that keeps distances to `tolerance`.
    n_neighbors : int or "auto", default="auto"
        Neighbors in the graphs of all methods; "auto" leaves it to each method.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds distances, or a sparse
        graph of known ones), another metric of scikit-learn such as "cosine", a function of two
        samples, or a distance of `isofold.similarity`.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    tolerance : float, default=0.1
        Relative error of distances between neighbors up to which they count as kept.
    max_seconds : float, default=300.0
        Approximate time that the fit may take. Where it is short, a sample of the data is fitted
        and the rest placed by the map.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.
        The decision is then logged at level INFO, else DEBUG, to the logger "isofold".

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    decision_ : Decision
        The method used, the alternatives with their scores, the evidence, how true the map is,
        and sentences for a human. ``print(unfold.decision_)`` shows all.
    survey_ : Survey
        What the data look like.
    estimator_ : embedder
        The method that was used, fitted.
    fitted_samples_ : ndarray of int
        The samples it was fitted to: all, unless time was short.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative error of the distances of every sample to its neighbors; of a sample that was
        placed by the map, that of the nearest fitted one.
    map_ : object
        That of the method used, or a DistanceMap where distances were converted to points.
    diagnosis_ : Diagnosis
        What was seen, done and lost: the findings of the decision.
    n_components_ : int
        Dimension of the map.

    See Also
    --------
    isofold.IPA : Used where the data are a sheet of the map's dimension.
    isofold.NeighborMap : Used as a rule where they have more dimensions than the map.
    isofold.LocalMDS : Used where it keeps more, as on curves that branch.

    Notes
    -----
    Same seed, same map, unless `max_seconds` had to be enforced: the map that the method used makes
    by itself with this seed. `transform` is that of the method used, row by row. A
    `DoubtfulMapWarning` is issued when distances are not kept to `tolerance` (apart from what the
    noise of a sheet adds), or when the evidence raised any doubt, whatever method was taken
    (``decision_.doubts``).

    Examples
    --------
    >>> from isofold import Unfold
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.quality import procrustes_error
    >>> roll = swiss_roll(800, width=21.0, uniform=True, random_state=0)
    >>> unfold = Unfold(random_state=0)
    >>> Y = unfold.fit_transform(roll.X)
    >>> unfold.decision_.method
    'ipa'
    >>> bool(procrustes_error(Y, roll.truth) < 0.01)
    True
    """

    _takes_distances: ClassVar[bool] = True

    def __init__(
        self,
        *,
        n_components: int | Auto = 2,
        n_neighbors: int | Auto = "auto",
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        tolerance: float = 0.1,
        max_seconds: float = 300.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.tolerance = tolerance
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, X: FloatArray, y: Any) -> Fit:
        rng, clock = self._check(X)
        points = X if self._sees_points else points_of(X, clock)
        known = X if points is None else points
        sight = self._look(known, clock, rng, is_distances=points is None)
        survey = self._survey(sight, known)
        trials = Trials(
            known,
            is_distances=points is None,
            rehearsed=known if sight.is_sample_of(known) else sight.data,
            graph=sight.graph if sight.data is known else None,
            near=sight.near if sight.data is known else None,
            survey=survey,
            rng=rng,
            clock=clock,
            shared=self._shared(rng),
        )
        if isinstance(self.n_components, str):
            choice = trials.smallest_dimension(self.tolerance)
        else:
            choice = trials.given_dimension(self.n_components)
        trial = trials.decide(choice)
        is_thick = trials.is_beyond(choice.n_components)
        survey = sight.with_shapes(survey, trial, rng, is_thick=is_thick)
        given = X if sight.is_sample_of(X) else sight.data
        metric = self._seen_metric if given is X else sight.metric
        quality = measure(given, trial, metric=metric, rng=rng, n_jobs=self.n_jobs)
        decision = Decision(
            method=trial.method,
            n_components=choice.n_components,
            candidates=trial.candidates,
            figures=tuple(trial.evidence(survey).items()),
            quality=quality,
            findings=explain(
                survey, trial, quality, trials.alternative(trial), tolerance=self.tolerance
            ),
            doubts=trial.doubts(survey),
        )
        logger.log(logging.INFO if self.verbose else logging.DEBUG, "%s", decision)
        is_from_distances = points is not None and not self._sees_points
        own_map = trial.embedder.map_
        return Fit.of(
            trial.embedding,
            map_=fit_from_distances(trial.embedding) if is_from_distances else own_map,
            findings=decision.findings,
            survey=survey,
            decision=decision,
            estimator=trial.embedder,
            n_components=choice.n_components,
            fitted_samples=trial.rows,
            distortion=trials.distortion(trial),
        )

    def _look(
        self, known: Any, clock: Clock, rng: np.random.RandomState, *, is_distances: bool
    ) -> Sight:
        """Return the samples that are looked at, all or some, with their graph."""
        metric = "precomputed" if is_distances else "euclidean"
        width = known.shape[1] if self._sees_points else 1
        most = clock.most_samples(MOST_SAMPLES, width)
        data = known
        if known.shape[0] > most and not sp.issparse(known):
            rows = np.sort(rng.choice(known.shape[0], most, replace=False))
            data = known[np.ix_(rows, rows)] if is_distances else known[rows]
        near = None
        if not is_distances:
            data = row_space_coordinates(data)
            near = survey_neighbors(data, n_jobs=self.n_jobs)
        graph = survey_graph(data, metric=metric, near=near, n_jobs=self.n_jobs)
        return Sight(data, metric, near, graph)

    def _survey(self, sight: Sight, known: Any) -> Survey:
        """Survey the data, as points if there are points with the given distances."""
        survey = survey_samples(
            sight.data,
            metric=sight.metric,
            near=sight.near,
            graph=sight.graph,
            has_shapes=False,
            n_jobs=self.n_jobs,
        )
        survey = replace(survey, n_samples=known.shape[0])
        if self._sees_points:
            return replace(survey, n_features=known.shape[1])
        return replace(survey, n_features=None, rank=None)

    def _transform(self, X: FloatArray) -> FloatArray:
        if self.map_ is not self.estimator_.map_:
            return self.map_.transform(X)
        if not self._sees_points:
            X = X[:, self.fitted_samples_]
        return self.estimator_.transform(X)

    def _check(self, X: FloatArray) -> tuple[np.random.RandomState, Clock]:
        """Check all parameters, and start the clock."""
        clock = Clock.started(check_positive(self.max_seconds, name="max_seconds"))
        check_fraction(self.tolerance, name="tolerance")
        # Empty rows of a sparse matrix are reported where it is read.
        entries = np.asarray(X.data) if sp.issparse(X) else X
        if entries.size:
            check_units(entries, name="X")
        check_flag(self.verbose, name="verbose")
        for name in ("n_components", "n_neighbors"):
            value = getattr(self, name)
            if isinstance(value, str) and value != "auto":
                msg = f"{setting(name, value)} must be a whole number or 'auto'."
                raise InvalidInputError(msg)
            if not isinstance(value, str):
                check_count(value, name=name)
        most = X.shape[1] if self._sees_points else X.shape[0]
        if not isinstance(self.n_components, str) and self.n_components > most:
            what = "feature(s)" if self._sees_points else "sample(s)"
            msg = (
                f"{setting('n_components', int(self.n_components))}, but X has {most} {what}: "
                f"there is nothing to unfold into more dimensions than that. Pass at most "
                f"{setting('n_components', most)}."
            )
            raise InvalidInputError(msg)
        return check_seed(self.random_state), clock

    def _shared(self, rng: np.random.RandomState) -> dict[str, Any]:
        """Return the parameters of all candidates; a given seed is theirs, too."""
        seed = self.random_state if isinstance(self.random_state, Integral) else None
        shared = {
            "random_state": int(rng.randint(2**31 - 1) if seed is None else seed),
            "n_jobs": self.n_jobs,
        }
        if not isinstance(self.n_neighbors, str):
            shared["n_neighbors"] = self.n_neighbors
        return shared


@dataclass(frozen=True, eq=False)
class Sight:
    """The samples that are looked at.

    Attributes
    ----------
    data : ndarray or csr_array
        Points, in the space of their rows if they have more columns than that; or distances.
    metric : str
        Which of the two.
    near : NearPoints or None
        The points with their nearest others.
    graph : NeighborGraph
        Their graph of mutual neighbors, or of known distances.
    """

    data: Any
    metric: str
    near: NearPoints | None
    graph: NeighborGraph

    def is_sample_of(self, X: Any) -> bool:
        """Return whether only some of the samples are looked at."""
        return bool(self.data.shape[0] < X.shape[0])

    @stage("shapes")
    def with_shapes(
        self, survey: Survey, trial: Trial, rng: np.random.RandomState, *, is_thick: bool
    ) -> Survey:
        """Return a survey with the shapes of its samples; a sheet has none."""
        if trial.is_sheet or trial.is_exact or interrupted():
            return survey
        shapes = survey_shapes(
            self.data,
            self.graph,
            metric=self.metric,
            near=self.near,
            is_thick=is_thick,
            random_state=rng,
        )
        return replace(survey, shapes=shapes)


def points_of(distances: Any, clock: Clock) -> FloatArray | None:
    """Return points with given distances, or None if there are none or too many samples.

    The points must have the distances between near samples, where errors matter most.
    """
    n_samples = distances.shape[0]
    in_time = FRACTION_FOR_POINTS * clock.seconds * EIGENVALUES_A_SECOND
    if sp.issparse(distances) or n_samples > MOST_EMBEDDED or n_samples**3 > in_time:
        return None
    between, distinct = distances_between_nodes(distances.astype(np.float64))
    unit = float(between.max()) or 1.0
    points = unit * PrincipalFrame.of((between / unit) ** 2).coordinates
    k = min(MEASURED_NEIGHBORS, len(between) - 1)
    near = nearest_in_rows(between, k, own=np.arange(len(between)))[1]
    for column in near.T:
        wanted = between[np.arange(len(between)), column]
        found = np.linalg.norm(points - points[column], axis=1)
        if (np.abs(found - wanted) > LARGEST_ERROR * wanted).any():
            return None
    return np.asarray(points[distinct.node_of_sample])
