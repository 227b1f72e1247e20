"""Histograms, time series and texts."""

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.similarity import ChiSquaredKernel, DTWDistance, IntersectionKernel, TfidfKernel

ROUNDING = 1e-12


def warped(x, y, window):
    x, y = (np.asarray(s, dtype=float).reshape(len(s), -1) for s in (x, y))
    table = np.full((len(x) + 1, len(y) + 1), np.inf)
    table[0, 0] = 0.0
    later, earlier = max(len(x) - len(y), 0), max(len(y) - len(x), 0)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            if window is None or -later - window <= j - i <= earlier + window:
                before = min(table[i, j], table[i, j + 1], table[i + 1, j])
                table[i + 1, j + 1] = ((a - b) ** 2).sum() + before
    return np.sqrt(table[-1, -1])


@pytest.mark.parametrize("window", [None, 0, 1, 3])
@pytest.mark.parametrize("width", [1, 2])
def test_time_warping_by_its_recursion(window, width):
    rng = np.random.RandomState(0)
    series = [rng.randn(rng.randint(1, 9), width) for _ in range(7)]
    expected = [[warped(x, y, window) for y in series] for x in series]
    np.testing.assert_allclose(DTWDistance(window)(series), expected, rtol=ROUNDING)


def test_without_a_window_times_are_the_same():
    x, y = np.random.RandomState(1).randn(2, 10)
    assert DTWDistance(0)([x, y])[0, 1] == pytest.approx(np.linalg.norm(x - y))


def test_standardized_series_have_no_scale():
    x = np.random.RandomState(2).randn(12)
    D = DTWDistance(standardize=True)([x, 5.0 * x - 3.0, np.ones(4)])
    assert D[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(D).all()


@pytest.mark.parametrize(
    "series", [[[1.0, np.nan]], [[]], [np.ones((2, 2)), np.ones(3)], [np.ones((2, 2, 2))]]
)
def test_what_is_no_series_is_refused(series):
    with pytest.raises(InvalidInputError):
        DTWDistance()(series)


def test_histogram_kernels_by_hand():
    rng = np.random.RandomState(0)
    counts = rng.poisson(2.0, (5, 4)).astype(float)
    counts[4] = 0.0
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    smaller = np.minimum(shares[:, None], shares).sum(axis=2)
    np.testing.assert_allclose(IntersectionKernel()(counts), smaller, atol=ROUNDING)
    sums = counts[:, None] + counts
    parts = np.divide(
        (counts[:, None] - counts) ** 2, sums, out=np.zeros_like(sums), where=sums > 0
    )
    expected = np.exp(-0.3 * parts.sum(axis=2))
    np.testing.assert_allclose(ChiSquaredKernel(0.3, normalize=False)(counts), expected)
    for wrong in ([[-1.0, 2.0]], [1.0, 2.0], [[np.nan, 1.0]]):
        with pytest.raises(InvalidInputError):
            IntersectionKernel()(wrong)


TEXTS = [
    "the red house",
    "the red car and the car park",
    "green trees",
    "",
    "Häuser",
    "the red house",
]


def test_tfidf_is_the_cosine_of_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = TfidfVectorizer().fit_transform(TEXTS)
    kernel = TfidfKernel.of(TEXTS)
    np.testing.assert_allclose(kernel(TEXTS), (rows @ rows.T).toarray(), atol=ROUNDING)
    assert (kernel(["unknown words only"], TEXTS) == 0).all()
    letters = TfidfKernel.of(TEXTS, analyzer="char_wb", n_gram=(2, 3))
    assert letters(["hous"], TEXTS)[0].argmax() in (0, 5)


def test_a_kernel_of_the_same_texts_is_the_same():
    assert TfidfKernel.of(TEXTS) == TfidfKernel.of(TEXTS)
    assert hash(TfidfKernel.of(TEXTS)) == hash(TfidfKernel.of(TEXTS))


def test_nearest_texts_are_the_largest_kernels():
    rng = np.random.RandomState(0)
    texts = [" ".join(f"w{w}" for w in rng.poisson(8, 12)) for _ in range(40)]
    kernel = TfidfKernel.of(texts)
    K, sparse = kernel(texts), kernel.nearest(texts, 5)
    assert (sparse != sparse.T).nnz == 0
    kept = sparse.toarray()
    np.testing.assert_allclose(kept[kept > 0], K[kept > 0], rtol=ROUNDING)
    order = np.sort(K, axis=1)
    assert ((order[:, [-6]] + ROUNDING <= K) <= (kept > 0)).all()


def test_texts_without_terms_are_refused():
    with pytest.raises(InvalidInputError, match="No term"):
        TfidfKernel.of(["", ""])
    with pytest.raises(InvalidInputError, match=r"texts\[1\] is a int"):
        TfidfKernel.of(["a text", 3])
