"""Shell and page say the same of a map, whatever was measured."""

from dataclasses import fields, replace
from html import unescape

import numpy as np
import pytest

from isofold import assess
from isofold.assessment.verdict import POOR_LENGTHS, POOR_NEIGHBORS, ReadingRules, judge, verdict
from isofold.cli.console import Console
from isofold.cli.steps.scores import tell_scores
from isofold.quality import MapSummary, Score
from isofold.reports import sections

NAMES = {"length_error": "length_error_median", "scaled_length_error": "length_error_scaled"}
NAMES |= {f"{'scaled_' if at else ''}shown_length_error": f"shown_length_error_{at or 'median'}"
          for at in ("", "scaled")}  # fmt: skip

NEIGHBORHOODS = {
    "You can read neighborhoods": {"trustworthiness": 0.98, "neighbor_error": 0.3},
    "Read regions off this map, not single": {"trustworthiness": 0.97, "neighbor_error": 0.7},
    "Do not read neighborhoods": {"trustworthiness": 0.8, "neighbor_error": 0.4},
}
DISTANCES = {
    "You can measure distances": {"length_error": 0.04, "shown_length_error": 0.03},
    "Do not measure distances on it: ": {"length_error": 0.04, "shown_length_error": 0.68},
    "Do not measure distances on it as it is": {
        "length_error": 9.0,
        "shown_length_error": 9.0,
        "scaled_length_error": 0.02,
        "scaled_shown_length_error": 0.04,
    },
}


def scores(**figures):
    unknown = dict.fromkeys((field.name for field in fields(MapSummary)), np.nan)
    return MapSummary(**{**unknown, "continuity": 0.9, **figures})


@pytest.fixture(scope="module")
def assessment():
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    return assess(grid, grid, n_neighbors=4)


def measured(assessment, summary):
    """Return an assessment with other figures."""
    values = {NAMES.get(field.name, field.name): getattr(summary, field.name)
              for field in fields(summary)}  # fmt: skip
    entries = tuple(
        replace(entry, score=Score(values[entry.name])) if entry.name in values else entry
        for entry in assessment.card.entries
    )
    return replace(assessment, card=replace(assessment.card, entries=entries))


@pytest.mark.parametrize("of_neighborhoods", NEIGHBORHOODS)
@pytest.mark.parametrize("of_distances", DISTANCES)
def test_shell_and_page_say_the_same(assessment, capsys, of_neighborhoods, of_distances):
    found = scores(**NEIGHBORHOODS[of_neighborhoods], **DISTANCES[of_distances])
    said = verdict(found)
    assert said.startswith(of_neighborhoods)
    assert of_distances in said
    page = unescape(sections.verdict(measured(assessment, found)))
    console = Console()
    tell_scores(console, found)
    console.release()
    assert page == said
    assert said in " ".join(capsys.readouterr().err.split())


def test_an_error_never_reads_like_praise():
    text = verdict(scores(length_error=0.68, shown_length_error=0.3))
    assert text.startswith("Do not measure distances")
    assert "off by 68%" in text
    assert "true" not in text


def test_the_limits_are_those_of_the_doubts():
    rules = ReadingRules()
    assert (rules.lengths, rules.lost) == (POOR_LENGTHS, POOR_NEIGHBORS)

    def forms(**figures):
        return [finding.form for finding in judge(scores(**figures))]

    at = {"trustworthiness": rules.trust, "neighbor_error": rules.lost}
    assert forms(**at) == [""]
    assert forms(**{**at, "neighbor_error": np.nextafter(rules.lost, 1)}) == ["regions"]
    assert forms(**{**at, "trustworthiness": np.nextafter(rules.trust, 0)}) == ["no"]
    assert forms(length_error=rules.lengths, shown_length_error=rules.lengths) == [""]


def test_what_is_not_known_is_not_judged():
    assert verdict(scores()) == ""
    assert verdict(MapSummary(0.9, 0.9, 0.1)) == ""
