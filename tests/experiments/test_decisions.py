"""How decisions are counted, on made-up losses; the draws themselves; one small decision."""

import numpy as np
import pytest
from experiments.decisions.kinds import KINDS, Draw, make_draw
from experiments.decisions.run import METHODS, N_FOLDS, Verdict, decide, error_of
from experiments.decisions.surfaces import PIECES, SURFACES, piece_errors

from isofold.datasets import broken_s_curve

FOLDS = {"a": np.array([0.4, 0.6]), "b": np.array([0.396, 0.596]), "c": np.array([0.42, 0.56])}
"""Held-out scores in two splits: their means are .5, .496 and .49."""


@pytest.mark.parametrize(("used", "expected"), [("a", True), ("b", True), ("c", False)])
def test_errors_within_one_percent_are_ties(used, expected):
    # The truth counts, whatever the scores.
    scores = {name: np.zeros(2) for name in "abc"}
    verdict = Verdict(used, scores, {"a": 0.1, "b": 0.1009, "c": 0.102})
    assert (verdict.best, verdict.is_right) == ("a", expected)
    # All scores are the same.
    assert verdict.is_right_by_either


@pytest.mark.parametrize(
    ("used", "expected", "on_first"), [("a", True, False), ("b", True, False), ("c", False, True)]
)
def test_scores_within_one_percent_are_ties(used, expected, on_first):
    verdict = Verdict(used, FOLDS, {})
    assert verdict.best == "a"
    assert (verdict.is_right, verdict.is_right_on_first) == (expected, on_first)
    assert verdict.is_right_by_either == expected


def test_either_is_not_enough_where_both_fail():
    assert not Verdict("c", FOLDS, {"a": 0.1, "b": 0.2, "c": 0.3}).is_right_by_either
    assert Verdict("c", FOLDS, {"a": 0.3, "b": 0.2, "c": 0.1}).is_right_by_either


def test_differences_of_scores_have_a_standard_error():
    # The differences are -.02 and .04.
    assert Verdict("c", FOLDS, {}).deviation == pytest.approx(0.03)
    assert Verdict("a", FOLDS, {}).deviation == 0.0


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_draws_depend_on_seed_and_number_only(number):
    draw, same = (make_draw(5, number, largest=60) for _ in range(2))
    assert draw.kind == list(KINDS)[number]
    np.testing.assert_array_equal(draw.X, same.X)
    assert np.isfinite(draw.X).all()
    if draw.truth is not None:
        assert draw.truth.shape == (len(draw.X), draw.n_components)


def test_true_errors_are_taken_piece_by_piece():
    truth = np.arange(6.0)[:, None] % 3
    draw = Draw("", "", np.zeros((6, 1)), 1, truth, np.array([0, 0, 0, 1, 1, 1]))
    # The second piece is a mirror image in another place, the rows are those of four points.
    places = np.array([[0.0], [1.0], [9.0], [8.0]])
    assert error_of(places, draw, np.array([0, 1, 3, 4])) == pytest.approx(0.0, abs=1e-12)


def test_pieces_are_judged_one_by_one():
    data = broken_s_curve(80, random_state=0)
    moved = data.truth + 100.0 * data.labels[:, None]
    np.testing.assert_allclose(piece_errors(moved, data), 0.0, atol=1e-12)
    assert len(piece_errors(moved, data)) == len(np.unique(data.labels))


def test_surfaces_are_whole_and_keep_their_truth():
    assert not {surface.name for surface in SURFACES} & set(PIECES)
    for surface in SURFACES:
        clean, lifted = (surface.make(60, d, noise, 1) for d, noise in ((0, 0.0), (20, 0.1)))
        np.testing.assert_array_equal(clean.truth, lifted.truth)
        assert lifted.X.shape == (60, 20)


def test_a_decision_is_judged():
    found = decide(make_draw(5, list(KINDS).index("noise cloud"), largest=60))
    assert not found.errors
    assert found.used in METHODS
    assert set(found.scores) == set(METHODS)
    for scores in found.scores.values():
        assert scores.shape == (N_FOLDS,)
        assert ((scores > 0.0) & (scores < 1.0)).all()
