import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from isofold.exceptions import InvalidInputError
from isofold.patches import fit_charts
from isofold.patches.embedder_charts import fit_embedders
from isofold.patches.from_clusters import cover_from_memberships
from support.helpers import assert_equal_up_to_rigid_motion

# Sums of some ten numbers of size one, after an eigendecomposition.
ROUNDING = 1e-12


class Shaped(BaseEstimator):
    """Returns whatever it is told."""

    def __init__(self, make=None):
        self.make = make

    def fit_transform(self, X):
        return self.make(X)


@pytest.fixture
def patches():
    rng = np.random.RandomState(0)
    X = rng.rand(40, 3)
    lists = [np.arange(18), np.arange(12, 30), np.arange(25, 40)]
    return X, cover_from_memberships(40, lists, X)


def test_pca_as_an_embedder_is_the_flat_chart(patches):
    X, cover = patches
    found, flat = fit_embedders(X, cover, 2, PCA(2)), fit_charts(X, cover, 2, quadratic=False)
    for patch in range(3):
        rows = slice(cover.indptr[patch], cover.indptr[patch + 1])
        assert_equal_up_to_rigid_motion(
            found.coordinates[rows], flat.coordinates[rows], atol=ROUNDING
        )
    np.testing.assert_array_equal(found.residual, flat.residual)
    assert found.dimensions.tolist() == [2, 2, 2]


def test_coordinates_are_centered_and_estimators_kept(patches):
    X, cover = patches
    found = fit_embedders(X, cover, 2, PCA(2))
    assert len(found.estimators) == 3
    for patch, (estimator, mean) in enumerate(found.estimators):
        rows = slice(cover.indptr[patch], cover.indptr[patch + 1])
        own = X[cover.members_of(patch)]
        np.testing.assert_allclose(found.coordinates[rows].mean(axis=0), 0.0, atol=ROUNDING)
        np.testing.assert_allclose(
            estimator.transform(own) - mean, found.coordinates[rows], atol=ROUNDING
        )


def test_isomap_unrolls_a_patch():
    # Geodesics are sums of chords over one or two steps, shorter than the arc by at most (2h)²/24.
    angle = np.linspace(0.0, np.pi, 100)
    short = (2 * angle[1]) ** 2 / 24
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    cover = cover_from_memberships(100, [np.arange(100)], X)
    found = fit_embedders(X, cover, 1, Isomap(n_neighbors=2, n_components=1))
    u = np.sort(found.coordinates[:, 0])
    np.testing.assert_allclose(u - u[0], angle, atol=np.pi * short)


def test_patches_may_differ_in_dimension(patches):
    X, cover = patches
    narrow = Shaped(lambda X: X[:, : 1 + len(X) // 18])
    found = fit_embedders(X, cover, 2, narrow)
    assert found.dimensions.tolist() == [2, 2, 1]
    assert not found.coordinates[cover.indptr[2] :, 1].any()


def test_the_embedder_itself_stays_as_it_is(patches):
    X, cover = patches
    embedder = PCA(2)
    fit_embedders(X, cover, 2, embedder)
    assert not hasattr(embedder, "components_")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X: X, r"shape \(18, 3\).*1 to 2 columns"),
        (lambda X: X[:-1, :2], r"shape \(17, 2\).*18 points"),
        (lambda X: X[:, 0], r"shape \(18,\)"),
        (lambda X: X[:, :0], r"shape \(18, 0\)"),
        (lambda X: np.full((len(X), 2), np.nan), "NaN or infinite"),
        (lambda X: np.full((len(X), 2), np.inf), "NaN or infinite"),
    ],
)
def test_what_is_no_embedding_is_refused(patches, make, words):
    X, cover = patches
    with pytest.raises(InvalidInputError, match=words):
        fit_embedders(X, cover, 2, Shaped(make))
