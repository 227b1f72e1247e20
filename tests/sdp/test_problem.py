"""Problems as data: what is accepted, what is refused and in which words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from isofold.exceptions import InvalidInputError
from isofold.sdp import Constraints, GramSDP, square_constraints
from isofold.sdp.forms import to_dense
from isofold.sdp.program import Program

EYE = sp.eye_array(4, format="csr")
PATH = [[0, 1], [1, 2], [2, 3]]


def test_a_problem_is_frozen():
    problem = GramSDP.unfolding(4, PATH, [1.0, 1.0, 1.0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.n_points = 5


@pytest.mark.parametrize("kind", ["equal", "at_most", "at_least"])
def test_kinds_of_unfolding(kind):
    bounds = GramSDP.unfolding(4, PATH, [1.0, 2.0, 3.0], kind=kind).constraints
    finite_lower, finite_upper = np.isfinite(bounds.lower), np.isfinite(bounds.upper)
    assert np.all(finite_lower == (kind != "at_most"))
    assert np.all(finite_upper == (kind != "at_least"))
    assert np.all(np.isinf(bounds.penalty))


@pytest.mark.parametrize(
    "objective",
    [np.eye(4), np.eye(4, dtype=int), np.eye(4).tolist(), EYE, sp.coo_matrix(np.eye(4))],
    ids=["float", "int", "list", "sparse", "old sparse"],
)
def test_objectives_of_every_kind_give_the_same_program(objective):
    program = Program.of(GramSDP(4, objective, maximize=True, centered=True))
    np.testing.assert_array_equal(to_dense(program.cost), -np.eye(4))
    np.testing.assert_allclose(program.gauge, 0.5)


def test_an_operator_is_kept():
    problem = GramSDP(4, aslinearoperator(np.eye(4)), maximize=True)
    assert problem.has_operator
    np.testing.assert_array_equal(Program.of(problem).cost @ np.ones(4), -np.ones(4))


def test_a_single_number_bounds_all_pairs():
    constraints = Constraints.on_pairs(4, PATH, lower=1.0, upper=2.0, penalty=3.0)
    np.testing.assert_array_equal(constraints.upper, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(constraints.penalty, [3.0, 3.0, 3.0])


@pytest.mark.parametrize("pairs", [[], np.empty((0, 2)), np.empty((0, 2), dtype=int)])
def test_no_pairs_at_all(pairs):
    assert Constraints.on_pairs(3, pairs).forms.n_forms == 0


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([[0, 4]], "Pair 0 is \\(0, 4\\), but the points are 0 to 3"),
        ([[0, 1], [-1, 2]], "Pair 1"),
        ([[0, 1], [2, 2]], "joins point 2 to itself"),
        ([0, 1], "shape"),
        ([[0, 1, 2]], "shape"),
        ([[0.0, 1.0]], "whole numbers"),
        ([[0, 1], [2]], "unequal length"),
        ([["a", "b"]], "whole numbers"),
        ([[0, np.nan]], "whole numbers"),
    ],
)
def test_bad_pairs(pairs, words):
    with pytest.raises(InvalidInputError, match=words):
        Constraints.on_pairs(4, pairs)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"upper": [1.0, np.nan, 1.0]}, "upper is NaN for constraint 1"),
        ({"lower": np.nan}, "lower is NaN"),
        ({"penalty": [1.0, 1.0, np.nan]}, "penalty is NaN"),
        ({"penalty": 0.0}, "positive"),
        ({"penalty": -1.0}, "positive"),
        ({"upper": -1.0}, "no square is negative"),
        ({"lower": 2.0, "upper": 1.0}, "at least 2 and at most 1"),
        ({"lower": np.inf}, "\\+inf"),
        ({"upper": -np.inf}, "-inf"),
        ({"upper": [1.0, 2.0]}, "3 constraints"),
        ({"upper": [[1.0, 2.0, 3.0]]}, "3 constraints"),
        ({"upper": ["a", "b", "c"]}, "real numbers"),
        ({"upper": [1.0, [2.0], 3.0]}, "real numbers"),
        ({"upper": 1j}, "real numbers"),
    ],
)
def test_bad_bounds(bounds, words):
    with pytest.raises(InvalidInputError, match=words):
        Constraints.on_pairs(4, PATH, **bounds)


@pytest.mark.parametrize(
    "squares", [None, [1.0, np.nan, 1.0], [1.0, np.inf, 1.0], [-1.0, 1.0, 1.0]]
)
def test_bad_distances_of_unfolding(squares):
    with pytest.raises(InvalidInputError):
        GramSDP.unfolding(4, PATH, squares)


def asymmetric():
    matrix = np.eye(4)
    matrix[0, 1] = 1.0
    return matrix


def with_entry(value):
    matrix = np.eye(4)
    matrix[2, 2] = value
    return matrix


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (np.eye(3), "n_points=4"),
        (np.ones((4, 3)), "n_points=4"),
        (asymmetric(), "symmetric"),
        (with_entry(np.nan), "NaN"),
        (with_entry(np.inf), "infinite"),
        (np.eye(4) * 1j, "real"),
    ],
)
def test_bad_objectives(wrap, objective, words):
    with pytest.raises(InvalidInputError, match=words):
        GramSDP(4, wrap(objective))


def test_a_complex_operator_is_refused():
    with pytest.raises(InvalidInputError, match="real"):
        GramSDP(4, aslinearoperator(np.eye(4) * 1j))


@pytest.mark.parametrize("n_points", [0, -1, 2.5, True, None])
def test_bad_sizes(n_points):
    with pytest.raises(InvalidInputError, match="n_points"):
        GramSDP(n_points, EYE)
    with pytest.raises(InvalidInputError, match="n_points"):
        Constraints.on_pairs(n_points, PATH)


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([[0, 2], [1, 2]], "share row 1"),
        ([[0, 5]], "ends after row 3"),
        ([[-1, 2]], "before row 0"),
        ([[0, 0]], "is empty"),
        ([[0.0, 2.0]], "whole numbers"),
        ([0, 2], "shape"),
        ([[0, 2], [2]], "unequal length"),
    ],
)
def test_bad_blocks(blocks, words):
    with pytest.raises(InvalidInputError, match=words):
        GramSDP.stitching(EYE, blocks)


def test_blocks_are_sorted():
    problem = GramSDP.stitching(EYE, [[2, 2], [0, 1]])
    np.testing.assert_array_equal(problem.blocks, [[0, 1], [2, 2]])


@pytest.mark.parametrize("objective", [3.0, [1.0, 2.0], np.eye(4)[:3]])
def test_stitching_needs_a_square_matrix(objective):
    with pytest.raises(InvalidInputError):
        GramSDP.stitching(objective, [[0, 1]])


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        (np.ones((3, 2)), "4 rows"),
        (np.ones(4), "4 rows"),
        (np.empty((4, 0)), "at least one column"),
        (np.full((4, 1), np.nan), "NaN"),
        (np.zeros((4, 2)), "zero"),
        (sp.csr_array((4, 2)), "zero"),
    ],
)
def test_bad_bases(basis, words):
    with pytest.raises(InvalidInputError, match=words):
        GramSDP(4, EYE, basis=basis)


@pytest.mark.parametrize("bound", [-1.0, np.nan, np.inf, "large", True])
def test_bad_trace_bounds(bound):
    with pytest.raises(InvalidInputError, match="trace_bound"):
        GramSDP(4, EYE, trace_bound=bound)


def test_parts_that_cannot_be_combined():
    with pytest.raises(InvalidInputError, match="blocks cannot be combined"):
        GramSDP(4, EYE, blocks=[[0, 2]], centered=True)
    with pytest.raises(InvalidInputError, match="on 5 points"):
        GramSDP(4, EYE, constraints=Constraints.on_pairs(5, PATH, upper=1.0))
    with pytest.raises(InvalidInputError, match="on_pairs"):
        GramSDP(4, EYE, constraints=PATH)
    with pytest.raises(InvalidInputError, match="kind"):
        GramSDP.unfolding(4, PATH, 1.0, kind="about")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"factors": np.ones(4)}, "matrix"),
        ({"factors": [[1.0, np.nan]]}, "NaN"),
        ({"factors": sp.csr_array([[1.0, np.inf]])}, "infinite"),
        ({"factors": [[1.0], [1.0, 2.0]]}, "real numbers"),
        ({"factors": np.eye(2), "signs": [1.0]}, "2 factors"),
        ({"factors": np.eye(2), "signs": [1.0, np.nan]}, "2 factors"),
        ({"factors": np.eye(2), "owner": [0.0, 1.0]}, "owner"),
        ({"factors": np.eye(2), "owner": [0, -1]}, "owner"),
        ({"factors": np.eye(2), "upper": [1.0, 2.0, 3.0]}, "2 constraints"),
    ],
)
def test_bad_sums_of_squares(arguments, words):
    with pytest.raises(InvalidInputError, match=words):
        square_constraints(**arguments)


def test_sums_of_squares_are_collected_by_owner():
    constraints = square_constraints(np.eye(3), upper=1.0, owner=[0, 1, 0], signs=[1.0, 1.0, -1.0])
    Y = np.array([[1.0], [2.0], [3.0]])
    np.testing.assert_allclose(constraints.forms.values(Y), [1.0 - 9.0, 4.0])


def test_a_basis_is_made_orthonormal_and_loses_its_null_directions():
    Q = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
    program = Program.of(GramSDP(4, EYE, basis=Q, centered=True))
    assert program.size == 1
    np.testing.assert_allclose(program.basis.T @ program.basis, np.eye(1), atol=1e-14)
    centered = np.array([[1.0], [-1.0], [0.0], [0.0]])
    assert Program.of(GramSDP(4, EYE, basis=centered, centered=True)).gauge is None


def test_the_trace_of_orthonormal_rows_is_known():
    assert Program.of(GramSDP.stitching(EYE, [[0, 2], [2, 2]])).trace_bound == 4.0
    assert Program.of(GramSDP.stitching(EYE, [[0, 2]])).trace_bound is None
