"""Candidates for a map: rehearsed on a sample, judged by what they did not see.

A rehearsal fits every candidate to most of a sample of the data and places the rest by its
`transform`. A candidate is as good as these places: the share of a held-out sample's true
neighbors that are its neighbors on the map, times how true the distances to them are.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isofold._base import BaseEmbedder
from isofold._errors import DisconnectedGraphWarning, DoubtfulMapWarning, InvalidInputError
from isofold._typing import FloatArray, IntArray
from isofold.embedding._projection import Projection
from isofold.embedding.ipa import IPA
from isofold.embedding.local_mds import MOST_PAIRED, LocalMDS
from isofold.neighbors import build_search

__all__ = ["Candidate", "Judgement", "fit_quietly", "judge", "judgement_of", "rehearse"]

REHEARSED = 1250
"""Samples of a rehearsal: a second or two for all candidates."""

HELD_OUT = 0.2
"""Share of them that is held out."""

FEW = 40
"""Fewer samples are not divided: candidates are judged by what they saw."""

JUDGED_NEIGHBORS = 10
"""Neighbors of a held-out sample that are looked for on the map."""

LARGEST_MATCH = 0.1
"""Misfit of patches up to which the data are a sheet of the map's dimension: rolls have up to .055,
faces and digits .2 and more."""

HARMLESS = {"bending", "certificate", "curvature", "noise", "outliers", "pieces"}
"""Doubts that are told, but do not keep a stitched map from being taken: the noise of a sheet, its
pieces and outliers, and what any map would lose."""

IPA_SAMPLE = 100_000
"""Samples beyond which stitching takes hardly longer: it works on a part of them."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a stitched map says of itself.

    Attributes
    ----------
    match : float
        Misfit of patches over the variance in their overlaps.
    certified : bool
        Whether the stitching is known to be the best.
    estimated_error : float
        Estimated error of the coordinates relative to their extent.
    doubts : tuple of str
        Names of the flags that are raised.
    """

    match: float
    certified: bool
    estimated_error: float
    doubts: tuple[str, ...]

    @property
    def is_sheet(self) -> bool:
        """Whether the data are a sheet that was unfolded."""
        return self.match <= LARGEST_MATCH and not set(self.doubts) - HARMLESS


@dataclass(frozen=True, eq=False)
class Candidate:
    """A method, and how it did.

    Attributes
    ----------
    method : str
        "ipa", "local_mds" or "pca".
    score : float
        ``kept * (1 - length_error)``, 0 at least; NaN if it was not rehearsed.
    kept : float
        Share of the neighbors of held-out samples that are neighbors on the map.
    length_error : float
        Median relative error of the distances to them.
    seconds : float
        Time of the fit in the rehearsal.
    judgement : Judgement or None
        What a stitched map says of itself.
    note : str
        Why it was not rehearsed, or failed; else empty.
    """

    method: str
    score: float = float("nan")
    kept: float = float("nan")
    length_error: float = float("nan")
    seconds: float = float("nan")
    judgement: Judgement | None = field(default=None)
    note: str = ""

    def seconds_for(self, n_samples: int, rehearsed: int) -> float:
        """Return how long the fit of so many samples will take, about."""
        growth = n_samples / max(rehearsed, 1)
        if self.method == "ipa":
            growth = max(1.0, min(n_samples, IPA_SAMPLE) / max(rehearsed, 1))
        if self.method == "local_mds":
            growth = max(1.0, (min(n_samples, MOST_PAIRED) / max(rehearsed, 1)) ** 2) + growth
        return self.seconds * growth


def make_embedder(method: str, n_components: int, **shared: Any) -> BaseEmbedder:
    """Return the unfitted embedder of a candidate."""
    if method == "pca":
        return Projection(n_components=n_components)
    known = {"ipa": IPA, "local_mds": LocalMDS}
    return known[method](n_components=n_components, **shared)


def rehearse(
    methods: tuple[str, ...],
    X: FloatArray,
    n_components: int,
    rng: np.random.RandomState,
    **shared: Any,
) -> tuple[Candidate, ...]:
    """Fit candidates to a part of the data and judge them by another.

    Parameters
    ----------
    methods : tuple of str
        The candidates.
    X : ndarray of shape (n_samples, n_features)
        The points.
    n_components : int
        Dimension of the map.
    rng : RandomState
        Draws the samples.
    **shared
        Parameters of the embedders.

    Returns
    -------
    tuple of Candidate
        How they did, in the given order.
    """
    some = X if len(X) <= REHEARSED else X[rng.choice(len(X), REHEARSED, replace=False)]
    train = test = some
    if len(some) >= FEW:
        order, n_held = rng.permutation(len(some)), round(HELD_OUT * len(some))
        train, test = some[np.sort(order[n_held:])], some[np.sort(order[:n_held])]
    return tuple(_rehearse(method, train, test, n_components, shared) for method in methods)


def rehearsal_size(n_samples: int) -> int:
    """Return how many samples a rehearsal fits."""
    n = min(n_samples, REHEARSED)
    return n if n < FEW else n - round(HELD_OUT * n)


def _rehearse(
    method: str, train: FloatArray, test: FloatArray, n_components: int, shared: dict[str, Any]
) -> Candidate:
    embedder = make_embedder(method, n_components, **shared)
    begin = time.perf_counter()
    try:
        fit_quietly(embedder, train)
    except InvalidInputError as error:
        return Candidate(method, score=0.0, note=str(error))
    seconds = time.perf_counter() - begin
    placed = embedder.embedding_ if test is train else embedder.transform(test)
    kept, length_error = judge(train, test, embedder.embedding_, placed)
    return Candidate(
        method,
        score=kept * max(0.0, 1.0 - length_error),
        kept=kept,
        length_error=length_error,
        seconds=seconds,
        judgement=judgement_of(embedder),
    )


def fit_quietly(embedder: BaseEmbedder, X: Any) -> None:
    """Fit without warnings: what they tell is in the decision."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        embedder.fit(X)


