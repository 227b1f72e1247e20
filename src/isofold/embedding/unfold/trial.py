"""A trial: the dimension of a map, the candidates for it, and the one that was fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._base import BaseEmbedder
from isofold._findings import Finding
from isofold._typing import FloatArray, IntArray
from isofold.embedding.unfold.rehearsal import EVERYTHING, Candidate, Effort, Judgement
from isofold.survey import Survey

__all__ = ["Choice", "Trial"]


@dataclass(frozen=True, eq=False)
class Choice:
    """A dimension, why it was taken, and how the candidates did in it.

    Attributes
    ----------
    n_components : int
        The dimension.
    reason : Finding or None
        Why, if it was not given.
    candidates : tuple of Candidate
        The rehearsed candidates; empty if there was no need to.
    effort : Effort
        How much was rehearsed.
    is_open : bool
        Whether the data may be a sheet: then they are stitched before anything is rehearsed.
    """

    n_components: int
    reason: Finding | None = None
    candidates: tuple[Candidate, ...] = ()
    effort: Effort = EVERYTHING
    is_open: bool = False


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
        The map of all samples.
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

    @property
    def is_sheet(self) -> bool:
        """Whether the data are a sheet that was unfolded."""
        return self.method == "ipa" and self.judgement is not None and self.judgement.is_sheet

    def doubts(self, survey: Survey) -> frozenset[str]:
        """Return the codes of all doubts that the evidence raised, whatever method was taken."""
        found = frozenset() if self.judgement is None else self.judgement.doubts
        if self.is_exact or self.is_sheet:
            return found
        seen = {shape.code for shape in survey.raised}
        return found | seen | ({"components"} if len(survey.parts) > 1 else set())

    def evidence(self, survey: Survey) -> dict[str, float]:
        """Return the figures that decided, by name, as far as they are known."""
        figures = {
            "dimension": survey.dimension,
            "components": float(len(survey.parts)),
            "noise": survey.parts[0].noise,
            "sampling": survey.sampling,
            "exact": float(self.is_exact),
        }
        if self.judgement is not None:
            figures["misfit"] = self.judgement.misfit
            figures["certified"] = float(self.judgement.certified)
            figures["estimated_error"] = self.judgement.estimated_error
        figures |= {f"score_{c.method}": c.score for c in self.candidates}
        return {name: value for name, value in figures.items() if np.isfinite(value)}
