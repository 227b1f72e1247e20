"""Kernels are read as they are given, and objects are handed on as they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from isofold.exceptions import InvalidInputError
from isofold.similarity.kernel_axes import is_indefinite, kernel_components, kernel_features
from isofold.similarity.kernel_graph import build_kernel_graph, kernel_distances, weights_of_rows
from isofold.similarity.kernels import RawObjects, read_gram
from isofold.similarity.objects import ObjectKernel

RNG = np.random.RandomState(0)
X, NEW = RNG.normal(size=(30, 4)), RNG.normal(size=(6, 4))
# Products of four numbers, and quotients of them: some roundings of values up to about ten.
ATOL = 1e-13


class Overlap(ObjectKernel):
    """Counts the letters that two words share."""

    def __call__(self, A, B=None):
        B = A if B is None else B
        assert all(isinstance(word, str) for word in (*A, *B))
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])


def cosine(A, B):
    norms = np.linalg.norm(A, axis=1)[:, None] * np.linalg.norm(B, axis=1)
    return A @ B.T / norms


@pytest.mark.parametrize("normalize", [True, False])
def test_names_functions_and_values_are_the_same(normalize):
    by_name = read_gram(X, "linear", "auto", normalize=normalize)
    by_call = read_gram(X, linear_kernel, "auto", normalize=normalize)
    by_value = read_gram(linear_kernel(X), "precomputed", "auto", normalize=normalize)
    stored = read_gram(sp.csr_array(linear_kernel(X)), "precomputed", "auto", normalize=normalize)
    expected = cosine(X, X) if normalize else X @ X.T
    every = np.arange(len(X))
    for gram in (by_name, by_call, by_value, stored):
        np.testing.assert_allclose(gram.block(every), expected, atol=ATOL)
        np.testing.assert_allclose(gram.own, np.diag(expected), atol=ATOL)
        np.testing.assert_allclose(gram.block(every[3:5], every[:7]), expected[3:5, :7], atol=ATOL)
    new = cosine(NEW, X) if normalize else NEW @ X.T
    for gram in (by_name, by_call):
        np.testing.assert_allclose(gram.source.rows(NEW).values, new, atol=ATOL)


def test_rows_of_values_know_their_norm_if_all_have_the_same():
    source = read_gram(3.0 * rbf_kernel(X), "precomputed", "auto", normalize=True).source
    rows = source.rows(3.0 * rbf_kernel(NEW, X))
    np.testing.assert_allclose(rows.values, rbf_kernel(NEW, X), atol=ATOL)
    # The same but for rounding.
    assert np.ptp(np.diag(cosine(X, X))) > 0.0
    source = read_gram(cosine(X, X), "precomputed", "auto", normalize=True).source
    np.testing.assert_allclose(source.rows(cosine(NEW, X)).values, cosine(NEW, X), atol=ATOL)


def test_rows_of_training_objects_come_back():
    # Of other kernels the norm of a row is at least what Cauchy and Schwarz say.
    K = X @ X.T
    source = read_gram(K, "precomputed", "auto", normalize=True).source
    np.testing.assert_allclose(source.rows(K).values, cosine(X, X), atol=ATOL)
    nearest, is_copy = source.nearest_copy(source.rows(K))
    np.testing.assert_array_equal(nearest, np.arange(len(X)))
    assert is_copy.all()
    assert not source.nearest_copy(source.rows(1.5 * K[:4] + 0.5 * K[4:8]))[1].any()
    stored = source.nearest_copy(source.rows(sp.csr_array(K)))
    np.testing.assert_array_equal(stored[0], nearest)
    assert stored[1].all()


def test_objects_are_handed_on_as_they_are():
    words = RawObjects(("abc", "bcd", "xyz", "abcd"))
    gram = read_gram(words, Overlap(), "auto", normalize=True)
    assert gram.values[0, 1] == pytest.approx(2.0 / 3.0)
    assert gram.source.rows(RawObjects(("ab",))).values[0, 3] == pytest.approx(2.0 / 8.0**0.5)
    # An object of norm zero is similar to none.
    empty = read_gram(RawObjects(("", "ab", "a")), Overlap(), "auto", normalize=True)
    np.testing.assert_array_equal(empty.values[0], np.zeros(3))


def test_gamma_is_one_over_the_typical_squared_distance():
    gram = read_gram(X, "rbf", "auto", normalize=True)
    spread = np.median(np.sum((X - np.median(X, axis=0)) ** 2, axis=1))
    assert gram.source.kernel.gamma == pytest.approx(0.5 / spread)
    assert read_gram(X, "rbf", 0.3, normalize=True).source.kernel.gamma == 0.3
    assert read_gram(np.ones((5, 2)), "rbf", "auto", normalize=True).source.kernel.gamma == 1.0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.triu(rbf_kernel(X)), "not symmetric"),
        (sp.csr_array(np.triu(rbf_kernel(X))), "not symmetric"),
        (rbf_kernel(X) - 2.0 * np.eye(30), "on its diagonal"),
        (sp.csr_array(rbf_kernel(X) - np.eye(30)), "on its diagonal"),
    ],
)
def test_what_is_no_kernel_is_refused(values, words):
    with pytest.raises(InvalidInputError, match=words):
        read_gram(values, "precomputed", "auto", normalize=True)


@pytest.mark.parametrize(
    ("kernel", "gamma", "words"),
    [
        ("sigmoid", "auto", "must be 'rbf'"),
        (3, "auto", "must be 'rbf'"),
        ("rbf", "wide", "must be 'auto'"),
        ("rbf", None, "must be 'auto'"),
        ("rbf", -1.0, "positive"),
        (lambda A, B: np.ones(3), "auto", r"shape \(3,\)"),
        (lambda A, B: np.full((len(A), len(B)), "a"), "auto", "dtype"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "auto", "NaN"),
        (lambda A, B: np.arange(900.0).reshape(30, 30), "auto", "not symmetric"),
    ],
)
def test_kernels_that_cannot_be_are_refused(kernel, gamma, words):
    with pytest.raises(InvalidInputError, match=words):
        read_gram(X, kernel, gamma, normalize=True)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_graph_has_the_largest_values_of_every_row(is_sparse):
    K = cosine(X, X)
    given = sp.csr_array(K) if is_sparse else K
    graph = build_kernel_graph(read_gram(given, "precomputed", "auto", normalize=True), 4)
    rest = K - 2.0 * np.eye(30)
    listed = np.zeros_like(K, dtype=bool)
    np.put_along_axis(listed, np.argsort(-rest, axis=1)[:, :4], values=True, axis=1)
    expected = np.where((listed | listed.T) & (rest > 0.0), K, 0.0)
    np.testing.assert_allclose(graph.weights.toarray(), expected, atol=ATOL)
    assert graph.negative == pytest.approx((K < 0.0).mean())
    # A training object has the same weights when it comes again, but for itself.
    again = weights_of_rows(graph.gram.source.rows(K - 2.0 * np.eye(30)), graph.reach, 4)
    np.testing.assert_allclose(again.toarray(), expected, atol=ATOL)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_of_equal_values_the_first_count(is_sparse):
    K = np.full((6, 6), 0.5) + 0.5 * np.eye(6)
    given = sp.csr_array(K) if is_sparse else K
    graph = build_kernel_graph(read_gram(given, "precomputed", "auto", normalize=True), 2)
    edges = {tuple(pair) for pair in np.argwhere(sp.triu(graph.weights).toarray())}
    assert edges == {(0, 1), (0, 2), (1, 2), *((i, j) for i in (0, 1) for j in (3, 4, 5))}


@pytest.mark.parametrize("is_sparse", [False, True])
def test_copies_are_one_node(is_sparse):
    points = np.vstack([X, X[[3, 3, 7]]])[np.r_[30, 0:30, 31, 32]]
    K = rbf_kernel(points)
    given = sp.csr_array(K) if is_sparse else K
    graph = build_kernel_graph(read_gram(given, "precomputed", "auto", normalize=True), 5)
    assert graph.n_nodes == 30
    np.testing.assert_array_equal(graph.node_of_sample[[0, 4, 31]], [0, 0, 0])
    assert graph.node_of_sample[8] == graph.node_of_sample[32]
    np.testing.assert_array_equal(
        graph.node_of_sample[graph.sample_of_node], np.arange(graph.n_nodes)
    )


def test_distances_of_a_kernel():
    pairs = np.array([[0, 1], [4, 9], [9, 4], [2, 2]])
    expected = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    for given, kernel in ((X, "linear"), (X @ X.T, "precomputed"), (X, linear_kernel)):
        gram = read_gram(given, kernel, "auto", normalize=False)
        # Roots of differences of values of about ten.
        np.testing.assert_allclose(kernel_distances(gram, pairs), expected, atol=1e-6)


def test_axes_of_a_kernel():
    gram = read_gram(X, "linear", "auto", normalize=False)
    features = kernel_features(gram)
    np.testing.assert_allclose(features.values, X @ X.T @ features.coefficients, atol=1e-10)
    np.testing.assert_allclose(features.values @ features.values.T, X @ X.T, atol=1e-10)
    centered = X - X.mean(axis=0)
    components = kernel_components(gram, 6)
    np.testing.assert_allclose(components @ components.T, centered @ centered.T, atol=1e-10)
    assert not components[:, 4:].any() or np.abs(components[:, 4:]).max() < 1e-6


def test_indefinite_kernels_are_seen():
    lines = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    assert is_indefinite(read_gram(lines, "precomputed", "auto", normalize=True))
    assert is_indefinite(read_gram(sp.csr_array(lines), "precomputed", "auto", normalize=True))
    assert not is_indefinite(read_gram(rbf_kernel(X), "precomputed", "auto", normalize=True))
    assert not is_indefinite(read_gram(X, "rbf", "auto", normalize=True))
