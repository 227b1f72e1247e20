import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.quality import local_isometry, preservation_error, procrustes_measure, stretch
from isofold.quality._pairs import neighborhood_products
from support import naive

ROUNDING = 1e-12


def pair(n=50, d=4, q=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, :q] + 0.3 * rng.standard_normal((n, q))


def naive_ratios(X, Y, k):
    DX, DY, rank = naive.distances(X), naive.distances(Y), naive.ranks(X)
    n = len(X)
    near = [[DY[i, j] / DX[i, j] for j in range(n) if 1 <= rank[i, j] <= k] for i in range(n)]
    far = [[DY[i, j] / DX[i, j] for j in range(n) if rank[i, j] > k] for i in range(n)]
    return np.array(near), np.array(far)


@pytest.mark.parametrize("k", [1, 6, 12])
def test_agrees_with_double_loops(k):
    X, Y = pair()
    near, far = naive_ratios(X, Y, k)
    isometry = local_isometry(X, Y, n_neighbors=k)
    error = np.abs(near - 1)
    assert isometry.ratio == pytest.approx(np.median(near), abs=ROUNDING)
    assert isometry.median == pytest.approx(np.median(error), abs=ROUNDING)
    assert isometry.p95 == pytest.approx(np.quantile(error, 0.95), abs=ROUNDING)
    assert isometry.worst == pytest.approx(error.max(), abs=ROUNDING)
    np.testing.assert_allclose(isometry.per_point, error.mean(axis=1), atol=ROUNDING)
    preserved = preservation_error(X, Y, n_neighbors=k)
    assert preserved == pytest.approx(np.mean((near**2 - 1) ** 2), rel=ROUNDING)
    assert stretch(X, Y, n_neighbors=k) == pytest.approx(np.mean(far**2), rel=ROUNDING)


@pytest.mark.parametrize("k", [1, 6, 12])
def test_neighbors_on_the_map_agree_with_double_loops(k):
    X, Y = pair()
    DX, DY, rank = naive.distances(X), naive.distances(Y), naive.ranks(Y)
    ratio = (DY / np.where(DX > 0, DX, np.nan))[(rank >= 1) & (rank <= k)].reshape(len(X), k)
    isometry = local_isometry(X, Y, n_neighbors=k, neighbors_of="embedding")
    assert isometry.ratio == pytest.approx(np.median(ratio), abs=ROUNDING)
    assert isometry.median == pytest.approx(np.median(np.abs(ratio - 1)), abs=ROUNDING)
    np.testing.assert_allclose(isometry.per_point, np.abs(ratio - 1).mean(axis=1), atol=ROUNDING)


def two_groups(distance):
    """Return two groups of 40 points of diameter below 1.5, so far apart."""
    group = np.random.RandomState(0).rand(40, 2)
    return np.vstack([group, group[:, ::-1] + [distance, 0.0]])


def errors(X, Y, k=12):
    return [
        float(local_isometry(X, Y, n_neighbors=k, neighbors_of=which).median)
        for which in ("input", "embedding")
    ]


def test_far_groups_laid_onto_each_other_are_seen_on_the_map_only():
    recall, precision = errors(two_groups(100.0), two_groups(0.0))
    assert recall < ROUNDING * 100
    # Half of the pairs are 100 apart, give or take 3; each is shown within 1.5.
    assert precision == pytest.approx(1.0, abs=0.02)


def test_groups_torn_apart_are_seen_in_the_data_only():
    recall, precision = errors(two_groups(0.0), two_groups(100.0))
    assert precision < ROUNDING * 100
    # Half of the pairs are at most 1.5 long, and are shown as 97 or more.
    assert recall > 50


def test_both_length_errors_ignore_rigid_motions():
    X, Y = pair()
    rotation = np.linalg.qr(np.random.RandomState(2).standard_normal((2, 2)))[0]
    assert errors(X, Y @ rotation + 5.0) == pytest.approx(errors(X, Y), abs=1e-12)


def test_whose_neighbors_is_checked():
    X, Y = pair()
    with pytest.raises(InvalidInputError, match="'embedding'"):
        local_isometry(X, Y, neighbors_of="map")


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize(("d", "q"), [(4, 2), (2, 2), (3, 1)])
def test_procrustes_measure_agrees_with_double_loops(normalized, d, q):
    X, Y = pair(d=d, q=q)
    assert procrustes_measure(X, Y, n_neighbors=7, normalized=normalized) == pytest.approx(
        naive.procrustes_measure(X, Y, 7, normalized=normalized), rel=1e-10
    )


def test_rigid_motion_of_flat_data_is_perfect():
    rng = np.random.RandomState(1)
    flat = rng.standard_normal((80, 2))
    rotation = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    X = np.pad(flat, ((0, 0), (0, 3))) @ rotation + 7.0
    isometry = local_isometry(X, flat)
    assert isometry.worst < 1e-12
    # Both squared sizes are about 12 and cancel: rounding 1e-15 times a few.
    assert procrustes_measure(X, flat) < 1e-13
    assert stretch(X, flat) == pytest.approx(1.0, abs=1e-12)


def test_scale_shows_as_ratio():
    X, _ = pair(d=2)
    isometry = local_isometry(X, 0.5 * X)
    assert isometry.ratio == pytest.approx(0.5)
    assert isometry.median == pytest.approx(0.5)
    assert preservation_error(X, 0.5 * X) == pytest.approx((0.25 - 1) ** 2)
    assert stretch(X, 0.5 * X) == pytest.approx(0.25)


