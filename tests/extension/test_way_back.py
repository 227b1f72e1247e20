"""The way back from a map: exact at training samples, of second order between them, never wild."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA

import isofold
from isofold import OutOfSample
from isofold.datasets import swiss_roll
from isofold.embedding import catalog
from isofold.exceptions import InvalidInputError
from isofold.extension import fit_way_back
from isofold.extension.way_back import LARGEST_TILT
from support.embedders import points

# A few products of numbers of size ten, in float64.
ROUNDING = 1e-11


def sheet(n, seed=0, q=2):
    return np.random.default_rng(seed).uniform(size=(n, q))


def lifted(flat, d):
    """Return flat points rigidly placed in d dimensions."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(d, d)))[0]
    return flat @ turn[: flat.shape[1]] + 3.0


def arch(flat):
    """Return a sheet bent around a cylinder of radius one: curvature one along its first axis."""
    return np.column_stack([np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]])


def rms(apart):
    return np.sqrt((apart**2).sum(axis=1).mean())


@pytest.mark.parametrize(("q", "d"), [(1, 3), (2, 3), (2, 50), (3, 50), (50, 50)])
def test_training_samples_are_returned_exactly(q, d):
    Y, rng = sheet(150, q=q), np.random.default_rng(2)
    X = lifted(Y, d) + 0.1 * rng.normal(size=(150, d))
    np.testing.assert_array_equal(fit_way_back(X, Y).transform(Y), X)


@pytest.mark.parametrize(("q", "d"), [(1, 3), (2, 3), (2, 50), (3, 50)])
def test_affine_maps_are_inverted_exactly(q, d):
    Y, new = sheet(200, q=q), sheet(50, seed=1, q=q)
    back = fit_way_back(lifted(2 * Y, d), Y)
    # Neighborhoods at the rim extrapolate, but not far.
    np.testing.assert_allclose(back.transform(new), lifted(2 * new, d), atol=ROUNDING)


@pytest.mark.parametrize("d", [3, 50])
def test_the_error_is_of_second_order(d):
    # Neighbors within h: at most h²/2 Σ|w| off, and h² goes down as 1/n.
    new = 0.1 + 0.8 * sheet(200, seed=1)
    errors = []
    for n in (400, 1600):
        Y = sheet(n)
        back = fit_way_back(lifted(arch(Y), d), Y, n_neighbors=10)
        apart = np.linalg.norm(back.transform(new) - lifted(arch(new), d), axis=1)
        reach = np.sort(cdist(new, Y), axis=1)[:, 9]
        # |w_j| sum to √(1 + |c|²) at most, by Cauchy and Schwarz.
        bound = 0.5 * (1.0 + 1.0) * reach**2 * np.sqrt(1 + LARGEST_TILT**2)
        assert (apart <= bound).all()
        errors.append(rms(apart[:, None]))
    assert errors[1] < errors[0] / 3


def test_a_roll_is_restored_to_half_a_percent():
    roll = swiss_roll(2000, random_state=0)
    back = fit_way_back(roll.X[:1600], roll.truth[:1600])
    missed = rms(back.transform(roll.truth[1600:]) - roll.X[1600:])
    assert missed < 0.006 * rms(roll.X - roll.X.mean(axis=0))


def test_thick_data_are_averaged():
    # Noise of variance one in 20 directions that the map does not show: the mean is best.
    rng, Y = np.random.default_rng(0), sheet(1000)
    X = np.column_stack([10 * Y, rng.normal(size=(1000, 20))])
    back = fit_way_back(X, Y)
    assert back.n_neighbors >= 30
    new = 0.1 + 0.8 * sheet(200, seed=1)
    restored = back.transform(new)
    np.testing.assert_allclose(restored[:, :2], 10 * new, atol=ROUNDING)
    # The mean of ten would have variance a tenth.
    assert (restored[:, 2:] ** 2).mean() < 0.2


def test_torn_maps_lead_to_one_of_the_parts():
    # Two sheets five apart lie on each other on the map.
    Y = sheet(600)
    height = np.where(np.arange(600) % 2, 5.0, 0.0)
    X = np.column_stack([Y, height])
    restored = fit_way_back(X, Y, n_neighbors=16).transform(0.1 + 0.8 * sheet(200, seed=1))
    assert (np.minimum(abs(restored[:, 2]), abs(restored[:, 2] - 5.0)) < ROUNDING).mean() > 0.95


