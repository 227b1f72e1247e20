"""Written files: what was written is read again, and no failure leaves half a file."""

import os
import stat

import numpy as np
import pyarrow as pa
import pytest

from isofold.exceptions import InvalidInputError
from isofold.tables import (
    TABLE_ENDINGS,
    atomic_file,
    check_map_rows,
    check_target,
    read_table,
    write_embedding,
    write_table,
)

Y = np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
ROWS = np.array([0, 2, 3, 5, 8, 9])
LABELS = np.array(["a", "b", 'c "quoted", and more', "", "<script>", "🌍\n2"], dtype=object)
ERRORS = np.array([0.5, np.nan, 0.25, 0, 1, 2])


def column(table, name):
    return table.column(table.names.index(name)).values


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_tables_of_maps_come_back(tmp_path, ending):
    path = tmp_path / f"map.{ending}"
    write_embedding(path, Y, rows=ROWS, labels=LABELS, label_name="kind", distortion=ERRORS)
    table = read_table(path)
    assert table.names == ("row", "kind", "x1", "x2", "distortion")
    assert column(table, "row").tolist() == ROWS.tolist()
    np.testing.assert_array_equal(column(table, "x2").astype(np.float32), Y[:, 1])
    np.testing.assert_array_equal(column(table, "distortion"), ERRORS)
    assert [text or "" for text in column(table, "kind")] == LABELS.tolist()


def test_arrays_of_maps_come_back(tmp_path):
    write_embedding(tmp_path / "map.npz", Y, rows=ROWS, labels=LABELS, distortion=ERRORS)
    with np.load(tmp_path / "map.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {"row", "label", "embedding", "distortion"}
        np.testing.assert_array_equal(arrays["embedding"], Y)
        assert arrays["embedding"].dtype == np.float32
        assert arrays["row"].tolist() == ROWS.tolist()
        assert arrays["label"].tolist() == LABELS.tolist()
    write_embedding(tmp_path / "map.npy", Y, rows=np.arange(6))
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), Y)


def test_bare_coordinates_need_all_rows(tmp_path):
    check_map_rows(tmp_path / "map.csv", ROWS)
    with pytest.raises(InvalidInputError, match=r"cannot say which\. Write \.csv"):
        check_map_rows(tmp_path / "map.npy", ROWS)
    with pytest.raises(InvalidInputError, match="cannot say which"):
        write_embedding(tmp_path / "map.npy", Y, rows=ROWS)
    assert list(tmp_path.iterdir()) == []


def test_a_label_named_like_a_coordinate(tmp_path):
    write_embedding(tmp_path / "map.csv", Y, rows=ROWS, labels=np.arange(6), label_name="x1")
    assert read_table(tmp_path / "map.csv").names == ("row", "label x1", "x1", "x2")


def test_columns_of_different_lengths_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="6 points cannot be written"):
        write_embedding(tmp_path / "map.csv", Y, rows=ROWS[:5])
    assert list(tmp_path.iterdir()) == []


def test_table_is_written(tmp_path):
    write_table(tmp_path / "a.csv", {"x": [1.5, np.nan], "word": ["u", "v"]})
    table = read_table(tmp_path / "a.csv")
    np.testing.assert_array_equal(column(table, "x"), [1.5, np.nan])
    assert column(table, "word").tolist() == ["u", "v"]
    with pytest.raises(InvalidInputError, match="must end in one of"):
        write_table(tmp_path / "a.npy", {"x": [1.5]})


def write_half(path, error):
    with atomic_file(path, overwrite=True) as target:
        target.write_text("half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_failure_leaves_nothing_and_the_old_file(tmp_path, error):
    old = tmp_path / "old.html"
    old.write_text("old")
    for path in (old, tmp_path / "new.html"):
        with pytest.raises(error):
            write_half(path, error)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("old.html", "old")]


def test_failing_writer_leaves_nothing(tmp_path, monkeypatch):
    def full_disk(data, target, *args, **kwargs):
        target.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.csv.write_csv", full_disk)
    monkeypatch.setattr("pyarrow.parquet.write_table", full_disk)
    for ending in ("csv", "tsv", "parquet"):
        with pytest.raises(InvalidInputError, match="No space left on device"):
            write_embedding(tmp_path / f"map.{ending}", Y, rows=ROWS)
    monkeypatch.setattr("pathlib.Path.open", open_and_fail)
    with pytest.raises(InvalidInputError, match="No space left"):
        write_embedding(tmp_path / "map.npy", Y, rows=np.arange(6))
    assert list(tmp_path.iterdir()) == []


def open_and_fail(path, mode):
    raise OSError(28, "No space left on device")


def test_replacement_keeps_permissions_and_links(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    with atomic_file(link, overwrite=True) as target:
        assert target.parent == tmp_path
        assert target.suffix == ".csv"
        target.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    with atomic_file(tmp_path / "fresh.csv") as target:
        target.write_text("fresh")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fresh.csv").stat().st_mode) == 0o666 & ~mask


def write_too_late(path):
    with atomic_file(path) as target:
        target.write_text("ours")
        path.write_text("theirs")


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(InvalidInputError, match="somebody else wrote the file meanwhile"):
        write_too_late(path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.csv", "theirs")]


def test_file_systems_without_links(tmp_path, monkeypatch):
    def no_links(*args):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    with atomic_file(tmp_path / "a.csv") as target:
        target.write_text("written")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.csv", "written")]


def test_targets_are_refused_before_work(tmp_path, monkeypatch):
    there = tmp_path / "there.csv"
    there.write_text("old")
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    cases = {
        there: "exists and is not overwritten. Use --force",
        tmp_path / "folder.csv": "this is a folder",
        tmp_path / "pipe.csv": "device or a pipe",
        tmp_path / "no" / "a.csv": "no folder",
        tmp_path / "a.xlsx": r"must end in one of \.csv, \.tsv",
        tmp_path / "a": "must end in one of",
        tmp_path / ("x" * 300 + ".csv"): "cannot be used",
        tmp_path / "a\0.csv": "cannot be used",
    }
    for path, words in cases.items():
        with pytest.raises(InvalidInputError, match=words) as caught:
            check_target(path)
        assert str(caught.value).isprintable()
    assert check_target(there, overwrite=True) == there
    with pytest.raises(InvalidInputError, match="input file"):
        check_target(there, overwrite=True, inputs=[tmp_path / "no.csv", str(there)])
    with pytest.raises(InvalidInputError, match="must end in one of"):
        check_target(tmp_path / "a.npy", endings=TABLE_ENDINGS)
    monkeypatch.setattr("os.access", lambda *args: False)
    with pytest.raises(InvalidInputError, match="nothing may be written to the folder"):
        check_target(tmp_path / "a.csv")


def test_what_the_system_refuses_is_told(tmp_path, monkeypatch):
    def read_only(*args, **kwargs):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.open", read_only)
    with (
        pytest.raises(InvalidInputError, match="cannot be written: Read-only file system"),
        atomic_file(tmp_path / "a.csv"),
    ):
        pass


def test_arrow_knows_no_half_characters(tmp_path):
    words = np.array(["a\udcff", None, "b", "a\udcff"], dtype=object)
    write_table(tmp_path / "a.parquet", {"word": words})
    written = pa.parquet.read_table(tmp_path / "a.parquet")["word"]
    assert written.to_pylist() == ["a?", None, "b", "a?"]
