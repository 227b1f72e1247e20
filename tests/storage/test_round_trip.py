"""Every estimator comes back from a file as it was, to the last bit."""

import hashlib
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import isofold
from isofold import OutOfSample
from isofold.neighbors import Bridged, Enhanced, Knn, Lengths, Mutual, Radius
from isofold.sdp import Soft
from isofold.storage import load, load_with_notes, save
from support.storage_cases import CASES, TABLE, Foreign, fitted, results, same

TESTS = Path(__file__).parents[1]


# Of the module, so that all tests of a model come together, and it is fitted once.
@pytest.fixture(scope="module", params=CASES)
def name(request):
    return request.param


def round_trip(model, folder, **options):
    save(model, folder / "model.iso", **options)
    return load(folder / "model.iso")


def digest(found):
    """Return a number for all results of a model, for comparison between processes."""
    text = "".join(f"{name} {value.dtype} {value.tolist()}" for name, value in found.items())
    return hashlib.sha256(text.encode()).hexdigest()


def test_results_and_attributes_are_the_same_bytes(name, tmp_path):
    model, X = fitted(name), CASES[name][1]
    again = round_trip(model, tmp_path)
    assert same(results(model, X), results(again, X)) is None
    assert same(model, again) is None


def test_a_loaded_model_makes_the_same_file(name, tmp_path):
    again = round_trip(fitted(name), tmp_path)
    save(again, tmp_path / "again.iso")
    assert (tmp_path / "again.iso").read_bytes() == (tmp_path / "model.iso").read_bytes()


def test_pickle_and_joblib_keep_working(name, tmp_path):
    model, X = fitted(name), CASES[name][1]
    expected = results(model, X)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert same(results(again, X), expected) is None
    joblib.dump(model, tmp_path / "model.joblib", compress=1)
    assert same(results(joblib.load(tmp_path / "model.joblib"), X), expected) is None


def test_a_loaded_model_can_be_cloned(name, tmp_path):
    again = round_trip(fitted(name), tmp_path)
    parameters = clone(again).get_params(deep=False)
    assert parameters.keys() == fitted(name).get_params(deep=False).keys()


def test_results_are_the_same_in_another_process(tmp_path):
    names = ["ipa", "mvu", "eat", "out of sample weights", "ldlc", "unfold"]
    for number, name in enumerate(names):
        save(fitted(name), tmp_path / f"{number}.iso")
    code = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from pathlib import Path\n"
        "from support.storage_cases import CASES, results\n"
        "from test_round_trip import digest\n"
        "from isofold.storage import load\n"
        "for number, name in enumerate(sys.argv[4:]):\n"
        "    print(digest(results(load(f'{sys.argv[3]}/{number}.iso'), CASES[name][1])))\n"
    )
    command = [sys.executable, "-c", code, str(TESTS), str(TESTS / "storage"), str(tmp_path)]
    done = subprocess.run([*command, *names], capture_output=True, text=True, check=True)  # noqa: S603
    expected = [digest(results(fitted(name), CASES[name][1])) for name in names]
    assert done.stdout.split() == expected


def test_the_package_has_both_functions(tmp_path):
    isofold.save(fitted("plml"), tmp_path / "model.iso")
    assert same(isofold.load(str(tmp_path / "model.iso")), fitted("plml")) is None


def test_notes_come_back(tmp_path):
    notes = {"columns": ["a", "ü", "\udce9"], "scale": {"a": 0.1, "n": 10**30}, "none": None}
    save(fitted("plml"), tmp_path / "model.iso", notes=notes)
    assert load_with_notes(tmp_path / "model.iso")[1] == notes
    save(fitted("plml"), tmp_path / "plain.iso")
    assert load_with_notes(tmp_path / "plain.iso")[1] == {}


def test_output_and_names_of_features_are_kept(tmp_path):
    again = round_trip(fitted("ipa names"), tmp_path)
    placed = again.transform(TABLE)
    assert isinstance(placed, pd.DataFrame)
    assert list(placed.columns) == ["ipa0", "ipa1"]
    with pytest.raises(ValueError, match="feature names"):
        again.transform(TABLE.rename(columns={"width": "depth"}))


def test_what_was_shared_is_shared_again(tmp_path):
    training = round_trip(fitted("mvu"), tmp_path).map_.training
    assert training.points is training.search._points
    training.points[0] = 0.0


def test_the_order_of_axes_in_memory_is_kept(tmp_path):
    model = OutOfSample.from_embedding(TABLE.to_numpy(), TABLE.to_numpy()[:, :2])
    cube = np.arange(24.0).reshape(2, 3, 4)
    model.fortran_ = np.asfortranarray(cube[0])
    model.turned_ = cube.transpose(1, 2, 0)
    model.sliced_ = cube[:, ::2]
    model.scalar_ = np.array(3, dtype="i2")
    again = round_trip(model, tmp_path)
    for name in ("fortran_", "turned_", "scalar_"):
        before, after = getattr(model, name), getattr(again, name)
        assert before.strides == after.strides
        assert same(before, after) is None
    np.testing.assert_array_equal(again.sliced_, model.sliced_)


def test_plain_values_come_back_as_they_are(tmp_path):
    values = {
        "numbers": [0, -1, 10**40, 0.1, -0.0, 5e-324, np.inf, -np.inf, np.nan],
        "words": ("", "ä\n\0", "\udc80"),
        "keys": {1: "a", 2.5: None, "c": True},
        "sets": [{3, 1, 2}, frozenset({"x"})],
        "scalars": [np.float32(0.1), np.int8(-3), np.bool_(1), np.str_("ß"), np.complex64(1j)],
        "texts": np.array(["a", "bcd"]),
        "bytes": np.array([b"a", b"bcd"]),
        "objects": np.array([["a", None], [1, 2.5]], dtype=object),
        "empty": np.empty((0, 3), dtype=np.uint16),
        "type": np.dtype(">f4"),
    }
    model = OutOfSample.from_embedding(TABLE.to_numpy(), TABLE.to_numpy()[:, :2])
    model.values_ = values
    assert same(round_trip(model, tmp_path).values_, values) is None


def test_an_embedder_of_strangers_is_left_out(tmp_path):
    X = TABLE.to_numpy()
    model = OutOfSample(Foreign()).fit(X)
    with pytest.warns(UserWarning, match="cannot be fitted again"):
        again = round_trip(model, tmp_path)
    assert again.estimator is None
    assert same(results(model, X + 0.1), results(again, X + 0.1)) is None


@pytest.mark.parametrize(
    "choice",
    [
        Knn(8),
        Mutual(),
        Bridged(8),
        Enhanced(8),
        Radius(0.5),
        Lengths(sp.eye_array(3, format="csr")),
        Soft(16.0),
    ],
)
def test_choices_that_are_objects(choice, tmp_path):
    model = OutOfSample.from_embedding(TABLE.to_numpy(), TABLE.to_numpy()[:, :2])
    model.choice_ = choice
    again = round_trip(model, tmp_path).choice_
    assert type(again) is type(choice)
    assert same(again, choice) is None