def test_given_pairs_and_targets():
    X = np.array([[0.0], [1.0], [3.0]])
    Y = np.array([[0.0], [2.0], [3.0]])
    pairs = [[0, 1], [1, 2]]
    assert preservation_error(X, Y, pairs=pairs) == pytest.approx(
        np.mean([(4 / 1 - 1) ** 2, (1 / 4 - 1) ** 2])
    )
    assert preservation_error(X, Y, pairs=pairs, targets=[2.0, 1.0]) == 0.0
    assert stretch(X, Y, pairs=pairs, targets=[1.0, 1.0]) == pytest.approx((4 + 1) / 2)


@pytest.mark.parametrize(
    ("pairs", "targets", "words"),
    [
        ([[0, 3]], None, "there are 3 rows"),
        ([[0.0, 1.0]], None, "two row numbers"),
        ([0, 1], None, "two row numbers"),
        ([[0, 1]], [0.0], "target distances > 0"),
        ([[0, 1]], [1.0, 2.0], "target distances > 0"),
        ([[0, 1]], [np.nan], "target distances > 0"),
    ],
)
def test_bad_pairs_are_named(pairs, targets, words):
    X = np.array([[0.0], [1.0], [3.0]])
    with pytest.raises(InvalidInputError, match=words):
        preservation_error(X, X, pairs=pairs, targets=targets)


def test_copies_have_no_ratio_and_leave_no_nan():
    X, Y = pair(n=30)
    X, Y = np.vstack([X, X[:3]]), np.vstack([Y, Y[:3]])
    isometry = local_isometry(X, Y, n_neighbors=1)
    assert np.isfinite(isometry.per_point).all()
    assert isometry.per_point[0] == 0.0  # its only neighbor is its copy
    assert np.isfinite(procrustes_measure(X, Y, n_neighbors=1))
    assert np.isfinite(stretch(X, Y, n_neighbors=1))


def test_only_copies_is_an_error():
    X = np.repeat(np.arange(4.0)[:, None], 2, axis=0)
    with pytest.raises(InvalidInputError, match="copies"):
        local_isometry(X, X, n_neighbors=1)
    with pytest.raises(InvalidInputError, match="stretch"):
        stretch(X, X, n_neighbors=7)


def test_sampled_rows_are_the_exact_ones():
    X, Y = pair(n=90)
    exact = local_isometry(X, Y)
    sampled = local_isometry(X, Y, n_samples=30, random_state=0)
    rows = sampled.median.rows
    np.testing.assert_allclose(sampled.per_point, exact.per_point[rows], atol=ROUNDING)
    assert sampled.worst.interval == (float(sampled.worst), np.inf)
    assert sampled.worst <= exact.worst
    for measure in (preservation_error, stretch, procrustes_measure):
        every, some = measure(X, Y), measure(X, Y, n_samples=30, random_state=0)
        np.testing.assert_allclose(some.per_point, every.per_point[some.rows], rtol=1e-9)


def test_precomputed_distances_give_the_same():
    X, Y = pair()
    D = naive.distances(X)
    assert local_isometry(D, Y, metric="precomputed").p95 == pytest.approx(local_isometry(X, Y).p95)
    assert stretch(D, Y, metric="precomputed") == pytest.approx(float(stretch(X, Y)))
    with pytest.raises(InvalidInputError, match="targets"):
        preservation_error(D, Y, pairs=[[0, 1]], metric="precomputed")


def test_procrustes_measure_leaves_out_neighborhoods_of_copies():
    # 0.1 has no exact mean: rounding must not be taken for the size of the neighborhood.
    rng = np.random.RandomState(0)
    X = np.vstack([np.tile([0.1, 0.7, 0.3], (13, 1)), rng.rand(40, 3)])
    Y = X[:, :2] + 1e-6 * rng.standard_normal((53, 2))
    score = procrustes_measure(X, Y, n_neighbors=12)
    np.testing.assert_array_equal(score.per_point[:13], 0.0)
    assert score == pytest.approx(score.per_point[13:].mean())
    assert score < 1
    raw = procrustes_measure(X, Y, n_neighbors=12, normalized=False)
    assert raw.per_point[:13].max() < 1e-9


@pytest.mark.parametrize(("d", "wide"), [(3, 2), (20, 3)])
def test_products_of_neighborhoods_are_those_of_centered_points(d, wide):
    rng = np.random.RandomState(0)
    before, after = rng.normal(size=(50, d)), rng.normal(size=(50, wide))
    rows = np.array([3, 0, 49])
    partners = np.array([rng.permutation(50)[:7] for _ in rows])
    sizes, products = np.zeros((3, 2)), np.zeros((3, wide, d))
    neighborhood_products(before, after, rows, partners, sizes, products)
    for i, (row, near) in enumerate(zip(rows, partners, strict=True)):
        b, a = (Z[[row, *near]] - Z[[row, *near]].mean(axis=0) for Z in (before, after))
        # Sums of eight products of numbers of size one.
        np.testing.assert_allclose(products[i], a.T @ b, atol=1e-13)
        np.testing.assert_allclose(sizes[i], [(b**2).sum(), (a**2).sum()], rtol=1e-13)
