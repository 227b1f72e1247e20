"""What is seen before any iteration: one test for each thing, and for what must not be said."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from scipy.spatial import cKDTree

from isofold.exceptions import UnboundedProblemError
from isofold.sdp import Constraints, GramSDP, square_constraints
from isofold.sdp.forms import PairForms
from isofold.sdp.preflight import contradictions
from isofold.sdp.preflight.inspection import inspect_program
from isofold.sdp.program import Program
from isofold.sdp.rules import RULES

MANY = RULES.all_paths_side + 100
"""Points above which triangles are searched instead of all paths."""


def inspect(problem, rules=RULES):
    return inspect_program(Program.of(problem), rules=rules)


def grid(side, dimensions, *, seed=0, n_neighbors=8):
    """Return the neighbor graph of jittered grid points: connected, with true distances."""
    rng = np.random.default_rng(seed)
    axes = np.meshgrid(*[np.arange(side, dtype=float)] * dimensions)
    X = np.column_stack([axis.ravel() for axis in axes])
    X += 0.2 * rng.standard_normal(X.shape)
    return X, neighbor_pairs(X, n_neighbors)


def neighbor_pairs(X, k):
    _, near = cKDTree(X).query(X, k + 1)
    pairs = np.column_stack([np.repeat(np.arange(len(X)), k), near[:, 1:].ravel()])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def squared(X, pairs):
    return np.sum((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2, axis=1)


class TestUnbounded:
    @pytest.mark.parametrize("kind", ["equal", "at_most"])
    @pytest.mark.parametrize("penalty", [None, 1.0])
    def test_a_disconnected_graph_is_named_with_its_components(self, kind, penalty):
        pairs = [[0, 1], [1, 2], [3, 4]]
        problem = GramSDP.unfolding(6, pairs, 1.0, kind=kind, penalty=penalty)
        with pytest.raises(UnboundedProblemError, match="3 components") as caught:
            inspect(problem)
        assert caught.value.n_components == 3
        for word in ("sizes 1, 2, 3", "DisjointMVU", "upper bounds", "move apart"):
            assert word in str(caught.value)

    def test_only_the_smallest_components_are_listed(self):
        pairs = np.column_stack([np.arange(10), np.arange(10) + 10])
        with pytest.raises(UnboundedProblemError, match=r"sizes 1, 1, 1, 1, 1, \.\.\."):
            inspect(GramSDP.unfolding(30, pairs, 1.0))

    def test_many_isolated_nodes(self):
        """More free directions than are diagonalized densely."""
        with pytest.raises(UnboundedProblemError) as caught:
            inspect(GramSDP.unfolding(600, [[0, 1]], 1.0))
        assert caught.value.n_components == 599

    @pytest.mark.parametrize("n", [2, 700])
    def test_no_pairs_at_all(self, n):
        with pytest.raises(UnboundedProblemError, match="without end") as caught:
            inspect(GramSDP.unfolding(n, [], []))
        assert caught.value.n_components == n

    def test_lower_bounds_do_not_bound(self):
        with pytest.raises(UnboundedProblemError):
            inspect(GramSDP.unfolding(3, [[0, 1], [1, 2]], 1.0, kind="at_least"))

    def test_components_joined_by_a_lower_bound_only(self):
        constraints = Constraints.on_pairs(
            4, [[0, 1], [2, 3], [1, 2]], lower=[1.0, 1.0, 1.0], upper=[1.0, 1.0, np.inf]
        )
        problem = GramSDP(4, np.eye(4), maximize=True, constraints=constraints, centered=True)
        with pytest.raises(UnboundedProblemError, match="2 components"):
            inspect(problem)

    def test_without_centering_a_connected_graph_moves_as_a_whole(self):
        constraints = Constraints.on_pairs(3, [[0, 1], [1, 2]], upper=1.0)
        with pytest.raises(UnboundedProblemError):
            inspect(GramSDP(3, np.eye(3), maximize=True, constraints=constraints))

    @pytest.mark.parametrize("n_pieces", [2, 100])
    def test_an_operator_as_objective(self, n_pieces):
        n = 3 * n_pieces
        pairs = [[i, i + 1] for i in range(n - 1) if i % 3 != 2]
        operator = aslinearoperator(sp.eye_array(n, format="csr"))
        with pytest.raises(UnboundedProblemError) as caught:
            inspect(GramSDP.unfolding(n, pairs, 1.0, objective=operator))
        assert caught.value.n_components == n_pieces
        chain = [[i, i + 1] for i in range(n - 1)]
        assert inspect(GramSDP.unfolding(n, chain, 1.0, objective=operator)).contradiction is None

    @pytest.mark.parametrize("n", [5, 500])
    def test_an_indefinite_objective_without_constraints(self, n):
        diagonal = np.ones(n)
        diagonal[3] = -1.0
        for objective in (sp.diags_array(diagonal), np.diag(diagonal)):
            with pytest.raises(UnboundedProblemError, match="without end"):
                inspect(GramSDP(n, objective))

    def test_factors_that_leave_a_direction(self):
        constraints = square_constraints([[1.0, -1.0, 0.0], [0.0, 1.0, 1.0]], upper=1.0)
        with pytest.raises(UnboundedProblemError, match="1 direction"):
            inspect(GramSDP(3, np.eye(3), maximize=True, constraints=constraints))

    @pytest.mark.parametrize("sparse", [False, True])
    def test_factors_in_a_basis(self, sparse):
        """Two components, and a basis that can tell them apart."""
        Q = np.column_stack([np.kron(np.eye(2), np.ones((3, 1))), np.arange(6.0) ** 2])
        basis = sp.csr_array(Q) if sparse else Q
        pairs = [[0, 1], [1, 2], [3, 4], [4, 5]]
        with pytest.raises(UnboundedProblemError):
            inspect(GramSDP.unfolding(6, pairs, 1.0, kind="at_most", basis=basis))
        joined = GramSDP.unfolding(6, [*pairs, [2, 3]], 1.0, kind="at_most", basis=basis)
        assert inspect(joined).contradiction is None

    def test_free_rows_with_a_negative_objective(self):
        C = sp.diags_array([1.0, 1.0, -1.0]).tocsr()
        with pytest.raises(UnboundedProblemError):
            inspect(GramSDP.stitching(C, [[0, 2]]))

    def test_free_rows_that_only_couple(self):
        """Linear in a row that nothing holds: unbounded although no eigenvalue of it is below 0."""
        C = np.array([[1.0, 0.5], [0.5, 0.0]])
        with pytest.raises(UnboundedProblemError):
            inspect(GramSDP.stitching(sp.csr_array(C), [[0, 1]]))


class TestBounded:
    """What must not be called unbounded."""

    def test_a_connected_graph(self):
        X, pairs = grid(6, 2)
        assert inspect(GramSDP.unfolding(36, pairs, squared(X, pairs))).contradiction is None

    @pytest.mark.parametrize("kind", ["equal", "at_least", "at_most"])
    def test_trace_minimization_of_pieces(self, kind):
        problem = GramSDP.unfolding(6, [[0, 1], [2, 3]], 1.0, kind=kind)
        minimum = GramSDP(6, np.eye(6), constraints=problem.constraints, centered=True)
        assert inspect(minimum).contradiction is None

    @pytest.mark.parametrize("n", [6, 900])
    def test_a_zero_objective(self, n):
        assert inspect(GramSDP(n, sp.csr_array((n, n)))).contradiction is None

    def test_a_singular_laplacian_objective_of_pieces(self):
        laplacian = PairForms(np.array([[0, 1], [2, 3]]), 4).adjoint(np.ones(2))
        constraints = Constraints.on_pairs(4, [[0, 1]], lower=1.0)
        assert inspect(GramSDP(4, laplacian, constraints=constraints)).contradiction is None

    def test_an_objective_that_is_negative_on_the_gauge_only(self):
        n = 600
        objective = np.eye(n) - 2.0 * np.ones((n, n)) / n
        assert inspect(GramSDP(n, objective, centered=True)).contradiction is None

    def test_an_objective_that_does_not_see_the_pieces_move(self):
        """Maximal spread within the pieces, none between them."""
        center = np.eye(3) - 1.0 / 3.0
        problem = GramSDP.unfolding(
            6, [[0, 1], [1, 2], [3, 4], [4, 5]], 1.0, objective=np.kron(np.eye(2), center)
        )
        assert inspect(problem).contradiction is None

    @pytest.mark.parametrize("n_patches", [5, 600])
    @pytest.mark.parametrize("n_pieces", [1, 2])
    def test_stitching_with_translations(self, n_patches, n_pieces):
        """The translations of each piece of a chain of patches are null vectors, uncoupled."""
        inspect(GramSDP.stitching(*chain_of_patches(n_patches, n_pieces)))

    def test_blocks_alone(self):
        assert inspect(GramSDP.stitching(-np.eye(4), [[0, 2], [2, 2]])).contradiction is None

    def test_free_rows_held_by_pairs(self):
        constraints = Constraints.on_pairs(3, [[1, 2]], upper=1.0)
        problem = GramSDP(3, -np.eye(3), blocks=[[0, 2]], constraints=constraints)
        assert inspect(problem).contradiction is None

    def test_weak_factors_are_still_bounds(self):
        constraints = square_constraints(np.diag([1.0, 1e-6]), upper=1.0)
        problem = GramSDP(2, np.eye(2), maximize=True, constraints=constraints)
        assert inspect(problem).contradiction is None


def chain_of_patches(n_patches, n_pieces):
    """Return Σ ‖R_iᵀx + t_i − R_jᵀx' − t_j‖² over neighbors in a chain, cut into pieces."""
    rng = np.random.default_rng(0)
    rows, columns, entries = [], [], []
    count = 0
    for i in range(n_patches - 1):
        if n_pieces == 2 and i == n_patches // 2:
            continue
        for _ in range(3):
            a, b = rng.standard_normal((2, 2))
            rows += [count] * 6
            columns += [3 * i, 3 * i + 1, 3 * i + 2, 3 * i + 3, 3 * i + 4, 3 * i + 5]
            entries += [*a, 1.0, *-b, -1.0]
            count += 1
    F = sp.csr_array((entries, (rows, columns)), shape=(count, 3 * n_patches))
    blocks = np.column_stack([3 * np.arange(n_patches), np.full(n_patches, 2)])
    return sp.csr_array(F.T @ F), blocks


