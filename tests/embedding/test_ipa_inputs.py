"""IPA on bad and odd input: a map without NaN, or a message that says what was seen."""

import contextlib

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from isofold import IPA, Cover, datasets
from isofold.exceptions import InvalidInputError
from isofold.quality import procrustes_error
from isofold.stitching import StitchTerms
from support.helpers import assert_equal_up_to_rigid_motion
from support.ipa_cases import embed_quietly, grid, half_cylinder, rectangle

# Straight and flat data: roundings of a hundred sums of numbers of size one.
ROUNDING = 1e-12

SHEET = half_cylinder(grid(8, 10))


def model(**parameters):
    return IPA(**{"random_state": 0, "n_jobs": 1, **parameters})


def assert_usable(ipa, X):
    """Assert that all that a map promises is finite and of the right shape."""
    n, d = X.shape
    r = ipa.n_components_
    assert ipa.embedding_.shape == (n, r)
    for name in ("embedding_", "distortion_", "patch_error_", "spectrum_"):
        assert np.isfinite(getattr(ipa, name)).all(), name
    assert np.isfinite(ipa.estimated_error_)
    assert 0.0 <= ipa.discarded_variance_ratio_ <= 1.0
    assert ipa.component_.shape == ipa.outliers_.shape == (n,)
    np.testing.assert_array_equal(ipa.transform(X), ipa.embedding_)
    assert np.isfinite(ipa.distance_to_manifold(X)).all()
    assert ipa.inverse_transform(ipa.embedding_).shape == (n, d)
    assert np.isfinite(ipa.transform(X + 1.0)).all()
    for flag in ipa.diagnosis_.findings:
        assert np.isfinite(flag.value), flag


# Few points


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 9, 14, 25, 40, 60])
@pytest.mark.parametrize("r", [1, 2, 3])
def test_few_points_of_a_cloud(n, r):
    X = np.random.RandomState(n).normal(size=(n, 3))
    ipa = model(n_components=r)
    embed_quietly(ipa, X)
    assert_usable(ipa, X)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8, 12, 20, 30, 45, 60])
def test_few_points_of_a_plane_come_back(n):
    flat = rectangle(n, (3.0, 2.0), seed=n)
    X = np.pad(flat, ((0, 0), (1, 2)))
    ipa = model()
    Y = embed_quietly(ipa, X)
    if (ipa.component_ == 0).all():
        assert_equal_up_to_rigid_motion(Y, flat, atol=10 * ROUNDING)
    assert_usable(ipa, X)


@pytest.mark.parametrize("n", range(10, 60, 5))
def test_sizes_around_that_of_a_patch(n):
    # An arc of one radian: from one patch to some, charts of second order are good to a hundredth.
    flat = rectangle(n, (3.0, 2.0), seed=1)
    x, y = flat.T
    X = np.column_stack([3 * np.cos(x / 3), 3 * np.sin(x / 3), y])
    assert procrustes_error(model().fit_transform(X), flat) < 0.01


@pytest.mark.parametrize("n", range(10, 60, 5))
def test_too_few_points_for_an_arc_of_pi_are_doubted(n):
    flat = rectangle(n, (np.pi, 1.0), seed=1)
    ipa = model()
    Y = embed_quietly(ipa, half_cylinder(flat))
    assert procrustes_error(Y, flat) < 0.1 or not ipa.diagnosis_.is_sound


def test_three_points_of_the_plane():
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    np.testing.assert_allclose(pdist(model().fit_transform(X)), [3.0, 4.0, 5.0])


# Points at few places


@pytest.mark.parametrize("n", [2, 5, 30, 300])
def test_one_place(n):
    X = np.tile([1.0, -2.0, 3.0], (n, 1))
    ipa = model()
    np.testing.assert_array_equal(ipa.fit_transform(X), np.zeros((n, 2)))
    assert_usable(ipa, X)
    np.testing.assert_allclose(ipa.inverse_transform([[0.0, 0.0]]), X[:1])


def test_two_places():
    X = np.repeat([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]], [10, 30], axis=0)
    ipa = model()
    Y = ipa.fit_transform(X)
    assert np.linalg.norm(Y[0] - Y[-1]) == pytest.approx(3.0)
    assert np.abs(Y[:, 1]).max() <= ROUNDING
    assert_usable(ipa, X)


