"""TwinKernelEmbedding: maps of strings and digits, free and back-constrained, and new objects."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel

from isofold import KernelLaplacianEigenmaps, TwinKernelEmbedding
from isofold._progress.stages import interrupt, progress
from isofold.exceptions import DoubtfulMapWarning, InterruptedFitWarning, InvalidInputError
from isofold.quality import trustworthiness
from isofold.similarity import LatentKernel
from isofold.similarity.kernels import RawObjects
from support.strings import families, mutated, nearest_error, shared_triples

pytestmark = [
    pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning"),
    # Fits of few steps, to be quick.
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

DIGITS, LABELS = load_digits(return_X_y=True)
X, NEW = DIGITS[:150], DIGITS[150:190]
GAMMA = 5e-4


def twin(**parameters):
    return TwinKernelEmbedding(**{"gamma": GAMMA, "max_iter": 40, "random_state": 0, **parameters})


@pytest.mark.parametrize("back_constraint", [None, "kernel"])
def test_families_of_strings(back_constraint):
    strings, family = families()
    model = TwinKernelEmbedding(kernel=shared_triples, back_constraint=back_constraint)
    model.fit(strings)
    assert nearest_error(model.embedding_, family) == 0.0
    new = mutated(strings[::3], rate=0.05)
    assert nearest_error(model.embedding_, family, model.transform(new), family[::3]) <= 0.04
    assert (np.diff(model.objective_path_) <= 0.0).all()
    assert model.converged_
    assert 0.8 < model.alignment_ <= 1.0
    outside = model.map_.is_outside(RawObjects(("XYZXYZ", strings[0])))
    np.testing.assert_array_equal(outside, [True, False])


def test_digits_keep_more_neighbors_than_by_their_eigenvectors():
    digits, new = DIGITS[:400], DIGITS[400:500]
    start = KernelLaplacianEigenmaps().fit(digits)
    model = TwinKernelEmbedding().fit(digits)
    before, after = (trustworthiness(digits, m.embedding_) for m in (start, model))
    assert after > 0.98
    assert after > before + 0.02
    assert nearest_error(model.embedding_, LABELS[:400]) < 0.05
    found = model.transform(new)
    assert nearest_error(model.embedding_, LABELS[:400], found, LABELS[400:500]) < 0.15


@pytest.mark.parametrize("back_constraint", [None, "kernel"])
def test_training_objects_keep_their_coordinates(back_constraint):
    for given, kernel in (
        (X, "rbf"),
        (rbf_kernel(X, gamma=GAMMA), "precomputed"),
        (X, lambda A, B: rbf_kernel(A, B, gamma=GAMMA)),
        (np.vstack([X, X[:20]]), "rbf"),
    ):
        model = twin(kernel=kernel, back_constraint=back_constraint).fit(given)
        size = np.abs(model.embedding_).max()
        np.testing.assert_allclose(model.transform(given), model.embedding_, atol=1e-8 * size)


def test_a_back_constrained_map_is_linear_in_the_kernel():
    model = twin(back_constraint="kernel").fit(X)
    expected = rbf_kernel(X, gamma=GAMMA) @ model.map_.coefficients + model.map_.offset
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.embedding_, expected, atol=1e-8 * size)


@pytest.mark.parametrize("back_constraint", [None, "kernel"])
def test_values_functions_and_points_give_the_same(back_constraint):
    # Few steps: descent is chaotic, and roundings grow.
    points = twin(back_constraint=back_constraint, max_iter=10).fit(X)
    K, new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
    size = np.abs(points.embedding_).max()
    for given, rows, kernel in (
        (K, new, "precomputed"),
        (sp.csr_array(K), sp.csr_array(new), "precomputed"),
        (X, NEW, lambda A, B: rbf_kernel(A, B, gamma=GAMMA)),
        (list(X), list(NEW), lambda A, B: rbf_kernel(A, B, gamma=GAMMA)),
    ):
        model = twin(kernel=kernel, back_constraint=back_constraint, max_iter=10).fit(given)
        np.testing.assert_allclose(model.embedding_, points.embedding_, atol=1e-6 * size)
        # The minimum in one point is found to the root of its tolerance.
        np.testing.assert_allclose(model.transform(rows), points.transform(NEW), atol=1e-4 * size)


def test_the_order_of_objects_does_not_matter():
    rng = np.random.RandomState(1)
    Z, order = X + rng.normal(size=X.shape), rng.permutation(len(X))
    one, other = (twin(max_iter=10).fit(rows).embedding_ for rows in (Z, Z[order]))
    np.testing.assert_allclose(other, one[order], atol=1e-6 * np.abs(one).max())


def test_copies_lie_together():
    model = twin().fit(np.vstack([X, X[:20]]))
    np.testing.assert_array_equal(model.embedding_[:20], model.embedding_[150:])


def test_starts():
    start = KernelLaplacianEigenmaps(gamma=GAMMA).fit_transform(X)
    given = twin(init=3.0 * start, max_iter=10).fit(X).embedding_
    usual = twin(max_iter=10).fit(X).embedding_
    # Only the arrangement counts, and it is centered.
    np.testing.assert_allclose(given, usual, atol=1e-6 * np.abs(usual).max())
    components = twin(init="kpca").fit(X)
    assert trustworthiness(X, components.embedding_) > 0.9
    with pytest.raises(InvalidInputError, match="init has the shape"):
        twin(init=start[:5]).fit(X)


def test_new_points_are_where_the_objective_is_least():
    model = twin().fit(X)
    rows = model.map_.nodes.rows(NEW)
    weights = model.map_.nodes.weights(rows).toarray()
    for row, found in zip(weights, model.transform(NEW), strict=True):
        near = np.flatnonzero(row)
        images = model.map_.images[near]
        value, slope = model.map_._at(found, images, row[near])
        assert np.abs(slope).max() < 1e-3
        start = row[near] @ images / row.sum()
        assert value <= model.map_._at(start, images, row[near])[0]


@pytest.mark.slow
def test_five_thousand_objects_by_their_kernel():
    # Beyond 3,000 objects pairs are drawn, by the seed.
    rng = np.random.RandomState(0)
    rows = np.vstack([DIGITS + 2.0 * rng.normal(size=DIGITS.shape) for _ in range(3)])[:5000]
    K = rbf_kernel(rows, gamma=GAMMA)
    began = time.perf_counter()
    model = TwinKernelEmbedding(kernel="precomputed", random_state=0).fit(K)
    assert time.perf_counter() - began < 120.0
    again = TwinKernelEmbedding(kernel="precomputed", random_state=0).fit(K)
    np.testing.assert_array_equal(model.embedding_, again.embedding_)
    assert nearest_error(model.embedding_[::5], np.tile(LABELS, 3)[:5000:5]) < 0.1
    began = time.perf_counter()
    KernelLaplacianEigenmaps(kernel="precomputed").fit(K)
    assert time.perf_counter() - began < 30.0


def test_an_interrupted_fit_keeps_the_best_so_far():
    def listen(event):
        if event.stage == "match kernels" and event.objective is not None:
            interrupt()

    model = twin(max_iter=300)
    with progress(listen), pytest.warns(InterruptedFitWarning):
        model.fit(X)
    assert "interrupted" in model.diagnosis_.codes
    assert 1 <= model.n_iter_ < 100
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_what_is_found():
    bounded = LatentKernel(learn=("amplitude",), weight_kernel=0.005, weight_points=0.001)
    with pytest.warns(DoubtfulMapWarning, match="ran away to its bound"):
        twin(latent=bounded, max_iter=80).fit(X)
    model = twin().fit(X)
    assert "cosine" in model.diagnosis_["twin_kernels"].text()
    K = rbf_kernel(X, gamma=GAMMA)
    # Lengths of the graph are distances of the kernel, d² = 2 − 2k.
    pull = (1.0 - 0.5 * model.graph_.lengths**2).mean()
    assert model.latent_.weight_kernel == pytest.approx(5.0 * 10 / 150 * pull)
    signs = np.where(np.arange(150) % 2, 1.0, -1.0)
    odd = twin(kernel="precomputed", max_iter=5).fit(K + 0.5 * np.outer(signs, signs) * (K < 1.0))
    assert "indefinite_kernel" in odd.diagnosis_
    assert "indefinite_kernel" not in twin(kernel="precomputed", max_iter=5).fit(K).diagnosis_


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"latent": 3}, "LatentKernel"),
        ({"latent": LatentKernel(sigma=-1.0)}, "latent.sigma"),
        ({"init": "pca"}, "init"),
        ({"back_constraint": "mlp"}, "back_constraint"),
        ({"max_iter": 0}, "max_iter"),
        ({"random_state": "a"}, "random_state"),
    ],
)
def test_what_cannot_be_is_refused(parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        twin(**parameters).fit(X)
