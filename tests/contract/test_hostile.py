"""Whatever comes in: a result without NaN, or an error of isofold that says what to do."""

import inspect
import re

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import cpu_count
from scipy.sparse.linalg import LinearOperator
from scipy.spatial.distance import pdist
from sklearn.manifold import Isomap

import isofold
from isofold import EAT, LDLC, MVU, ColoredMVU, LandmarkMVU, LocalMDS, TesseraMap
from isofold import exceptions as known
from isofold._parallel import MOST_WORKERS, n_workers
from isofold.exceptions import InputTypeError, InvalidInputError, MemoryLimitError
from isofold.neighbors import Bridged, Knn
from isofold.sdp import GramSDP, LowRankSDP
from support.quick import quick_are, quick_first

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

ESTIMATORS = [
    name
    for name in isofold.__all__
    if inspect.isclass(getattr(isofold, name)) and hasattr(getattr(isofold, name), "fit")
]
OURS = tuple(
    kind
    for name in known.__all__
    if issubclass(kind := getattr(known, name), Exception) and not issubclass(kind, Warning)
)
RNG = np.random.RandomState(0)
ANGLE, HEIGHT = RNG.rand(2, 24)
POINTS = np.column_stack([np.cos(2 * ANGLE), np.sin(2 * ANGLE), HEIGHT])
FIELDS = np.zeros(24, dtype=[("height", float), ("width", float)])

# What cannot be data, and what the error says to do about it.
REFUSED = {
    "matrix": (POINTS.view(np.matrix), "np.asarray(X)"),
    "dict": ({"a": [1.0] * 24, "b": [2.0] * 24}, "pandas.DataFrame(X)"),
    "structured": (FIELDS, "structured_to_unstructured(X)"),
    "records": (FIELDS.view(np.recarray), "fields height, width"),
    "iterator": (iter(POINTS), "list(X)"),
    "set": ({1.0, 2.0}, "array of two dimensions"),
    "objects": ([object()] * 24, "array of two dimensions"),
    "masked": (np.ma.array(POINTS, mask=POINTS > 0.9), "masked value(s)"),
    "sparse": (sp.csr_array(POINTS), "X.toarray()"),
    "text": (np.full((24, 2), "a"), "convert"),
    "complex": (POINTS * 1j, "omplex"),
    "NaN": (np.where(POINTS > 0.9, np.nan, POINTS), "NaN"),
    "infinite": (np.where(POINTS > 0.9, np.inf, POINTS), "infinite"),
    "a list": (POINTS[:, 0], "2D array"),
    "a cube": (np.zeros((4, 3, 2)), "dim 3"),
    "no rows": (POINTS[:0], "0 "),
    "no columns": (POINTS[:, :0], "column"),
    "nothing": (None, ""),
}

# Strange data, on which a method may or may not find a map.
STRANGE = {
    "orthogonal": np.eye(24),
    "one place": np.ones((24, 3)),
    "tiny": POINTS * 1e-100,
    "huge": POINTS * 1e100,
    "not normal": POINTS * 5e-320,
    "at the edge": POINTS * 1e300,
    "uneven": POINTS * [1e-50, 1.0, 1e50],
    "yes and no": POINTS > 0.5,
    "one row": POINTS[:1],
    "two rows": POINTS[:2],
    "one column": POINTS[:, :1],
    "a line": np.outer(np.arange(24.0), [1.0, 2.0]),
}

# The same points, which become an ordinary table before any method sees them.
OTHER_TYPES = {"half": POINTS.astype(np.float16), "numbers as objects": POINTS.astype(object)}


def made(name, **parameters):
    kind = getattr(isofold, name)
    if name == "OutOfSample":
        return kind(Isomap(n_neighbors=5), **parameters)
    if "random_state" in inspect.signature(kind).parameters:
        parameters.setdefault("random_state", 0)
    return kind(**parameters)


def fit(estimator, X):
    """Fit with numbers or classes of the samples where the method needs them."""
    try:
        n_samples = np.shape(X)[0] if not sp.issparse(X) else X.shape[0]
    except (IndexError, ValueError):
        n_samples = 24
    needs = type(estimator).__name__ in ("ColoredMVU", "LocalSubspaceClassifier")
    return estimator.fit(X, np.arange(n_samples) % 2) if needs else estimator.fit(X)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_data_is_refused(name, kind):
    X, words = REFUSED[kind]
    with pytest.raises(OURS, match=re.escape(words)):
        fit(made(name), X)


def assert_a_map_or_an_error_of_ours(name, X):
    try:
        estimator = fit(made(name), X)
    except OURS:
        return
    assert np.isfinite(getattr(estimator, "embedding_", 0.0)).all()


QUICK_ENOUGH = [name for name in ESTIMATORS if name not in ("EAT", "Unfold")]


# Three methods that solve the programs of MVU have most of its code in common.
@pytest.mark.parametrize(
    "name",
    quick_are(
        [n for n in QUICK_ENOUGH if n not in ("ColoredMVU", "DisjointMVU", "FastMVU")], QUICK_ENOUGH
    ),
)
def test_strange_data_make_a_map_or_an_error_of_ours(name):
    for X in STRANGE.values():
        assert_a_map_or_an_error_of_ours(name, X)


# Two base classes read them, one of embedders and one of clusterers.
@pytest.mark.parametrize("name", quick_are(["IPA", "LocalMDS", "LDLC"], QUICK_ENOUGH))
def test_other_types_of_numbers_make_a_map_or_an_error_of_ours(name):
    for X in OTHER_TYPES.values():
        assert_a_map_or_an_error_of_ours(name, X)


def test_an_error_of_type_is_also_an_error_of_value():
    with pytest.raises(TypeError):
        MVU().fit(REFUSED["matrix"][0])
    assert issubclass(InputTypeError, ValueError)


