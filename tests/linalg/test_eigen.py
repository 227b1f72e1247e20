"""Extreme eigenpairs: known answers, three solvers with one answer, signs, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import laplacian
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator

from isofold.exceptions import ConvergenceError, InvalidInputError, MemoryLimitError
from isofold.linalg import _lanczos, deterministic_signs, eigen, eigh_extreme
from support.quick import quick_are, quick_first

# Both solvers are backward stable: eigenvalues to a few hundred eps of the norm.
VALUE_TOL = 1e-12
# Eigenvectors lose the ratio of norm to gap. It is at most 4 / (2 - 2 cos(pi/200)) = 1.6e4 in the
# matrices below: 1.6e4 times a few hundred eps.
VECTOR_TOL = 1e-8
# float32 rounds values of size four once.
SINGLE_TOL = 4 * np.finfo(np.float32).eps


def path_laplacian(n):
    """Laplacian of a path; eigenvalues 2 - 2 cos(pi j / n), eigenvectors are cosines."""
    return laplacian(sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1])).tocsr()


def distinct_symmetric(n, seed):
    """A symmetric matrix with eigenvalues -n/2 .. n/2 one apart, and its eigenvectors."""
    rng = np.random.RandomState(seed)
    vectors, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.arange(n) - n // 2
    return vectors @ np.diag(values) @ vectors.T, values, vectors


@pytest.mark.parametrize("solver", ["dense", "iterative"])
@pytest.mark.parametrize("form", [lambda A: A.toarray(), sp.csr_matrix, sp.coo_array])
def test_smallest_pairs_of_a_path_are_cosines(solver, form):
    n = 200
    j = np.arange(4)
    values, vectors = eigh_extreme(form(path_laplacian(n)), 4, which="smallest", solver=solver)
    np.testing.assert_allclose(values, 2 - 2 * np.cos(np.pi * j / n), rtol=0, atol=VALUE_TOL)
    cosines = np.cos(np.pi * (np.arange(n)[:, None] + 0.5) * j / n)
    expected = deterministic_signs(cosines / np.linalg.norm(cosines, axis=0))
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=VECTOR_TOL)


@pytest.mark.parametrize(
    ("n", "which"),
    quick_first([(30, "largest"), (30, "smallest"), (600, "smallest"), (600, "largest")], 3),
)
def test_dense_sparse_and_operator_agree_including_signs(n, which):
    A, true_values, _ = distinct_symmetric(n, seed=n)
    A = (A + A.T) / 2
    expected = np.sort(true_values)[::-1][:3] if which == "largest" else np.sort(true_values)[:3]
    reference = eigh_extreme(A, 3, which=which, solver="dense")
    np.testing.assert_allclose(reference[0], expected, rtol=0, atol=VALUE_TOL * n)
    for form in (np.asarray, sp.csc_array, aslinearoperator):
        for solver in ("auto", "iterative", "dense"):
            values, vectors = eigh_extreme(form(A), 3, which=which, solver=solver)
            np.testing.assert_allclose(values, expected, rtol=0, atol=VALUE_TOL * n)
            np.testing.assert_allclose(vectors, reference[1], rtol=0, atol=VECTOR_TOL)


def test_large_dense_matrix_takes_the_iterative_path_to_the_same_answer(monkeypatch):
    A, _, _ = distinct_symmetric(120, seed=1)
    A = (A + A.T) / 2
    reference = eigh_extreme(A, 2)
    monkeypatch.setattr(eigen, "SMALL_SIDE", 10)
    monkeypatch.setattr(eigen, "LARGE_DENSE_SIDE", 100)
    monkeypatch.setattr(eigen, "_lapack", None)
    values, vectors = eigh_extreme(A, 2)
    np.testing.assert_allclose(values, reference[0], rtol=0, atol=120 * VALUE_TOL)
    np.testing.assert_allclose(vectors, reference[1], rtol=0, atol=VECTOR_TOL)


@given(st.integers(1, 25), st.data())
def test_all_eigenpairs_rebuild_the_matrix(n, data):
    k = data.draw(st.integers(1, n))
    seed = data.draw(st.integers(0, 2**16))
    A = np.random.RandomState(seed).normal(size=(n, n))
    A = A + A.T
    largest, _ = eigh_extreme(A, k)
    smallest, _ = eigh_extreme(A, n, which="smallest")
    np.testing.assert_allclose(largest, smallest[::-1][:k], rtol=0, atol=VALUE_TOL * n)
    values, vectors = eigh_extreme(A, n)
    np.testing.assert_allclose(vectors * values @ vectors.T, A, rtol=0, atol=VALUE_TOL * n)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), rtol=0, atol=VALUE_TOL)


@pytest.mark.parametrize("n_components", [2, 7])
def test_repeated_eigenvalue_zero_is_found_as_often_as_a_graph_has_components(n_components):
    L = sp.block_diag([path_laplacian(100)] * n_components, format="csr")
    values, vectors = eigh_extreme(L, n_components + 1, which="smallest", solver="iterative")
    np.testing.assert_allclose(values[:-1], 0.0, rtol=0, atol=VALUE_TOL)
    assert values[-1] == pytest.approx(2 - 2 * np.cos(np.pi / 100), abs=VALUE_TOL)
    np.testing.assert_allclose(L @ vectors[:, :-1], 0.0, rtol=0, atol=VECTOR_TOL)
    np.testing.assert_allclose(
        vectors.T @ vectors, np.eye(n_components + 1), rtol=0, atol=VECTOR_TOL
    )


def normalized_adjacency(n):
    """Adjacency of a path over the square roots of degrees; its largest eigenvalue is one."""
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1])
    roots = sp.diags_array(1.0 / np.sqrt(path.sum(axis=0)))
    return roots @ path @ roots


@pytest.fixture(scope="module")
def repeated():
    """Both ends of the spectrum, 1 and -1, are repeated 40 times."""
    A = sp.block_diag([normalized_adjacency(20)] * 40, format="csr")
    return A, np.linalg.eigvalsh(A.toarray())


@pytest.mark.parametrize("form", [sp.csr_array, aslinearoperator, sp.csr_array.toarray])
@pytest.mark.parametrize("n_vectors", quick_are([1, 3, 45], [1, 2, 3, 10, 45]))
@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_no_copy_of_a_repeated_eigenvalue_is_missed(repeated, form, n_vectors, which):
    A, every = repeated
    expected = every[::-1][:n_vectors] if which == "largest" else every[:n_vectors]
    values, vectors = eigh_extreme(form(A), n_vectors, which=which, solver="iterative")
    np.testing.assert_allclose(values, expected, rtol=0, atol=VALUE_TOL)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_vectors), rtol=0, atol=VALUE_TOL)
    np.testing.assert_allclose(A @ vectors, vectors * values, rtol=0, atol=VALUE_TOL)


def test_repeated_eigenvalues_below_zero_are_not_missed():
    A = sp.diags_array(np.repeat([-1.0, -2.0, -3.0], [5, 5, 600]))
    values, _ = eigh_extreme(A, 8)
    np.testing.assert_allclose(values, [-1.0] * 5 + [-2.0] * 3, rtol=0, atol=VALUE_TOL)


def test_smallest_pairs_without_a_dominating_diagonal():
    # Second differences annihilate constant and linear vectors. Gershgorin's bound is -4 at a norm
    # of 16: from there Lanczos does not converge, and the side is too large for LAPACK.
    n = eigen.FALLBACK_SIDE + 1
    D = sp.diags_array(
        [np.ones(n - 2), -2.0 * np.ones(n - 2), np.ones(n - 2)],
        offsets=[0, 1, 2],
        shape=(n - 2, n),
    )
    A = (D.T @ D).tocsr()
    values, vectors = eigh_extreme(A, 2, which="smallest")
    np.testing.assert_allclose(values, 0.0, rtol=0, atol=16 * VALUE_TOL)
    # The next eigenvalue, about (4.73 / n)^4 = 8e-13, is near zero as well: A annihilates the
    # vectors, but which ones they are is not determined.
    np.testing.assert_allclose(A @ vectors, 0.0, rtol=0, atol=16 * VALUE_TOL)


def test_a_zero_that_rounding_splits_into_many_is_found():
    # One zero for each of 300 separate groups, about 1e-16 apart.
    rng = np.random.RandomState(0)
    blocks = []
    for _ in range(300):
        weights = rng.uniform(size=(4, 4))
        difference = np.eye(4) - weights / weights.sum(axis=1, keepdims=True)
        blocks.append(difference.T @ difference)
    A = sp.block_diag([sp.coo_array(block) for block in blocks], format="csr")
    values, vectors = eigh_extreme(A, 4, which="smallest", solver="iterative")
    np.testing.assert_allclose(values, 0.0, rtol=0, atol=VALUE_TOL)
    np.testing.assert_allclose(A @ vectors, 0.0, rtol=0, atol=VECTOR_TOL)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), rtol=0, atol=VECTOR_TOL)


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e200])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, aslinearoperator])
def test_eigenvalues_of_any_size(form, size, which):
    A, values, _ = distinct_symmetric(40, seed=3)
    A = (A + A.T) / 2
    expected = np.sort(values)[::-1][:3] if which == "largest" else np.sort(values)[:3]
    for solver in ("dense", "iterative"):
        found, _ = eigh_extreme(form(A * size), 3, which=which, solver=solver)
        np.testing.assert_allclose(found / size, expected, rtol=0, atol=40 * VALUE_TOL)


def test_many_pairs_of_a_large_dense_matrix_go_to_lapack(monkeypatch):
    A = np.diag(np.arange(120.0))
    monkeypatch.setattr(eigen, "SMALL_SIDE", 10)
    monkeypatch.setattr(eigen, "LARGE_DENSE_SIDE", 100)
    monkeypatch.setattr(eigen, "_lanczos", None)
    np.testing.assert_allclose(eigh_extreme(A, 4)[0], [119, 118, 117, 116], rtol=VALUE_TOL)


def test_float32_is_solved_in_float64():
    # The last three eigenvalues are rounding of the float32 entries: a solver that worked in
    # float32 would add as much again.
    rng = np.random.RandomState(0)
    points = rng.normal(size=(40, 2)).astype(np.float32)
    A = points @ points.T
    A = (A + A.T) / 2
    exact = np.linalg.eigvalsh(A.astype(np.float64))[::-1][:5].astype(np.float32)
    for solver in ("dense", "iterative"):
        values, _ = eigh_extreme(A, 5, solver=solver)
        np.testing.assert_allclose(values, exact, rtol=0, atol=VALUE_TOL * exact[0])


def test_smallest_of_an_indefinite_sparse_matrix_are_the_most_negative():
    # Shift-invert around zero would find the values nearest to zero instead.
    diagonal = np.linspace(-3.0, 5.0, 700)
    values, _ = eigh_extreme(sp.diags_array(diagonal), 3, which="smallest")
    np.testing.assert_allclose(values, diagonal[:3], rtol=0, atol=VALUE_TOL)


def test_more_vectors_than_the_rank_come_out_orthonormal():
    points = np.random.RandomState(0).normal(size=(300, 2))
    values, vectors = eigh_extreme(points @ points.T, 5, solver="iterative")
    np.testing.assert_allclose(values[2:], 0.0, rtol=0, atol=VALUE_TOL * values[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), rtol=0, atol=VALUE_TOL)


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_a_matrix_of_zeros_has_orthonormal_eigenvectors(which):
    values, vectors = eigh_extreme(sp.csr_array((600, 600)), 3, which=which)
    np.testing.assert_array_equal(values, 0.0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), rtol=0, atol=VALUE_TOL)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, aslinearoperator])
def test_same_input_gives_the_same_bytes(form):
    # Rank one exhausts every Krylov space at once, so ARPACK must draw fresh vectors: without a
    # seed for these the eigenvectors of zero differ from run to run.
    A = np.ones((600, 600))
    first = eigh_extreme(form(A), 4, solver="iterative")
    second = eigh_extreme(form(A), 4, solver="iterative")
    np.testing.assert_array_equal(first[1], second[1])


def test_float32_in_float32_out():
    A = np.diag(np.arange(5, dtype=np.float32))
    for matrix in (A, sp.csr_array(A)):
        values, vectors = eigh_extreme(matrix, 2)
        assert values.dtype == vectors.dtype == np.float32
        np.testing.assert_allclose(values, [4, 3], rtol=0, atol=SINGLE_TOL)


def test_integers_are_accepted():
    for matrix in (np.diag([1, 2, 3]), sp.csr_array(np.diag([1, 2, 3]))):
        assert eigh_extreme(matrix, 1)[0][0] == pytest.approx(3.0)


@given(st.integers(0, 2**16))
def test_signs_do_not_depend_on_the_sign_that_came_in(seed):
    rng = np.random.RandomState(seed)
    vectors = rng.normal(size=(6, 4))
    flipped = vectors * rng.choice([-1.0, 1.0], size=4)
    result = deterministic_signs(flipped)
    np.testing.assert_array_equal(result, deterministic_signs(vectors))
    assert (result.max(axis=0) == np.abs(result).max(axis=0)).all()


def test_ties_are_decided_by_the_first_entry_despite_rounding():
    noise = 1e-12
    for first, second in ((1, 1 + noise), (1 + noise, 1)):
        vectors = np.array([[first], [-second]])
        assert deterministic_signs(vectors)[0, 0] > 0
        assert deterministic_signs(-vectors)[0, 0] > 0


@pytest.mark.parametrize(
    ("vectors", "words"),
    [(np.ones(3), "1 dimension"), (np.array([["a"]]), "real"), (np.full((2, 1), np.nan), "NaN")],
)
def test_what_has_no_sign_is_refused(vectors, words):
    with pytest.raises(InvalidInputError, match=words):
        deterministic_signs(vectors)


def test_signs_of_integers_and_of_nothing():
    np.testing.assert_array_equal(deterministic_signs(np.array([[1], [-2]])), [[-1.0], [2.0]])
    assert deterministic_signs(np.empty((0, 2))).shape == (0, 2)


def test_not_converging_falls_back_to_lapack_while_the_size_permits(monkeypatch):
    A, values, _ = distinct_symmetric(60, seed=2)
    monkeypatch.setattr(_lanczos, "_arpack", refuse_to_converge)
    found, _ = eigh_extreme((A + A.T) / 2, 2, solver="iterative")
    np.testing.assert_allclose(found, np.sort(values)[::-1][:2], rtol=0, atol=60 * VALUE_TOL)


def test_not_converging_on_a_large_matrix_is_an_error(monkeypatch):
    monkeypatch.setattr(_lanczos, "_arpack", refuse_to_converge)
    monkeypatch.setattr(eigen, "FALLBACK_SIDE", 10)
    with pytest.raises(ConvergenceError, match="3 smallest eigenpairs of a matrix of side 60"):
        eigh_extreme(path_laplacian(60), 3, which="smallest", solver="iterative")


def refuse_to_converge(*args, **kwargs):
    msg = "no convergence"
    raise ArpackNoConvergence(msg, np.empty(0), np.empty((0, 0)))


def test_dense_solution_that_would_not_fit_is_refused():
    with pytest.raises(MemoryLimitError, match="GiB"):
        eigh_extreme(sp.eye_array(10**6, format="csr"), 1, solver="dense")


@pytest.mark.parametrize(
    ("matrix", "n_vectors", "words"),
    [
        (np.eye(3), 4, "n_vectors=4.*side 3"),
        (np.eye(3), 0, "n_vectors=0"),
        (np.eye(3), 1.5, "n_vectors=1.5"),
        (np.ones((2, 3)), 1, "square"),
        (sp.csr_array(np.ones((2, 3))), 1, "square"),
        (aslinearoperator(np.ones((2, 3))), 1, "square"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), 1, "not symmetric"),
        (sp.csr_array([[1.0, 2.0], [0.0, 1.0]]), 1, "not symmetric"),
        (aslinearoperator(np.array([[1.0, 2.0], [0.0, 1.0]])), 1, "not symmetric"),
        (np.array([[np.nan]]), 1, "NaN"),
        (sp.csr_array([[np.inf]]), 1, "infinite"),
        (sp.csr_array([[1j]]), 1, "real"),
        (aslinearoperator(np.eye(3) * 1j), 1, "real"),
        (LinearOperator((3, 3), matvec=lambda v: v * 1j, dtype=np.float64), 1, "real"),
    ],
)
def test_bad_input_is_refused(matrix, n_vectors, words):
    with pytest.raises(InvalidInputError, match=words):
        eigh_extreme(matrix, n_vectors)


def test_an_operator_that_returns_nan_is_refused():
    broken = LinearOperator((4, 4), matvec=lambda v: np.full(4, np.nan), dtype=np.float64)
    with pytest.raises(InvalidInputError, match="NaN"):
        eigh_extreme(broken, 1)


@pytest.mark.parametrize("options", [{"which": "LM"}, {"solver": "arpack"}])
def test_unknown_words_are_refused(options):
    with pytest.raises(InvalidInputError, match="must be"):
        eigh_extreme(np.eye(3), 1, **options)


def test_iterative_solver_cannot_find_all_pairs():
    with pytest.raises(InvalidInputError, match="at most n - 1 = 2"):
        eigh_extreme(np.eye(3), 3, solver="iterative")