def test_three_places_with_many_copies():
    places = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0], [0.0, 5.0, 0.0]])
    X = np.repeat(places, 20, axis=0)
    Y = model().fit_transform(X)
    np.testing.assert_allclose(pdist(Y[::20]), pdist(places))


def test_copies_in_several_pieces():
    # Corners of a cube, each a cluster, many of their points twice.
    corners = np.array(list(np.ndindex(2, 2, 2)))[:, None, :] * 50.0
    clusters = (corners + SHEET[:20]).reshape(-1, 3)
    X = np.concatenate([clusters, clusters[::3]])
    ipa = model(n_neighbors=4)
    Y = embed_quietly(ipa, X)
    assert_usable(ipa, X)
    assert len(np.unique(ipa.component_)) == 8
    np.testing.assert_array_equal(Y[len(clusters) :], Y[: len(clusters) : 3])


def test_duplicated_rows_do_not_move_the_others():
    flat = grid(12, 15)
    X = half_cylinder(flat)
    chosen = np.random.RandomState(0).choice(len(X), 300)
    Y = model().fit_transform(np.concatenate([X, X[chosen]]))
    np.testing.assert_array_equal(Y[180:], Y[chosen])
    assert procrustes_error(Y[:180], flat) < 0.01


def test_nearly_equal_rows():
    X = rectangle(200, (2.0, 1.0))
    X = np.pad(np.concatenate([X, X + 1e-13]), ((0, 0), (0, 1)))
    ipa = model()
    Y = embed_quietly(ipa, X)
    assert_equal_up_to_rigid_motion(Y[:200], X[:200], atol=1e-9)


# Data of fewer dimensions than the map


@pytest.mark.parametrize("n", [2, 3, 5, 10, 40, 200])
def test_line_in_two_dimensions(n):
    t = np.sort(rectangle(n, (10.0,)), axis=0)
    X = t @ np.array([[1.0, 2.0, -2.0]]) / 3
    ipa = model()
    Y = embed_quietly(ipa, X)
    assert np.abs(Y[:, 1]).max() <= 100 * ROUNDING
    if (ipa.component_ == 0).all():
        assert_equal_up_to_rigid_motion(Y, t, atol=100 * ROUNDING)
    assert_usable(ipa, X)


def test_regular_line_in_three_dimensions():
    t = np.arange(60.0)[:, None]
    Y = embed_quietly(model(n_components=3), np.pad(t, ((0, 0), (0, 3))))
    assert_equal_up_to_rigid_motion(Y, t, atol=100 * ROUNDING)


def test_one_feature():
    X = rectangle(100, (5.0,))
    ipa = model(n_components=1)
    Y = ipa.fit_transform(X)
    assert_equal_up_to_rigid_motion(Y, X, atol=10 * ROUNDING)
    assert_usable(ipa, X)


def test_constant_columns():
    flat = grid(10, 14)
    X = np.insert(flat, [0, 1, 2], [7.0, -3e5, 0.0], axis=1)
    ipa = model()
    assert_equal_up_to_rigid_motion(ipa.fit_transform(X), flat, atol=1e-8)
    assert_usable(ipa, X)
    np.testing.assert_allclose(ipa.inverse_transform(ipa.embedding_), X, atol=1e-8)


def test_as_many_components_as_features():
    X = rectangle(200, (3.0, 2.0, 1.0))
    assert_equal_up_to_rigid_motion(model(n_components=3).fit_transform(X), X, atol=10 * ROUNDING)


def test_more_features_than_samples():
    flat = grid(6, 8)
    turn = np.linalg.qr(np.random.RandomState(0).normal(size=(300, 2)))[0].T
    ipa = model()
    assert_equal_up_to_rigid_motion(ipa.fit_transform(flat @ turn), flat, atol=1e-9)


# Units


@pytest.mark.parametrize("unit", [1e-50, 1e-25, 1e25, 1e50])
def test_extreme_units(unit):
    flat = grid(10, 14)
    X = unit * half_cylinder(flat)
    ipa = model()
    Y = ipa.fit_transform(X)
    assert procrustes_error(Y / unit, flat) < 0.01
    assert np.isfinite(ipa.distance_to_manifold(X)).all()


