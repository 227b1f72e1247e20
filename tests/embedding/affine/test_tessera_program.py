"""The program of TesseraMap against double loops over points, and against a general solver."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from isofold.embedding.affine.seams import choose_links
from isofold.embedding.affine.span import span_of_kernel
from isofold.embedding.affine.tessera_program import pose_tesserae, stretch_objective
from isofold.neighbors import build_graph
from isofold.patches.tesserae import cut_tesserae
from isofold.sdp import ConicSDP, DenseSDP, Status
from isofold.sdp.posing.two_stage import stretch
from isofold.sdp.program import Program
from isofold.similarity.kernel_function import KernelFunction
from support.sdp_checks import assert_kkt

ULP = np.finfo(float).eps

ROUNDING = 1e-11
"""Sums of a thousand terms of both signs, with squared distances that differ by a thousand."""

TOL = 1e-6
"""The gap asked for of either solver."""

AGREEMENT = 4 * TOL
"""Two gaps."""


class Case:
    """Points of a bent strip in pieces along its length."""

    def __init__(self, seed, *, n=60, c=6, d=3, r=2, k=6):
        rng = np.random.default_rng(seed)
        t = 2.5 * rng.random(n)
        self.X = np.column_stack([np.cos(t), np.sin(t), rng.random(n)])
        if d > 3:
            self.X = np.column_stack([self.X, 0.1 * rng.standard_normal((n, d - 3))])
        self.labels = np.minimum((t / 2.5 * c).astype(int), c - 1)
        self.graph = build_graph(self.X, n_neighbors=k, n_jobs=1)
        self.tesserae = cut_tesserae(self.X, self.labels, r)
        self.r = r

    def links(self, n_links=None):
        return choose_links(self.X, self.graph, self.labels, n_links or self.r)

    def shift(self):
        """Return the poses' rows that are translations, as a vector."""
        common = np.zeros(self.tesserae.n_rows)
        common[self.tesserae.first_row + self.tesserae.ranks] = 1.0
        return common

    def naive_objective(self, rows, *, within):
        """Return the mean of (u_i − u_j)ᵀ(u_i − u_j)/τ² over pairs, one after the other."""
        edges = set(map(tuple, self.graph.edges))
        total, count = np.zeros((rows.shape[1], rows.shape[1])), 0
        for i in range(len(rows)):
            for j in range(i + 1, len(rows)):
                if (i, j) in edges or (not within and self.labels[i] == self.labels[j]):
                    continue
                difference = rows[i] - rows[j]
                total += np.outer(difference, difference) / np.sum((self.X[i] - self.X[j]) ** 2)
                count += 1
        return total / count


def functions_of_low_rank(X):
    kernel = KernelFunction("poly", degree=2).matrix(X - X.mean(axis=0), X - X.mean(axis=0))
    return span_of_kernel(kernel).functions


@pytest.mark.parametrize("d", [3, 20], ids=["narrow", "wide"])
def test_the_objective_is_the_double_loop(d):
    case = Case(0, d=d)
    expected = case.naive_objective(case.tesserae.matrix.toarray(), within=False)
    found = stretch_objective(case.X, case.tesserae, case.graph, n_jobs=1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING * np.abs(expected).max())


def test_blocks_and_threads_change_no_byte(monkeypatch):
    case = Case(1)
    whole = stretch_objective(case.X, case.tesserae, case.graph, n_jobs=1)
    threads = stretch_objective(case.X, case.tesserae, case.graph, n_jobs=2)
    assert whole.tobytes() == threads.tobytes()
    monkeypatch.setattr("isofold.embedding.affine.tessera_program.TILE_NUMBERS", 50)
    parts = stretch_objective(case.X, case.tesserae, case.graph, n_jobs=1)
    np.testing.assert_allclose(parts, whole, rtol=0, atol=ROUNDING * np.abs(whole).max())


