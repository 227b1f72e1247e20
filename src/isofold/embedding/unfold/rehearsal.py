"""Candidates for a map: rehearsed on a sample, judged by held-out samples.

A rehearsal fits every candidate to most of a sample of the data and places the rest by its
`transform`. Its score is the fraction of a held-out sample's true neighbors that are its
neighbors on the map, times how true distances are: those to its neighbors in the data, and those to
its neighbors on the map, which are what one reads off it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from isofold._base import BaseEmbedder
from isofold._findings import Finding
from isofold._parallel import ordered_map, runs_elsewhere
from isofold._progress.stages import interruptible, stage, until_interrupted
from isofold._typing import FloatArray, IntArray
from isofold.embedding.ipa import IPA
from isofold.embedding.local_mds import MOST_PAIRED, LocalMDS
from isofold.embedding.neighbor_map import NeighborMap
from isofold.embedding.unfold.projection import Projection
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning, InvalidInputError
from isofold.linalg import row_space_coordinates
from isofold.neighbors import Neighbors, build_graph, build_search, edge_errors, mean_at_nodes
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.neighbors.search.protocol import pair_distances
from isofold.stitching.rules import RULES

__all__ = [
    "Candidate",
    "Effort",
    "HeldOut",
    "Judgement",
    "fit_quietly",
    "judge",
    "judgement_of",
    "rehearse",
]

REHEARSED = 1250
"""Samples of a rehearsal: a second or two for all candidates."""

FOLDS, ENOUGH_HELD = 5, 250
"""Folds of which one is held out, and how many samples are to be held out in all: fewer samples are
rehearsed several times, with other folds held out, so that chance does not decide."""

FIRST = 250
"""Samples of a first rehearsal, one fold of which is held out: some tenths of a second."""

FEW = 40
"""Fewer samples are not divided: candidates are judged by what they saw."""

JUDGED_NEIGHBORS = 10
"""Neighbors of a held-out sample that are looked for on the map."""

DISTORTION_NEIGHBORS = 10
"""Neighbors by whose distances a projection is judged."""

HARMLESS = {
    "bending",
    "certificate",
    "components",
    "curvature",
    "interrupted",
    "noise",
    "outliers",
}
"""Doubts that are reported, but do not keep a stitched map from being used: the noise of a sheet,
its components and outliers, and what any map would lose."""

ABOUT_DATA = {"closure", "curvature", "layers"}
"""Doubts about the data rather than about how they were stitched: they concern any map."""

LARGEST_FOLDED = 0.05
"""Fraction of near pairs on a map that are far apart in the data from which it is folded, whatever
its score: a cylinder pressed flat has one in two, a sharp edge one in three hundred."""

IPA_SAMPLE, GRAPH_FRACTION = 100_000, 0.3
"""Samples beyond which stitching takes hardly longer: it works on a sample of them; and the time of
a graph of all samples beside that of local scaling, as both grow with the data."""


@dataclass(frozen=True)
class Effort:
    """How much is rehearsed.

    Attributes
    ----------
    most : int
        Samples, at most.
    held : int
        Samples that are held out in all, if there are enough.
    """

    most: int = REHEARSED
    held: int = ENOUGH_HELD

    @classmethod
    def first(cls, most: int) -> Effort:
        """Return the effort of a first rehearsal, with at most so many samples."""
        return cls(min(FIRST, most), held=1)


EVERYTHING = Effort()


@dataclass(frozen=True)
class HeldOut:
    """How held-out samples lie on a map.

    Attributes
    ----------
    kept : float
        Fraction of their neighbors that are neighbors on the map.
    length_error, shown_error : float
        Median relative error of the distances to their neighbors in the data, and on the map.
    """

    kept: float
    length_error: float
    shown_error: float

    @property
    def score(self) -> float:
        """What is kept, times how true both kinds of distances are on average."""
        errors = min(1.0, self.length_error), min(1.0, self.shown_error)
        return self.kept * (1.0 - sum(errors) / 2.0)


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a stitched map says of itself.

    Attributes
    ----------
    misfit : float
        Misfit of patches over the variance in their overlaps.
    certified : bool
        Whether the stitching is known to be the best.
    estimated_error : float
        Estimated error of the coordinates relative to their extent.
    folded : float
        Fraction of near pairs on the map that are far apart in the data.
    doubts : frozenset of str
        Codes of the findings that are raised.
    findings : tuple of Finding
        These findings.
    """

    misfit: float
    certified: bool
    estimated_error: float
    folded: float
    doubts: frozenset[str]
    findings: tuple[Finding, ...] = ()

    @property
    def about_data(self) -> tuple[Finding, ...]:
        """The findings that concern any map of the data."""
        return tuple(finding for finding in self.findings if finding.code in ABOUT_DATA)

    @property
    def is_stitched(self) -> bool:
        """Whether there were patches to be stitched, all over the data."""
        return "projected" not in self.doubts

    @property
    def is_folded(self) -> bool:
        """Whether some regions of the map lie on top of each other."""
        return self.folded > LARGEST_FOLDED

    @property
    def is_sheet(self) -> bool:
        """Whether the data are a sheet that was unfolded."""
        return self.misfit <= RULES.largest_misfit and not self.doubts - HARMLESS


