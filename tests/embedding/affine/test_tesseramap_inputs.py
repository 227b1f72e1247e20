"""TesseraMap on bad and odd input: a map without NaN, or a message that says what was seen."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.exceptions import NotFittedError

from isofold import Cover, TesseraMap
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning, InvalidInputError
from isofold.sdp import DenseSDP
from support.helpers import assert_equal_up_to_rigid_motion

FLAT = np.random.RandomState(0).rand(60, 2)
SHEET = np.column_stack([FLAT, 0.3 * FLAT[:, 0] ** 2])
LABELS = np.floor(4 * FLAT[:, 0]).astype(int)

# Two answers to nearly the same program, see test_tesseramap.py.
SAME = 2e-2


def model(**parameters):
    return TesseraMap(**{"random_state": 0, "n_jobs": 1, **parameters})


def fit_quietly(tessera, X):
    """Fit a map whose doubts are not what is tested."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return tessera.fit(X)


def assert_usable(tessera, n):
    """Assert that all that a map promises is finite and of the right shape."""
    assert tessera.embedding_.shape == (n, tessera.n_components)
    for name in (
        "embedding_",
        "distortion_",
        "spectrum_",
        "discarded_variance_ratio_",
        "link_error_",
        "stretch_",
    ):
        assert np.isfinite(getattr(tessera, name)).all(), name
    assert tessera.labels_.shape == (n,)
    assert 0.0 <= tessera.discarded_variance_ratio_ <= 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_links": 5}, r"n_links=5, but more than n_components² = 4 links"),
        ({"n_links": 2, "n_components": 1}, r"n_links=2, but more than n_components² = 1"),
        ({"n_links": 0}, "n_links=0"),
        ({"n_links": 1.5}, "n_links=1.5"),
        ({"cover": "dbscan"}, "cover='dbscan' names no clustering.*affinity, kmeans, ldlc"),
        ({"cover": 3}, "cover"),
        ({"cover": Cover.labels(LABELS[:-1])}, "59"),
        ({"cover": Cover.labels(np.ones((60, 2), dtype=int))}, "cover|labels"),
        ({"cover": Cover.labels(np.full(60, np.nan))}, "cover|labels"),
        ({"cover": Cover.clusters("kmeans", 0)}, "n_clusters=0"),
        ({"cover": Cover.clusters("kmeans", 2.5)}, "n_clusters=2.5"),
        ({"cover": Cover.clusters("birch", 3)}, "cover='birch'"),
        ({"kernel": "precomputed"}, "precomputed|square"),
        ({"kernel": "gauss"}, "kernel='gauss'"),
        ({"kernel": None}, "kernel=None"),
        ({"gamma": "scale"}, "gamma='scale'"),
        ({"gamma": 0.0}, "gamma=0.0"),
        ({"gamma": np.nan}, "gamma=nan"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, "n_components=1.5"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"solver": "clarabel"}, "solver='clarabel' must be a"),
        ({"solver": DenseSDP}, "solver=.*must be a"),
        ({"solver": DenseSDP(tol=2.0)}, "tol=2.0"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        model().set_params(**parameters).fit(SHEET)


def test_a_given_kernel_is_that_of_points_in_its_space():
    centered = SHEET - SHEET.mean(axis=0)
    given = model(kernel="precomputed").fit(centered @ centered.T)
    linear = model(kernel="linear").fit(SHEET)
    assert_equal_up_to_rigid_motion(given.embedding_, linear.embedding_, atol=1e-6)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (SHEET[:1], r"1 sample\(s\), but TesseraMap needs at least 2"),
        (np.full((10, 3), 2.5), "10 samples|same|different"),
        (np.empty((10, 0)), "0 feature"),
        (SHEET[:, 0], "1D|2D|dimension"),
        (np.where(SHEET > 0.9, np.nan, SHEET), "NaN"),
        (1e200 * SHEET, "units"),
        (sp.csr_array(SHEET), "[Ss]parse"),
    ],
    ids=["one", "equal", "no features", "vector", "NaN", "huge", "sparse"],
)
def test_samples_that_make_no_sense(X, message):
    with pytest.raises(ValueError, match=message):
        model().fit(X)


def test_new_samples_that_make_no_sense():
    with pytest.raises(NotFittedError):
        model().transform(SHEET)
    tessera = model(cover="kmeans").fit(SHEET)
    with pytest.raises(InvalidInputError, match=r"2 features.*expecting 3"):
        tessera.transform(FLAT)
    with pytest.raises(InvalidInputError, match="NaN"):
        tessera.transform(np.full((1, 3), np.nan))
    assert np.isfinite(tessera.transform([[1e6, 0.0, 0.0]])).all()