class TestInfeasible:
    def test_contradictory_duplicates(self):
        found = inspect(GramSDP.unfolding(3, [[0, 1], [1, 2], [1, 0]], [1.0, 1.0, 2.0]))
        assert "pair (0, 1)" in found.contradiction
        assert "at least 2 and at most 1" in found.contradiction

    def test_agreeing_duplicates(self):
        found = inspect(GramSDP.unfolding(3, [[0, 1], [1, 2], [1, 0]], [1.0, 1.0, 1.0 + 1e-9]))
        assert found.contradiction is None

    def test_soft_duplicates_never_contradict(self):
        problem = GramSDP.unfolding(3, [[0, 1], [1, 2], [1, 0]], [1.0, 1.0, 2.0], penalty=1.0)
        assert inspect(problem).contradiction is None

    @pytest.mark.parametrize("n", [3, MANY])
    def test_a_violated_triangle(self, n):
        """Sides 1, 1 and 3, the rest of the points on a string."""
        pairs = [[0, 1], [1, 2], [0, 2], *([i, i + 1] for i in range(2, n - 1))]
        squares = [1.0, 1.0, 9.0, *[1.0] * (n - 3)]
        found = inspect(GramSDP.unfolding(n, pairs, squares))
        for words in ("pair (0, 2)", "at least 3 apart", "add up to 2", "triangle inequality"):
            assert words in found.contradiction

    @pytest.mark.parametrize("n", [3, MANY])
    def test_a_degenerate_triangle_is_not_violated(self, n):
        pairs = [[0, 1], [1, 2], [0, 2], *([i, i + 1] for i in range(2, n - 1))]
        squares = [0.01, 0.04, 0.09, *[1.0] * (n - 3)]
        assert inspect(GramSDP.unfolding(n, pairs, squares)).contradiction is None

    def test_a_violated_long_path(self):
        pairs = [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]]
        found = inspect(GramSDP.unfolding(5, pairs, [1.0, 1.0, 1.0, 1.0, 17.0]))
        assert "add up to 4" in found.contradiction
        assert inspect(GramSDP.unfolding(5, pairs, [1.0] * 4 + [15.0])).contradiction is None

    def test_only_hard_bounds_count(self):
        constraints = Constraints.on_pairs(
            3,
            [[0, 1], [1, 2], [0, 2]],
            lower=[1.0, 1.0, 9.0],
            upper=[1.0, 1.0, 9.0],
            penalty=[np.inf, 1.0, np.inf],
        )
        problem = GramSDP(3, np.eye(3), maximize=True, constraints=constraints, centered=True)
        assert inspect(problem).contradiction is None

    @pytest.mark.parametrize("n", [4, MANY])
    def test_points_forced_together_that_must_be_apart(self, n):
        pairs = [[0, 1], [1, 2], [2, 3], [0, 3], *([i, i + 1] for i in range(3, n - 1))]
        squares = [0.0, 0.0, 0.0, 0.5, *[1.0] * (n - 4)]
        found = inspect(GramSDP.unfolding(n, pairs, squares))
        assert "pair (0, 3)" in found.contradiction
        assert "add up to 0" in found.contradiction

    def test_merged_points_shorten_paths(self):
        pairs = [[0, 1], [1, 2], [2, 3], [0, 3]]
        found = inspect(GramSDP.unfolding(4, pairs, [1.0, 0.0, 1.0, 5.0]))
        assert "add up to 2" in found.contradiction

    def test_a_clique_that_no_points_have(self):
        """Three unit vectors at mutual distance 2 from each other cannot be: 1 from the fourth."""
        pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
        found = inspect(GramSDP.unfolding(4, pairs, [1.0, 1.0, 1.0, 3.9, 3.9, 3.9]))
        assert "(0, 1, 2, 3)" in found.contradiction
        assert "negative eigenvalue" in found.contradiction

    def test_sums_of_squares_below_zero(self):
        problem = GramSDP(2, np.eye(2), constraints=square_constraints(np.eye(2), upper=-1.0))
        assert "not negative" in inspect(problem).contradiction

    def test_a_basis_that_cannot_part_a_pair(self):
        pieces = np.kron(np.eye(2), np.ones((2, 1)))
        found = inspect(GramSDP.unfolding(4, [[0, 1], [1, 2], [2, 3]], 1.0, basis=pieces))
        assert "form 0 must be at least 1" in found.contradiction

    def test_a_sum_of_nothing(self):
        constraints = square_constraints([[1.0, 0.0], [0.0, 1e-17]], lower=1.0)
        assert "form 1" in inspect(GramSDP(2, np.eye(2), constraints=constraints)).contradiction

    @pytest.mark.parametrize(
        ("pair", "bound", "words"), [([0, 1], 1.0, "is 2"), ([0, 2], 5.0, "at most 4")]
    )
    def test_distances_that_orthonormal_rows_do_not_have(self, pair, bound, words):
        constraints = Constraints.on_pairs(4, [pair], lower=bound, upper=bound)
        problem = GramSDP(4, np.eye(4), blocks=[[0, 2], [2, 2]], constraints=constraints)
        assert words in inspect(problem).contradiction

    def test_contradiction_comes_before_boundedness(self):
        found = inspect(GramSDP.unfolding(5, [[0, 1], [0, 1]], [1.0, 2.0]))
        assert found.contradiction is not None

    @pytest.mark.parametrize("seed", range(5))
    def test_triangles_by_intervals_are_triangles_by_loops(self, seed, monkeypatch):
        """Random bounds: the fast search finds exactly what three loops find."""
        rng = np.random.default_rng(seed)
        n = 25
        pairs = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.4])
        length = rng.uniform(0.5, 1.3, len(pairs))
        table = np.full((n, n), np.inf)
        table[pairs[:, 0], pairs[:, 1]] = table[pairs[:, 1], pairs[:, 0]] = length
        expected = sum(
            any(table[i, k] + table[k, j] < d * (1 - 1e-5) for k in range(n))
            for (i, j), d in zip(pairs, length, strict=True)
        )
        monkeypatch.setattr(contradictions, "CANDIDATES_AT_ONCE", 50)
        found = inspect(
            GramSDP.unfolding(n, pairs, length**2), rules=replace(RULES, all_paths_side=0)
        )
        assert f"({expected} such pair(s) seen)" in (found.contradiction or "(0 such pair(s) seen)")


