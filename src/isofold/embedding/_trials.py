"""Trials: candidates rehearsed, one of them fitted, within the time that there is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._base import BaseEmbedder
from isofold._typing import FloatArray, IntArray
from isofold.embedding._candidates import (
    REHEARSED,
    Candidate,
    Judgement,
    fit_quietly,
    judgement_of,
    make_embedder,
    rehearsal_size,
    rehearse,
)
from isofold.linalg import principal_coordinates
from isofold.neighbors import build_search
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.survey import Survey

__all__ = ["Choice", "Clock", "Trial", "Trials"]

POINTS, DISTANCES = ("ipa", "local_mds", "pca"), ("local_mds",)
"""The candidates, by what is known of the samples."""

MOST_DIMENSIONS = 12
"""Dimensions that are tried at most."""

NEARLY = 1.0
"""How far the estimated dimension may exceed that of the map for stitching to be tried on all data
although it failed in the rehearsal: in a sample the layers of a roll lie closer to each other."""

SHARE_OF_TIME = 0.5
"""Share of the time that is left which a fit may take by estimate."""

LEAST_FITTED = 200
"""Samples that are fitted whatever the time."""

SAMPLES_A_SECOND = 50.0
"""Samples that are surveyed and rehearsed for each second of time that there is, at least as many
as are fitted in any case."""

LOOSE_MATCH, CLEAR_LEAD = 0.3, 1.05
"""Misfit of patches from which on a stitched map must have this many times the score of the others
to be taken: below are caps, half globes and strips, above clouds, where chance decides."""

EXPLAINED = 1.0 - 1e-12
"""Share of the variance in the axes of the map from which on nothing is lost."""


@dataclass(frozen=True)
class Clock:
    """The time that is left.

    Attributes
    ----------
    seconds : float
        All the time there was.
    begin : float
        When it began.
    """

    seconds: float
    begin: float

    @classmethod
    def started(cls, seconds: float) -> Clock:
        """Return a clock that runs from now on."""
        return cls(seconds, time.perf_counter())

    def left(self) -> float:
        """Return the time that is left."""
        return self.seconds - (time.perf_counter() - self.begin)

    def most_samples(self, wanted: int) -> int:
        """Return how many samples to look at: as many as wanted, if there is time for them."""
        return min(wanted, max(LEAST_FITTED, int(SAMPLES_A_SECOND * self.seconds)))


@dataclass(frozen=True, eq=False)
class Choice:
    """A dimension, why it was taken, and how the candidates did in it.

    Attributes
    ----------
    n_components : int
        The dimension.
    reason : str
        Why, if it was not given.
    candidates : tuple of Candidate
        The rehearsed candidates; empty if there was no need to.
    """

    n_components: int
    reason: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, eq=False)
class Trial:
    """The method that was decided for, fitted.

    Attributes
    ----------
    method : str
        Its name.
    choice : Choice
        Dimension and rehearsed candidates.
    embedder : embedder
        The fitted method.
    rows : ndarray of int
        The samples it was fitted to.
    embedding : ndarray of shape (n_samples, n_components)
        The places of all samples.
    judgement : Judgement or None
        What the stitched map of all samples, or else of the rehearsal, says of itself.
    is_exact : bool
        Whether the data have no more dimensions than the map.
    """

    method: str
    choice: Choice
    embedder: BaseEmbedder
    rows: IntArray
    embedding: FloatArray
    judgement: Judgement | None
    is_exact: bool = False

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates."""
        return self.choice.candidates

    def evidence(self, survey: Survey) -> dict[str, float]:
        """Return the figures that decided, by name."""
        figures = {"dimension": survey.dimension, "exact": float(self.is_exact)}
        if self.judgement is not None:
            figures["match"] = self.judgement.match
            figures["certified"] = float(self.judgement.certified)
            figures["estimated_error"] = self.judgement.estimated_error
        return figures | {f"score_{c.method}": c.score for c in self.candidates}