@pytest.mark.parametrize("unit", [1e-30, 1e-10, 1e10, 1e30])
def test_extreme_units_in_single_precision(unit):
    flat = grid(10, 14)
    X = (unit * half_cylinder(flat)).astype(np.float32)
    Y = model().fit_transform(X)
    assert Y.dtype == np.float32
    assert procrustes_error(Y.astype(np.float64) / unit, flat) < 0.01


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e-100, 1e100, 1e150, 1e300])
def test_units_beyond_all_reason_are_refused_or_mapped(unit):
    # Products of two squared distances leave the range of numbers. No warning may tell of it.
    with contextlib.suppress(InvalidInputError):
        assert procrustes_error(embed_quietly(model(), unit * SHEET) / unit, grid(8, 10)) < 0.02


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_far_from_the_origin(offset):
    flat = grid(10, 14)
    # Differences of numbers of this size keep sixteen digits less those of the offset.
    Y = model().fit_transform(half_cylinder(flat) + offset)
    assert procrustes_error(Y, flat) < 0.01


# Refusals


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 0}, "n_components=0.*at least 1"),
        ({"n_components": 1.5}, "n_components=1.5.*whole number"),
        ({"n_components": True}, "n_components=True.*whole number"),
        ({"n_components": None}, "n_components=None.*whole number"),
        ({"n_components": "two"}, "n_components='two'.*'auto'"),
        ({"n_components": 4}, "n_components=4, but X has 3 feature.*at most n_components=3"),
        ({"cover": "ball"}, "cover='ball' is unknown.*balls, kmeans"),
        ({"cover": None}, "cover is a NoneType. Pass 'balls'"),
        ({"cover": 3}, "cover is a int. Pass 'balls'"),
        ({"cover": Cover.labels([])}, r"shape \(0,\).*80 samples"),
        ({"cover": Cover.labels(np.zeros(10, dtype=int))}, r"shape \(10,\).*80 samples.*Pass"),
        ({"cover": Cover.labels(np.zeros((80, 2, 2)))}, r"shape \(80, 2, 2\)"),
        ({"cover": Cover.labels(np.full(80, 0.5))}, "float64.*no labels.*integer or string"),
        ({"cover": Cover.labels(np.array([None, "a"] * 40, dtype=object))}, "cannot be compared"),
        ({"cover": Cover.patches(np.zeros((80, 2)))}, "Patch 0.*holds no points.*Leave it out"),
        ({"cover": Cover.patches(np.full((80, 2), 0.5))}, "neither 0 nor 1.*memberships > 0.5"),
        ({"cover": Cover.patches(np.ones((79, 2)))}, r"shape \(79, 2\).*80 points"),
        ({"cover": Cover.patches(sp.csr_array((80, 2)))}, "Patch 0.*holds no points"),
        (
            {"cover": Cover.patches([[0, 1], [2, 3]])},
            "76 of 80 points are in no patch.*point 4.*Add them",
        ),
        (
            {"cover": Cover.patches([list(range(80)), [79, 80]])},
            "Patch 1 holds the point 80.*0 to 79",
        ),
        (
            {"cover": Cover.patches([list(range(80)), [1.5, 2.5]])},
            "Patch 1.*not as a list of points",
        ),
        ({"cover": Cover.patches([list(range(80)), [3, 3]])}, "Patch 1 holds the point 3 2 times"),
        ({"cover": "kmeans", "n_patches": 81}, "81 clusters.*at most 80"),
        ({"n_patches": 0}, "n_patches=0.*at least 1"),
        ({"n_patches": 2.5}, "n_patches=2.5.*whole number"),
        ({"n_patches": None}, "n_patches=None.*whole number"),
        ({"n_patches": "many"}, "n_patches='many'.*'auto'"),
        ({"chart": "cubic"}, "chart='cubic' is unknown.*quadratic, pca"),
        ({"chart": None}, "chart=None cannot embed.*an embedder with fit_transform"),
        ({"chart": PCA}, "chart=.*PCA"),
        ({"chart": PCA(3)}, r"PCA\(n_components=3\).*1 to 2 columns"),
        ({"n_neighbors": 0}, "n_neighbors=0.*at least 1"),
        ({"n_neighbors": 2.0}, "n_neighbors=2.0.*whole number"),
        ({"n_neighbors": "all"}, "n_neighbors='all'.*whole number"),
        ({"terms": "variance"}, "terms='variance' must be a StitchTerms or None"),
        ({"terms": {"variance": 1.0}}, "terms=.*must be a StitchTerms"),
        ({"terms": StitchTerms(variance=-1.0)}, "terms.variance=-1.0.*not negative"),
        ({"terms": StitchTerms(pairs=[0, 1])}, r"terms.pairs has shape \(2,\)"),
        ({"terms": StitchTerms(pairs=[[0, 1]], upper="far")}, "terms.upper='far' must be a number"),
        ({"terms": StitchTerms(pairs=[[0, 1]], lower=2.0, upper=1.0)}, "terms.lower exceeds"),
        ({"solver": "fast"}, "solver='fast'.*LowRankSDP"),
        ({"solver": PCA()}, "solver=PCA.*LowRankSDP"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_jobs": "all"}, "n_jobs='all'"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_wrong_parameter(parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        embed_quietly(model(**parameters), SHEET)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.where(np.eye(5, 3) > 0, np.nan, 1.0), "3 NaN.*index.*Drop"),
        (np.array([[0.0, np.inf], [1.0, 2.0]]), "1 infinite"),
        (np.ones((1, 3)), "1 sample.*at least 2"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((5, 0)), "0 feature"),
        (np.ones(5), "2D"),
        (sp.csr_array(np.eye(5)), "sparse.*toarray"),
        ([["a", "b"], ["c", "d"]], "could not convert string"),
    ],
)
def test_wrong_points(X, words):
    with pytest.raises(InvalidInputError, match=words):
        model().fit(X)


