"""Every embedder and clusterer with every kind of input: it works, or names one that works."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.manifold import MDS
from sklearn.metrics import pairwise_distances
from sklearn.utils import get_tags

import isofold
from isofold import OutOfSample
from isofold.embedding.catalog import CATALOG
from isofold.exceptions import InvalidInputError
from isofold.similarity import EditDistance, ObjectDistance, ObjectKernel
from support.helpers import assert_equal_up_to_rigid_motion
from support.quick import quick_are

ARC = np.linspace(0.0, 2.0, 41)
SHEET = np.stack([np.sin(ARC), np.cos(ARC), 0.4 * np.sin(7.0 * ARC)], axis=1)
TRAIN, NEW = SHEET[np.arange(41) % 8 != 3], SHEET[np.arange(41) % 8 == 3]
LABELS = (np.arange(len(TRAIN)) > 18).astype(int)
CENTER = TRAIN.mean(axis=0)

# Small and quick; nothing of what is tested depends on them.
QUICK = {"EAT": {"n_neighbors": 4}, "IPA": {"n_neighbors": 6}}
EMBEDDERS = {
    method.name: getattr(isofold, method.name)(random_state=0, **QUICK.get(method.name, {}))
    for method in CATALOG
    if method.is_public
    and method.name not in ("OutOfSample", "KernelLaplacianEigenmaps", "TwinKernelEmbedding")
}
CLUSTERERS = {
    name: getattr(isofold, name)(n_clusters=3, n_components=1, random_state=0)
    for name in ("LDLC", "VQPCA", "GeodesicKMedoids", "MPPCA")
}
ALL = EMBEDDERS | CLUSTERERS

# Their kernel is that of the map, which is another one than by default if it is given.
OWN_KERNEL = ("EAT", "TesseraMap")
# Sign and rotation of the start decide which of many optima is found.
NOT_ROTATED = ("NeighborMap",)
# Solvers end at a gap of about 1e-3 from optima that rounding shifts; lengths are kept to 1e-3.
SOLVED = ("MVU", "LandmarkMVU", "FastMVU", "ColoredMVU", "DisjointMVU", "EAT", "TesseraMap")


class Straight(ObjectDistance):
    """Straight distances of tuples."""

    def __call__(self, A, B=None):
        return cdist(np.array(A), np.array(A if B is None else B))


class Product(ObjectKernel):
    """Products of tuples, about a fixed center."""

    def __call__(self, A, B=None):
        first, second = np.array(A) - CENTER, np.array(A if B is None else B) - CENTER
        # Not by BLAS, whose rounding depends on the rows that come together.
        return (first[:, None] * second).sum(axis=2)


METRICS = ("cosine", "manhattan", "correlation")


def straight(a, b):
    return float(np.linalg.norm(np.subtract(a, b)))


def objects(points):
    # Not rows of one table: a tuple each, with a name that no number can stand for.
    return [tuple(point) for point in points]


KINDS = {
    "distances": ({"metric": "precomputed"}, lambda rows: cdist(rows, TRAIN)),
    "kernel": ({"kernel": "precomputed"}, lambda rows: (rows - CENTER) @ (TRAIN - CENTER).T),
    "metric of objects": ({"metric": straight}, objects),
    "object distance": ({"metric": Straight()}, objects),
    "object kernel": ({"kernel": Product()}, objects),
}


def fitted(name, data, **parameters):
    model = clone(ALL[name]).set_params(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data, LABELS)


_on_points = {}


def on_points(name):
    """Return the method fitted to the points, once."""
    if name not in _on_points:
        _on_points[name] = fitted(name, TRAIN)
    return _on_points[name]


# How input becomes distances is the work of the base class: of methods that solve programs, which
# take long, one looks at all kinds in every run, and the others at distances.


@pytest.mark.parametrize(
    ("name", "kind"),
    quick_are(
        [
            (name, kind)
            for name in EMBEDDERS
            for kind in KINDS
            if name not in SOLVED or name == "MVU" or kind == "distances"
        ],
        itertools.product(EMBEDDERS, KINDS),
    ),
)
def test_an_embedder_sees_the_same_samples_in_any_form(name, kind):
    parameters, form = KINDS[kind]
    model = fitted(name, form(TRAIN), **parameters)
    assert get_tags(model).input_tags.pairwise == (kind in ("distances", "kernel"))
    new = model.transform(form(NEW))
    assert np.isfinite(new).all()
    size = np.abs(model.embedding_).max()
    again = model.transform(form(TRAIN)[:4])
    # Kernel maps of `affine` reproduce training samples to 1e-6 of the size of the map.
    atol = 1e-6 * size if name in OWN_KERNEL else 1e-12 * size
    np.testing.assert_allclose(again, model.embedding_[:4], rtol=0, atol=atol)
    np.testing.assert_array_equal(model.transform(form(NEW)[1:2]), new[1:2])
    if name in NOT_ROTATED or (name in OWN_KERNEL and "kernel" in kind):
        return
    known = on_points(name)
    tolerance = 1e-3 if name in SOLVED else 1e-6
    assert_equal_up_to_rigid_motion(model.embedding_, known.embedding_, atol=tolerance * size)
    if not model._takes_distances:
        both = np.vstack([model.embedding_, new])
        expected = np.vstack([known.embedding_, known.transform(NEW)])
        assert_equal_up_to_rigid_motion(both, expected, atol=tolerance * size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CLUSTERERS)
def test_a_clusterer_sees_the_same_samples_in_any_form(name, kind):
    parameters, form = KINDS[kind]
    model = fitted(name, form(TRAIN), **parameters)
    np.testing.assert_array_equal(model.labels_, on_points(name).labels_)
    np.testing.assert_array_equal(model.predict(form(TRAIN)), model.labels_)
    np.testing.assert_array_equal(model.predict(form(NEW)), on_points(name).predict(NEW))


@pytest.mark.parametrize(
    ("name", "metric"),
    quick_are(
        [
            *itertools.product(["LocalMDS", "LDLC"], METRICS),
            *((name, "cosine") for name in ("IPA", "NeighborMap", "Unfold")),
        ],
        itertools.product(["IPA", "LocalMDS", "NeighborMap", "Unfold", "LDLC"], METRICS),
    ),
)
def test_a_metric_by_name_is_its_distances(name, metric):
    table = np.abs(TRAIN) + 0.1
    by_name = fitted(name, table, metric=metric)
    D = pairwise_distances(table, metric=metric)
    D = (D + D.T) / 2.0
    np.fill_diagonal(D, 0.0)
    given = fitted(name, D, metric="precomputed")
    if name in CLUSTERERS:
        np.testing.assert_array_equal(by_name.labels_, given.labels_)
        return
    # scikit-learn computes some of them through products, to 1e-16 of 1: 1e-8 of small roots.
    assert_equal_up_to_rigid_motion(by_name.embedding_, given.embedding_, atol=1e-5)
    assert np.isfinite(by_name.transform(np.abs(NEW) + 0.1)).all()
    atol = 1e-12 * np.abs(by_name.embedding_).max()
    np.testing.assert_allclose(by_name.transform(table), by_name.embedding_, rtol=0, atol=atol)


@pytest.mark.parametrize("name", quick_are([n for n in ALL if n not in SOLVED or n == "MVU"], ALL))
def test_a_sparse_graph_is_taken_or_another_method_is_named(name):
    near = cdist(TRAIN, TRAIN)
    graph = sp.csr_array(np.where(near < np.quantile(near, 0.2), near, 0.0))
    if getattr(ALL[name], "_takes_distances", False):
        assert np.isfinite(fitted(name, graph, metric="precomputed").embedding_).all()
        return
    with pytest.raises(InvalidInputError, match=r"needs all distances.*LocalMDS"):
        fitted(name, graph, metric="precomputed")


@pytest.mark.parametrize("name", ALL)
def test_two_ways_of_comparing_are_one_too_many(name):
    with pytest.raises(InvalidInputError, match="Pass one of them"):
        fitted(name, cdist(TRAIN, TRAIN), metric="precomputed", kernel="precomputed")


def test_missing_values_on_request():
    table = TRAIN.copy()
    table[::5, 1] = np.nan
    with pytest.raises(InvalidInputError, match="NaN"):
        fitted("LocalMDS", table)
    model = fitted("LocalMDS", table, metric="nan_euclidean")
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_array_equal(model.transform(table[:3]), model.embedding_[:3])
    table[0] = np.nan
    with pytest.raises(InvalidInputError, match="no feature in common"):
        fitted("LocalMDS", table, metric="nan_euclidean")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda K: K[:-1], "square"),
        (lambda K: K + np.triu(K), "not symmetric"),
        (lambda K: np.where(np.eye(len(K)) > 0, np.nan, K), "NaN"),
        (lambda K: K - 2.0 * np.diag(K.diagonal()), "repair_kernel"),
        (sp.csr_array, "KernelLaplacianEigenmaps"),
    ],
)
def test_what_is_no_kernel_is_refused(change, words):
    K = (TRAIN - CENTER) @ (TRAIN - CENTER).T
    with pytest.raises(InvalidInputError, match=words):
        fitted("LocalMDS", change(K), kernel="precomputed")


@pytest.mark.parametrize(
    ("X", "parameters", "words"),
    [
        ("abc", {"metric": straight}, "collection of objects"),
        (["a", None, "b"], {"metric": straight}, r"X\[1\] is None"),
        (["a", "b"], {"kernel": lambda A, B: np.zeros(3)}, r"shape \(3,\)"),
        (["a", "b", "c"], {"metric": lambda a, b: ord(a) - ord(b)}, "Negative|one way"),
        (["a", "b", "c"], {"metric": lambda a, b: "far"}, "a distance is a number"),
        (objects(TRAIN), {"metric": lambda a, b: np.nan}, "NaN"),
        (np.zeros((5, 2)), {"metric": "cosine"}, "no direction"),
        (3, {"metric": "cosine"}, "2D array"),
        (np.array(3.0), {"metric": "cosine"}, "2D array"),
        ([[1.0], [1.0, 2.0]], {"metric": "cosine"}, "inhomogeneous|sequence"),
        (sp.eye_array(5).tocsr(), {"metric": "cosine"}, "toarray"),
        (TRAIN, {"metric": "mahalanobis"}, "whiten"),
        (TRAIN, {"metric": "nearness"}, "unknown. Choose one of"),
        (TRAIN, {"kernel": "rbf"}, "must be 'precomputed'"),
    ],
)
def test_what_cannot_be_compared_is_refused(X, parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        isofold.LocalMDS(**parameters).fit(X)


def test_objects_and_rows_are_not_mixed():
    model = fitted("LocalMDS", objects(TRAIN), metric=straight)
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(InvalidInputError, match="rows of a table, but the estimator was fitted"):
        model.transform(TRAIN)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_few_objects_and_those_of_a_line_have_a_map(name):
    for data in (["a", "b"], ["a", "aa", "aaa", "aaaa", "aaaaa", "aaaaaa"]):
        model = clone(EMBEDDERS[name]).set_params(metric=lambda a, b: float(abs(len(a) - len(b))))
        if data == ["a", "b"]:
            model.set_params(metric=lambda a, b: float(a != b))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data, np.arange(len(data)) % 2)
        assert model.embedding_.shape == (len(data), 2)
        spread = np.linalg.norm(model.embedding_[0] - model.embedding_[-1])
        # Kernels of so few samples are wide, and balance is given up last.
        assert spread > 0.5 * model.metric(data[0], data[-1])


def test_text_in_frames_and_series():
    pd = pytest.importorskip("pandas")
    words = ["cat", "cats", "car", "cart", "dog", "dogs", "doge", "fog"]
    model = isofold.LocalMDS(metric=EditDistance(), n_neighbors=6, random_state=0)
    expected = model.fit_transform(words)
    for form in (pd.DataFrame({"word": words}), pd.Series(words), np.array(words)[:, None]):
        np.testing.assert_array_equal(clone(model).fit_transform(form), expected)
    with pytest.raises(InvalidInputError, match=r"holds text.*EditDistance"):
        isofold.LocalMDS().fit(words)


def test_copies_of_objects_have_one_image():
    twice = objects(TRAIN) + objects(TRAIN[:5])
    model = isofold.IPA(metric=straight, n_neighbors=6, random_state=0).fit(twice)
    np.testing.assert_array_equal(model.embedding_[-5:], model.embedding_[:5])


def test_distances_of_no_points_are_reported():
    rng = np.random.RandomState(0)
    D = np.abs(rng.normal(size=(30, 30))) + 1.0
    D = np.where(np.eye(30) > 0, 0.0, (D + D.T) / 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = isofold.PLML(metric="precomputed", random_state=0).fit(D)
    assert "not_euclidean" in model.diagnosis_.codes
    assert model.diagnosis_["not_euclidean"].value > 0.01


def test_an_unknown_own_kernel_is_the_least_that_is_possible():
    # Scaled, so that k(x, x) differs between samples.
    scale = np.linspace(1.0, 3.0, len(TRAIN))[:, None]
    rows = TRAIN * scale
    model = fitted("LocalMDS", rows @ rows.T, kernel="precomputed")
    np.testing.assert_allclose(model.transform(rows @ rows.T), model.embedding_, atol=1e-9)


def test_out_of_sample_of_objects():
    class OfObjects(MDS):
        def fit_transform(self, X, y=None):
            assert isinstance(X[0], tuple)
            return np.array(X)[:, :2]

    model = OutOfSample(OfObjects(n_init=1, init="random"), metric=straight).fit(objects(TRAIN))
    np.testing.assert_allclose(model.transform(objects(TRAIN)[:3]), TRAIN[:3, :2], atol=1e-12)
    # All coordinates: Gower's formula then puts every point where it is.
    placed = OutOfSample.from_embedding(objects(TRAIN), TRAIN, metric=Straight())
    np.testing.assert_allclose(placed.transform(objects(NEW)), NEW, atol=1e-9)
