import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, ortho_group
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from isofold.clustering.mppca import MPPCA
from isofold.clustering.ppca_em import MixtureRun, PPCAMixture, climb
from isofold.clustering.subspaces import AffineSubspaces
from isofold.quality import reconstruction_error
from support.hypothesis_profiles import examples
from support.mppca_cases import FALL, planes, standardized

ROUNDING = 1e-9
"""Relative: likelihoods here are sums of at most some hundred terms of size 1 to 1e3, with squared
distances divided by noise of 1e-4 and more of the data's variance."""


def covariances(mppca):
    """Explicit covariances U λ Uᵀ + σ² (I - U Uᵀ), one a component."""
    bases = mppca.subspaces_.bases
    along = np.einsum("kir,kr,kjr->kij", bases, mppca.variances_, bases)
    across = np.eye(bases.shape[1]) - np.einsum("kir,kjr->kij", bases, bases)
    return along + mppca.noise_variances_[:, None, None] * across


def agreement(labels, truth):
    """Share of points in the right of two clusters, whatever their order."""
    share = float(np.mean(labels == truth))
    return max(share, 1.0 - share)


@parametrize_with_checks([MPPCA(n_clusters=2, n_components=1, random_state=0)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("r", [0, 1, 3, 5])
def test_density_is_that_of_the_explicit_covariances(r):
    X, _ = planes()
    mppca = MPPCA(n_clusters=3, n_components=r, random_state=0).fit(X)
    new = X[::7] + 0.3
    densities = [
        weight * multivariate_normal(center, covariance).pdf(new)
        for weight, center, covariance in zip(
            mppca.weights_, mppca.subspaces_.centers, covariances(mppca), strict=True
        )
    ]
    np.testing.assert_allclose(mppca.score_samples(new), np.log(np.sum(densities, 0)), rtol=1e-7)
    shares = np.transpose(densities / np.sum(densities, 0))
    # Responsibilities are exponentials of differences of logarithms of size 1e3.
    np.testing.assert_allclose(mppca.predict_proba(new), shares, atol=1e-7)
    np.testing.assert_allclose(mppca.score(new), mppca.score_samples(new).mean(), rtol=ROUNDING)
    np.testing.assert_allclose(mppca.log_likelihood_, mppca.score_samples(X).sum(), rtol=ROUNDING)


def test_one_component_is_probabilistic_pca():
    X, _ = planes()
    n = len(X)
    mppca = MPPCA(n_clusters=1, n_components=2, random_state=0).fit(X)
    pca = PCA(n_components=2).fit(X)
    # scikit-learn divides by n - 1, maximum likelihood by n.
    to_likelihood = (n - 1) / n
    np.testing.assert_allclose(
        mppca.noise_variances_[0], pca.noise_variance_ * to_likelihood, rtol=ROUNDING
    )
    np.testing.assert_allclose(
        mppca.variances_[0], pca.explained_variance_ * to_likelihood, rtol=ROUNDING
    )
    np.testing.assert_allclose(mppca.subspaces_.centers[0], pca.mean_, atol=ROUNDING)
    cosines = np.abs(np.sum(pca.components_ * mppca.subspaces_.bases[0].T, axis=1))
    np.testing.assert_allclose(cosines, 1.0, atol=ROUNDING)
    model = multivariate_normal(pca.mean_, pca.get_covariance() * to_likelihood)
    np.testing.assert_allclose(mppca.score(X), model.logpdf(X).mean(), rtol=ROUNDING)
    assert not mppca.labels_.any()


def test_step_is_that_of_a_naive_reference():
    X, _ = planes()
    points = standardized(X)
    labels = np.arange(len(points)) % 3
    rng = np.random.RandomState(0)
    args = {"n_clusters": 3, "tol": 1e-9, "rng": rng}
    first = climb(points, labels, 2, max_iter=1, **args).mixture
    second = climb(points, labels, 2, max_iter=2, **args).mixture
    joint = first.log_joint(points)
    shares = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    for k in range(3):
        mean = np.average(points, axis=0, weights=shares[:, k])
        covariance = np.cov(points.T, aweights=shares[:, k], bias=True)
        values = np.linalg.eigvalsh(covariance)[::-1]
        np.testing.assert_allclose(second.subspaces.centers[k], mean, atol=ROUNDING)
        np.testing.assert_allclose(second.variances[k], values[:2], rtol=ROUNDING)
        np.testing.assert_allclose(second.noise[k], values[2:].mean(), rtol=ROUNDING)
    np.testing.assert_allclose(second.weights, shares.mean(axis=0), rtol=ROUNDING)


def test_all_axes_make_a_full_gaussian_mixture():
    X, _ = planes()
    seeds = [0, 60]
    mppca = MPPCA(n_clusters=2, n_components=5, init=seeds, tol=1e-10, max_iter=1000).fit(X)
    reference = GaussianMixture(
        2,
        tol=1e-10,
        reg_covar=0.0,
        max_iter=1000,
        weights_init=mppca.weights_,
        means_init=mppca.subspaces_.centers,
        precisions_init=np.linalg.inv(covariances(mppca)),
    ).fit(X)
    # The reference starts at the answer and must stay: both are at a maximum to the root of tol.
    np.testing.assert_allclose(reference.score(X), mppca.score(X), rtol=1e-6)


@examples(40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 30),
    d=st.integers(1, 5),
    c=st.integers(1, 4),
    r=st.integers(0, 5),
    grid=st.booleans(),
)
def test_likelihood_never_falls(seed, n, d, c, r, grid):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2, 2, size=d)
    if grid:  # copies, constant features and points on flats: the floor is reached
        X = np.round(X)
    c, r = min(c, len(np.unique(X, axis=0))), min(r, d)
    mppca = MPPCA(n_clusters=c, n_components=r, n_init=1, random_state=seed, max_iter=1000).fit(X)
    path = mppca.log_likelihood_path_
    assert np.isfinite(path).all()
    assert np.diff(path).min(initial=0.0) >= -FALL * max(n, np.abs(path).max())
    assert mppca.log_likelihood_ == path[-1]
    np.testing.assert_allclose(mppca.weights_.sum(), 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(mppca.predict_proba(X).sum(axis=1), 1.0, rtol=ROUNDING)
    assert (mppca.noise_variances_ > 0).all()
    assert (mppca.variances_ >= mppca.noise_variances_[:, None]).all()
    np.testing.assert_array_equal(mppca.predict(X), mppca.labels_)


def test_likelihood_never_falls_with_many_features():
    # 200 features and 150 points a component: axes by block iterations.
    X, truth = planes(n_points=150, n_features=200, noise=0.2)
    mppca = MPPCA(n_clusters=2, n_components=3, n_init=1, random_state=0, tol=1e-8).fit(X)
    path = mppca.log_likelihood_path_
    assert len(path) > 2
    assert np.diff(path).min() >= -ROUNDING * np.abs(path).max()
    assert agreement(mppca.labels_, truth) == 1.0
    shares = mppca.predict_proba(X)
    for k in range(2):
        exact = np.linalg.eigvalsh(np.cov(X.T, aweights=shares[:, k], bias=True))[::-1]
        # Two axes stand out from the noise; the third is one of many like it, found roughly.
        np.testing.assert_allclose(mppca.variances_[k, :2], exact[:2], rtol=1e-6)
        np.testing.assert_allclose(mppca.variances_[k, 2], exact[2], rtol=0.1)
        np.testing.assert_allclose(
            mppca.noise_variances_[k], (exact.sum() - mppca.variances_[k].sum()) / 197, rtol=1e-6
        )


def test_recovers_two_planted_planes():
    X, truth = planes(n_points=150, noise=0.02)
    mppca = MPPCA(n_clusters=2, n_components=2, n_init=10, random_state=0).fit(X)
    # Points near the line in which the planes meet may go either way.
    assert agreement(mppca.labels_, truth) > 0.95
    # 3 * 150 offsets of variance 0.0004 a plane: the standard error is 7 percent.
    np.testing.assert_allclose(mppca.noise_variances_, 0.02**2, rtol=0.3)
    for k in range(2):
        members = X[truth == np.bincount(truth[mppca.labels_ == k]).argmax()]
        off = mppca.subspaces_.squared_distances_to(members, k)
        assert np.sqrt(off.mean()) < 2 * 0.02 * np.sqrt(3)


def test_rigid_motion_and_scale_change_only_the_frame():
    X, _ = planes()
    rotation = ortho_group.rvs(5, random_state=1)
    moved = 7.0 * X @ rotation + 3.0
    seeds = [0, 20, 70]
    first = MPPCA(n_clusters=3, init=seeds).fit(X)
    second = MPPCA(n_clusters=3, init=seeds).fit(moved)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_allclose(second.weights_, first.weights_, rtol=1e-6)
    np.testing.assert_allclose(second.noise_variances_, 49 * first.noise_variances_, rtol=1e-6)
    np.testing.assert_allclose(
        second.log_likelihood_, first.log_likelihood_ - X.size * np.log(7.0), rtol=ROUNDING
    )
    np.testing.assert_allclose(
        second.reconstruction_error_, 49 * first.reconstruction_error_, rtol=ROUNDING
    )


def test_order_of_rows_and_seeds_changes_only_numbers():
    X, _ = planes()
    order = np.random.RandomState(0).permutation(len(X))
    seeds = np.array([0, 20, 70])
    first = MPPCA(n_clusters=3, init=seeds).fit(X)
    second = MPPCA(n_clusters=3, init=np.argsort(order)[seeds]).fit(X[order])
    third = MPPCA(n_clusters=3, init=seeds[::-1]).fit(X)
    np.testing.assert_array_equal(second.labels_, first.labels_[order])
    np.testing.assert_array_equal(third.labels_, 2 - first.labels_)
    np.testing.assert_allclose(second.log_likelihood_, first.log_likelihood_, rtol=ROUNDING)


def test_predict_is_row_wise_and_reproduces_labels():
    X, _ = planes()
    mppca = MPPCA(n_clusters=4, random_state=0).fit(X)
    np.testing.assert_array_equal(mppca.predict(X), mppca.labels_)
    one_by_one = np.concatenate([mppca.predict(row[None]) for row in X])
    np.testing.assert_array_equal(one_by_one, mppca.labels_)
    np.testing.assert_array_equal(mppca.predict_proba(X).argmax(axis=1), mppca.labels_)
    np.testing.assert_array_equal(mppca.fit_predict(X), mppca.labels_)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_same_bytes_whatever_n_jobs(init):
    # Enough points and features for block iterations, which draw numbers of their own.
    X, _ = planes(n_points=140, n_features=140)
    serial = MPPCA(n_clusters=2, n_components=2, n_init=5, init=init, random_state=3).fit(X)
    parallel = clone(serial).set_params(n_jobs=2).fit(X)
    for name in ("weights_", "variances_", "noise_variances_", "log_likelihood_path_", "labels_"):
        assert getattr(serial, name).tobytes() == getattr(parallel, name).tobytes()
    assert serial.subspaces_.bases.tobytes() == parallel.subspaces_.bases.tobytes()


def test_more_starts_are_no_worse():
    X, _ = planes()
    ranks = []
    for n_init in (1, 4, 16):
        mppca = MPPCA(n_clusters=3, n_components=2, n_init=n_init, random_state=0).fit(X)
        n_spurious = int(np.sum(len(X) * mppca.weights_ < 3.001))
        ranks.append((-n_spurious, mppca.log_likelihood_))
    assert ranks == sorted(ranks)


def test_reconstruction_error_is_that_of_the_labels():
    X, _ = planes()
    mppca = MPPCA(n_clusters=3, n_components=2, random_state=0).fit(X)
    reference = reconstruction_error(X, mppca.labels_, n_components=2)
    np.testing.assert_allclose(mppca.reconstruction_error_, len(X) * float(reference), rtol=1e-9)


def test_a_component_of_few_points_is_no_reason_to_prefer_a_start():
    # A plane passes through any three points, so that their likelihood says nothing.
    flats = AffineSubspaces(centers=np.zeros((2, 5)), bases=np.zeros((2, 5, 2)))

    def run(size, likelihood):
        weights = np.array([200 - size, size]) / 200
        mixture = PPCAMixture(weights, flats, variances=np.ones((2, 2)), noise=np.ones(2))
        return MixtureRun(mixture, 200, np.array([likelihood]), n_iter=1, has_converged=True)

    assert run(4, -90.0).rank > run(3, -10.0).rank
    assert run(4, -10.0).rank > run(100, -90.0).rank
    assert run(3, -10.0).rank > run(1, -90.0).rank


def test_wine_does_not_end_in_a_spurious_maximum():
    # The likelihoods of 20 random starts: some end with two or three wines on a plane.
    X = StandardScaler().fit_transform(load_wine().data)
    mppca = MPPCA(n_clusters=3, init="random", n_init=20, random_state=0).fit(X)
    assert np.bincount(mppca.labels_).min() > 3
    assert mppca.noise_variances_.min() > 1e-3
