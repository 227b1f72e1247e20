"""GOoSE: exact where the embedding is a similarity of flat data, row by row, finite everywhere."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.datasets import swiss_roll
from isofold.exceptions import InvalidInputError
from isofold.extension import GooseMap, fit_barycentric, fit_goose
from isofold.extension.goose import SCALINGS
from isofold.extension.weights import LARGEST_TILT
from support.hypothesis_profiles import examples

# Ten neighbors of a flat may be a hundred times thinner than wide; products of them square that,
# and their axes lose another factor: 1e6 · eps. Images are of size five.
FLAT = 1e-9

# An offset of a thousand takes three of these digits, of which the ones above leave plenty.
OFFSET = 1e3

# Two ways to the same image of size one, over sums of ten terms.
SAME = 1e-11

# Coordinates of float32 err by 6e-8, and widths of a hundredth multiply that.
SINGLE = 2e-5

every_scaling = pytest.mark.parametrize("scaling", SCALINGS)
both_means = pytest.mark.parametrize("interpolate", [True, False])


def flat_data(seed, *, q=2, d=5, n=150, offset=0.0):
    """Points of a q-dimensional flat, a similarity of them, and new points a little outside."""
    rng = np.random.RandomState(seed)
    Z, Z_new = rng.rand(n, q), 1.1 * rng.rand(40, q) - 0.05
    axes = np.linalg.qr(rng.randn(d, q))[0].T
    turn, shift = 2.5 * np.linalg.qr(rng.randn(q, q))[0], rng.randn(q)
    origin = offset * rng.randn(d)
    return Z @ axes + origin, Z @ turn + shift, Z_new @ axes + origin, Z_new @ turn + shift


def bent_data(seed, *, d=5, n=200, n_new=30):
    """A gently curved sheet and an embedding that stretches it by less than a factor of three."""
    rng = np.random.RandomState(seed)
    u, v = rng.rand(2, n + n_new)
    X = np.column_stack([u, v, 0.2 * np.sin(3 * u), 0.1 * v**2, 0.05 * u * v])
    X = X @ np.linalg.qr(rng.randn(max(d, 5), 5))[0].T
    Y = np.column_stack([1.5 * u + 0.2 * v**2 + 0.1 * v, v + 0.2 * u * v])
    return X[:n], Y[:n], X[n:], Y[n:]


def similarity_image(x, X, Y, k, scaling, *, interpolate):
    """The right form of the algorithm, one point after the other, nobody left out."""
    distances = np.sqrt(((X - x) ** 2).sum(axis=1))
    order = np.argsort(distances)
    near, q = order[:k], Y.shape[1]
    mean_x, mean_y = X[near].mean(axis=0), Y[near].mean(axis=0)
    V = np.linalg.svd(X[near] - mean_x, full_matrices=False)[2][:q].T
    Z, centered = (X[near] - mean_x) @ V, Y[near] - mean_y
    shares = np.full(k, 1 / k)
    if interpolate:
        shares = 1 / distances[near] - 0.999 / distances[order[k]]
        shares /= shares.sum()
    if scaling == "least_squares":
        turn = np.linalg.lstsq(Z, centered, rcond=None)[0]
    else:
        P, S, Qt = np.linalg.svd(Z.T @ centered)
        turn = P @ Qt
        if scaling == "isotropic":
            turn = turn * S.sum() / (Z**2).sum()
        else:
            turn = turn * np.ptp(centered, axis=0) / np.ptp(Z @ turn, axis=0)
    return shares @ Y[near] + (x - shares @ X[near]) @ V @ turn


def deviations(x, X, k, q, *, interpolate):
    """Return how many standard deviations of its neighbors a point is from their mean."""
    distances = np.sqrt(((X - x) ** 2).sum(axis=1))
    order = np.argsort(distances)
    weights = np.full(k, 1 / k)
    if interpolate:
        weights = 1 / distances[order[:k]] - 0.999 / distances[order[k]]
        weights /= weights.sum()
    mean = weights @ X[order[:k]]
    _, widths, axes = np.linalg.svd(np.sqrt(weights)[:, None] * (X[order[:k]] - mean))
    return np.linalg.norm(axes[:q] @ (x - mean) / widths[:q])


def rms(A, B):
    return np.sqrt(((A - B) ** 2).sum(axis=1).mean())


# Known answers


@every_scaling
@both_means
@examples(15)
@given(
    seed=st.integers(0, 2**31 - 1),
    q=st.integers(1, 3),
    d=st.sampled_from([3, 7, 10, 11, 60]),
    unit=st.sampled_from([1e-6, 1.0, 1e6]),
    image_unit=st.sampled_from([1e-6, 1.0, 1e6]),
    offset=st.sampled_from([0.0, OFFSET]),
)
def test_similarities_of_flat_data_are_extended_exactly(
    scaling, interpolate, seed, q, d, unit, image_unit, offset
):
    X, Y, X_new, Y_new = flat_data(seed, q=q, d=d, offset=offset)
    goose = fit_goose(unit * X, image_unit * Y, scaling=scaling, interpolate=interpolate)
    images = goose.transform(unit * X_new)
    # Points farther than twenty standard deviations of their neighbors are placed as if nearer.
    far = [deviations(x, X, 10, q, interpolate=interpolate) for x in X_new]
    is_exact = np.array(far) < LARGEST_TILT * (1 - FLAT)
    assert is_exact.mean() > 0.9
    np.testing.assert_allclose((images / image_unit)[is_exact], Y_new[is_exact], rtol=0, atol=FLAT)


@every_scaling
@both_means
@pytest.mark.parametrize("d", [5, 60])
def test_thin_strips_keep_their_width(scaling, interpolate, d):
    """Neighborhoods are a thousand times longer than wide, and the width comes out as well."""
    rng = np.random.RandomState(d)
    size = np.array([1.0, 1e-4])
    Z, Z_new = rng.rand(150, 2) * size, (0.1 + 0.8 * rng.rand(40, 2)) * size
    axes = np.linalg.qr(rng.randn(d, 2))[0].T
    images = fit_goose(Z @ axes, Z, scaling=scaling, interpolate=interpolate).transform(
        Z_new @ axes
    )
    # In units of the width. Products lose its square, 1e6 · eps, and sides mix by as much again.
    np.testing.assert_allclose(images / size, Z_new / size, rtol=0, atol=1e-8)


@every_scaling
@both_means
def test_images_far_from_the_origin(scaling, interpolate):
    X, Y, X_new, Y_new = flat_data(0)
    goose = fit_goose(X, Y + 1e6, scaling=scaling, interpolate=interpolate)
    # Images of a million end at 1e-10.
    np.testing.assert_allclose(goose.transform(X_new) - 1e6, Y_new, rtol=0, atol=FLAT)


@every_scaling
@pytest.mark.parametrize("k", [5, 10, 16])
@pytest.mark.parametrize("d", [5, 12, 60])
def test_plain_means_are_the_algorithm_in_its_right_form(scaling, d, k):
    X, Y, X_new, _ = bent_data(d, d=d)
    expected = [similarity_image(x, X, Y, k, scaling, interpolate=False) for x in X_new]
    goose = fit_goose(X, Y, n_neighbors=k, scaling=scaling, interpolate=False)
    np.testing.assert_allclose(goose.transform(X_new), expected, rtol=0, atol=SAME)


@pytest.mark.parametrize("scaling", ["range", "isotropic"])
def test_fading_means_replace_plain_ones_and_nothing_else(scaling):
    X, Y, X_new, _ = bent_data(0)
    expected = [similarity_image(x, X, Y, 10, scaling, interpolate=True) for x in X_new]
    images = fit_goose(X, Y, scaling=scaling).transform(X_new)
    np.testing.assert_allclose(images, expected, rtol=0, atol=SAME)


def test_least_squares_with_fading_means_are_barycentric_weights():
    X, Y, X_new, _ = bent_data(1)
    expected = fit_barycentric(X, Y, n_neighbors=10).transform(X_new)
    np.testing.assert_allclose(fit_goose(X, Y).transform(X_new), expected, rtol=0, atol=SAME)


@both_means
@examples(15)
@given(seed=st.integers(0, 2**31 - 1), angle=st.floats(0, 6.3), stretch=st.floats(0.7, 1.4))
def test_least_squares_follow_affine_maps_of_the_embedding(interpolate, seed, angle, stretch):
    X, Y, X_new, _ = bent_data(seed)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    A = np.array([[stretch, 0.1], [0.0, 1.0]]) @ turn
    before = fit_goose(X, Y, interpolate=interpolate).transform(X_new)
    after = fit_goose(X, Y @ A + 7.0, interpolate=interpolate).transform(X_new)
    np.testing.assert_allclose(after, before @ A + 7.0, rtol=0, atol=SAME)


@both_means
def test_ranges_are_right_along_the_coordinates_only(interpolate):
    """Blocks of 3 × 3 nodes of a grid have no direction of their own, so that answers are known."""
    X = np.array(list(product(range(9), repeat=2)), dtype=float)
    # Inside of the grid and next to nodes, the nine nearest are such a block.
    X_new = np.random.RandomState(0).randint(2, 7, (30, 2)) + np.array([0.1, -0.07])
    angle = 0.6
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    stretch = np.diag([2.0, 1.0])

    def largest_error(A, scaling):
        goose = fit_goose(X, X @ A, n_neighbors=9, scaling=scaling, interpolate=interpolate)
        return np.abs(goose.transform(X_new) - X_new @ A).max()

    assert largest_error(stretch, "range") < SAME
    assert largest_error(stretch, "least_squares") < SAME
    assert largest_error(stretch @ turn, "least_squares") < SAME
    # A new point is a tenth of a mesh from a node; mixed up axes cost a part of that.
    assert largest_error(stretch @ turn, "range") > 1e-2
    assert largest_error(stretch, "isotropic") > 1e-2


def test_scalings_on_a_roll():
    """Range beats isotropic where the embedding has unit variance, and not where it is true."""
    roll = swiss_roll(1000, random_state=0)
    test = np.arange(1000) % 10 == 0
    X, X_new = roll.X[~test], roll.X[test]

    def errors(Y):
        unit = Y.std()
        return {
            scaling: rms(
                fit_goose(X, Y[~test], scaling=scaling, n_neighbors=8).transform(X_new), Y[test]
            )
            / unit
            for scaling in SCALINGS
        }

    of_unit_variance = errors(roll.truth / roll.truth.std(axis=0))
    assert of_unit_variance["least_squares"] < of_unit_variance["range"]
    assert of_unit_variance["range"] < of_unit_variance["isotropic"]
    true = errors(roll.truth)
    assert true["isotropic"] < true["range"]


# Training points


@every_scaling
def test_training_points_keep_their_images_to_the_bit(scaling):
    rng = np.random.RandomState(0)
    X, Y = rng.randn(80, 14), rng.randn(80, 2)
    np.testing.assert_array_equal(fit_goose(X, Y, scaling=scaling).transform(X), Y)
    plain = fit_goose(X, Y, scaling=scaling, interpolate=False).transform(X)
    assert np.abs(plain - Y).max() > 0.1


@every_scaling
def test_copies_share_the_image_of_the_first(scaling):
    X, Y, X_new, _ = bent_data(2)
    doubled, images = np.vstack([X, X[:50]]), np.vstack([Y, Y[:50] + 5.0])
    goose = fit_goose(doubled, images, scaling=scaling)
    assert goose.training.n_points == len(X)
    np.testing.assert_array_equal(goose.transform(doubled[len(X) :]), Y[:50])
    np.testing.assert_array_equal(
        goose.transform(X_new), fit_goose(X, Y, scaling=scaling).transform(X_new)
    )


@every_scaling
def test_the_map_runs_into_its_training_points(scaling):
    X, Y, *_ = bent_data(3)
    step = 1e-8
    images = fit_goose(X, Y, scaling=scaling).transform(X + step)
    # Slopes of the map are of size one. A jump would be as large as the error of the fit, 1e-3.
    assert np.abs(images - Y).max() < 1e3 * step


@every_scaling
@both_means
def test_held_out_places_are_placed_by_the_others(scaling, interpolate):
    X, Y, *_ = bent_data(4, n=60)
    doubled, images = np.vstack([X, X[:5]]), np.vstack([Y, Y[:5]])
    goose = fit_goose(doubled, images, scaling=scaling, interpolate=interpolate)
    held_out = goose.held_out((4, 9))
    assert held_out.shape == (2, 60, 2)
    for i, (few, more) in enumerate(held_out.swapaxes(0, 1)):
        for k, image in ((4, few), (9, more)):
            alone = fit_goose(
                np.delete(X, i, axis=0),
                np.delete(Y, i, axis=0),
                n_neighbors=k,
                scaling=scaling,
                interpolate=interpolate,
            )
            np.testing.assert_allclose(image, alone.transform(X[i : i + 1])[0], rtol=0, atol=SAME)


# Rows


@every_scaling
@both_means
@pytest.mark.parametrize("d", [1, 3, 30])
def test_rows_do_not_depend_on_each_other(scaling, interpolate, d, monkeypatch):
    rng = np.random.RandomState(d)
    X, Y = rng.randn(100, d), rng.randn(100, 2)
    rows = np.vstack([2 * rng.randn(60, d), X[:5], 1e6 * rng.randn(3, d)])
    goose = fit_goose(X, Y, scaling=scaling, interpolate=interpolate, n_jobs=1)
    together = goose.transform(rows)
    parts = [goose.transform(rows[i : i + 17]) for i in range(0, len(rows), 17)]
    assert np.vstack(parts).tobytes() == together.tobytes()
    for i in range(0, len(rows), 7):
        assert goose.transform(rows[i : i + 1]).tobytes() == together[i].tobytes()
    order = rng.permutation(len(rows))
    assert goose.transform(rows[order]).tobytes() == together[order].tobytes()
    monkeypatch.setattr("isofold._memory.BLOCK_BYTES", 4 * 8 * 10 * d * 7)
    for n_jobs in (1, 2):
        again = fit_goose(X, Y, scaling=scaling, interpolate=interpolate, n_jobs=n_jobs)
        assert again.transform(rows).tobytes() == together.tobytes()


@every_scaling
def test_rows_of_ties_do_not_depend_on_each_other(scaling):
    """Corners of a turned cube: hundreds are equally far from the middle of a face.

    In 14 dimensions the search uses matrix products.
    """
    rng = np.random.RandomState(0)
    turn = np.linalg.qr(rng.randn(14, 8))[0].T
    X = np.array(list(product([0.0, 1.0], repeat=8))) @ turn
    rows = (rng.randint(0, 3, (25, 8)) / 2) @ turn
    goose = fit_goose(X, X[:, :2], scaling=scaling)
    one_by_one = np.vstack([goose.transform(x[None]) for x in rows])
    assert one_by_one.tobytes() == goose.transform(rows).tobytes()


def test_copies_and_pickles_give_the_same_bytes():
    X, Y, X_new, _ = bent_data(5)
    goose = fit_goose(X, Y)
    expected = goose.transform(X_new).tobytes()
    pickled = pickle.loads(pickle.dumps(goose))  # noqa: S301 - our own bytes
    assert isinstance(pickled, GooseMap)
    for other in (pickled, copy.deepcopy(goose)):
        assert other.transform(X_new).tobytes() == expected
    X[:], Y[:] = 0, 0
    assert goose.transform(X_new).tobytes() == expected


# Torn and thin neighborhoods


@every_scaling
@both_means
def test_neighbors_of_another_part_of_the_map_are_left_out(scaling, interpolate):
    """Two sheets on top of each other, far apart on the map: each is extended by its own points."""
    rng = np.random.RandomState(0)
    flat = 10 * rng.rand(400, 2)
    upper = np.arange(400) >= 200
    X = np.column_stack([flat, 1.0 * upper])
    Y = flat + np.where(upper[:, None], [50.0, 0.0], 0.0)
    flat_new = 1 + 8 * rng.rand(40, 2)
    X_new = np.column_stack([flat_new, np.zeros(40)])
    near = np.argsort(((X[None] - X_new[:, None]) ** 2).sum(axis=2), axis=1)[:, :10]
    # What makes the case: some of the neighbors are torn off, but neither the nearest nor most.
    assert upper[near].any(axis=1).mean() > 0.5
    assert not upper[near[:, 0]].any()
    assert (~upper[near]).sum(axis=1).min() >= 4
    goose = fit_goose(X, Y, scaling=scaling, interpolate=interpolate)
    np.testing.assert_allclose(goose.transform(X_new), flat_new, rtol=0, atol=FLAT)


@every_scaling
@both_means
@pytest.mark.parametrize("d", [1, 3, 40])
def test_points_on_a_line_in_a_map_of_two_coordinates(scaling, interpolate, d):
    rng = np.random.RandomState(d)
    t, t_new = rng.rand(60, 1), 1.1 * rng.rand(30, 1) - 0.05
    direction = rng.randn(1, d)
    direction /= np.linalg.norm(direction)
    goose = fit_goose(t @ direction, t @ [[3.0, 4.0]], scaling=scaling, interpolate=interpolate)
    images = goose.transform(t_new @ direction)
    np.testing.assert_allclose(images, t_new @ [[3.0, 4.0]], rtol=0, atol=FLAT)


@every_scaling
def test_what_is_off_a_line_does_not_move_the_image(scaling):
    t = np.random.RandomState(0).rand(60, 1)
    goose = fit_goose(t @ [[1.0, 0.0, 0.0]], t @ [[1.0, 1.0]], scaling=scaling, interpolate=False)
    on, off = goose.transform([[0.51, 0.0, 0.0], [0.51, 0.001, -0.002]])
    # So little to the side, the neighbors are the same.
    np.testing.assert_allclose(off, on, rtol=0, atol=SAME)


@every_scaling
@both_means
def test_neighbors_of_one_image(scaling, interpolate):
    rng = np.random.RandomState(0)
    X = rng.rand(100, 4)
    constant = fit_goose(X, np.full((100, 2), 3.5), scaling=scaling, interpolate=interpolate)
    np.testing.assert_array_equal(constant.transform(rng.rand(20, 4)), 3.5)
    # Half of the map has collapsed into a point, the rest has not.
    half = np.where(X[:, :1] < 0.5, 0.0, X[:, :2])
    images = fit_goose(X, half, scaling=scaling, interpolate=interpolate).transform(rng.rand(50, 4))
    assert np.isfinite(images).all()
    assert np.abs(images).max() < LARGEST_TILT


@every_scaling
@both_means
def test_fewer_places_than_neighbors(scaling, interpolate):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    options = {"scaling": scaling, "interpolate": interpolate}
    new = [[0.3, 0.4], [2.0, 1.0]]
    np.testing.assert_allclose(fit_goose(X, X, **options).transform(new), new, rtol=0, atol=FLAT)
    # Two places are a line, one is a point.
    pair = fit_goose(X[:2], X[:2], **options).transform([[0.25, 5.0]])
    np.testing.assert_allclose(pair, [[0.25, 0.0]], rtol=0, atol=FLAT)
    alone = fit_goose(X[2:], [[5.0, 6.0], [7.0, 8.0]], **options).transform(new)
    np.testing.assert_array_equal(alone, [[5.0, 6.0], [5.0, 6.0]])


@every_scaling
@both_means
@pytest.mark.parametrize("distance", [1e2, 1e6, 1e40, 1e100])
@pytest.mark.parametrize("d", [4, 30])
def test_points_far_away_stay_near(scaling, interpolate, distance, d):
    X, Y, *_ = flat_data(6, d=d)
    directions = np.random.RandomState(0).randn(20, d)
    images = fit_goose(X, Y, scaling=scaling, interpolate=interpolate).transform(
        distance * directions
    )
    size = np.linalg.norm(np.ptp(Y, axis=0))
    assert np.isfinite(images).all()
    assert np.linalg.norm(images - Y.mean(axis=0), axis=1).max() < (LARGEST_TILT + 1) * size


@every_scaling
def test_extrapolation_is_linear_up_to_its_bound(scaling):
    """On a line the bound is known: twenty standard deviations of the last ten points."""
    X = np.arange(50.0)[:, None]
    goose = fit_goose(X, 2 * X, scaling=scaling, interpolate=False)
    mean, deviation = 44.5, np.sqrt(99 / 12)
    inside, outside = mean + 19.9 * deviation, mean + 1e3 * deviation
    images = goose.transform([[inside], [outside]])[:, 0] / 2
    expected = [inside, mean + LARGEST_TILT * deviation]
    np.testing.assert_allclose(images, expected, rtol=1e-12, atol=0)


# Input


@every_scaling
@both_means
def test_precision_of_the_embedding_is_kept(scaling, interpolate):
    X, Y, X_new, Y_new = flat_data(7, d=12)
    options = {"scaling": scaling, "interpolate": interpolate}
    single = fit_goose(X.astype(np.float32), Y.astype(np.float32), **options)
    images = single.transform(X_new.astype(np.float32))
    assert images.dtype == np.float32
    np.testing.assert_allclose(images, Y_new, rtol=0, atol=SINGLE)
    assert fit_goose(X, Y, **options).transform(X_new.astype(np.float32)).dtype == np.float64


def test_tables_of_other_kinds_are_read():
    X, Y, X_new, _ = flat_data(8)
    expected = fit_goose(X, Y).transform(X_new)
    np.testing.assert_array_equal(
        fit_goose(X.tolist(), Y.tolist()).transform(X_new.tolist()), expected
    )
    for table in (X, Y, X_new):
        table.flags.writeable = False
    np.testing.assert_array_equal(fit_goose(X, np.asfortranarray(Y)).transform(X_new), expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 1}, "n_neighbors=1, but the embedding has 2 .*n_neighbors >= 3"),
        ({"n_neighbors": 2}, "n_neighbors=2, but the embedding has 2 .*n_neighbors >= 3"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"scaling": "none"}, "scaling='none' is unknown"),
        ({"scaling": None}, "scaling=None is unknown"),
        ({"interpolate": "yes"}, "interpolate='yes' must be True or False"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters, message):
    X, Y, *_ = flat_data(9)
    with pytest.raises(InvalidInputError, match=message):
        fit_goose(X, Y, **parameters)
    assert fit_goose(X, Y, n_neighbors=3).n_neighbors == 3


def test_bad_points_are_refused():
    X, Y, X_new, _ = flat_data(10)
    goose = fit_goose(X, Y)
    with pytest.raises(InvalidInputError, match="150 rows and Y has 149"):
        fit_goose(X, Y[:-1])
    with pytest.raises(InvalidInputError, match="2 column"):
        goose.transform(np.ones((3, 2)))
    with pytest.raises(InvalidInputError, match="X_new has 0"):
        goose.transform(np.ones((0, 5)))
    for bad in (np.nan, np.inf):
        wrong = X_new.copy()
        wrong[3, 1] = bad
        with pytest.raises(InvalidInputError, match=r"X_new contains .*\(3, 1\)"):
            goose.transform(wrong)
        wrong = Y.copy()
        wrong[3, 1] = bad
        with pytest.raises(InvalidInputError, match=r"Y contains .*\(3, 1\)"):
            fit_goose(X, wrong)


@pytest.mark.parametrize("aspect", [10.0, 100.0])
def test_maps_that_stretch_one_way_are_not_torn(aspect):
    rng = np.random.RandomState(0)
    X, new = rng.rand(600, 2), 0.1 + 0.8 * rng.rand(300, 2)
    placed = fit_goose(X, X * [aspect, 1.0]).transform(new)
    # Rounding of images, times the widths of thin neighborhoods.
    np.testing.assert_allclose(placed, new * [aspect, 1.0], atol=1e-9 * aspect)
