"""Kernels far wider or narrower than the data: training samples keep their places under the map."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import rbf_kernel

from isofold import EAT, TesseraMap
from isofold.embedding.affine.span import RANK_TOLERANCE
from isofold.exceptions import DoubtfulMapWarning
from isofold.similarity.kernel_function import KernelFunction
from isofold.storage import load, save
from support.quick import quick_are

# Rounding over the least eigenvalue that counts, in units of the map; see RANK_TOLERANCE.
REPRODUCED = np.finfo(np.float64).eps / RANK_TOLERANCE

FACTORS = (1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e6)
BETWEEN = (1e-8, 1e-4, 1e2)
"""Factors whose neighbors on both sides every run looks at."""


def roll(n=100):
    rng = np.random.default_rng(0)
    angle = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n))
    return np.column_stack([angle * np.cos(angle), 21 * rng.uniform(size=n), angle * np.sin(angle)])


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize(
    ("method", "kernel"),
    quick_are(
        [(EAT, "rbf"), (TesseraMap, "poly")],
        [(method, kernel) for method in (EAT, TesseraMap) for kernel in ("rbf", "poly")],
    ),
)
@pytest.mark.parametrize(
    "factor", [pytest.param(each, marks=[pytest.mark.slow] * (each in BETWEEN)) for each in FACTORS]
)
def test_training_samples_keep_their_places(method, kernel, factor):
    X = roll()
    # γ in units of the mean squared distance: the kernel is a constant, or the identity.
    gamma = factor / np.mean(pdist(X, "sqeuclidean"))
    model = method(kernel=kernel, gamma=gamma, random_state=0).fit(X)
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=0, atol=REPRODUCED * size)


def test_a_wide_kernel_of_the_users_own_is_told_of():
    X = roll()
    gamma = 1e-7 / np.mean(pdist(X, "sqeuclidean"))
    model = EAT(kernel="precomputed", random_state=0)
    with pytest.warns(DoubtfulMapWarning) as told:
        model.fit(rbf_kernel(X, gamma=gamma))
    assert any("Transforming training samples moves them" in str(one.message) for one in told)


@pytest.mark.parametrize(
    ("kernel", "constant"),
    [
        (KernelFunction("rbf", gamma=0.3), 1.0),
        (KernelFunction("poly", gamma=0.3, degree=1, coef0=2.0), 2.0),
        (KernelFunction("poly", gamma=0.3, degree=4, coef0=2.0), 16.0),
    ],
)
def test_a_reduced_kernel_is_less_by_a_constant(kernel, constant):
    X = np.random.default_rng(0).uniform(size=(9, 3)) / 4
    whole = kernel.matrix(X, X)
    reduced = kernel.reduced_if_constant(whole)
    assert reduced.is_reduced
    # Some roundings of the constant, which the whole kernel has lost already.
    atol = 8 * constant * np.finfo(np.float64).eps
    np.testing.assert_allclose(reduced.matrix(X, X), whole - constant, rtol=0, atol=atol)


def test_a_reduced_kernel_keeps_the_digits():
    X = np.random.default_rng(0).uniform(size=(9, 3))
    reduced = KernelFunction("rbf", gamma=1e-14).reduced_if_constant(np.ones((9, 9)))
    wanted = -1e-14 * squareform(pdist(X, "sqeuclidean"))
    # exp(−s) − 1 is −s to a relative error of s/2, and both sides are rounded a few times.
    np.testing.assert_allclose(reduced.matrix(X, X), wanted, rtol=1e-13)


@pytest.mark.parametrize("kind", ["linear", "precomputed", rbf_kernel])
def test_other_kernels_are_left_as_they_are(kind):
    assert not KernelFunction(kind).reduced_if_constant(np.ones((3, 3))).is_reduced


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_a_wide_kernel_is_saved_and_loaded(tmp_path):
    X = roll(60)
    model = TesseraMap(gamma=1e-8, random_state=0).fit(X)
    assert model.map_.kernel.is_reduced
    save(model, tmp_path / "model.isofold")
    again = load(tmp_path / "model.isofold")
    np.testing.assert_array_equal(again.transform(X + 0.1), model.transform(X + 0.1))
