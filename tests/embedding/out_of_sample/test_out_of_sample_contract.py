"""OutOfSample keeps scikit-learn's conventions and the house's, whatever it wraps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import MDS, TSNE, Isomap, SpectralEmbedding
from sklearn.metrics.pairwise import linear_kernel

from isofold import MVU, OutOfSample
from isofold.extension import fit_nystrom
from isofold.neighbors import Bridged
from isofold.sdp import LowRankSDP
from support.estimator_checks import checks_of_forms
from support.helpers import assert_embedder_contract

# Two ways to the same image of a point: sums of ten weighted images of size ten.
ROUNDING = 1e-12

# What a ridge of 1e-4 leaves of a smooth map of size one at its training points.
RIDGE = 1e-2


def mds(**parameters):
    return MDS(**{"n_init": 1, "init": "random", "max_iter": 20, **parameters})


def tsne(**parameters):
    """Scikit-learn's own test suite runs t-SNE with few neighbors and steps on its tiny data.

    The exact method has no threads, which would wait for those of other tests.
    """
    given = {"perplexity": 2, "max_iter": 250, "init": "random", "method": "exact"}
    return TSNE(**given | parameters)


class LinearKernel:
    """Nyström's formula for PCA; an object, since functions have no names in test ids."""

    def __call__(self, X, Y):
        return fit_nystrom(X, Y, kernel=linear_kernel)

    def __repr__(self):
        return "LinearKernel()"


# MVU on small clouds of noise: no map of two dimensions is true to them, two steps do not
# certify, and pieces must be joined; see its own contract. Kernel ridge regression returns
# training points only if the embedding is smooth, as that of PCA is.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@checks_of_forms(
    OutOfSample(tsne(), random_state=0),
    OutOfSample(mds(random_state=0)),
    OutOfSample(mds(), n_neighbors="auto", random_state=0),
    OutOfSample(mds(), scaling="range", n_neighbors=4, n_jobs=2, random_state=0),
    OutOfSample(SpectralEmbedding(affinity="rbf", random_state=0), method="barycentric"),
    OutOfSample(PCA(n_components=2), method="kernel_ridge"),
    OutOfSample(PCA(n_components=2), method=LinearKernel()),
    OutOfSample(MVU(graph=Bridged(), n_neighbors=4, solver=LowRankSDP(max_iter=2), random_state=0)),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def sheet(n=70, dtype=np.float64):
    rng = np.random.RandomState(0)
    u, v = rng.rand(2, n)
    return np.column_stack([2 * u, v, 0.3 * np.sin(3 * u)]).astype(dtype)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize(
    "embedder",
    [
        OutOfSample(tsne(perplexity=10), random_state=0),
        OutOfSample(mds(), n_neighbors="auto", scaling="isotropic", random_state=0),
        OutOfSample(mds(random_state=0), search="brute", scaling="range"),
        OutOfSample(SpectralEmbedding(affinity="rbf", random_state=0), method="barycentric"),
        OutOfSample(Isomap(n_neighbors=8), method="nystrom", n_neighbors=8),
        OutOfSample(MVU(random_state=0)),
    ],
    ids=["tsne", "mds", "range", "spectral", "isomap", "mvu"],
)
def test_contract_of_the_house(embedder):
    assert_embedder_contract(embedder, sheet(), atol=ROUNDING)


@pytest.mark.parametrize("method", ["goose", "barycentric"])
def test_contract_in_single_precision(method):
    embedder = OutOfSample(mds(), method=method, random_state=0)
    assert_embedder_contract(embedder, sheet(dtype=np.float32), atol=0)


def test_contract_of_kernel_ridge():
    """Its map is smooth: it does not run through training points."""
    embedder = OutOfSample(PCA(n_components=2), method="kernel_ridge")
    assert_embedder_contract(embedder, sheet(), atol=ROUNDING, reproduces_training=False)
    assert_embedder_contract(embedder, sheet(), atol=RIDGE)


@pytest.mark.parametrize("method", ["goose", "barycentric", "nystrom", "kernel_ridge"])
def test_the_first_transform_leaves_no_trace(method):
    X = sheet()
    fitted = OutOfSample(Isomap(n_neighbors=8), method=method, n_neighbors=8).fit(X)
    before = pickle.dumps(fitted)
    fitted.transform(X)
    fitted.is_outside(X)
    is_unchanged = pickle.dumps(fitted) == before
    assert is_unchanged