@dataclass(frozen=True, eq=False)
class Candidate:
    """A method, and how it did.

    Attributes
    ----------
    method : str
        "ipa", "local_mds", "neighbor_map" or "pca".
    score : float
        `kept` times one less the mean of both errors, each at most 1; NaN if it was not rehearsed.
    kept : float
        Fraction of the neighbors of held-out samples that are neighbors on the map.
    length_error, shown_error : float
        Median relative error of the distances to them, and to their neighbors on the map.
    seconds, placing : float
        Time of the fit in the rehearsal, and of placing one held-out sample.
    judgement : Judgement or None
        What a stitched map says of itself.
    note : str
        Why it was not rehearsed, or failed; else empty.
    """

    method: str
    score: float = float("nan")
    kept: float = float("nan")
    length_error: float = float("nan")
    shown_error: float = float("nan")
    seconds: float = float("nan")
    placing: float = 0.0
    judgement: Judgement | None = field(default=None)
    note: str = ""

    def seconds_for(self, size: int, n_samples: int, rehearsed: int) -> float:
        """Return about how long it takes to fit some samples and place the others."""
        growth, inside = size / max(rehearsed, 1), 0.0
        if self.method == "ipa":
            fit = min(size, IPA_SAMPLE) / max(rehearsed, 1)
        elif self.method == "local_mds":
            # All pairs of a sample, the graph of all, and the others placed within the sample.
            paired = min(size, MOST_PAIRED)
            spread = paired / max(rehearsed, 1)
            fit = spread**2 + GRAPH_FRACTION * growth
            inside = max(1.0, spread) * (size - paired)
        else:
            fit = growth
        # Neighbors of the rest are sought among those that were fitted.
        outside = max(1.0, growth) * (n_samples - size)
        return self.seconds * max(1.0, fit) + self.placing * (inside + outside)


def make_embedder(method: str, n_components: int, **shared: Any) -> BaseEmbedder:
    """Return the unfitted embedder of a candidate."""
    if method == "pca":
        return Projection(n_components=n_components)
    known = {"ipa": IPA, "local_mds": LocalMDS, "neighbor_map": NeighborMap}
    return known[method](n_components=n_components, **shared)