@pytest.mark.parametrize(
    "value", [np.array(["euclidean", "a"]), np.eye(3), np.array([]), ["euclidean"], 3, None]
)
@pytest.mark.parametrize(
    "name", ["MVU", "FastMVU", "ColoredMVU", "DisjointMVU", "LocalMDS", "NeighborMap", "Unfold"]
)
def test_a_metric_is_a_word(name, value):
    with pytest.raises(InvalidInputError, match=r"(?s)metric=.* is unknown"):
        fit(made(name, metric=value), POINTS)


@pytest.mark.parametrize("name", ["EAT", "TesseraMap", "MVU", "LandmarkMVU"])
@pytest.mark.parametrize("value", [np.eye(3), np.array([]), "dense", 3])
def test_a_solver_is_a_solver(name, value):
    with pytest.raises(InvalidInputError, match="solver="):
        fit(made(name, solver=value), POINTS)


@pytest.mark.parametrize(
    "name", ["EAT", "MVU", "LandmarkMVU", "LocalMDS", "NeighborMap", "TesseraMap", "DisjointMVU"]
)
def test_maps_of_too_many_dimensions_are_refused(name):
    with pytest.raises(MemoryLimitError, match="n_components"):
        fit(made(name, n_components=10**30), POINTS)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("LDLC", "n_init"), ("VQPCA", "n_init"), ("MPPCA", "n_init"), ("LocalMDS", "n_epochs")],
)
def test_work_without_end_is_refused(name, parameter):
    for value in (10**9, 10**30):
        with pytest.raises(InvalidInputError, match=f"{parameter}={value} is how often"):
            fit(made(name, **{parameter: value}), POINTS)


def test_there_are_no_more_threads_than_can_have_work():
    most = max(MOST_WORKERS, cpu_count())
    assert n_workers(10**9) == n_workers(10**30) == most
    assert n_workers(-(10**30)) == 1
    assert n_workers(3) == 3
    assert n_workers(-1) == cpu_count()
    many, one = (LocalMDS(n_epochs=3, random_state=0, n_jobs=n).fit(POINTS) for n in (10**30, 1))
    assert many.embedding_.tobytes() == one.embedding_.tobytes()


def test_orthogonal_points_are_clustered():
    labels = LDLC(n_clusters=5, random_state=0).fit_predict(np.eye(94))
    assert len(np.unique(labels)) == 5
    tessera_map = TesseraMap(cover=LDLC(n_clusters=5, random_state=0), random_state=0)
    assert np.isfinite(tessera_map.fit_transform(np.eye(94))).all()


@pytest.mark.slow
def test_eat_keeps_near_copies_together():
    # Eight places with three near copies each, whose relative errors cannot count.
    places = RNG.rand(8, 3)
    X = np.repeat(places, 3, axis=0) + 1e-12 * RNG.randn(24, 3)
    eat = EAT(n_neighbors=1, random_state=0).fit(X)
    spread = eat.embedding_.reshape(8, 3, 2)
    within = np.abs(spread - spread[:, :1]).max()
    assert within < 1e-3 * pdist(spread[:, 0]).max()


@pytest.mark.parametrize("size", quick_first([1e-100, 1e-20]))
@pytest.mark.parametrize(
    "estimator",
    [
        MVU(lengths="at_most", n_neighbors=23, random_state=0),
        MVU(n_neighbors=23, random_state=0),
        LandmarkMVU(graph=Bridged(), n_neighbors=23, random_state=0),
        ColoredMVU(lengths="at_most", n_neighbors=23, random_state=0),
    ],
    ids=lambda estimator: str(estimator)[:24],
)
def test_what_no_map_tells_apart_counts_as_copies(estimator, size):
    near, same = POINTS.copy(), POINTS.copy()
    near[:3] *= size
    same[:3] = 0.0
    expected = fit(estimator, same).embedding_.var(axis=0).sum()
    found = fit(estimator, near).embedding_
    assert (found[:3] == found[0]).all()
    # Either is known to its duality gap, 1e-3 at most, and lengths are kept to 1e-3: of squares.
    assert found.var(axis=0).sum() == pytest.approx(expected, rel=4e-3)


def test_errors_speak_of_what_was_passed():
    distances = np.linalg.norm(POINTS[:, None] - POINTS, axis=2)
    unit = 0.99e70 / distances.max()
    graph = sp.csr_array(np.diag(np.ones(23), 1) * 0.99e70)
    with pytest.raises(InvalidInputError, match=r"the map is .* Express X in other units"):
        MVU(lengths="at_most", metric="precomputed", graph=Knn()).fit(graph + graph.T)
    assert np.isfinite(MVU(metric="precomputed").fit(distances * unit / 10).embedding_).all()


@pytest.mark.parametrize("first_bad", [1, 2, 30])
@pytest.mark.parametrize("kind", ["equal", "at_most"])
def test_an_operator_that_returns_nan_is_refused(kind, first_bad):
    n_products = 0

    def product(x):
        nonlocal n_products
        n_products += 1
        y = np.array(x, dtype=float)
        if n_products >= first_bad:
            y[0] = np.nan
        return y

    objective = LinearOperator((24, 24), matvec=product, matmat=product, dtype=float)
    pairs = np.array([(i, j) for i in range(24) for j in (i + 1, i + 2) if j < 24])
    squared = ((POINTS[pairs[:, 0]] - POINTS[pairs[:, 1]]) ** 2).sum(axis=1)
    problem = GramSDP.unfolding(24, pairs, squared, kind=kind, objective=objective)
    with pytest.raises(InvalidInputError, match=r"linear operator, returned .* NaN"):
        LowRankSDP(random_state=0).solve(problem)