def test_new_points_of_another_kind():
    ipa = model()
    embed_quietly(ipa, SHEET)
    for use in (ipa.transform, ipa.distance_to_manifold):
        with pytest.raises(InvalidInputError, match=r"2 features.*expecting 3"):
            use(SHEET[:, :2])
        with pytest.raises(InvalidInputError, match="NaN"):
            use(np.full((1, 3), np.nan))
    with pytest.raises(InvalidInputError, match="3 columns, but the embedding has 2"):
        ipa.inverse_transform(SHEET)


def test_points_far_from_the_data_are_placed():
    ipa = model()
    embed_quietly(ipa, SHEET)
    for far in (1e3, 1e6, 1e12):
        new = np.array([[far, 0.0, 0.0], [0.0, -far, far]])
        assert np.isfinite(ipa.transform(new)).all()
        distances = ipa.distance_to_manifold(new)
        assert (distances > far / 10).all()
    back = ipa.inverse_transform([[1e6, -1e6]])
    assert np.isfinite(back).all()


# Sizes beyond what the data give


@pytest.mark.parametrize("parameters", [{"n_neighbors": 10**6}, {"n_neighbors": 79}])
def test_more_neighbors_than_points(parameters):
    Y = embed_quietly(model(**parameters), SHEET)
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("cover", ["balls", "kmeans"])
@pytest.mark.parametrize("n_patches", [1, 2, 3, 80])
def test_odd_numbers_of_patches(cover, n_patches):
    ipa = model(cover=cover, n_patches=n_patches)
    embed_quietly(ipa, SHEET)
    assert_usable(ipa, SHEET)


@pytest.mark.parametrize(
    "labels",
    [np.zeros(80, dtype=int), np.arange(80), np.arange(80) // 40 * 99 - 7],
    ids=["one", "all different", "gaps"],
)
def test_odd_labels(labels):
    ipa = model(cover=Cover.labels(labels))
    embed_quietly(ipa, SHEET)
    assert_usable(ipa, SHEET)


def test_clusters_that_empty_out_in_the_sample(monkeypatch):
    # Three quarters of the samples are not drawn, and most labels go with them.
    monkeypatch.setattr("isofold.embedding.ipa.SAMPLE_SIZES", (60, 80))
    data = datasets.s_curve(320, random_state=0)
    labels = np.arange(320) // 2
    ipa = model(cover=Cover.labels(labels))
    embed_quietly(ipa, data.X)
    assert_usable(ipa, data.X)


def test_patches_that_empty_out_in_the_sample(monkeypatch):
    monkeypatch.setattr("isofold.embedding.ipa.SAMPLE_SIZES", (60, 80))
    flat = rectangle(320, (2.0, 1.0))
    X = half_cylinder(flat)
    near = [np.argsort(np.linalg.norm(flat - flat[i], axis=1))[:80] for i in range(0, 320, 8)]
    table = np.zeros((320, 42), dtype=int)
    for patch, members in enumerate(near):
        table[members, patch] = 1
    table[:, 40] = 1
    table[5, 41] = 1
    ipa = model(cover=Cover.patches(table))
    embed_quietly(ipa, X)
    assert_usable(ipa, X)
