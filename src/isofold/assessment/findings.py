"""The findings about a map: those of its model, of its measures and of its proof, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from isofold._findings import Diagnosis, Finding, Severity, tells_findings
from isofold._typing import IntArray
from isofold.assessment.assessment import LengthRatios, Proof
from isofold.assessment.models import last_step, steps_inside
from isofold.assessment.verdict import POOR_LENGTHS, POOR_NEIGHBORS
from isofold.neighbors.spanning import component_labels
from isofold.quality import Scorecard

__all__ = ["component_sizes", "diagnose", "find_in_model", "find_without_data", "read_decision"]

POOR_TAIL = 0.5
"""Relative error of one in twenty neighbor lengths beyond which there is a doubt."""

NEAREST_FEW = 3
"""Neighbors that join most points."""

OTHER_UNIT = 2.0
"""Factor between lengths on the map and in the data from which distances cannot be read off it."""

# Findings of models that say what a measure would say again.
ABOUT_COMPONENTS = frozenset({"components", "bridges", "separate"})
ABOUT_PROOFS = frozenset({"not_certified", "certificate"})
ABOUT_LENGTHS = frozenset({"lost_distances"})


def diagnose(
    model: Any, proof: Proof, card: Scorecard, ratios: LengthRatios, *, given: Iterable[Any] = ()
) -> Diagnosis:
    """Return all findings about a map that was measured."""
    own = find_in_model(model)
    found = [
        *own,
        *_find_unproved(proof, own),
        *_find_components(card, own),
        *_find_lengths(card, ratios, own),
        *_find_neighbors(card),
        *_find_given(given),
    ]
    return Diagnosis(tuple(found))


def find_without_data(model: Any, proof: Proof) -> Diagnosis:
    """Return the findings about the map of a model, without looking at the data."""
    own = find_in_model(model)
    found = [*own, *_find_unproved(proof, own)]
    distortion = getattr(last_step(model), "distortion_", None)
    if distortion is not None:
        median = float(np.median(distortion))
        found.append(
            Finding.checked("distorted", median, POOR_LENGTHS, is_raised=median > POOR_LENGTHS)
        )
    return Diagnosis(tuple(found))


def find_in_model(model: Any) -> tuple[Finding, ...]:
    """Return what the fits of a model and of those inside it have found, each code once."""
    found: list[Finding] = []
    known: set[str] = set()
    for inside in steps_inside(model):
        own = (*getattr(inside, "diagnosis_", ()), *_find_doubtful_charts(inside))
        found += [finding for finding in own if finding.code not in known]
        known |= {finding.code for finding in own if finding.severity is not Severity.CHECKED}
    return tuple(found)


def _find_doubtful_charts(model: Any) -> Iterator[Finding]:
    """Yield that embedders which make the charts of patches have doubts of their own."""
    embedders = getattr(getattr(model, "map_", None), "estimators", ())
    raised = {
        number: embedder.diagnosis_.raised
        for number, (embedder, _) in enumerate(embedders)
        if hasattr(embedder, "diagnosis_") and embedder.diagnosis_.raised
    }
    if raised:
        first = min(raised)
        yield Finding.of(
            "doubtful_charts",
            Severity.DOUBT,
            patches=list(raised),
            n=len(raised),
            n_patches=len(embedders),
            number=first,
            message=" ".join(finding.text() for finding in raised[first]),
        )


def read_decision(model: Any) -> Diagnosis:
    """Return why a method was used, if `Unfold` decided."""
    decision = getattr(last_step(model), "decision_", None)
    return Diagnosis(() if decision is None else decision.findings)


def _find_unproved(proof: Proof, own: Iterable[Finding]) -> Iterator[Finding]:
    if proof.doubt and not _is_known(ABOUT_PROOFS, own):
        yield Finding.of("unproved", Severity.DOUBT, reason=proof.doubt)


def _find_components(card: Scorecard, own: Iterable[Finding]) -> Iterator[Finding]:
    """Yield that neighbors do not join all points, unless a model knows."""
    sizes = component_sizes(card.near.indices)
    if len(sizes) > 1 and not _is_known(ABOUT_COMPONENTS, own):
        yield Finding.checked(
            "separate_points",
            len(sizes),
            1,
            is_raised=True,
            n_neighbors=card.n_neighbors,
            n=len(sizes),
            largest=int(sizes[0]),
            n_points=card.n_points,
        )


def _find_lengths(
    card: Scorecard, ratios: LengthRatios, own: Iterable[Finding]
) -> Iterator[Finding]:
    """Yield the worst that is to be said of lengths between neighbors."""
    median, tail = float(card["length_error_median"]), float(card["length_error_p95"])
    within = ratios.within_tenth
    if ratios.median == 0.0:
        yield Finding.of("no_lengths", Severity.DOUBT)
    elif not 1.0 / OTHER_UNIT < ratios.median < OTHER_UNIT:
        yield Finding.checked("other_unit", ratios.median, OTHER_UNIT, is_raised=True)
    elif median > POOR_LENGTHS:
        if not _is_known(ABOUT_LENGTHS, own):
            yield Finding.checked(
                "poor_lengths", median, POOR_LENGTHS, is_raised=True, within=within
            )
    else:
        yield Finding.checked(
            "torn_lengths", tail, POOR_TAIL, is_raised=tail > POOR_TAIL, within=within
        )


def _find_neighbors(card: Scorecard) -> Iterator[Finding]:
    lost = float(card["neighbor_error"])
    yield Finding.checked(
        "lost_neighbors",
        lost,
        POOR_NEIGHBORS,
        is_raised=lost > POOR_NEIGHBORS,
        n_neighbors=card.n_neighbors,
    )


def _find_given(given: Iterable[Any]) -> Iterator[Finding]:
    """Yield warnings of other libraries, which bring their own text."""
    # What `warnings.catch_warnings(record=True)` keeps holds the warning as its message.
    messages = [getattr(each, "message", each) for each in given]
    others = [message for message in messages if not tells_findings(message)]
    texts = (" ".join(str(message).split()) for message in others)
    for text in dict.fromkeys(texts):
        if text:
            yield Finding.of("given", Severity.DOUBT, form="given", message=text, advice="")


def _is_known(codes: frozenset[str], own: Iterable[Finding]) -> bool:
    """Return whether a model has something to say under one of these codes."""
    return any(f.code in codes and f.severity is not Severity.CHECKED for f in own)


def component_sizes(indices: IntArray) -> IntArray:
    """Return the sizes of the components into which neighbors join points, the largest first."""
    # The nearest few make large components, which all neighbors join.
    n, nearest = len(indices), indices[:, :NEAREST_FEW]
    starts = np.repeat(np.arange(n), nearest.shape[1])
    labels = component_labels(n, np.column_stack([starts, nearest.ravel()]))
    ends = labels[indices]
    is_joint = ends != labels[:, None]
    joints = np.column_stack([np.repeat(labels, is_joint.sum(axis=1)), ends[is_joint]])
    joined = component_labels(int(labels.max()) + 1, joints)
    return np.sort(np.bincount(joined[labels]))[::-1]
