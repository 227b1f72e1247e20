"""Before and after every solver: the program that stands for a problem, and the way back."""

import numpy as np
import pytest
import scipy.sparse as sp

from isofold.sdp import ConicSDP, Constraints, DenseSDP, GramSDP, LowRankSDP, Phase, Status
from isofold.sdp.dual.certify import certify_dense
from isofold.sdp.program import Program
from isofold.sdp.reduction import Reduced
from isofold.sdp.solvers.protocol import Iterate
from support.sdp_problems import path


def patches():
    """Two frames and their translations, whose distance is given: nothing else sees them."""
    constraints = Constraints.on_pairs(6, [[2, 5]], lower=4.0, upper=4.0)
    return GramSDP(6, sp.csr_array((6, 6)), constraints=constraints, blocks=[[0, 2], [3, 2]])


def copies():
    return GramSDP.unfolding(4, [[0, 1], [1, 2], [2, 3]], [1.0, 0.0, 1.0])


def test_a_common_translation_of_free_rows_is_the_gauge():
    gauge = Reduced.of(patches()).program.gauge
    np.testing.assert_allclose(gauge, np.array([0, 0, 1, 0, 0, 1]) / np.sqrt(2.0))
    assert Reduced.of(patches(), translation_gauge=False).program.gauge is None


def test_a_translation_that_the_cost_sees_is_none():
    cost = sp.diags_array([0.0, 0, 1, 0, 0, 0], format="csr")
    problem = patches()
    seen = GramSDP(6, cost, constraints=problem.constraints, blocks=problem.blocks)
    assert Reduced.of(seen).program.gauge is None


def test_points_at_distance_zero_are_one():
    reduced = Reduced.of(copies())
    assert reduced.program.size == 3
    assert "merge" in reduced.preflight.warnings[0]
    assert Reduced.of(copies(), merged_points=False).program.size == 4


def test_refusals_come_before_the_preflight():
    """A program that is unbounded as well is refused for what the solver cannot take."""
    apart = GramSDP.unfolding(4, [[0, 1], [2, 3]], [1.0, 1.0])

    def refuse(program):
        assert isinstance(program, Program)
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        Reduced.of(apart, refuse=refuse)


def test_a_solution_is_in_the_signs_and_points_of_the_user():
    known = path(5)
    reduced = Reduced.of(known.problem)
    Y = np.zeros((5, 2))
    Y[:, 1] = np.arange(5) - 2.0
    certificate = certify_dense(reduced.program, Y, known.multipliers)
    iterate = Iterate(
        Y=Y,
        multipliers=known.multipliers,
        objective=certificate.primal,
        residual=0.0,
        phase=Phase.CERTIFICATE,
        n_iter=3,
        certificate=certificate,
        status=Status.CERTIFIED,
    )
    solution = reduced.solution(iterate, tol=1e-6, reason="")
    assert solution.primal == pytest.approx(known.value)
    assert solution.dual >= solution.primal - 1e-9
    assert solution.certificate.posed_bound == solution.dual
    assert (solution.rank, solution.n_iter) == (1, 3)
    np.testing.assert_allclose(np.abs(solution.coordinates[:, 0]), np.abs(Y[:, 1]))


@pytest.mark.parametrize("solver", [LowRankSDP(random_state=0), DenseSDP(), ConicSDP()], ids=repr)
def test_all_solvers_say_the_same_of_a_contradiction(solver):
    solution = solver.solve(GramSDP.unfolding(3, [[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 9.0]))
    assert solution.status is Status.INFEASIBLE
    assert "along the path 0 - 1 - 2" in solution.message
    assert solution.certificate is None