def judgement_of(embedder: BaseEmbedder) -> Judgement | None:
    """Return what a stitched map says of itself, None for other maps."""
    if not isinstance(embedder, IPA):
        return None
    diagnosis = embedder.diagnosis_
    return Judgement(
        match=float(diagnosis["match"].value),
        certified=not diagnosis["certificate"].is_raised,
        estimated_error=float(embedder.estimated_error_),
        doubts=tuple(flag.name for flag in diagnosis.raised),
    )


def judge(
    train: FloatArray, test: FloatArray, on_map: FloatArray, placed: FloatArray
) -> tuple[float, float]:
    """Return which share of neighbors is kept, and the median error of the distances to them.

    Parameters
    ----------
    train, test : ndarray of shape (n, d) and (m, d)
        The samples that were fitted, and those that were placed; the same array if all were fitted.
    on_map, placed : ndarray of shape (n, r) and (m, r)
        Their places.

    Returns
    -------
    kept, length_error : float
        Between 0 and 1, and from 0 on. Of coincident points nothing can be lost.
    """
    is_same = test is train
    k = min(JUDGED_NEIGHBORS, max(1, (len(train) - 1) // 3))
    near, lengths = _nearest(train, test, k, is_same=is_same)
    near_on_map, _ = _nearest(on_map, placed, k, is_same=is_same)
    same = (near[:, :, None] == near_on_map[:, None, :]).any(axis=2)
    mapped = np.linalg.norm(placed[:, None, :].astype(np.float64) - on_map[near], axis=2)
    apart = lengths > 0.0
    if not apart.any():
        return 1.0, 0.0
    errors = np.abs(mapped[apart] / lengths[apart] - 1.0)
    return float(same.mean()), float(np.median(errors))


def _nearest(
    points: FloatArray, asked: FloatArray, k: int, *, is_same: bool
) -> tuple[IntArray, FloatArray]:
    search = build_search(points)
    found = search.query_self(k) if is_same else search.query(asked, k)
    return found.indices, found.distances.astype(np.float64)
