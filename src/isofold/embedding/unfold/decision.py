"""A decision between methods: the evidence, the alternatives, and what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from isofold._findings import Finding, Severity
from isofold.embedding.catalog import BY_CLASS
from isofold.embedding.unfold.rehearsal import FEW, Candidate, Judgement
from isofold.embedding.unfold.trial import Trial
from isofold.quality import MapSummary
from isofold.survey import Survey

__all__ = ["Decision", "explain"]

CLASSES = {
    "ipa": "IPA",
    "local_mds": "LocalMDS",
    "neighbor_map": "NeighborMap",
    "pca": "Projection",
}
"""The classes of the candidates, by the name that a decision gives them."""

LOCAL = ("local_mds", "neighbor_map")
"""The candidates that give up far distances."""


@dataclass(frozen=True, eq=False)
class Decision:
    """Which method was used, and why.

    Attributes
    ----------
    method : str
        "ipa", "local_mds", "neighbor_map" or "pca".
    n_components : int
        Dimension of the map.
    candidates : tuple of Candidate
        All methods that were considered, with their scores.
    figures : tuple of (str, float) pairs
        The figures that decided; `evidence` has them by name.
    quality : MapSummary
        How true the map is.
    findings : tuple of Finding
        What was seen, done and lost; `reasons` has them as text.
    doubts : frozenset of str
        Codes of all doubts that the evidence raised: about the stitched map, taken or not, and
        about shapes that no flat map can keep. Empty if there is no reason to doubt the map.
    """

    method: str
    n_components: int
    candidates: tuple[Candidate, ...]
    figures: tuple[tuple[str, float], ...]
    quality: MapSummary
    findings: tuple[Finding, ...]
    doubts: frozenset[str] = frozenset()

    @property
    def evidence(self) -> dict[str, float]:
        """The figures that decided, by name."""
        return dict(self.figures)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was seen, done and lost, as text."""
        shown = (f for f in self.findings if f.severity is not Severity.CHECKED)
        return tuple(finding.text() for finding in shown)

    def summary(self) -> str:
        """Return all reasons as one text."""
        return " ".join(self.reasons)

    def __str__(self) -> str:
        if not self.candidates:
            return "\n".join(self.reasons)
        heads = ("score", "kept", "length error", "on the map", "seconds")
        rows = [f"{'method':<12}" + "".join(f" {head:>12}" for head in heads)]
        for c in self.candidates:
            mark = "  <- used" if c.method == self.method else ""
            values = (c.score, c.kept, c.length_error, c.shown_error, c.seconds)
            figures = "".join(f" {value:>12.3f}" for value in values)
            rows.append(f"{c.method:<12}{f'   failed: {c.note}' if c.note else figures}{mark}")
        return "\n".join([*self.reasons, *rows])


def explain(
    survey: Survey,
    trial: Trial,
    quality: MapSummary,
    alternative: tuple[Finding, ...],
    *,
    tolerance: float,
) -> tuple[Finding, ...]:
    """Return the findings of a decision, in the order in which they are read."""
    r, doubts = trial.choice.n_components, trial.doubts(survey)
    used = BY_CLASS[CLASSES[trial.method]]
    name = f"{used.title} ({used.name})" if used.is_public else used.title
    lost = quality.length_error > tolerance
    return (
        *(_doubted(note, doubts, trial) for note in survey.notes),
        # Flat data have no shape to warn about.
        *(() if trial.is_sheet or trial.is_exact else survey.raised),
        *(() if trial.choice.reason is None else (trial.choice.reason,)),
        Finding.of("method", dimension=r, name=name),
        *_find_reason(trial, survey),
        *_find_doubts(trial),
        *_find_partly(trial, survey),
        _find_quality(quality),
        *((Finding.of("dial"),) if trial.method == "neighbor_map" else ()),
        *((Finding.of("sheet_noise"),) if trial.is_sheet and lost else ()),
        *alternative,
        # Neighbors of a noisy sheet are off by their noise, which its map leaves out.
        Finding.checked(
            "lost_distances",
            quality.length_error,
            tolerance,
            is_raised=lost and not trial.is_sheet,
        ),
    )


def _doubted(note: Finding, doubts: frozenset[str], trial: Trial) -> Finding:
    """Return a note of the survey; separate components are a doubt unless the map reports them."""
    is_reported = trial.method == "ipa" and trial.judgement is not None
    if note.code == "separate" and "components" in doubts and not is_reported:
        return replace(note, severity=Severity.DOUBT)
    return note


def _find_reason(trial: Trial, survey: Survey) -> Iterator[Finding]:
    """Yield why a method was used."""
    r, judgement = trial.choice.n_components, trial.judgement
    if trial.is_exact:
        rank = r if survey.rank is None else min(r, survey.rank)
        yield Finding.of("already_flat", dimension=rank) if rank else Finding.of("same_samples")
        return
    if trial.is_sheet and judgement is not None:
        yield _find_sheet(judgement, r, n_parts=len(survey.parts))
        return
    if judgement is not None and judgement.is_stitched and judgement.misfit > 0.0:
        yield Finding.of("disagreement", value=judgement.misfit)
    form = "neighbors" if trial.method == "neighbor_map" else ""
    if trial.method in LOCAL and survey.suggested_dimension > r:
        yield Finding.of("more_dimensions", form=form, dimension=survey.suggested_dimension, kept=r)
    elif trial.method in LOCAL and getattr(trial.embedder, "metric", "") == "precomputed":
        yield Finding.of("distances_only")
    elif trial.method in LOCAL:
        yield Finding.of("not_a_sheet", form=form)
    else:
        yield Finding.of("best_method", form=_how_it_did(trial, survey))


def _how_it_did(trial: Trial, survey: Survey) -> str:
    """Return the form of the sentence about the method that was best, or nearly."""
    if survey.n_samples < FEW:
        return "seen"
    scores = {candidate.method: candidate.score for candidate in trial.candidates}
    return "far" if max(scores, key=scores.__getitem__) == "neighbor_map" else ""


def _find_sheet(judgement: Judgement, r: int, *, n_parts: int) -> Finding:
    """Return that the data are a sheet that was unfolded."""
    return Finding.of(
        "sheet",
        form="one_patch" if judgement.misfit == 0.0 else "",
        value=judgement.misfit,
        dimension=r,
        n_parts=n_parts,
        is_certified=judgement.certified,
        error=judgement.estimated_error,
    )


def _find_doubts(trial: Trial) -> tuple[Finding, ...]:
    """Return what the stitched map doubts, or, if it was not taken, what concerns any map."""
    judgement = trial.judgement
    if judgement is None or not judgement.doubts:
        return ()
    if trial.method == "ipa":
        return judgement.findings
    unconfirmed = Finding.of(
        "unconfirmed",
        Severity.DOUBT,
        dimension=trial.choice.n_components,
        doubts=tuple(sorted(judgement.doubts)),
    )
    return (unconfirmed, *judgement.about_data)


def _find_partly(trial: Trial, survey: Survey) -> Iterator[Finding]:
    n_fitted = len(trial.rows)
    if n_fitted < survey.n_samples:
        yield Finding.of("partly_fitted", n_fitted=n_fitted, n=survey.n_samples)


def _find_quality(quality: MapSummary) -> Finding:
    known = np.isfinite((quality.trustworthiness, quality.continuity)).all()
    return Finding.of(
        "quality",
        form="" if known else "lengths",
        value=quality.length_error,
        trustworthiness=quality.trustworthiness,
        continuity=quality.continuity,
    )
