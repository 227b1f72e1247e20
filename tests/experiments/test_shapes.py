"""What the confusion table of shapes counts, on made-up verdicts; the cases themselves."""

import numpy as np
import pytest
from experiments.shapes.cases import CASES, SIZES, Trial, trials
from experiments.shapes.run import CODES, Verdict, by_case, by_code, errors, judge

CIRCLE = next(case for case in CASES if case.name == "circle")
ROLL = next(case for case in CASES if case.name == "swiss roll")


def verdict(case, *raised, n=300):
    return Verdict(Trial(case, n, 0, 0.0, 0), frozenset(raised), frozenset(CODES), 0.1)


VERDICTS = [
    verdict(CIRCLE, "closed_curve"),
    verdict(CIRCLE, "cloud"),
    verdict(ROLL),
    verdict(ROLL, "cloud", n=1000),
]


def test_the_table_counts_misses_and_false_alarms():
    rows = {row["shape"]: row for row in by_code(VERDICTS)}
    assert list(rows) == list(CODES)
    curve, cloud = rows["closed_curve"], rows["cloud"]
    assert [curve[k] for k in ("positives", "recognized", "missed")] == [2, 1, 1]
    assert [curve[k] for k in ("negative controls", "false alarms")] == [2, 0]
    assert [cloud[k] for k in ("other shapes", "false alarms there")] == [2, 1]
    assert [cloud[k] for k in ("negative controls", "false alarms")] == [2, 1]


def test_cases_are_counted_by_size():
    circle, roll = by_case(VERDICTS)
    assert (circle["expected"], circle["right at n = 300"]) == ("closed_curve", "1 / 2")
    assert (roll["right at n = 300"], roll["right at n = 1000"]) == ("1 / 1", "0 / 1")


def test_every_error_is_listed():
    found = [(row["case"], row["missed"], row["false alarm"]) for row in errors(VERDICTS)]
    assert found == [("circle", "closed_curve", "cloud"), ("swiss roll", "-", "cloud")]


def test_every_code_has_shapes_and_every_case_other_names():
    assert set.union(*(set(case.expected) for case in CASES)) == set(CODES)
    assert len({case.name for case in CASES}) == len(CASES)
    assert len(list(trials(range(1)))) == 2 * len(SIZES) * len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases_make_as_many_points_as_asked_for(case):
    plain, turned = (Trial(case, 60, d, 0.05, 3).points() for d in (0, 20))
    assert plain.shape[0] == turned.shape[0] == 60
    assert turned.shape[1] >= 20
    assert np.isfinite(plain).all()


def test_a_trial_is_judged():
    found = judge(Trial(CIRCLE, 60, 0, 0.0, 0))
    assert (found.raised, found.missed, found.false) == ({"closed_curve"}, set(), set())
    alone = judge(Trial(CIRCLE, 60, 0, 0.0, 0), with_points=False)
    assert alone.examined == {"closed_curve", "sphere", "branching"}