def test_stretched_maps_are_not_taken_for_torn():
    # Thirty times longer one way: the far neighbors are where the near ones lead.
    Y, new = sheet(400), 0.1 + 0.8 * sheet(100, seed=1)
    back = fit_way_back(Y * [30.0, 1.0], Y, n_neighbors=16)
    np.testing.assert_allclose(back.transform(new), new * [30.0, 1.0], atol=ROUNDING)


def test_far_points_stay_within_reach_of_the_data():
    Y = sheet(300)
    back = fit_way_back(lifted(Y, 5), Y)
    far = np.array([[1e3, -1e3], [1e12, 0.0], [-1e150, 1e150]])
    restored = back.transform(far)
    assert np.isfinite(restored).all()
    # Three standard deviations of a neighborhood, which is no wider than the sheet.
    assert (np.abs(restored - lifted(Y, 5).mean(axis=0)) < 1 + LARGEST_TILT).all()
    assert back.is_outside(far).all()
    assert back.is_outside(0.1 + 0.8 * sheet(100, seed=1)).mean() <= 0.05


def test_a_hole_of_the_map_is_outside():
    Y = sheet(3000)
    Y = Y[np.linalg.norm(Y - 0.5, axis=1) > 0.2]
    assert fit_way_back(lifted(Y, 3), Y).is_outside([[0.5, 0.5]]).all()


def test_samples_with_one_image_share_their_mean():
    Y = np.repeat(sheet(40), 3, axis=0)
    X = np.random.default_rng(0).normal(size=(120, 4))
    X[:3] = X[0]
    restored = fit_way_back(X, Y).transform(Y[::3])
    np.testing.assert_allclose(restored, X.reshape(40, 3, 4).mean(axis=1), atol=ROUNDING)
    np.testing.assert_array_equal(restored[0], X[0])


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_samples(n):
    X, Y = points(n=n), sheet(n)
    back = fit_way_back(X, Y)
    np.testing.assert_array_equal(back.transform(Y), X)
    assert np.isfinite(back.transform([[0.3, 0.3], [1e9, 0.0]])).all()
    back.is_outside([[0.3, 0.3]])


def test_maps_without_extent():
    X = points(n=20)
    for Y in (np.zeros((20, 2)), np.column_stack([np.arange(20.0), np.zeros(20)])):
        assert np.isfinite(fit_way_back(X, Y).transform([[3.5, 1.0], [0.0, 0.0]])).all()


def test_single_precision_and_rows():
    Y = sheet(300)
    X = lifted(arch(Y), 30)
    single = fit_way_back(X.astype(np.float32), Y.astype(np.float32))
    new = (0.1 + 0.8 * sheet(40, seed=1)).astype(np.float32)
    restored = single.transform(new)
    assert restored.dtype == np.float32
    double = fit_way_back(X, Y, n_neighbors=single.n_neighbors).transform(new)
    # Eps of coordinates of size four, some twenty times as large in weights.
    np.testing.assert_allclose(restored, double, atol=100 * np.finfo(np.float32).eps)
    alone = np.vstack([single.transform(row[None]) for row in new])
    np.testing.assert_array_equal(alone, restored)


def test_wrong_input_is_refused():
    X, Y = points(n=20), sheet(20)
    with pytest.raises(InvalidInputError, match="19"):
        fit_way_back(X, Y[:19])
    with pytest.raises(InvalidInputError, match="auto"):
        fit_way_back(X, Y, n_neighbors="all")
    for method in (fit_way_back(X, Y).transform, fit_way_back(X, Y).is_outside):
        with pytest.raises(InvalidInputError, match="3 column"):
            method(np.zeros((1, 3)))
        with pytest.raises(InvalidInputError, match="NaN"):
            method([[np.nan, 0.0]])


# Every method


FLAT = sheet(90)
ARCH = arch(FLAT)
CHEAP = {
    "Unfold": {"max_seconds": 5.0},
    "LandmarkMVU": {"n_landmarks": 12},
    "LocalMDS": {"n_epochs": 20},
    "OutOfSample": {"estimator": PCA(2)},
}
# Surfaces by which IPA and PLML go back are as close to the samples as neighbors would lead.
SMOOTH = {"IPA", "PLML", "Projection", "Unfold"}