class TestStrictness:
    def test_distance_zero(self):
        pairs = [[0, 1], [1, 2], [2, 3]]
        (warning,) = inspect(GramSDP.unfolding(4, pairs, [1.0, 0.0, 0.0])).warnings
        assert "2 pair(s)" in warning
        assert "merge" in warning

    def test_all_distances_zero(self):
        found = inspect(GramSDP.unfolding(3, [[0, 1], [1, 2]], 0.0))
        assert found.contradiction is None
        assert "2 pair(s)" in found.warnings[0]

    @pytest.mark.parametrize("dimensions", [1, 2, 3])
    def test_a_complete_graph_of_too_many_points(self, dimensions):
        X = np.random.default_rng(0).standard_normal((dimensions + 2, dimensions))
        pairs = np.column_stack(np.triu_indices(len(X), 1))
        (warning,) = inspect(GramSDP.unfolding(len(X), pairs, squared(X, pairs))).warnings
        assert f"span {dimensions} dimension(s)" in warning
        assert "multipliers of the hard form do not exist in general" in warning
        assert "shifted problem" in warning

    def test_a_simplex_is_strict(self):
        X = np.random.default_rng(0).standard_normal((4, 3))
        pairs = np.column_stack(np.triu_indices(4, 1))
        assert inspect(GramSDP.unfolding(4, pairs, squared(X, pairs))).warnings == ()

    def test_paths_and_cycles_are_strict(self):
        pairs = [[i, (i + 1) % 9] for i in range(9)]
        assert inspect(GramSDP.unfolding(9, pairs, 1.0)).warnings == ()

    @pytest.mark.parametrize(("side", "dimensions"), [(12, 2), (5, 3)])
    def test_neighbor_graphs(self, side, dimensions):
        X, pairs = grid(side, dimensions, n_neighbors=14)
        (warning,) = inspect(GramSDP.unfolding(len(X), pairs, squared(X, pairs))).warnings
        assert f"span {dimensions} dimension(s)" in warning
        n_flat, n_tried = (int(warning.split()[k]) for k in (0, 2))
        assert 0 < n_flat <= n_tried <= 64

    @pytest.mark.parametrize("options", [{"penalty": 1.0}, {"kind": "at_most"}])
    def test_soft_and_one_sided_forms_are_strict(self, options):
        X, pairs = grid(6, 2)
        assert inspect(GramSDP.unfolding(36, pairs, squared(X, pairs), **options)).warnings == ()

    def test_sums_of_squares_that_vanish(self):
        constraints = square_constraints(np.eye(2), upper=[0.0, 1.0])
        (warning,) = inspect(GramSDP(2, np.eye(2), constraints=constraints)).warnings
        assert "1 sum(s)" in warning


class TestSmall:
    def test_one_point(self):
        for problem in (GramSDP.unfolding(1, [], []), GramSDP(1, np.eye(1))):
            found = inspect(problem)
            assert found.contradiction is None
            assert found.warnings == ()

    def test_one_point_that_nothing_holds(self):
        with pytest.raises(UnboundedProblemError):
            inspect(GramSDP(1, np.eye(1), maximize=True))

    @pytest.mark.parametrize("kind", ["equal", "at_most"])
    def test_a_single_pair(self, kind):
        found = inspect(GramSDP.unfolding(2, [[0, 1]], 1.0, kind=kind))
        assert found.contradiction is None
        assert found.warnings == ()

    def test_constraints_that_bound_nothing(self):
        constraints = Constraints.on_pairs(3, [[0, 1]])
        assert inspect(GramSDP(3, np.eye(3), constraints=constraints)).contradiction is None


def test_the_look_is_short():
    """20,000 points, 100,000 pairs: a tenth of a second of processor time here, room for others."""
    X, pairs = grid(141, 2)
    program = Program.of(GramSDP.unfolding(len(X), pairs, squared(X, pairs)))
    begin = time.process_time()
    inspect_program(program)
    assert time.process_time() - begin < 2.0
