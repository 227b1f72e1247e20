"""The start of kept lengths on a sheet."""

from dataclasses import replace

import numpy as np
import pytest

from isofold.datasets import swiss_roll
from isofold.neighbors import build_graph
from isofold.sdp import GramSDP, LowRankSDP, Status
from isofold.sdp.program import Program
from isofold.sdp.solvers.augmented.restoration import keep_lengths
from isofold.sdp.solvers.augmented.sheet import Net, flat_start


def roll_program(n=600):
    graph = build_graph(swiss_roll(n, width=21.0, uniform=True, random_state=0).X, n_neighbors=12)
    problem = GramSDP.unfolding(n, graph.edges, graph.lengths**2)
    program = Program.of(problem)
    return program.with_envelope(program.envelope.in_units(program.envelope.length_unit))


def grid(n=12):
    return np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2) * 1.0


def test_the_matrix_of_the_net_is_that_of_least_squares():
    """Against the Hessian of ½Σ t‖δ‖² + ½Σ s(δ₀·δ)², column by column."""
    forms = roll_program(40).forms
    rng = np.random.default_rng(0)
    Y, D = rng.standard_normal((2, 40, 2))
    tension, stiffness = rng.uniform(size=(2, forms.n_forms))
    image = (Net(forms).matrix(Y, tension, stiffness) @ D.ravel()).reshape(40, 2)
    i, j = forms.pairs.T
    delta, change = Y[i] - Y[j], D[i] - D[j]
    force = tension[:, None] * change
    force += (stiffness * np.sum(delta * change, axis=1))[:, None] * delta
    expected = np.zeros((40, 2))
    np.add.at(expected, i, force)
    np.add.at(expected, j, -force)
    np.testing.assert_allclose(image, expected, atol=1e-10)


def test_lengths_of_a_plane_are_kept_by_multipliers_in_equilibrium():
    X = grid()
    graph = build_graph(X, n_neighbors=8)
    program = Program.of(GramSDP.unfolding(len(X), graph.edges, graph.lengths**2))
    rng = np.random.default_rng(0)
    start = np.column_stack([X, np.zeros(len(X))]) + 0.05 * rng.standard_normal((len(X), 3))
    weights = np.full(graph.n_edges, 1e3)
    flat, w = flat_start(program, start, weights, 1.0)
    lengths = np.sqrt(program.forms.values(flat))
    assert np.median(np.abs(lengths / graph.lengths - 1.0)) < 5e-3
    # The gradient of the step: stresses balance the pull of the variance.
    force = program.forms.adjoint(w) @ flat - flat
    assert np.linalg.norm(force) < 1e-2 * np.linalg.norm(flat)


@pytest.mark.parametrize("dimension", [3, 6])
def test_a_cloud_is_no_sheet(dimension):
    X = np.random.default_rng(0).standard_normal((80, dimension))
    graph = build_graph(X, n_neighbors=8)
    program = Program.of(GramSDP.unfolding(80, graph.edges, graph.lengths**2))
    assert flat_start(program, X, np.ones(graph.n_edges), 1.0) is None


def test_the_gap_is_that_of_the_step_that_is_named():
    """P and D of the penalties at the center that the certificate names, from their definitions."""
    graph = build_graph(swiss_roll(500, width=21.0, uniform=True, random_state=0).X, n_neighbors=12)
    squared = graph.lengths**2
    solution = LowRankSDP(rank=8, random_state=0).solve(
        GramSDP.unfolding(500, graph.edges, squared)
    )
    assert solution.status is Status.CERTIFIED
    c = solution.certificate
    Y, (i, j) = solution.coordinates, graph.edges.T
    error = np.sum((Y[i] - Y[j]) ** 2, axis=1) - squared
    primal = np.sum(Y**2) - c.center @ error - 0.5 * np.sum(c.penalty * error**2)
    w = c.multipliers
    dual = w @ squared + 0.5 * np.sum((w - c.center) ** 2 / c.penalty)
    np.testing.assert_allclose([c.primal, c.dual], [primal, dual], rtol=1e-9)
    laplacian = np.zeros((500, 500))
    np.add.at(laplacian, (i, j), -w)
    np.add.at(laplacian, (j, i), -w)
    laplacian -= np.diag(laplacian.sum(axis=1))
    # All eigenvalues but that of the ones are at least one.
    assert np.linalg.eigvalsh(laplacian)[1] >= 1.0 - 1e-9


def test_lengths_of_a_roll_are_kept_finely_and_the_gap_tells_the_price():
    graph = build_graph(
        swiss_roll(1000, width=21.0, uniform=True, random_state=1).X, n_neighbors=12
    )
    problem = GramSDP.unfolding(1000, graph.edges, graph.lengths**2)

    def solved(**options):
        solution = LowRankSDP(random_state=0, **options).solve(problem)
        Y = solution.coordinates
        lengths = np.linalg.norm(Y[graph.edges[:, 0]] - Y[graph.edges[:, 1]], axis=1)
        return solution, np.abs(lengths / graph.lengths - 1.0)

    usual, errors = solved()
    fine, fine_errors = solved(violation_tol=2e-4, tol=1e-2)
    assert np.median(fine_errors) <= 2e-4 < np.median(errors)
    assert fine.max_violation < usual.max_violation
    # What is certified is the value beside the bound of the longer lengths before.
    assert fine.gap == pytest.approx(abs(fine.primal - fine.dual) / abs(fine.dual), rel=0.1)
    assert (fine.status is Status.CERTIFIED) == (fine.gap <= 1e-2)


def test_newton_finds_lengths_that_can_be_kept_exactly():
    program = roll_program(100)
    rng = np.random.default_rng(0)
    truth = np.zeros((100, 6))
    truth[:, :3] = rng.standard_normal((100, 3))
    values = program.forms.values(truth)
    envelope = program.envelope.augmented(np.zeros(len(values)), np.ones(len(values)))
    exact = program.with_envelope(replace(envelope, lower=values, upper=values))
    start = truth + 0.01 * rng.standard_normal(truth.shape)
    weights = 1.0 / np.maximum(values, 0.05)
    errors = [
        np.abs(exact.forms.values(Y) / values - 1.0) for Y in keep_lengths(exact, start, weights)
    ]
    assert all(np.diff([weights @ (values * e) ** 2 for e in errors]) < 0.0)
    assert np.median(errors[-1]) < 1e-6