def fitted(method):
    made = vars(__import__(f"isofold.embedding.{method.home}", fromlist=[method.name]))[method.name]
    model = made(**CHEAP.get(method.name, {}))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(ARCH, FLAT[:, 0] > 0.5) if method.needs_label else model.fit(ARCH)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize("method", catalog.CATALOG, ids=lambda method: method.name)
def test_every_method_has_a_way_back(method, tmp_path):
    model = fitted(method)
    isofold.save(model, tmp_path / "before.iso")
    Y = model.embedding_
    restored = model.inverse_transform(Y)
    assert restored.shape == ARCH.shape
    # Half a neighborhood of ten among ninety points.
    apart = np.linalg.norm(restored - ARCH, axis=1)
    assert apart.max() < (0.2 if method.name in SMOOTH else 1e-5)
    middle = Y.mean(axis=0, keepdims=True)
    np.testing.assert_array_equal(
        model.inverse_transform(np.vstack([Y, middle]))[-1:], model.inverse_transform(middle)
    )
    # What was made on the way is no part of the model.
    isofold.save(model, tmp_path / "after.iso")
    assert (tmp_path / "before.iso").read_bytes() == (tmp_path / "after.iso").read_bytes()
    np.testing.assert_array_equal(
        isofold.load(tmp_path / "after.iso").inverse_transform(Y), restored
    )
    outside = isofold.is_outside(model, np.vstack([Y[:5], Y[:1] + 1e4]), space="map")
    assert outside[-1]
    assert not outside[:5].all()


def test_models_of_distances_have_no_way_back():
    distances = cdist(ARCH, ARCH)
    model = isofold.LocalMDS(metric="precomputed", n_epochs=5).fit(distances)
    assert not hasattr(model, "inverse_transform")
    with pytest.raises(AttributeError) as raised:
        model.inverse_transform(model.embedding_)
    assert "not given points" in str(raised.value.__cause__)
    # But their map is known.
    far = model.embedding_[:1] + 1e4
    assert isofold.is_outside(model, far, space="map").all()
    kernel = np.exp(-(distances**2))
    eat = isofold.EAT(kernel="precomputed", random_state=0).fit(kernel[:40, :40])
    assert not hasattr(eat, "inverse_transform")


def test_maps_of_kernels_go_back_to_points_and_to_no_other_objects():
    twin = isofold.TwinKernelEmbedding(back_constraint="kernel", random_state=0).fit(ARCH)
    # Its map gives training points their images up to rounding.
    back = twin.inverse_transform(twin.embedding_)
    np.testing.assert_allclose(back, ARCH, atol=1e-5)
    words = ["abab", "babab", "ababa", "xyxy", "yxyxy", "xyxya", "bayx"]

    def shared(A, B):
        counts = [np.array([[w.count(c) for c in "abxy"] for w in side]) for side in (A, B)]
        return counts[0] @ counts[1].T

    model = isofold.KernelLaplacianEigenmaps(n_components=1, n_neighbors=3, kernel=shared)
    assert not hasattr(model.fit(words), "inverse_transform")


@pytest.mark.parametrize("method", ["goose", "barycentric", "nystrom", "kernel_ridge"])
def test_out_of_sample_goes_both_ways(method):
    new = arch(0.1 + 0.8 * sheet(30, seed=1))
    model = OutOfSample(PCA(2), method=method).fit(ARCH)
    missed = rms(model.inverse_transform(model.transform(new)) - new)
    assert missed < 0.1 * rms(ARCH - ARCH.mean(axis=0))


def test_a_map_of_the_users_needs_an_inverse_of_its_own():
    class Mean:
        def transform(self, X):
            return X[:, :2]

    model = OutOfSample(PCA(2), method=lambda X, Y: Mean()).fit(ARCH)
    assert not hasattr(model, "inverse_transform")


def test_the_space_is_checked():
    model = OutOfSample(PCA(2)).fit(ARCH)
    with pytest.raises(InvalidInputError, match="space"):
        isofold.is_outside(model, ARCH, space="picture")
    with pytest.raises(InvalidInputError, match="3 column"):
        isofold.is_outside(model, ARCH, space="map")