def test_pieces_of_all_ranks():
    """Single points, pairs and flat pieces among others, numbered in no order."""
    case = Case(2)
    case.labels = np.random.default_rng(2).permutation(np.minimum(np.arange(60) // 2, 12))
    case.labels[np.flatnonzero(case.labels == 4)[0]] = 13
    case.tesserae = cut_tesserae(case.X, case.labels, 2)
    assert {0, 1, 2} <= set(case.tesserae.ranks)
    expected = case.naive_objective(case.tesserae.matrix.toarray(), within=False)
    found = stretch_objective(case.X, case.tesserae, case.graph, n_jobs=1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING * np.abs(expected).max())


def test_projected_rows_are_those_of_the_span():
    case = Case(3)
    E = functions_of_low_rank(case.X)
    rows = E @ E.T @ case.tesserae.matrix.toarray()
    links = case.links()
    problem = pose_tesserae(case.X, case.tesserae, case.graph, links, functions=E, n_jobs=1)
    # Pieces bend in the span, so that pairs within them count too.
    expected = case.naive_objective(rows, within=True)
    size = np.abs(expected).max()
    np.testing.assert_allclose(problem.objective, expected, rtol=0, atol=ROUNDING * size)
    found = problem.constraints.forms.factors
    expected = rows[links.pairs[:, 0]] - rows[links.pairs[:, 1]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("is_projected", [False, True], ids=["full", "low rank"])
def test_a_common_translation_is_seen_by_nothing(is_projected):
    case = Case(4)
    functions = functions_of_low_rank(case.X) if is_projected else None
    problem = pose_tesserae(
        case.X, case.tesserae, case.graph, case.links(), functions=functions, n_jobs=1
    )
    common = case.shift()
    M = np.asarray(problem.objective)
    np.testing.assert_array_equal(M, M.T)
    assert np.abs(M @ common).max() <= 4 * ULP * np.abs(M).max()
    program = Program.of(problem).with_translation_gauge()
    assert program.gauge is not None
    np.testing.assert_allclose(program.gauge, common / np.linalg.norm(common), rtol=ULP)


def naive_links(X, graph, labels, n_links):
    """Return for every two tesserae the shortest edge in each part of their seam."""
    seams = {}
    for (i, j), length in zip(graph.edges, graph.lengths, strict=True):
        if labels[i] != labels[j]:
            seams.setdefault(tuple(sorted((labels[i], labels[j]))), []).append((length, i, j))
    chosen = set()
    for seam in seams.values():
        edges = sorted(seam)
        if len(edges) <= n_links:
            chosen |= {(i, j) for _, i, j in edges}
            continue
        middles = np.array([(X[i] + X[j]) / 2 for _, i, j in edges])
        middles = middles - middles.mean(axis=0)
        axis = np.linalg.eigh(middles.T @ middles)[1][:, -1]
        place = middles @ axis
        part = (place - place.min()) / np.ptp(place) * n_links
        for number in range(n_links):
            inside = (part >= number) & ((part < number + 1) | (number == n_links - 1))
            if inside.any():
                chosen.add(edges[int(np.argmax(inside))][1:])
    return chosen


@pytest.mark.parametrize("n_links", [1, 2, 3, 4, 100])
def test_links_are_the_shortest_edges_along_every_seam(n_links):
    case = Case(5, n=80)
    links = case.links(n_links)
    found = {tuple(pair) for pair in links.pairs}
    assert len(found) == len(links.pairs)
    assert found == naive_links(case.X, case.graph, case.labels, n_links)
    lengths = np.linalg.norm(case.X[links.pairs[:, 0]] - case.X[links.pairs[:, 1]], axis=1)
    np.testing.assert_allclose(links.lengths, lengths, rtol=1e-14)
    sides = np.sort(case.labels[links.pairs], axis=1)
    assert np.all(sides[:, 0] != sides[:, 1])
    # Sorted by tesserae, so that the program does not depend on the order of edges.
    assert np.all(np.diff(sides[:, 0] * 100 + sides[:, 1]) >= 0)
    counts = np.unique(sides, axis=0, return_counts=True)[1]
    assert counts.max() <= n_links


def test_one_tessera_has_no_links():
    case = Case(6)
    links = choose_links(case.X, case.graph, np.zeros(len(case.X), dtype=int), 2)
    assert links.pairs.shape == (0, 2)
    assert links.lengths.shape == (0,)


def test_links_hold_squared_lengths_of_the_points():
    """At poses that leave every point where it is (three axes), each link has its own length."""
    case = Case(7, r=3)
    links = case.links()
    problem = pose_tesserae(case.X, case.tesserae, case.graph, links, n_jobs=1)
    poses = np.linalg.lstsq(case.tesserae.matrix.toarray(), case.X, rcond=None)[0]
    squared = np.sum((case.X[links.pairs[:, 0]] - case.X[links.pairs[:, 1]]) ** 2, axis=1)
    np.testing.assert_allclose(problem.constraints.forms.values(poses), squared, rtol=1e-10)
    np.testing.assert_allclose(problem.constraints.upper, squared, rtol=1e-14)
    np.testing.assert_array_equal(problem.constraints.lower, problem.constraints.upper)
    assert np.all(np.isinf(problem.constraints.penalty))
    # The blocks of these poses are rotations, and the objective is one: nothing is stretched.
    for first, size in problem.blocks:
        own = poses[first : first + size]
        np.testing.assert_allclose(own @ own.T, np.eye(size), atol=1e-10)
    assert np.sum(problem.objective * (poses @ poses.T)) == pytest.approx(1.0, rel=1e-10)


def with_soft_links(problem, weight):
    """Return the maximum of ⟨M, B⟩ − λ·mean (length²/τ² − 1)²."""
    constraints = problem.constraints
    penalty = 2.0 * weight / (len(constraints.upper) * constraints.upper**2)
    return replace(problem, constraints=replace(constraints, penalty=penalty))


@pytest.mark.parametrize("is_projected", [False, True], ids=["full", "low rank"])
def test_the_optimum_is_that_of_a_general_solver(is_projected):
    case = Case(8)
    functions = functions_of_low_rank(case.X) if is_projected else None
    problem = pose_tesserae(
        case.X, case.tesserae, case.graph, case.links(), functions=functions, n_jobs=1
    )
    soft = with_soft_links(problem, 40.0)
    ours, theirs = DenseSDP(tol=TOL).solve(soft), ConicSDP(tol=TOL).solve(soft)
    assert_kkt(soft, ours, TOL)
    assert ours.primal == pytest.approx(theirs.primal, rel=AGREEMENT)
    assert ours.dual >= theirs.primal * (1 - ROUNDING)


def test_unfolded_pieces_stay_rigid_and_linked():
    case = Case(8)
    problem = pose_tesserae(case.X, case.tesserae, case.graph, case.links(), n_jobs=1)
    result = stretch(problem, slack=0.05, solver=DenseSDP(tol=TOL))
    assert result.solution.status is Status.CERTIFIED
    assert result.error <= 0.06
    Y = case.tesserae.matrix @ result.solution.coordinates
    for number in range(6):
        own = case.labels == number
        flat = pdist(case.tesserae.local[own])
        # Rows of rotations are orthonormal to some 1e-12.
        np.testing.assert_allclose(pdist(Y[own]), flat, atol=1e-10)
    # What is stretched is what the program says, and it is more than in the bent strip.
    edges = set(map(tuple, case.graph.edges))
    ratios = [
        np.sum((Y[i] - Y[j]) ** 2) / np.sum((case.X[i] - case.X[j]) ** 2)
        for i in range(len(Y))
        for j in range(i + 1, len(Y))
        if (i, j) not in edges and case.labels[i] != case.labels[j]
    ]
    reached = np.sum(problem.objective * result.solution.gram)
    assert reached == pytest.approx(np.mean(ratios), rel=1e-9)
    assert reached > 1.0


def test_hard_links_of_a_chain_of_pieces():
    """One link between neighbors of a chain leaves every piece free to turn: strictly feasible."""
    case = Case(9)
    links = case.links(1)
    chain = np.flatnonzero(np.diff(np.sort(case.labels[links.pairs], axis=1), axis=1)[:, 0] == 1)
    links = type(links)(links.pairs[chain], links.lengths[chain])
    assert len(chain) == 5
    problem = pose_tesserae(case.X, case.tesserae, case.graph, links, n_jobs=1)
    ours, theirs = DenseSDP(tol=TOL).solve(problem), ConicSDP(tol=TOL).solve(problem)
    assert_kkt(problem, ours, TOL)
    assert ours.primal == pytest.approx(theirs.primal, rel=AGREEMENT)
    assert ours.dual >= theirs.primal * (1 - AGREEMENT)


def test_points_alone_are_maximum_stretch_of_points():
    """Every point a tessera: the program of points, without rotations, with a mean of zero."""
    case = Case(10, n=12, k=2)
    labels = np.arange(12)
    tesserae = cut_tesserae(case.X, labels, 2)
    links = choose_links(case.X, case.graph, labels, 1)
    np.testing.assert_array_equal(links.pairs, case.graph.edges)
    problem = pose_tesserae(case.X, tesserae, case.graph, links, n_jobs=1)
    assert problem.centered
    case.tesserae, case.labels = tesserae, labels
    expected = case.naive_objective(np.eye(12), within=False)
    np.testing.assert_allclose(
        problem.objective, expected, rtol=0, atol=ROUNDING * np.abs(expected).max()
    )
