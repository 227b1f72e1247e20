"""What can be read off a map: the one verdict that shell, page and Python share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._findings import Finding
from isofold.quality import MapSummary

__all__ = ["POOR_LENGTHS", "POOR_NEIGHBORS", "ReadingRules", "judge", "verdict"]

POOR_LENGTHS, POOR_NEIGHBORS = 0.1, 0.5
"""Relative error of half of the neighbor lengths, and fraction of neighbors lost, beyond which
there is a doubt."""


@dataclass(frozen=True)
class ReadingRules:
    """Limits of what can be read off a map.

    Attributes
    ----------
    lengths : float
        Largest median error of distances between neighbors, in the data and on the map alike.
    lost : float
        Largest fraction of the nearest neighbors that may be lost where single ones are read.
    trust : float
        Least trustworthiness of a map on which what is near is near in the data.
    """

    # The limits of the doubts, so that no verdict contradicts them.
    lengths: float = POOR_LENGTHS
    lost: float = POOR_NEIGHBORS
    # Two sheets laid onto each other come to .75, two principal axes of digits to .83; LocalMDS of
    # digits comes to .97, t-SNE of 70,000 of them to .99.
    trust: float = 0.9


def verdict(scores: MapSummary, *, rules: ReadingRules | None = None) -> str:
    """Return in two sentences what can be read off a map; empty where nothing was measured."""
    return " ".join(finding.text() for finding in judge(scores, rules=rules))


def judge(scores: MapSummary, *, rules: ReadingRules | None = None) -> tuple[Finding, ...]:
    """Return whether neighborhoods and distances can be read off a map, as far as is known."""
    rules = rules or ReadingRules()
    return (*_judge_neighborhoods(scores, rules), *_judge_distances(scores, rules))


def _judge_neighborhoods(scores: MapSummary, rules: ReadingRules) -> tuple[Finding, ...]:
    trust, lost = scores.trustworthiness, scores.neighbor_error
    if not np.isfinite((trust, lost)).all():
        return ()
    form = "no" if trust < rules.trust else "regions" if lost > rules.lost else ""
    return (
        Finding.of("readable_neighborhoods", form=form, value=1.0 - lost, trustworthiness=trust),
    )


def _judge_distances(scores: MapSummary, rules: ReadingRules) -> tuple[Finding, ...]:
    errors = scores.length_error, scores.shown_length_error
    scaled = scores.scaled_length_error, scores.scaled_shown_length_error
    if not np.isfinite(errors).all():
        return ()
    is_readable, is_in_proportion = (max(each) <= rules.lengths for each in (errors, scaled))
    form = "" if is_readable else "other_unit" if is_in_proportion else "no"
    return (
        Finding.of(
            "readable_distances", form=form, value=errors[0], shown=errors[1], scaled=max(scaled)
        ),
    )
