"""Trials: candidates are rehearsed, and one is fitted, within the available time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._base import BaseEmbedder
from isofold._findings import Finding
from isofold._progress.stages import closing, interrupt, interrupted, stage
from isofold._typing import FloatArray, IntArray
from isofold.embedding.local_mds import MOST_PAIRED, LocalMDS
from isofold.embedding.neighbor_map import MOST_COMPONENTS, NeighborMap
from isofold.embedding.unfold.budget import FRACTION_OF_TIME, LEAST_FITTED, Clock
from isofold.embedding.unfold.rehearsal import (
    FEW,
    REHEARSED,
    Candidate,
    Effort,
    Judgement,
    distortion_of,
    fit_quietly,
    judgement_of,
    make_embedder,
    rehearsal_size,
    rehearse,
)
from isofold.embedding.unfold.trial import Choice, Trial
from isofold.neighbors import KDTreeSearch, NeighborGraph, build_search
from isofold.neighbors.near_points import NearPoints
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.patches.noise_axes import is_flat
from isofold.stitching.rules import RULES
from isofold.survey import Survey
from isofold.survey.data import GAP_NEIGHBORS, NEIGHBORS

__all__ = ["Trials"]

MOST_DIMENSIONS = 12
"""Dimensions that are tried at most."""

NEARLY = 1.0
"""How far the estimated dimension may exceed that of the map for stitching to be tried on all data
although it failed in the rehearsal: in a sample the layers of a roll lie closer to each other."""

BEYOND, LEAST_SEEN = 1.5, 2
"""How far the estimated dimension must exceed that of the map for stitching to be left out, unless
a gap in the spectrum says otherwise, and the least dimension of which such a gap can be seen. Among
the noisy shapes of experiments/shapes in 20 dimensions, no sheet has an estimate above 3.3 without
a gap at 2; curves have."""

PAIRS_A_SECOND, LEAST_EPOCHS = 1.5e8, 30
"""Pairs of samples that move each other in a second, and the fewest sweeps, where time is too short
for as many as by default."""

FAR_WORTH = 0.01
"""What far distances are worth, in units of the score, on data with hardly more dimensions than the
map: stitching and local scaling keep them there, and neighbor embedding does not."""

LOOSE_MISFIT, CLEAR_LEAD = 0.3, 1.05
"""Misfit of patches from which on a stitched map must have this many times the score of the others
to be used: below are caps, half globes and strips, above clouds, where chance decides."""


@dataclass(eq=False)
class Trials:
    """All that is needed to decide.

    Attributes
    ----------
    X : ndarray or csr_array
        Points, or distances.
    is_distances : bool
        Whether it holds distances.
    rehearsed : ndarray
        What is rehearsed: the same, or points with the same distances and fewer columns.
    graph : NeighborGraph or None
        The graph of mutual neighbors by which the data were surveyed, if it is of all samples.
    near : NearPoints or None
        The points with their nearest others, if they are all samples.
    survey : Survey
        What the data look like.
    rng : RandomState
        Source of random numbers.
    clock : Clock
        The time that is left.
    shared : dict
        Parameters of all candidates.
    """

    X: Any
    is_distances: bool
    rehearsed: Any
    graph: NeighborGraph | None
    near: NearPoints | None
    survey: Survey
    rng: np.random.RandomState
    clock: Clock
    shared: dict[str, Any]

    def given_dimension(self, n_components: int) -> Choice:
        """Return the choice of a dimension that the user made."""
        if self._may_be_flat_sheet(n_components) and not self._is_flat(n_components):
            return Choice(n_components, is_open=True)
        return self._tried(n_components, is_given=True)

    def smallest_dimension(self, tolerance: float) -> Choice:
        """Return the smallest dimension in which distances are kept to a tolerance."""
        if sp.issparse(self.X):
            return self._smallest_for_graph(tolerance)
        suggested = min(self.survey.suggested_dimension, self._most_dimensions())
        tried = dict[int, Choice]()
        for r in range(1, self._most_dimensions() + 1):
            tried[r] = self._tried(r)
            if not tried[r].candidates:
                return tried[r]
            if any(c.length_error <= tolerance for c in tried[r].candidates):
                reason = Finding.of("chosen_dimension", dimension=r, tolerance=tolerance)
                return replace(tried[r], reason=reason)
            if interrupted():
                reason = Finding.of("chosen_dimension", form="interrupted", largest=r)
                return replace(tried[r], reason=reason)
            if self.clock.is_late():
                break
        reason = Finding.of(
            "chosen_dimension",
            form="late" if r < self._most_dimensions() else "none",
            largest=r,
            tolerance=tolerance,
            dimension=suggested,
        )
        return replace(tried.get(suggested) or self._tried(suggested), reason=reason)

    def _smallest_for_graph(self, tolerance: float) -> Choice:
        """Return the smallest dimension in which known distances are kept to a tolerance."""
        everything, errors = np.arange(self.X.shape[0]), dict[int, float]()
        for r in range(1, self._most_dimensions() + 1):
            errors[r] = self._fitted("local_mds", r, everything).length_errors_.median
            if errors[r] <= tolerance:
                reason = Finding.of("chosen_dimension", dimension=r, tolerance=tolerance)
                return Choice(r, reason)
            if self.clock.is_late() or interrupted():
                break
        best = min(errors, key=errors.__getitem__)
        reason = Finding.of(
            "chosen_dimension", form="best", largest=r, tolerance=tolerance, dimension=best
        )
        return Choice(best, reason)

    def decide(self, choice: Choice) -> Trial:
        """Return the method that suits the data, fitted; after an interruption what is known."""
        try:
            return self._decided(choice)
        except KeyboardInterrupt:
            if interrupted() or not (choice.candidates or choice.is_open):
                raise
            interrupt()
            return self._closed(choice)

    def _decided(self, choice: Choice) -> Trial:
        r = choice.n_components
        sheet = None
        if choice.is_open:
            sheet = self._trial(Candidate("ipa"), choice)
            if interrupted() or sheet.is_sheet:
                return sheet
            choice = self._tried(r)
        if not choice.candidates:
            return self._unrehearsed(choice)
        if interrupted():
            return self._closed(choice)
        by_name = {candidate.method: candidate for candidate in choice.candidates}
        stitched = by_name.pop("ipa", None)
        best = max(by_name.values(), key=lambda candidate: self._worth(candidate, r))
        if stitched is None:
            return self._trial(best, choice)
        judgement, is_best = stitched.judgement, _leads(stitched, self._worth(best, r))
        if sheet is not None or is_best or self._may_be_sheet(stitched, r):
            trial = self._trial(stitched, choice) if sheet is None else sheet
            judgement = trial.judgement
            if interrupted() or trial.is_sheet:
                return trial
            if is_best and judgement is not None and not judgement.is_folded:
                return replace(trial, choice=choice)
        return self._trial(best, choice, judgement)

    def _worth(self, candidate: Candidate, n_components: int) -> float:
        """Return the score of a candidate, less what it loses of far distances."""
        is_near_only = candidate.method == "neighbor_map" and not self.is_beyond(n_components)
        return candidate.score - (FAR_WORTH if is_near_only else 0.0)

    def _unrehearsed(self, choice: Choice) -> Trial:
        """Return the method for flat data, or for a graph of known distances."""
        everything, method = np.arange(self.X.shape[0]), "pca"
        if sp.issparse(self.X):
            is_beyond = self.is_beyond(choice.n_components)
            method = self._usual(choice.n_components) if is_beyond else "local_mds"
        embedder = self._fitted(method, choice.n_components, everything)
        is_exact = method == "pca"
        return Trial(
            method, choice, embedder, everything, embedder.embedding_, None, is_exact=is_exact
        )

    def alternative(self, trial: Trial) -> tuple[Finding, ...]:
        """Return what as many dimensions as the data have, or 12, would give; empty if nothing."""
        r = min(self.survey.suggested_dimension, self._most_dimensions())
        is_sheet = trial.judgement is not None and trial.judgement.is_sheet
        enough = r <= trial.choice.n_components or is_sheet or not trial.candidates
        if enough or self.clock.is_late() or interrupted():
            return ()
        (candidate,) = self._rehearse(r, ("local_mds",), trial.choice.effort)
        used = next(c for c in trial.candidates if c.method == trial.method)
        if candidate.note or not candidate.length_error < used.length_error:
            return ()
        note = Finding.of(
            "alternative",
            form="" if trial.choice.effort.most < FEW else "unseen",
            dimension=r,
            kept=candidate.kept,
            used_kept=used.kept,
            error=candidate.length_error,
            used_error=used.length_error,
        )
        return (note,)

    def distortion(self, trial: Trial) -> FloatArray:
        """Return the distortion at every sample, that of the nearest fitted one for the others."""
        n = self.X.shape[0]
        if trial.is_exact:
            return np.zeros(n)
        fitted = getattr(trial.embedder, "distortion_", None)
        if fitted is None:
            fitted = distortion_of(self.X[trial.rows], trial.embedding[trial.rows])
        if len(trial.rows) == n:
            return np.asarray(fitted)
        if self.is_distances:
            nearest = nearest_in_rows(self.X[:, trial.rows], 1)[1][:, 0]
        else:
            nearest = build_search(self.X[trial.rows]).query(self.X, 1).indices[:, 0]
        return np.asarray(fitted[nearest])

    def _tried(self, n_components: int, *, is_given: bool = False) -> Choice:
        """Return a dimension with its candidates, rehearsed.

        Where the data have more dimensions than the map, a small rehearsal comes first. Of a given
        dimension it only needs the method that usually suits such data, beside projection, which
        takes no time: if it clearly leads, the decision is clear. On all sets of
        experiments/real_data, and on all 62 such draws of experiments/decisions by four seeds, it
        does best of all methods, in larger samples, too.
        """
        if sp.issparse(self.X) or self._is_flat(n_components):
            return Choice(n_components)
        methods, effort = self._methods(n_components), self._effort()
        if self.is_beyond(n_components):
            usual = self._usual(n_components)
            methods = tuple(method for method in methods if method != "ipa")
            is_enough = is_given and not self.is_distances
            small = Effort.first(effort.most)
            found = self._rehearse(n_components, (usual, "pca") if is_enough else methods, small)
            if _is_clear(found, usual) or interrupted():
                return Choice(n_components, None, found, small)
        found = self._rehearse(n_components, methods, effort)
        return Choice(n_components, None, found, effort)

    def _methods(self, n_components: int) -> tuple[str, ...]:
        """Return the candidates."""
        maps = ("local_mds", "neighbor_map")[: 2 if n_components <= MOST_COMPONENTS else 1]
        return maps if self.is_distances else ("ipa", *maps, "pca")

    def _usual(self, n_components: int) -> str:
        """Return the method that usually suits data of more dimensions than the map."""
        return "neighbor_map" if n_components <= MOST_COMPONENTS else "local_mds"

    def _rehearse(
        self, n_components: int, methods: tuple[str, ...], effort: Effort
    ) -> tuple[Candidate, ...]:
        return rehearse(
            methods,
            self.rehearsed,
            n_components,
            self.shared["random_state"],
            is_distances=self.is_distances,
            effort=effort,
            is_late=self.clock.is_late,
            **self.shared,
        )

    def _effort(self) -> Effort:
        """Return how much can be rehearsed."""
        width = 1 if self.is_distances else self.X.shape[1]
        return Effort(min(self.X.shape[0], self.clock.most_samples(REHEARSED, width)))

    def is_beyond(self, n_components: int) -> bool:
        """Return whether the data clearly have more dimensions than the map."""
        excess = self.survey.dimension - n_components
        gap = self.survey.parts[0].gap_dimension
        return excess > BEYOND and gap != n_components and n_components >= LEAST_SEEN

    def _may_be_flat_sheet(self, n_components: int) -> bool:
        """Return whether to stitch first: the data may be a sheet, and there is time for all."""
        if self.is_distances:
            return False
        return self._is_thin(n_components) and self.clock.is_ample(*self.X.shape)

    def _is_thin(self, n_components: int) -> bool:
        """Return whether the survey says that the data may be a sheet."""
        gap = self.survey.parts[0].gap_dimension
        return self.survey.dimension <= n_components + NEARLY or gap == n_components

    def _is_flat(self, n_components: int) -> bool:
        """Return whether the data have no more dimensions than the map: nothing to unfold."""
        if self.is_distances:
            return False
        rank = self.survey.rank
        if rank is not None and n_components < min(rank, self.X.shape[1]):
            return False
        return is_flat(self.X, n_components)

    def _most_dimensions(self) -> int:
        likely = MOST_DIMENSIONS
        if np.isfinite(self.survey.dimension):
            likely = self.survey.suggested_dimension + 2
        return max(1, min(MOST_DIMENSIONS, self.X.shape[1], likely))

    def _may_be_sheet(self, stitched: Candidate, n_components: int) -> bool:
        """Return whether stitching all data is worth the time: more points may settle doubts."""
        judgement = stitched.judgement
        if judgement is None:
            return False
        return judgement.misfit <= RULES.largest_misfit or self._is_thin(n_components)

    def _closed(self, choice: Choice) -> Trial:
        """Return the best candidate so far, fitted again to as many samples as were rehearsed."""
        best = max(choice.candidates, key=lambda c: c.score, default=Candidate("ipa"))
        n, size = self.X.shape[0], rehearsal_size(self.X.shape[0], self._effort().most)
        with closing():
            return self._trial(best, choice, rows=np.sort(self.rng.permutation(n)[:size]))

    def _trial(
        self,
        candidate: Candidate,
        choice: Choice,
        judgement: Judgement | None = None,
        rows: IntArray | None = None,
    ) -> Trial:
        """Return a candidate fitted to some samples, or to as many as time allows."""
        if rows is None:
            rows = self._rows_in_time(candidate, choice.effort)
        with stage("embed samples"):
            embedder = self._fitted(candidate.method, choice.n_components, rows)
        everything = len(rows) == self.X.shape[0]
        embedding = embedder.embedding_
        if not everything:
            samples = self.X[:, rows] if self.is_distances else self.X
            embedding = embedder.transform(samples)
        own = judgement_of(embedder)
        return Trial(
            candidate.method, choice, embedder, rows, embedding, judgement if own is None else own
        )

    def _rows_in_time(self, candidate: Candidate, effort: Effort) -> IntArray:
        n = self.X.shape[0]
        size, allowed = n, FRACTION_OF_TIME * self.clock.left()
        # Rehearsals take place in the space of their rows, which has fewer columns.
        allowed *= 1.0 if self.is_distances else min(1.0, effort.most / self.X.shape[1])
        rehearsed = rehearsal_size(n, effort.most)
        while size > LEAST_FITTED and candidate.seconds_for(size, n, rehearsed) > allowed:
            size = max(LEAST_FITTED, int(0.8 * size))
        if size >= n:
            return np.arange(n)
        return np.sort(self.rng.choice(n, size, replace=False))

    def _fitted(self, method: str, n_components: int, rows: IntArray) -> BaseEmbedder:
        shared = dict(self.shared)
        if self.is_distances:
            shared["metric"] = "precomputed"
        if sp.issparse(self.X):
            pairs = min(len(rows), MOST_PAIRED) ** 2
            in_time = FRACTION_OF_TIME * self.clock.left() * PAIRS_A_SECOND / pairs
            shared["n_epochs"] = int(np.clip(in_time, LEAST_EPOCHS, LocalMDS().n_epochs))
        embedder = make_embedder(method, n_components, **shared)
        X = self.X
        if len(rows) < X.shape[0]:
            X = X[np.ix_(rows, rows)] if self.is_distances else X[rows]
            fit_quietly(embedder, X)
        else:
            fit_quietly(embedder, X, **self._shared_graph(method))
        return embedder

    def _shared_graph(self, method: str) -> dict[str, NeighborGraph | NearPoints]:
        """Return what the survey has found by the name under which a method takes it."""
        if self.graph is None or sp.issparse(self.X):
            return {}
        if method == "local_mds":
            return {"guide": self.graph}
        k = self.shared.get("n_neighbors")
        if method == "ipa":
            return {"graph": self.graph} if k in (None, NEIGHBORS) else {}
        is_enough = (k or NeighborMap().n_neighbors) < GAP_NEIGHBORS
        # A tree may find others of neighbors that are equally far if it is asked for fewer.
        if self.near is None or isinstance(self.near.search, KDTreeSearch) or not is_enough:
            return {}
        return {"near": self.near} if method == "neighbor_map" else {}


def _is_clear(found: tuple[Candidate, ...], usual: str) -> bool:
    """Return whether the usual method did best, and clearly better than projection."""
    scores = {candidate.method: candidate.score for candidate in found}
    return scores[usual] >= max(*scores.values(), CLEAR_LEAD * scores.get("pca", 0.0))


def _leads(stitched: Candidate, best: float) -> bool:
    """Return whether a stitched map did better than the best of the others and is not folded."""
    judgement = stitched.judgement
    if judgement is None or judgement.is_folded:
        return False
    is_loose = judgement.misfit > LOOSE_MISFIT or not judgement.is_stitched
    return stitched.score > (CLEAR_LEAD if is_loose else 1.0) * best