# Odd data


@pytest.mark.parametrize("cover", ["affinity", "kmeans", "ldlc", None])
@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_few_samples(n, cover):
    X = np.random.RandomState(n).normal(size=(n, 4))
    assert_usable(fit_quietly(model(cover=cover), X), n)


@pytest.mark.parametrize("cover", ["affinity", None])
@pytest.mark.parametrize("n", [2, 3])
def test_very_few_samples_are_themselves(n, cover):
    # All are neighbors: every distance is kept, in one tessera or by links (with their slack).
    X = np.random.RandomState(n).normal(size=(n, 4))
    tessera = fit_quietly(model(cover=cover), X)
    np.testing.assert_allclose(pdist(tessera.embedding_), pdist(X), rtol=SAME)


def test_copies_count_once():
    X = np.concatenate([SHEET, SHEET[::7], SHEET[::7]])
    tessera = model(cover=Cover.labels(np.concatenate([LABELS, LABELS[::7], LABELS[::7]]))).fit(X)
    alone = model(cover=Cover.labels(LABELS)).fit(SHEET)
    np.testing.assert_array_equal(tessera.embedding_[:60], alone.embedding_)
    np.testing.assert_array_equal(tessera.embedding_[60:], np.tile(alone.embedding_[::7], (2, 1)))
    np.testing.assert_array_equal(tessera.labels_[:60], alone.labels_)


def test_more_clusters_and_neighbors_than_there_are():
    tessera = fit_quietly(model(cover=Cover.clusters("kmeans", 500), n_neighbors=500), SHEET[:12])
    assert_usable(tessera, 12)
    assert tessera.tesserae_.n_tesserae == 12


def test_more_components_than_there_are():
    tessera = model(cover=Cover.labels(LABELS), n_components=5).fit(SHEET)
    assert_usable(tessera, 60)
    # Pieces of three features have three dimensions at most.
    assert tessera.tesserae_.ranks.max() <= 3


def test_one_feature():
    X = np.random.RandomState(0).rand(60, 1)
    tessera = fit_quietly(model(n_components=1, cover="kmeans"), X)
    # Links may be longer by half of the slack of their squares.
    np.testing.assert_allclose(
        np.abs(tessera.embedding_ - tessera.embedding_[0]), np.abs(X - X[0]), atol=SAME
    )


def test_tesserae_of_one_and_two_samples():
    labels = LABELS.copy()
    labels[0], labels[1:3] = 100, 200
    tessera = fit_quietly(model(cover=Cover.labels(labels)), SHEET)
    assert_usable(tessera, 60)
    assert sorted(set(tessera.tesserae_.ranks)) == [0, 1, 2]


def test_samples_along_a_line():
    # Tesserae of one dimension in a map of two.
    X = np.column_stack([np.linspace(0, 5, 60), np.zeros(60)])
    tessera = fit_quietly(model(cover=Cover.clusters("kmeans", 5)), X)
    assert_usable(tessera, 60)
    assert np.ptp(tessera.embedding_[:, 0]) == pytest.approx(5.0, rel=SAME)


@pytest.mark.parametrize("unit", [1e-50, 1e50])
def test_far_out_units(unit):
    tessera = model(cover=Cover.labels(LABELS)).fit(unit * SHEET)
    assert_usable(tessera, 60)
    np.testing.assert_allclose(
        pdist(tessera.embedding_ / unit),
        pdist(model(cover=Cover.labels(LABELS)).fit_transform(SHEET)),
        atol=SAME,
    )


def test_far_from_the_origin():
    far, near = (model(cover=Cover.labels(LABELS)).fit_transform(X) for X in (SHEET + 1e6, SHEET))
    np.testing.assert_allclose(pdist(far), pdist(near), atol=SAME)


def test_pieces_far_apart():
    X = np.concatenate([SHEET + away for away in 100.0 * np.eye(3)])
    with pytest.warns(DisconnectedGraphWarning):
        tessera = model(cover=Cover.clusters("kmeans", 12)).fit(X)
    assert_usable(tessera, 180)
    assert len(tessera.bridges_) >= 2


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_heavy_tails_are_mapped(seed):
    X = np.random.RandomState(seed).standard_cauchy(size=(40, 4))
    tessera = fit_quietly(model(), X)
    assert_usable(tessera, 40)
    assert np.isfinite(tessera.transform(10 * X)).all()


def test_cover_is_not_changed_by_the_fit():
    labels = LABELS.copy()
    model(cover=Cover.labels(labels)).fit(SHEET)
    np.testing.assert_array_equal(labels, LABELS)
