"""A decision between methods: the evidence, the alternatives, and words for a human."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold.embedding.unfold.rehearsal import FEW, Candidate
from isofold.embedding.unfold.trials import Trial
from isofold.survey import Survey

__all__ = ["Decision", "MapQuality", "explain"]

NAMES = {
    "ipa": "isometric patch alignment (IPA)",
    "local_mds": "local multidimensional scaling (LocalMDS)",
    "pca": "projection on principal axes",
}


@dataclass(frozen=True, eq=False)
class MapQuality:
    """How true the map is, measured on a sample of the data.

    Attributes
    ----------
    trustworthiness, continuity : float
        As in `isofold.quality`; NaN where only some distances are known or points are too few.
    length_error : float
        Median relative error of the distances between neighbors.
    """

    trustworthiness: float
    continuity: float
    length_error: float


@dataclass(frozen=True, eq=False)
class Decision:
    """Which method was used, and why.

    Attributes
    ----------
    method : str
        "ipa", "local_mds" or "pca".
    n_components : int
        Dimension of the map.
    candidates : tuple of Candidate
        All methods that were considered, with their scores.
    evidence : dict
        The figures that decided, by name.
    quality : MapQuality
        How true the map is.
    reasons : tuple of str
        What was seen, done and lost, in sentences.
    doubts : frozenset of str
        Names of all doubts that the evidence raised: flags of the stitched map, taken or not, and
        shapes that no flat map can keep. Empty if there is no reason not to trust the map.
    """

    method: str
    n_components: int
    candidates: tuple[Candidate, ...]
    evidence: dict[str, float]
    quality: MapQuality
    reasons: tuple[str, ...]
    doubts: frozenset[str] = frozenset()

    def summary(self) -> str:
        """Return all sentences as one text."""
        return " ".join(self.reasons)

    def __str__(self) -> str:
        if not self.candidates:
            return "\n".join(self.reasons)
        rows = [f"{'method':<10} {'score':>7} {'kept':>7} {'length error':>13} {'seconds':>8}"]
        for c in self.candidates:
            mark = "  <- used" if c.method == self.method else ""
            figures = f"{c.score:>7.3f} {c.kept:>7.3f} {c.length_error:>13.3f} {c.seconds:>8.2f}"
            rows.append(f"{c.method:<10} {f'  failed: {c.note}' if c.note else figures}{mark}")
        return "\n".join([*self.reasons, *rows])


def explain(
    survey: Survey, trial: Trial, quality: MapQuality, alternative: str, *, tolerance: float
) -> tuple[str, ...]:
    """Return the sentences of a decision."""
    r, n_fitted = trial.choice.n_components, len(trial.rows)
    # What lies flat has no shape to warn of.
    shapes = () if trial.is_sheet or trial.is_exact else survey.shapes()
    used = f"The map of {in_words(r)} was made by {NAMES[trial.method]}."
    partly = ""
    if n_fitted < survey.n_samples:
        partly = f"It was fitted to {n_fitted:,} samples, as time was short; the rest were placed."
    reason, doubts = _reason(trial, survey), _doubts(trial)
    noise = ""
    if trial.is_sheet and quality.length_error > tolerance:
        noise = "Most of that is noise of the data across the sheet, which the map leaves out."
    told = (trial.choice.reason, used, reason, *doubts, partly, _kept(quality), noise)
    every = (*survey.sentences(), *shapes, *told, alternative)
    return tuple(sentence for sentence in every if sentence)


def _reason(trial: Trial, survey: Survey) -> str:
    """Return the sentence that tells why a method was used."""
    r, judgement = trial.choice.n_components, trial.judgement
    if trial.is_exact:
        rank = r if survey.rank is None else min(r, survey.rank)
        if rank == 0:
            return "All samples are the same: there is nothing to unfold."
        return f"The data lie in {in_words(rank)}: there is nothing to unfold."
    if trial.is_sheet and judgement is not None:
        best = "is certified as the best" if judgement.certified else "is not certified"
        one, many = ("a curve", "curves") if r == 1 else ("a sheet", "sheets")
        what = f"{one if len(survey.parts) == 1 else many} of {in_words(r)}"
        fit = f"Patches of the data fit together to {judgement.misfit:.1%}"
        if judgement.misfit == 0.0:
            fit = "A single patch holds all of the data"
        return (
            f"{fit}: they are {what}, which could be unfolded; the stitching {best}, and the "
            f"estimated error of the coordinates is {judgement.estimated_error:.1%}."
        )
    misfit = ""
    if judgement is not None and judgement.is_stitched and judgement.misfit > 0.0:
        misfit = f"Patches of the data disagree by {judgement.misfit:.0%} where they overlap. "
    if trial.method != "local_mds":
        seen = "samples" if survey.n_samples < FEW else "samples that they had not seen"
        return f"{misfit}It did best of all methods with {seen}."
    if survey.suggested_dimension > r:
        return (
            f"{misfit}Data of about {in_words(survey.suggested_dimension)} cannot keep all "
            f"distances in {r}; local distances were favored."
        )
    if judgement is None:
        return "Only distances are known, so that no patches could be stitched."
    return f"{misfit}The data are no sheet that lies flat; local distances were favored."


def _doubts(trial: Trial) -> tuple[str, ...]:
    """Return what the stitched map doubts, or, if it was not taken, what concerns any map."""
    judgement = trial.judgement
    if judgement is None or not judgement.doubts:
        return ()
    if trial.method == "ipa":
        return judgement.messages
    names = ", ".join(sorted(judgement.doubts))
    unconfirmed = (
        f"Stitching could not confirm a sheet of {in_words(trial.choice.n_components)} (doubts: "
        f"{names}): this map may fold or tear the data."
    )
    return (unconfirmed, *judgement.about_data)


def in_words(n_dimensions: int) -> str:
    """Return a number of dimensions in words."""
    return "1 dimension" if n_dimensions == 1 else f"{n_dimensions} dimensions"


def _kept(quality: MapQuality) -> str:
    parts = []
    if np.isfinite(quality.trustworthiness):
        parts.append(f"trustworthiness is {quality.trustworthiness:.3f}")
    if np.isfinite(quality.continuity):
        parts.append(f"continuity {quality.continuity:.3f}")
    parts.append(f"distances between neighbors are wrong by {quality.length_error:.1%} (median)")
    return f"How true it is: {', '.join(parts)}."
