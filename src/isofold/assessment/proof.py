"""Certificates for people who know no semidefinite programs: what is proved, and what is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._format import percent
from isofold.assessment.models import fitted_inside
from isofold.sdp import SDPSolution, Status

__all__ = ["Proof", "find_proof"]

CLAIMS = {
    "IPA": "no other way to lay these patches beside each other fits better where they overlap",
    "PLML": "no other way to lay these pieces beside each other fits better where they overlap",
    "MVU": "no other arrangement with these lengths between neighbors is wider",
    "FastMVU": "no other arrangement with these lengths between neighbors is wider",
    "DisjointMVU": "no other arrangement with these lengths between neighbors is wider",
    "LandmarkMVU": "no other arrangement that these landmarks can carry is wider",
    "ColoredMVU": "no other arrangement with these lengths between neighbors suits the labels more",
    "EAT": "no other map by this kernel with distances as true stretches the given pairs more",
    "TesseraMap": "no other arrangement of these rigid pieces with joints as true is wider",
}
"""What is proved where the proof succeeds, by the method."""

ANY_CLAIM = "no other solution of the method's own problem is better"

LIMITS = (
    "This is about the method's own problem, not about your data: whether distances on the map are "
    "true is measured separately."
)

SHOWN = 0.01
"""Share of the variance cut off by the projection to the map from which it is told."""

LARGE_GAP = 0.01
"""Gap from which it is told in percent."""


@dataclass(frozen=True)
class Proof:
    """What is proved about a solution.

    Attributes
    ----------
    words : str
        In plain words; empty where there is nothing to prove.
    is_certified : bool or None
        Whether the proof succeeded; None where there is nothing to prove.
    warning : str
        What to beware of; empty unless the proof failed.
    """

    words: str = ""
    is_certified: bool | None = None
    warning: str = ""


def find_proof(model: Any) -> Proof:
    """Return what is proved about the solution behind a map."""
    for inside in fitted_inside(model):
        solutions = [s for s in _solutions(inside) if isinstance(s, SDPSolution)]
        if solutions:
            # The weakest link: what cannot be said of one cannot be said of all.
            weakest = min(solutions, key=lambda s: s.status is Status.CERTIFIED)
            return _proof(weakest, inside, n_parts=len(solutions))
    return Proof()


def _solutions(model: Any) -> list[Any]:
    several = getattr(model, "solutions_", None)
    return [getattr(model, "solution_", None)] if several is None else list(several)


def _proof(solution: SDPSolution, model: Any, *, n_parts: int) -> Proof:
    claim = CLAIMS.get(type(model).__name__, ANY_CLAIM)
    where = f" This holds for each of {n_parts} pieces." if n_parts > 1 else ""
    bound = _bound(solution)
    if solution.status is Status.CERTIFIED:
        words = f"Proved: {claim}, {bound}.{where}"
        return Proof(f"{words} {LIMITS}{_cut_off(model)}", is_certified=True)
    if solution.status is Status.INEXACT_CERTIFICATE:
        words = (
            f"As good as proved: {claim}, {bound}. The proof rests on numbers that were estimated, "
            f"not computed exactly.{where}"
        )
        return Proof(f"{words} {LIMITS}{_cut_off(model)}", is_certified=False)
    seen = {
        Status.STATIONARY: "small changes do not improve it, but another start might",
        Status.RANK_LIMIT: (
            f"in more than {solution.rank} dimensions a better one exists, and it may be that none "
            f"of {solution.rank} is better"
        ),
        Status.ITERATION_LIMIT: "the search was ended before it was over",
        Status.INFEASIBLE: "the distances contradict each other, so that none meets them all",
    }[solution.status]
    words = f"Not proved to be the best solution: {seen}."
    if np.isfinite(solution.gap):
        words += f" What is proved: {claim}, {bound}."
    warning = f"The solution is not proved to be the best one: {seen}."
    return Proof(f"{words} {LIMITS}{_cut_off(model)}", is_certified=False, warning=warning)


def _bound(solution: SDPSolution) -> str:
    """Return by how much another solution may be better."""
    certificate = solution.certificate
    if certificate is not None:
        difference = abs(certificate.primal - certificate.dual)
        if difference <= certificate.rounding_floor:
            return "as far as rounded numbers can tell"
    gap = solution.gap
    share = f"{gap:.1e} of the value reached" if gap < LARGE_GAP else percent(gap)
    return f"by more than {share}"


def _cut_off(model: Any) -> str:
    """Tell what the projection of the solution to the map has lost."""
    lost = getattr(model, "discarded_variance_ratio_", None)
    if lost is None or not lost > SHOWN:
        return ""
    return (
        f" The solution has more dimensions than the map: {percent(lost)} of its variance is "
        f"not shown, and nothing is proved about the map itself."
    )