def rehearse(
    methods: tuple[str, ...],
    X: FloatArray,
    n_components: int,
    seed: int,
    *,
    is_distances: bool = False,
    effort: Effort = EVERYTHING,
    is_late: Callable[[], bool] = bool,
    **shared: Any,
) -> tuple[Candidate, ...]:
    """Fit candidates to most of the data and judge them by the rest."""
    n = min(len(X), effort.most)
    order = np.random.RandomState(seed).permutation(len(X))[:n]
    chosen = np.sort(order)
    known = X[np.ix_(chosen, chosen)] if is_distances else row_space_coordinates(X[chosen])
    order = np.searchsorted(chosen, order)
    folds = [(np.arange(n), np.arange(n))]
    if n >= FEW:
        splits = np.array_split(np.arange(n), FOLDS)
        n_runs = min(FOLDS, -(-effort.held // len(splits[-1])))
        folds = [
            (np.sort(np.delete(order, held)), np.sort(order[held])) for held in splits[:n_runs]
        ]
    runs: dict[str, list[Candidate]] = {method: [] for method in methods}
    rehearsal = Rehearsal(known, is_distances, n_components, shared)
    tasks = [(train, test, method) for train, test in folds for method in methods]
    # Here one after the other: each has all threads for itself, and its time counts.
    n_jobs = None if runs_elsewhere(shared.get("n_jobs")) else 1
    with interruptible(), stage("rehearsal", total=len(tasks)) as steps:
        found = ordered_map(rehearsal.run, tasks, n_jobs=n_jobs, is_pure=True, steps=steps)
        for candidate in until_interrupted(found):
            runs[candidate.method].append(candidate)
            if candidate.method == methods[-1] and is_late():
                break
    return tuple(_summed(method, found) for method, found in runs.items() if found)


def rehearsal_size(n_samples: int, most: int = REHEARSED) -> int:
    """Return how many samples a rehearsal fits."""
    n = min(n_samples, most)
    return n if n < FEW else n - n // FOLDS


@dataclass(eq=False)
class Rehearsal:
    """Samples that are divided into those that are fitted and those that are held out.

    Attributes
    ----------
    X : ndarray
        Points, or distances.
    is_distances : bool
        Whether `X` holds distances.
    n_components : int
        Dimension of the map.
    shared : dict
        Parameters of the embedders.
    """

    X: FloatArray
    is_distances: bool
    n_components: int
    shared: dict[str, Any]

    def run(self, task: tuple[IntArray, IntArray, str]) -> Candidate:
        """Fit a candidate to some samples and judge it by others; by the same if they are few."""
        train, test, method = task
        shared = self.shared | ({"metric": "precomputed"} if self.is_distances else {})
        embedder = make_embedder(method, self.n_components, **shared)
        fitted, held = self._rows(train, train), self._rows(test, train)
        begin = time.perf_counter()
        try:
            fit_quietly(embedder, fitted)
        except InvalidInputError as error:
            return Candidate(method, score=0.0, note=str(error))
        seconds = time.perf_counter() - begin
        is_same = np.array_equal(train, test)
        placed = embedder.embedding_ if is_same else embedder.transform(held)
        placing = time.perf_counter() - begin - seconds
        found = self._nearest(fitted, held, is_same=is_same)
        held_out = judge(
            found,
            partial(self._lengths, fitted, held),
            embedder.embedding_,
            placed,
            is_same=is_same,
        )
        return Candidate(
            method,
            score=held_out.score,
            kept=held_out.kept,
            length_error=held_out.length_error,
            shown_error=held_out.shown_error,
            seconds=seconds,
            placing=placing / len(placed),
            judgement=judgement_of(embedder),
        )

    def _rows(self, rows: IntArray, train: IntArray) -> FloatArray:
        return self.X[np.ix_(rows, train)] if self.is_distances else self.X[rows]

    def _lengths(self, fitted: FloatArray, held: FloatArray, indices: IntArray) -> FloatArray:
        """Return the distances in the data between held-out and some fitted samples."""
        if self.is_distances:
            return np.take_along_axis(held, indices, axis=1)
        return pair_distances(held, fitted, indices)

    def _nearest(self, fitted: FloatArray, held: FloatArray, *, is_same: bool) -> Neighbors:
        k = min(JUDGED_NEIGHBORS, max(1, (len(fitted) - 1) // 3))
        if not self.is_distances:
            return nearest_points(fitted, held, k, is_same=is_same)
        own = np.arange(len(held)) if is_same else None
        return Neighbors(*nearest_in_rows(held, k, own=own))


def _summed(method: str, runs: list[Candidate]) -> Candidate:
    """Return one candidate for its runs in all folds: means, and the largest doubts."""
    failed = [run for run in runs if run.note]
    if failed or len(runs) == 1:
        return failed[0] if failed else runs[0]
    judgements = [run.judgement for run in runs if run.judgement is not None]
    worst = max(judgements, key=lambda found: found.misfit, default=None)
    if worst is not None:
        worst = replace(
            worst,
            folded=max(found.folded for found in judgements),
            doubts=frozenset().union(*(found.doubts for found in judgements)),
        )
    return Candidate(
        method,
        score=float(np.mean([run.score for run in runs])),
        kept=float(np.mean([run.kept for run in runs])),
        length_error=float(np.mean([run.length_error for run in runs])),
        shown_error=float(np.mean([run.shown_error for run in runs])),
        seconds=float(np.mean([run.seconds for run in runs])),
        placing=float(np.mean([run.placing for run in runs])),
        judgement=worst,
    )


def fit_quietly(embedder: BaseEmbedder, X: Any, **graphs: Any) -> None:
    """Fit without warnings: the survey and the judgement contain what they would say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        embedder.fit(X, **graphs)


def judgement_of(embedder: BaseEmbedder) -> Judgement | None:
    """Return what a stitched map says of itself, None for other maps."""
    if not isinstance(embedder, IPA):
        return None
    diagnosis = embedder.diagnosis_
    return Judgement(
        misfit=float(diagnosis["misfit"].value),
        certified=not diagnosis["certificate"].is_raised,
        estimated_error=float(embedder.estimated_error_),
        folded=float(diagnosis["contraction"].value),
        doubts=diagnosis.codes,
        findings=diagnosis.raised,
    )


def judge(
    near: Neighbors,
    lengths_to: Callable[[IntArray], FloatArray],
    on_map: FloatArray,
    placed: FloatArray,
    *,
    is_same: bool,
) -> HeldOut:
    """Return how placed samples lie among those on a map, given their neighbors in the data."""
    shown = nearest_points(on_map, placed, near.indices.shape[1], is_same=is_same)
    same = (near.indices[:, :, None] == shown.indices[:, None, :]).any(axis=2)
    between = placed[:, None, :].astype(np.float64) - on_map[near.indices]
    mapped = np.linalg.norm(between, axis=2)
    if not (near.distances > 0.0).any():
        return HeldOut(1.0, 0.0, 0.0)
    return HeldOut(
        float(same.mean()),
        _median_error(mapped, near.distances),
        _median_error(shown.distances, lengths_to(shown.indices)),
    )


def _median_error(mapped: FloatArray, lengths: FloatArray) -> float:
    """Return the median relative error of mapped distances; copies have none."""
    apart = lengths > 0.0
    if not apart.any():
        return 0.0
    errors = np.abs(mapped[apart].astype(np.float64) / lengths[apart] - 1.0)
    return float(np.median(errors))


def distortion_of(points: FloatArray, embedding: FloatArray) -> FloatArray:
    """Return the mean relative error of the distances of every sample to its neighbors."""
    k = min(DISTORTION_NEIGHBORS, find_distinct(points).n_nodes - 1)
    graph = build_graph(points, n_neighbors=k)
    errors = edge_errors(embedding[graph.sample_of_node], graph)
    return np.asarray(mean_at_nodes(errors, graph)[graph.node_of_sample])


def nearest_points(points: FloatArray, others: FloatArray, k: int, *, is_same: bool) -> Neighbors:
    """Return the nearest of some points to others, or to each other."""
    search = build_search(points)
    return search.query_self(k) if is_same else search.query(others, k)
