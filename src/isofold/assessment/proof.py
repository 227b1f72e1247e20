"""Certificates in plain language: what is proved about a solution, and what is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._format import percent
from isofold.assessment.assessment import Proof
from isofold.assessment.models import fitted_inside
from isofold.embedding.catalog import BY_CLASS
from isofold.sdp import SDPSolution, Status

__all__ = ["find_proof"]

ANY_CLAIM = "no other solution of the method's own problem is better"

LIMITS = (
    "This is about the method's own problem, not about your data: whether distances on the map are "
    "true is measured separately."
)

SHOWN = 0.01
"""Fraction of the variance discarded by the projection to the map from which it is shown."""

LARGE_GAP = 0.01
"""Gap from which it is shown in percent."""


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
    method = BY_CLASS.get(type(model).__name__)
    claim = (method and method.claim) or ANY_CLAIM
    where = f" This holds for each of {n_parts} components." if n_parts > 1 else ""
    bound, rest = _bound(solution), f"{LIMITS}{_discarded(model)}"
    if solution.status is Status.CERTIFIED:
        return Proof(f"Proved: {claim}, {bound}.{where} {rest}", is_certified=True)
    if solution.status is Status.INEXACT_CERTIFICATE:
        text = (
            f"As good as proved: {claim}, {bound}. The proof rests on estimated numbers, not on "
            f"exact ones.{where}"
        )
        return Proof(f"{text} {rest}", is_certified=False)
    doubt = {
        Status.STATIONARY: "small changes do not improve it, but another start might",
        Status.RANK_LIMIT: (
            f"a better one exists in more than {solution.rank} dimensions, but perhaps none in "
            f"{solution.rank}"
        ),
        Status.ITERATION_LIMIT: "the search ended before it converged",
        Status.INFEASIBLE: "the distances contradict each other, so that no solution has them all",
    }[solution.status]
    known = f" What is proved: {claim}, {bound}." if np.isfinite(solution.gap) else ""
    text = f"Not proved to be the best solution: {doubt}.{known} {rest}"
    return Proof(text, is_certified=False, doubt=doubt)


def _bound(solution: SDPSolution) -> str:
    """Return by how much another solution may be better."""
    certificate = solution.certificate
    if certificate is not None:
        difference = abs(certificate.primal - certificate.dual)
        if difference <= certificate.rounding_floor:
            return "up to rounding"
    gap = solution.gap
    size = f"{gap:.1e} of the value reached" if gap < LARGE_GAP else percent(gap)
    return f"by more than {size}"


def _discarded(model: Any) -> str:
    """Return what the projection of the solution to the map has lost."""
    lost = getattr(model, "discarded_variance_ratio_", None)
    if lost is None or not lost > SHOWN:
        return ""
    return (
        f" The solution has more dimensions than the map: {percent(lost)} of its variance is "
        f"not shown, and nothing is proved about the map itself."
    )
