"""Bad and degenerate input through the whole engine: the right word each, and never a hang."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from isofold.exceptions import InvalidInputError, UnboundedProblemError
from isofold.sdp import Constraints, GramSDP, LowRankSDP, Status

PATIENCE = 20.0
"""Seconds after which a problem of a few points counts as a hang."""

VALUE_TOL = 1e-3
"""The default gap of hard equalities, relative to optimal values near one."""

PATH = [[0, 1], [1, 2], [2, 3]]


def solve(problem, **options):
    solution = LowRankSDP(max_seconds=PATIENCE, random_state=0, **options).solve(problem)
    assert solution.seconds < PATIENCE
    assert solution.coordinates.shape[0] == problem.n_points
    assert np.all(np.isfinite(solution.coordinates))
    return solution


def unit_norm_of_a_pair(solution):
    return float(np.sum((solution.coordinates[0] - solution.coordinates[1]) ** 2))


class TestRefused:
    def test_unbounded(self):
        with pytest.raises(UnboundedProblemError, match="2 components") as caught:
            solve(GramSDP.unfolding(4, [[0, 1], [2, 3]], 1.0))
        assert caught.value.n_components == 2

    def test_isolated_nodes(self):
        with pytest.raises(UnboundedProblemError, match="sizes 1, 1, 4"):
            solve(GramSDP.unfolding(6, PATH, 1.0))

    def test_no_pairs(self):
        with pytest.raises(UnboundedProblemError):
            solve(GramSDP.unfolding(3, [], []))

    def test_nan_distances(self):
        with pytest.raises(InvalidInputError, match="NaN"):
            GramSDP.unfolding(4, PATH, [1.0, np.nan, 1.0])

    def test_nan_objective(self):
        with pytest.raises(InvalidInputError, match="NaN"):
            GramSDP.stitching(np.full((2, 2), np.nan), [[0, 2]])

    @pytest.mark.parametrize("start", [np.full((4, 2), np.nan), np.zeros((3, 2)), np.zeros(4)])
    def test_bad_starts(self, start):
        problem = GramSDP.unfolding(4, PATH, 1.0)
        with pytest.raises(InvalidInputError, match="start"):
            LowRankSDP().solve(problem, start=start)

    @pytest.mark.parametrize("multipliers", [np.full(3, np.nan), np.zeros(2)])
    def test_bad_multipliers(self, multipliers):
        problem = GramSDP.unfolding(4, PATH, 1.0)
        with pytest.raises(InvalidInputError, match="multipliers"):
            LowRankSDP().solve(problem, multipliers=multipliers)

    @pytest.mark.parametrize(
        "options",
        [
            {"tol": 0.0},
            {"tol": np.nan},
            {"violation_tol": -1.0},
            {"penalty": np.inf},
            {"max_iter": 0},
            {"max_rank": 1.5},
            {"max_seconds": 0.0},
            {"rank": -1},
        ],
        ids=str,
    )
    def test_bad_options(self, options):
        with pytest.raises(InvalidInputError):
            LowRankSDP(**options).solve(GramSDP.unfolding(4, PATH, 1.0))


class TestInfeasible:
    @pytest.mark.parametrize(
        ("pairs", "squares", "words"),
        [
            ([[0, 1], [1, 2], [1, 0]], [1.0, 1.0, 2.0], "more than once"),
            ([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 9.0], "triangle inequality"),
            ([[0, 1], [1, 2], [0, 2]], [0.0, 0.0, 1.0], "triangle inequality"),
        ],
    )
    def test_contradictions(self, pairs, squares, words):
        solution = solve(GramSDP.unfolding(3, pairs, squares))
        assert solution.status is Status.INFEASIBLE
        assert words in solution.message
        assert solution.certificate is None
        assert solution.gap == np.inf

    def test_soft_contradictions_are_a_compromise(self):
        """Squares 1 and 2 asked of one pair with equal weights, pulled apart by its variance.

        max g/2 − (ν/2)((g − 1)² + (g − 2)²) over the squared distance g: 1/2 = ν(2g − 3).
        """
        problem = GramSDP.unfolding(2, [[0, 1], [1, 0]], [1.0, 2.0], penalty=4.0)
        solution = solve(problem)
        assert unit_norm_of_a_pair(solution) == pytest.approx(1.5625, rel=VALUE_TOL)


class TestDegenerate:
    @pytest.mark.parametrize("kind", ["equal", "at_most"])
    def test_duplicates_do_not_change_the_answer(self, kind):
        once = solve(GramSDP.unfolding(4, PATH, 1.0, kind=kind))
        twice = solve(GramSDP.unfolding(4, [*PATH, [1, 0], [2, 1]], 1.0, kind=kind))
        assert twice.primal == pytest.approx(once.primal, rel=2 * VALUE_TOL)

    def test_an_equality_of_zero(self):
        """Points 1 and 2 are one: a path of two unit steps, its middle twice, of variance 2.

        No strictly feasible point as posed; with the points merged there is one.
        """
        solution = solve(GramSDP.unfolding(4, PATH, [1.0, 0.0, 1.0]))
        assert any("merge" in warning for warning in solution.warnings)
        assert solution.status is Status.CERTIFIED
        assert not solution.certificate.is_shifted
        assert solution.primal == pytest.approx(2.0, rel=VALUE_TOL)
        np.testing.assert_array_equal(solution.coordinates[1], solution.coordinates[2])

    def test_a_bound_of_zero(self):
        solution = solve(GramSDP.unfolding(4, PATH, [1.0, 0.0, 1.0], kind="at_most"))
        assert any("merge" in warning for warning in solution.warnings)
        assert solution.primal == pytest.approx(2.0, rel=VALUE_TOL)

    @pytest.mark.parametrize("kind", ["equal", "at_most"])
    def test_all_distances_zero(self, kind):
        solution = solve(GramSDP.unfolding(4, PATH, 0.0, kind=kind))
        assert np.abs(solution.coordinates).max() <= VALUE_TOL

    @pytest.mark.parametrize("kind", ["equal", "at_most"])
    def test_a_single_pair(self, kind):
        solution = solve(GramSDP.unfolding(2, [[0, 1]], 1.0, kind=kind))
        assert solution.primal == pytest.approx(0.5, rel=VALUE_TOL)

    def test_one_point(self):
        solution = solve(GramSDP.unfolding(1, [], []))
        assert np.abs(solution.coordinates).max() <= VALUE_TOL
        assert solution.primal == pytest.approx(0.0, abs=VALUE_TOL)

    def test_nothing_asked(self):
        solution = solve(GramSDP(3, np.eye(3)))
        assert solution.primal == pytest.approx(0.0, abs=VALUE_TOL)

    def test_one_block(self):
        solution = solve(GramSDP.stitching(np.diag([1.0, 2.0]), [[0, 2]]))
        assert solution.status is Status.CERTIFIED
        assert solution.primal == pytest.approx(3.0, rel=1e-6)

    def test_a_zero_objective_with_blocks(self):
        solution = solve(GramSDP.stitching(sp.csr_array((4, 4)), [[0, 2], [2, 2]]))
        assert solution.primal == pytest.approx(0.0, abs=1e-9)

    def test_isolated_nodes_are_fine_where_the_trace_is_small(self):
        constraints = Constraints.on_pairs(4, [[0, 1]], lower=1.0)
        solution = solve(GramSDP(4, np.eye(4), constraints=constraints, centered=True))
        assert solution.primal == pytest.approx(0.5, rel=10 * VALUE_TOL)

    def test_an_operator(self):
        operator = aslinearoperator(np.eye(4))
        solution = solve(GramSDP.unfolding(4, PATH, 1.0, objective=operator))
        assert solution.primal == pytest.approx(5.0, rel=2 * VALUE_TOL)
        assert solution.status is not Status.CERTIFIED, "the Lanczos method proves nothing"

    def test_flat_cliques_are_warned_about(self):
        X = np.random.default_rng(0).standard_normal((5, 2))
        pairs = np.column_stack(np.triu_indices(5, 1))
        squares = np.sum((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2, axis=1)
        solution = solve(GramSDP.unfolding(5, pairs, squares))
        assert any("flat" in warning for warning in solution.warnings)
