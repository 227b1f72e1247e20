"""ColoredMVU: kernels on side information, dependence that rises while lengths are kept."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale
from sklearn.utils import get_tags

from isofold import MVU, ColoredMVU
from isofold.embedding.mvu.base import make_solver
from isofold.embedding.mvu.colored import hsic as measured_hsic
from isofold.embedding.mvu.mvu import pose
from isofold.embedding.mvu.side_kernels import factor_of_kernel, side_factor, side_kernel
from isofold.exceptions import InvalidInputError, UnboundedProblemError
from isofold.neighbors import Bridged
from isofold.quality import one_nn_error, procrustes_error
from isofold.sdp import LowRankSDP, Soft, Status
from support.estimator_checks import checks_of_forms
from support.quick import quick_are

# Sums of n² products, n up to 200.
ROUNDING = 1e-12
# Lengths that count as kept: what the engine's steps stop at by default, in the median.
KEPT = 1e-3
# The gap below which the engine certifies by default.
GAP = 1e-3

pytestmark = pytest.mark.filterwarnings(
    # Wines, digits and clouds have more dimensions than the plane.
    "ignore::isofold.exceptions.DoubtfulMapWarning"
)


# The checks' data are small clouds of noise, some of them in two pieces. No plane is true to them,
# and steps are few to save time: neither is what is checked.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@checks_of_forms(ColoredMVU(graph=Bridged(), solver=LowRankSDP(rank=6, max_iter=2), random_state=0))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def model(**parameters):
    return ColoredMVU(**{"random_state": 0, "n_jobs": 1, **parameters})


def hsic(Y, L):
    """Return tr(HYYᵀHL)/(n - 1)² as it reads, L scaled to a mean diagonal of one."""
    n = len(L)
    H = np.eye(n) - np.full((n, n), 1.0 / n)
    return np.trace(H @ Y @ Y.T @ H @ L) / (n - 1) ** 2 / (np.trace(L) / n)


def same_class(y):
    return np.array([[float(a == b) for b in y] for a in y])


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="module")
def plain(wine):
    return MVU(random_state=0, n_jobs=1).fit(wine[0])


@pytest.fixture(scope="module")
def colored(wine):
    return model().fit(*wine)


@pytest.fixture(scope="module")
def cloud():
    return np.random.RandomState(0).normal(size=(50, 4))


@pytest.fixture(scope="module")
def colored_cloud(cloud):
    return model(n_neighbors=6).fit(cloud, np.arange(50) % 3)


@pytest.fixture(scope="module")
def plain_cloud(cloud):
    return MVU(n_neighbors=6, random_state=0, n_jobs=1).fit(cloud)


# What coloring does


def test_identity_is_plain_unfolding(wine, plain):
    X, y = wine
    identity = model(label_kernel="identity").fit(X, y)
    np.testing.assert_array_equal(identity.embedding_, plain.embedding_)
    assert identity.solution_.primal == plain.solution_.primal


def test_identity_as_a_kernel_is_plain_unfolding(cloud, plain_cloud):
    # The objective is now a dense matrix: HIH, which is I on centered points.
    given = model(label_kernel="precomputed", n_neighbors=6).fit(cloud, np.eye(50))
    assert given.solution_.primal == pytest.approx(plain_cloud.solution_.primal, rel=2 * GAP)
    assert procrustes_error(given.embedding_, plain_cloud.embedding_) < GAP**0.5


def test_classes_of_wines(wine, plain, colored):
    _, y = wine
    L = same_class(y)
    before, after = plain.solution_.coordinates, colored.solution_.coordinates
    # Seen: 4.906 and 5.017.
    assert hsic(after, L) > 1.01 * hsic(before, L)
    assert hsic(colored.embedding_, L) > hsic(plain.embedding_, L)
    # Seen: .079 and .017.
    assert one_nn_error(colored.embedding_, y) < one_nn_error(plain.embedding_, y)
    assert colored.unprojected_length_errors_.median <= KEPT
    assert colored.solution_.status is Status.CERTIFIED


@pytest.mark.slow  # as with wines
@pytest.mark.parametrize("seed", [0])
def test_classes_of_digits(seed):
    X, y = load_digits(return_X_y=True)
    chosen = np.random.RandomState(seed).permutation(len(y))[:200]
    X, y = X[chosen] / 16, y[chosen]
    L = same_class(y)
    plain = MVU(random_state=0, n_jobs=1).fit(X)
    colored = model().fit(X, y)
    # Seen on the seeds 0 to 2: higher by 6, 3 and 8 percent.
    assert hsic(colored.solution_.coordinates, L) > 1.01 * hsic(plain.solution_.coordinates, L)
    assert colored.unprojected_length_errors_.median <= KEPT


def test_hsic_is_attraction_and_repulsion(wine, colored):
    _, y = wine
    L, Y = same_class(y), colored.embedding_
    n = len(y)
    H = np.eye(n) - 1.0 / n
    centered = H @ L @ H
    by_distances = -0.5 * np.sum(centered * squareform(pdist(Y)) ** 2) / (n - 1) ** 2
    assert by_distances == pytest.approx(hsic(Y, L), rel=ROUNDING * n)
    assert colored.hsic_ == pytest.approx(hsic(Y, L), rel=ROUNDING * n)
    assert measured_hsic(Y, y) == pytest.approx(hsic(Y, L), rel=ROUNDING * n)


def test_value_is_the_hsic_of_the_solution(wine, colored):
    _, y = wine
    value = hsic(colored.solution_.coordinates, same_class(y)) * (len(y) - 1) ** 2
    certificate = colored.solution_.certificate
    # The certified value has the penalties of lengths that are not quite kept.
    assert certificate.primal == pytest.approx(value, rel=10 * KEPT)


SIDES = {
    "targets": (np.random.RandomState(1).normal(size=50), "auto"),
    "two targets": (np.random.RandomState(1).normal(size=(50, 2)), "auto"),
    "tags": (np.random.RandomState(1).uniform(size=(50, 6)) < 0.4, "auto"),
    "strings": (np.array(["red", "white", "rosé"])[np.arange(50) % 3], "auto"),
    "numbers as classes": (np.arange(50) % 3, "delta"),
    "numbers as targets": (np.arange(50) % 7, "rbf"),
    "linear": (np.arange(50.0) ** 2, "linear"),
    "callable": (np.arange(50.0), lambda y: np.exp(-squareform(pdist(y[:, None])) / 5)),
    "precomputed": (np.eye(50) + same_class(np.arange(50) % 4), "precomputed"),
}


@pytest.mark.parametrize(
    "side", quick_are(["targets", "tags", "strings", "callable", "precomputed"], SIDES)
)
def test_all_sides_raise_their_dependence(cloud, plain_cloud, side):
    y, kernel = SIDES[side]
    y = y.astype(int) if side == "tags" else y
    colored = model(label_kernel=kernel, n_neighbors=6).fit(cloud, y)
    L = side_kernel(y, 50, kernel)
    before, after = (m.solution_.coordinates for m in (plain_cloud, colored))
    # Seen on other clouds: higher by a quarter at least, mostly twofold.
    assert hsic(after, L) > 1.1 * hsic(before, L)
    assert colored.unprojected_length_errors_.median <= KEPT
    assert colored.hsic_ == pytest.approx(hsic(colored.embedding_, L), rel=1e-9)


def test_forms_of_labels_do_not_matter(cloud, colored_cloud):
    y = np.arange(50) % 3
    expected = colored_cloud.embedding_
    for same in (y[:, None], pd.Series(y.astype(str), index=range(100, 150))):
        np.testing.assert_array_equal(model(n_neighbors=6).fit_transform(cloud, same), expected)


@pytest.mark.parametrize("lengths", ["at_most", Soft(16.0)])
def test_lengths_as_in_mvu(cloud, lengths):
    y = np.arange(50) % 3
    colored = model(lengths=lengths, n_neighbors=6).fit(cloud, y)
    assert colored.solution_.status is Status.CERTIFIED
    if lengths == "at_most":
        first, second = colored.graph_.edges.T
        Y = colored.solution_.coordinates
        seen = np.linalg.norm(Y[first] - Y[second], axis=1)
        # Violations of squares are below the tolerance of the solver, 1e-3 of the largest.
        assert np.all(
            seen**2 <= colored.graph_.lengths**2 + KEPT * colored.graph_.lengths.max() ** 2
        )


def test_distances_in_place_of_points(cloud, colored_cloud):
    y = np.arange(50) % 3
    D = squareform(pdist(cloud))
    colored = model(metric="precomputed", n_neighbors=6).fit(D, y)
    assert colored.hsic_ == pytest.approx(colored_cloud.hsic_, rel=10 * GAP)
    np.testing.assert_allclose(colored.transform(D), colored.embedding_, rtol=0, atol=1e-12)


def test_copies_with_different_labels(cloud):
    y = np.arange(50) % 3
    X = np.concatenate([cloud, cloud[:10]])
    colored = model(n_neighbors=6).fit(X, np.concatenate([y, (y[:10] + 1) % 3]))
    np.testing.assert_array_equal(colored.embedding_[50:], colored.embedding_[:10])
    assert colored.graph_.n_nodes == 50


def test_transform_needs_no_labels(wine, colored):
    X, _ = wine
    np.testing.assert_array_equal(colored.transform(X), colored.embedding_)
    one_by_one = np.vstack([colored.transform(X[i : i + 1] + 0.01) for i in range(5)])
    np.testing.assert_array_equal(one_by_one, colored.transform(X[:5] + 0.01))


def test_same_seed_same_bytes(cloud, colored_cloud):
    two = model(n_neighbors=6, n_jobs=2).fit(cloud, np.arange(50) % 3)
    np.testing.assert_array_equal(colored_cloud.embedding_, two.embedding_)
    assert colored_cloud.hsic_ == two.hsic_


# Kernels


def test_kernels_by_their_definitions():
    y = np.array([0.0, 1.5, 4.0, 4.0])
    squared = np.array([[(a - b) ** 2 for b in y] for a in y])
    width = np.median([squared[i, j] for i in range(4) for j in range(i) if squared[i, j] > 0])
    np.testing.assert_allclose(side_kernel(y, 4, "auto"), np.exp(-squared / width), rtol=ROUNDING)
    centered = y - y.mean()
    linear = np.outer(centered, centered)
    np.testing.assert_allclose(
        side_kernel(y, 4, "linear"), linear / np.mean(centered**2), rtol=ROUNDING
    )
    labels = ["b", "a", "b", "c"]
    np.testing.assert_array_equal(side_kernel(labels, 4, "auto"), same_class(labels))
    np.testing.assert_array_equal(side_kernel(labels, 4, "identity"), np.eye(4))
    tags = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]])
    np.testing.assert_array_equal(side_kernel(tags, 4, "auto"), side_kernel(tags, 4, "linear"))


@pytest.mark.parametrize("side", SIDES)
def test_kernels_are_kernels(side):
    y, kernel = SIDES[side]
    L = side_kernel(y, 50, kernel)
    assert L.shape == (50, 50)
    np.testing.assert_array_equal(L, L.T)
    assert np.trace(L) / 50 == pytest.approx(1.0)
    assert np.linalg.eigvalsh(L)[0] > -1e-8


# What is refused


def test_no_labels(cloud):
    with pytest.raises(
        InvalidInputError, match="requires y to be passed, but the target y is None"
    ):
        model().fit(cloud)
    assert get_tags(model()).target_tags.required


def asymmetric():
    L = np.eye(50)
    L[0, 1] = 0.5
    return L


@pytest.mark.parametrize(
    ("y", "kernel", "words"),
    [
        (np.arange(49), "auto", r"shape \(49,\).*50 samples"),
        (3, "auto", r"shape \(\)"),
        (np.where(np.arange(50) == 7, np.nan, 0.5), "auto", "NaN"),
        (np.where(np.arange(50) == 7, np.inf, 0.5), "rbf", "inf"),
        (np.where(np.arange(50) == 7, np.nan, 0.5), "delta", "NaN"),
        (np.zeros(50), "auto", "same label"),
        (np.full(50, "one"), "auto", "same label"),
        (np.full(50, 0.5), "rbf", "same label"),
        (np.full(50, 0.5), "linear", "same label"),
        (np.array(["a", "b"] * 25), "rbf", "needs numbers"),
        (squareform(pdist(np.arange(50.0)[:, None])), "precomputed", "eigenvalue.*not distances"),
        (asymmetric(), "precomputed", "not symmetric"),
        (np.eye(50)[:, :49], "precomputed", r"shape \(50, 49\)"),
        (np.full((50, 50), np.nan), "precomputed", "finite"),
        (np.zeros((50, 50)), "precomputed", "same label"),
        (np.arange(50), lambda y: np.eye(3), r"shape \(3, 3\)"),
        (np.arange(50), "cosine", "label_kernel='cosine'"),
        (np.arange(50), 3, "label_kernel=3"),
    ],
)
def test_bad_sides(cloud, y, kernel, words):
    with pytest.raises(InvalidInputError, match=words):
        model(label_kernel=kernel).fit(cloud, y)


def test_pieces_are_refused(cloud):
    X = np.concatenate([cloud[:25], cloud[25:] + 99.0])
    with pytest.raises(UnboundedProblemError, match=r"2 connected components.*ColoredMVU"):
        model(n_neighbors=6).fit(X, np.arange(50) % 3)


def test_refused_labels_leave_an_earlier_fit(cloud):
    fitted = model(n_neighbors=6).fit(cloud, np.arange(50) % 3)
    before, value = fitted.embedding_, fitted.hsic_
    with pytest.raises(InvalidInputError):
        fitted.fit(cloud, np.zeros(50))
    assert fitted.embedding_ is before
    assert fitted.hsic_ == value
    assert not hasattr(fitted, "_side")


# Kernels of low rank


@pytest.mark.parametrize("side", ["tags", "strings", "linear"])
def test_factors_are_those_of_the_kernels(side):
    y, kernel = SIDES[side]
    y = y.astype(int) if side == "tags" else y
    L, F = side_kernel(y, 50, kernel), side_factor(y, 50, kernel, most=50)
    np.testing.assert_allclose(F @ F.T, L, atol=ROUNDING * 50)
    assert side_factor(y, 50, kernel, most=F.shape[1] - 1) is None


def test_kernels_of_low_rank_are_factored():
    rng = np.random.RandomState(0)
    low = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 5))
    F = factor_of_kernel(low @ low.T, most=3)
    assert F.shape == (50, 3)
    np.testing.assert_allclose(F @ F.T, low @ low.T, atol=1e-9)
    assert factor_of_kernel(np.eye(50), most=10) is None


def test_a_factor_has_the_optimum_of_its_kernel():
    """A sheet of 450 points by its classes, and copies of five, some with another label."""
    X = np.random.RandomState(0).uniform(size=(450, 2)) * (3.0, 1.0)
    X, y = np.concatenate([X, X[:5]]), np.concatenate([X[:, 0], X[5:10, 0]]) > 1.2
    colored = model().fit(X, y)
    L, graph = side_kernel(y, 455, "auto"), colored.graph_
    assert colored.hsic_ == pytest.approx(hsic(colored.embedding_, L), rel=1e-9)
    mean = np.zeros((450, 455))
    mean[graph.node_of_sample, np.arange(455)] = 1.0
    mean /= mean.sum(axis=1, keepdims=True)
    H = np.eye(450) - 1.0 / 450
    problem = pose(graph, "equal", objective=H @ mean @ L @ mean.T @ H)
    solver = make_solver(None, graph, 2, np.random.RandomState(0), lengths=None)
    by_factor, by_matrix = colored.solution_, solver.solve(problem)
    assert by_factor.status is by_matrix.status is Status.CERTIFIED
    assert by_factor.certificate.is_exact
    gap = by_factor.gap + by_matrix.gap
    assert by_factor.primal == pytest.approx(by_matrix.primal, rel=gap)


def test_constant_labels_of_many_samples():
    X = np.random.RandomState(0).uniform(size=(450, 2))
    with pytest.raises(InvalidInputError, match="All samples have the same label"):
        model().fit(X, np.zeros(450))
