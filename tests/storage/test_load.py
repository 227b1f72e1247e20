"""What `load` refuses and how it says so, and how it reads what older versions wrote."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import isofold
from isofold.exceptions import InvalidInputError, MissingDependencyError, ModelFileError
from isofold.storage import load, save
from isofold.storage.registry import KINDS
from support.storage_cases import CASES, fitted, results, same
from support.storage_files import changed, put_together, take_apart, zip_of


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.iso"
    save(fitted("mvu"), path)
    return path.read_bytes()


@pytest.fixture
def refused(tmp_path):
    def check(content, words):
        path = tmp_path / "model.iso"
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=words) as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    return check


def test_files_that_are_no_models(refused, tmp_path, content):
    refused(b"", "not a model file of isofold")
    refused(b"hello, world", "not a model file of isofold")
    refused(zip_of({"a.txt": "b"}), "a zip file, but not a model file")
    refused(zip_of({"model.json": "{}"}), "a zip file, but not a model file")
    refused(content[: len(content) // 2], "damaged: it ends too early")
    with pytest.raises(ModelFileError, match="no such file"):
        load(tmp_path / "missing.iso")
    with pytest.raises(ModelFileError, match="It is not a file"):
        load(tmp_path)
    with pytest.raises(ModelFileError):
        load(tmp_path / ("a" * 5000))
    with pytest.raises(InvalidInputError, match="no name of a file"):
        load(None)


def test_newer_files_say_what_to_install(refused, content):
    newer = changed(content, format_version=7, readable_from=2, isofold="3.1.0", objects="?")
    refused(newer, r'format 7 of isofold 3\.1\.0.*formats up to 1.*pip install "isofold>=3.1.0"')
    rude = changed(content, format_version=7, readable_from=2, isofold="1\x1b[31m; rm -rf /")
    refused(rude, "of an unknown version")


def test_newer_formats_that_are_still_readable_load(tmp_path, content):
    path = tmp_path / "model.iso"
    path.write_bytes(changed(content, format_version=7, readable_from=1, isofold="3.1.0"))
    X = CASES["mvu"][1]
    assert same(results(load(path), X), results(fitted("mvu"), X)) is None


@pytest.mark.parametrize("version", [0, -1, None, "1", 1.0, True])
def test_formats_are_numbers(refused, content, version):
    refused(changed(content, format_version=version), "which version it is")


def test_unknown_names_of_newer_versions_say_what_to_install(refused, content):
    header, arrays = take_apart(content)
    header["isofold"] = "0.2.0"
    header["objects"][0]["fields"]["curl"] = 1.0
    refused(put_together(header, arrays), "'curl', which is not known here.*isofold>=0.2.0")
    header["objects"][0]["kind"] = "Sphere"
    refused(put_together(header, arrays), "holds a 'Sphere'.*isofold>=0.2.0")
    header["isofold"] = isofold.__version__
    refused(put_together(header, arrays), "holds a 'Sphere'.*damaged")


def test_damaged_arrays_are_found(refused, content):
    header, arrays = take_apart(content)
    whole = put_together(header, arrays)
    header["arrays"] = take_apart(whole)[0]["arrays"]
    header["arrays"][0]["sha256"] = "0" * 64
    refused(
        put_together(header, arrays, text=json.dumps(header)), "the checksum of an array is wrong"
    )
    refused(put_together(header, arrays[:-1], text=json.dumps(header)), "missing or unknown")
    refused(put_together(header, arrays, extra={"evil.pkl": b"c"}.items()), "missing or unknown")


def test_values_are_of_the_types_of_their_fields(refused, content):
    header, arrays = take_apart(content)
    kinds = [entry["kind"] for entry in header["objects"]]
    header["objects"][kinds.index("GooseMap")]["fields"]["scaling"] = 5
    refused(put_together(header, arrays), "GooseMap.scaling is not of type str")


def test_models_larger_than_memory_are_refused(tmp_path, content, monkeypatch):
    (tmp_path / "model.iso").write_bytes(content)
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 1000)
    with pytest.raises(ModelFileError, match="more memory"):
        load(tmp_path / "model.iso")


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    save(fitted("out of sample hnsw"), tmp_path / "model.iso")
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingDependencyError, match="isofold\\[approximate\\]"):
        load(tmp_path / "model.iso")


def test_more_threads_than_there_are_make_no_difference(tmp_path):
    save(fitted("mvu"), tmp_path / "model.iso")
    header, arrays = take_apart((tmp_path / "model.iso").read_bytes())
    kinds = [entry["kind"] for entry in header["objects"]]
    header["objects"][kinds.index("KDTreeSearch")]["fields"]["workers"] = 10**9
    (tmp_path / "model.iso").write_bytes(put_together(header, arrays))
    X = CASES["mvu"][1]
    assert same(results(load(tmp_path / "model.iso"), X), results(fitted("mvu"), X)) is None


def test_parameters_that_older_files_lack_have_their_defaults(tmp_path, content):
    header, arrays = take_apart(content)
    del header["objects"][-1]["fields"]["n_jobs"]
    (tmp_path / "model.iso").write_bytes(put_together(header, arrays))
    assert load(tmp_path / "model.iso").n_jobs is None


def test_fields_that_were_renamed_added_or_removed(tmp_path, content, monkeypatch, refused):
    header, arrays = take_apart(content)
    kinds = [entry["kind"] for entry in header["objects"]]
    fields = header["objects"][kinds.index("GooseMap")]["fields"]
    fields["k"] = fields.pop("n_neighbors")
    fields["old"] = "gone"
    del fields["scaling"]
    old = put_together(header, arrays)
    refused(old, "not known here")
    kind = replace(
        KINDS["GooseMap"],
        renamed={"k": "n_neighbors"},
        added={"scaling": "least_squares"},
        removed=frozenset({"old"}),
    )
    monkeypatch.setitem(KINDS, "GooseMap", kind)
    (tmp_path / "model.iso").write_bytes(old)
    X = CASES["mvu"][1]
    assert same(results(load(tmp_path / "model.iso"), X), results(fitted("mvu"), X)) is None


def test_a_field_without_a_value_is_refused(refused, content):
    header, arrays = take_apart(content)
    kinds = [entry["kind"] for entry in header["objects"]]
    del header["objects"][kinds.index("GooseMap")]["fields"]["scaling"]
    refused(put_together(header, arrays), "a GooseMap is incomplete")


def test_older_formats_are_brought_up_to_date(tmp_path, content, monkeypatch):
    def migrate(header):
        return header | {"objects": header["things"]}

    header, arrays = take_apart(content)
    header["things"] = header.pop("objects")
    monkeypatch.setattr("isofold.storage.model_file.FORMAT_VERSION", 2)
    monkeypatch.setattr("isofold.storage.model_file.MIGRATIONS", {1: migrate})
    (tmp_path / "model.iso").write_bytes(put_together(header, arrays))
    assert same(load(tmp_path / "model.iso"), fitted("mvu")) is None


def test_files_of_other_byte_orders_load(tmp_path, content):
    header, arrays = take_apart(content)
    swapped = [np.asarray(array, dtype=array.dtype.newbyteorder()) for array in arrays]
    (tmp_path / "model.iso").write_bytes(put_together(header, swapped))
    model, X = load(tmp_path / "model.iso"), CASES["mvu"][1]
    np.testing.assert_array_equal(model.transform(X), fitted("mvu").transform(X))


@pytest.mark.parametrize("name", ["ipa k-means", "mvu", "ldlc", "out of sample distances"])
def test_files_of_machines_with_the_other_order_of_bytes(name, tmp_path):
    model, rows = fitted(name), CASES[name][1]
    save(model, tmp_path / "model.iso")
    header, arrays = take_apart((tmp_path / "model.iso").read_bytes())
    turned = [array.astype(array.dtype.newbyteorder()) for array in arrays]
    assert any(array.dtype.str.startswith(">") for array in turned)
    (tmp_path / "model.iso").write_bytes(put_together(header, turned))
    found = load(tmp_path / "model.iso")
    assert same(model, found) is None
    assert same(results(model, rows), results(found, rows)) is None