@dataclass(frozen=True, eq=False)
class Trials:
    """All that is needed to decide.

    Attributes
    ----------
    X : ndarray or csr_array
        Points, or distances.
    is_distances : bool
        Whether it holds distances.
    survey : Survey
        What the data look like.
    rng : RandomState
        Draws samples.
    clock : Clock
        The time that is left.
    shared : dict
        Parameters of all candidates.
    """

    X: Any
    is_distances: bool
    survey: Survey
    rng: np.random.RandomState
    clock: Clock
    shared: dict[str, Any]

    def given_dimension(self, n_components: int) -> Choice:
        """Return the choice of a dimension that the user made."""
        candidates = () if self._is_flat(n_components) else self._rehearse(n_components)
        return Choice(n_components, "", candidates)

    def smallest_dimension(self, tolerance: float) -> Choice:
        """Return the smallest dimension in which distances are kept to a tolerance."""
        suggested = min(self.survey.suggested_dimension, self._most_dimensions())
        if sp.issparse(self.X):
            words = f"The growth of neighborhoods suggests n_components={suggested}."
            return Choice(suggested, words, ())
        tried: dict[int, Choice] = {}
        for r in range(1, self._most_dimensions() + 1):
            tried[r] = self.given_dimension(r)
            kept = [c for c in tried[r].candidates if c.length_error <= tolerance]
            if not tried[r].candidates:
                return Choice(r, f"n_components={r} holds all that the data have.", ())
            if kept or self.clock.left() < SHARE_OF_TIME * self.clock.seconds:
                break
        if kept:
            words = f"n_components={r} is the least that keeps distances to {tolerance:.0%}."
            return Choice(r, words, tried[r].candidates)
        r = min(suggested, r)
        words = (
            f"No n_components up to {max(tried)} keeps distances to {tolerance:.0%}; {r} was "
            f"taken, as the growth of neighborhoods suggests."
        )
        return Choice(r, words, tried[r].candidates)

    def decide(self, choice: Choice) -> Trial:
        """Return the method that suits the data, fitted."""
        r = choice.n_components
        everything = np.arange(self.X.shape[0])
        if not choice.candidates:
            method = "local_mds" if sp.issparse(self.X) else "pca"
            embedder = self._fitted(method, r, everything)
            return Trial(
                method,
                choice,
                embedder,
                everything,
                embedder.embedding_,
                None,
                is_exact=method == "pca",
            )
        stitched, others = choice.candidates[0], choice.candidates[1:]
        if self.is_distances:
            return self._trial(stitched, choice)
        best = max(others, key=lambda candidate: candidate.score)
        judgement = stitched.judgement
        is_loose = judgement is None or judgement.match > LOOSE_MATCH
        is_best = stitched.score > (CLEAR_LEAD if is_loose else 1.0) * best.score
        if is_best or self._may_be_sheet(stitched, r):
            trial = self._trial(stitched, choice)
            judgement = trial.judgement
            if is_best or (judgement is not None and judgement.is_sheet):
                return trial
        return self._trial(best, choice, judgement)

    def alternative(self, trial: Trial) -> str:
        """Return a sentence about what as many dimensions as the data have would give."""
        r = min(self.survey.suggested_dimension, self._most_dimensions())
        is_sheet = trial.judgement is not None and trial.judgement.is_sheet
        enough = r <= trial.choice.n_components or is_sheet or not trial.candidates
        if enough or self.clock.left() < SHARE_OF_TIME * self.clock.seconds:
            return ""
        (candidate,) = self._rehearse(r, DISTANCES)
        used = next(c for c in trial.candidates if c.method == trial.method)
        if candidate.note or not candidate.length_error < used.length_error:
            return ""
        return (
            f"n_components={r} would keep {candidate.kept:.0%} of the neighbors of new samples, "
            f"not {used.kept:.0%}, and their distances to {candidate.length_error:.0%}, not "
            f"{used.length_error:.0%} (rehearsed on a sample)."
        )

    def distortion(self, trial: Trial) -> FloatArray:
        """Return the distortion at every sample, that of the nearest fitted one for the others."""
        fitted = getattr(trial.embedder, "distortion_", np.zeros(len(trial.rows)))
        n = self.X.shape[0]
        if len(trial.rows) == n:
            return np.asarray(fitted)
        if self.is_distances:
            nearest = nearest_in_rows(self.X[:, trial.rows], 1)[1][:, 0]
        else:
            nearest = build_search(self.X[trial.rows]).query(self.X, 1).indices[:, 0]
        return np.asarray(fitted[nearest])

    def _rehearse(
        self, n_components: int, methods: tuple[str, ...] | None = None
    ) -> tuple[Candidate, ...]:
        if sp.issparse(self.X):
            return ()
        return rehearse(
            methods or (DISTANCES if self.is_distances else POINTS),
            self.X,
            n_components,
            self.rng,
            is_distances=self.is_distances,
            most=self.clock.most_samples(REHEARSED),
            **self.shared,
        )

    def _is_flat(self, n_components: int) -> bool:
        """Tell whether the data lie in as many dimensions, so that nothing is to be unfolded."""
        if self.is_distances:
            return False
        d = self.X.shape[1]
        rank = d if self.survey.rank is None else self.survey.rank
        if n_components >= d or rank > n_components:
            return n_components >= d
        return principal_coordinates(self.X, n_components).explained >= EXPLAINED

    def _most_dimensions(self) -> int:
        return max(1, min(MOST_DIMENSIONS, self.X.shape[1], self.survey.suggested_dimension + 2))

    def _may_be_sheet(self, stitched: Candidate, n_components: int) -> bool:
        """Tell whether stitching all data is worth the time."""
        judgement = stitched.judgement
        if judgement is None:
            return False
        gap = self.survey.parts[0].gap_dimension
        is_thin = self.survey.dimension <= n_components + NEARLY or gap == n_components
        return judgement.is_sheet or is_thin

    def _trial(
        self, candidate: Candidate, choice: Choice, judgement: Judgement | None = None
    ) -> Trial:
        """Return a candidate fitted to as many samples as time allows."""
        rows = self._rows_in_time(candidate)
        embedder = self._fitted(candidate.method, choice.n_components, rows)
        everything = len(rows) == self.X.shape[0]
        embedding = embedder.embedding_
        if not everything:
            asked = self.X[:, rows] if self.is_distances else self.X
            embedding = embedder.transform(asked)
        own = judgement_of(embedder)
        return Trial(
            candidate.method, choice, embedder, rows, embedding, judgement if own is None else own
        )

    def _rows_in_time(self, candidate: Candidate) -> IntArray:
        n = self.X.shape[0]
        size, allowed = n, SHARE_OF_TIME * self.clock.left()
        rehearsed = rehearsal_size(n, self.clock.most_samples(REHEARSED))
        while size > LEAST_FITTED and candidate.seconds_for(size, n, rehearsed) > allowed:
            size = max(LEAST_FITTED, int(0.8 * size))
        if size >= n:
            return np.arange(n)
        return np.sort(self.rng.choice(n, size, replace=False))

    def _fitted(self, method: str, n_components: int, rows: IntArray) -> BaseEmbedder:
        shared = dict(self.shared)
        if self.is_distances:
            shared["metric"] = "precomputed"
        embedder = make_embedder(method, n_components, **shared)
        X = self.X
        if len(rows) < X.shape[0]:
            X = X[np.ix_(rows, rows)] if self.is_distances else X[rows]
        fit_quietly(embedder, X)
        return embedder
