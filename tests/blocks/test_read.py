"""Row blocks: the same rows from every source, and errors that name the block."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
import zarr
from pyarrow import parquet

from isofold import IPA, read_blocks
from isofold.blocks import MappedBlocks, draw_sample, write_blocks
from isofold.exceptions import InputTypeError, InvalidInputError

X = np.random.default_rng(0).normal(size=(1003, 3))
NAMES = ["a", "b", "c"]


def write_parquet(path, rows, names=NAMES, **how):
    parquet.write_table(pa.table(dict(zip(names, rows.T, strict=True))), path, **how)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts").mkdir()
    for number, rows in enumerate(np.array_split(X, 12)):
        write_parquet(tmp_path / "parts" / f"part-{number}.parquet", rows, row_group_size=40)
    # What other tools leave beside their files.
    (tmp_path / "parts" / "_SUCCESS").touch()
    np.save(tmp_path / "rows.npy", X)
    pd.DataFrame(X, columns=NAMES).to_csv(tmp_path / "rows.csv", index=False)
    pd.DataFrame(X, columns=NAMES).to_csv(tmp_path / "rows.tsv", index=False, sep="\t")
    array = zarr.create_array(tmp_path / "rows.zarr", shape=X.shape, chunks=(100, 3), dtype="f8")
    array[:] = X
    return tmp_path


def sources(folder):
    import dask.array
    import dask.dataframe

    frame = pd.DataFrame(X, columns=NAMES)
    return {
        "array": X,
        "memory map": np.load(folder / "rows.npy", mmap_mode="r"),
        "npy": folder / "rows.npy",
        "folder": folder / "parts",
        "pattern": f"{folder}/parts/part-*.parquet",
        "paths": [folder / "parts" / f"part-{number}.parquet" for number in range(12)],
        "csv": folder / "rows.csv",
        "tsv": folder / "rows.tsv",
        "zarr": folder / "rows.zarr",
        "open zarr": zarr.open_array(folder / "rows.zarr", mode="r"),
        "list": [X[:1], X[1:700], X[700:700], X[700:]],
        "function": lambda: iter(np.array_split(X, 5)),
        "dask array": dask.array.from_array(X, chunks=(300, 2)),
        "dask frame": dask.dataframe.from_pandas(frame, npartitions=4),
    }


def test_all_sources_have_the_same_rows(folder):
    for name, source in sources(folder).items():
        blocks = read_blocks(source, rows=None if name.startswith("dask") else 77)
        assert blocks.to_array().tobytes() == X.tobytes(), name
        assert blocks.n_features == 3, name
        starts = [block.start for block in blocks]
        assert starts[0] == 0, name
        assert starts == sorted(starts), name
        assert blocks.n_rows in (None, len(X)), name


def test_blocks_hold_no_more_rows_than_requested(folder):
    for source in (X, folder / "parts", folder / "rows.npy"):
        assert max(len(block.rows) for block in read_blocks(source, rows=77)) <= 77


def test_columns_are_chosen_in_the_given_order(folder):
    chosen = read_blocks(folder / "parts", columns=["c", "a"])
    assert chosen.names == ("c", "a")
    np.testing.assert_array_equal(chosen.to_array(), X[:, [2, 0]])


def test_precision_is_that_of_the_table_or_the_requested_one(tmp_path):
    write_parquet(tmp_path / "single.parquet", X.astype(np.float32))
    assert read_blocks(tmp_path / "single.parquet").dtype == np.float32
    assert read_blocks(np.arange(6).reshape(3, 2)).dtype == np.float64
    both = [X[:5].astype(np.float32), X[5:]]
    assert read_blocks(both, dtype="float64").to_array().dtype == np.float64
    with pytest.raises(InvalidInputError, match=r"block 1, rows 5 to .* float64 .* float32"):
        read_blocks(both).to_array()
    with pytest.raises(InvalidInputError, match="must be float32, float64 or None"):
        read_blocks(X, dtype="int8")


def test_rows_with_gaps_are_refused_dropped_or_kept():
    gaps = X.copy()
    gaps[[3, 500], 1] = np.nan
    with pytest.raises(InvalidInputError, match=r"rows 400 to 599 contains 1 NaN"):
        list(read_blocks([gaps[:3], gaps[4:401], gaps[400:600]]))
    dropped = list(read_blocks(gaps, rows=100, missing="drop"))
    numbers = np.concatenate([block.numbers for block in dropped])
    np.testing.assert_array_equal(numbers, np.delete(np.arange(len(X)), [3, 500]))
    np.testing.assert_array_equal(np.concatenate([b.rows for b in dropped]), X[numbers])
    assert [block.start for block in dropped] == list(range(0, len(X), 100))
    np.testing.assert_array_equal(read_blocks(gaps, missing="keep").to_array(), gaps)
    gaps[0, 0] = np.inf
    for missing in ("drop", "keep"):
        with pytest.raises(InvalidInputError, match="1 infinite"):
            list(read_blocks(gaps, missing=missing))


def test_missing_numbers_of_files_are_gaps(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n,4\n5,6\n")
    kept = read_blocks(tmp_path / "rows.csv", missing="drop").to_array()
    np.testing.assert_array_equal(kept, [[1.0, 2.0], [5.0, 6.0]])
    table = pa.table({"a": pa.array([1, None, 3]), "b": [1.0, 2.0, 3.0]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(InvalidInputError, match=r"rows\.parquet, rows 0 to 2 contains 1 NaN"):
        list(read_blocks(tmp_path / "rows.parquet"))


def test_what_is_wrong_in_the_middle_is_named(tmp_path):
    write_parquet(tmp_path / "part-1.parquet", X[:10])
    cases = {
        "there is no column 'c'": lambda path: write_parquet(path, X[:5, :2], ["a", "b"]),
        "float32": lambda path: write_parquet(path, X[:5].astype(np.float32)),
        "column 'a' does not hold numbers": lambda path: parquet.write_table(
            pa.table({"a": ["x"], "b": [1.0], "c": [1.0]}), path
        ),
        "cannot be read": lambda path: path.write_bytes(b"PAR1 but cut off"),
        "cannot be read: .*size is 0": lambda path: path.write_bytes(b""),
    }
    for message, write in cases.items():
        write(tmp_path / "part-2.parquet")
        with pytest.raises(InvalidInputError, match=rf"part-2\.parquet.*{message}"):
            list(read_blocks(tmp_path))
    with pytest.raises(InvalidInputError, match=r"block 1, rows 4 to 5: .* has 2 columns"):
        list(read_blocks([X[:4], X[:2, :2]]))
    with pytest.raises(InvalidInputError, match=r"block 1.* shape \(3,\)"):
        list(read_blocks([X[:4], X[0]]))
    with pytest.raises(InvalidInputError, match="real numbers"):
        list(read_blocks([X[:4], np.array([["a", "b", "c"]])]))


def test_tables_that_cannot_be_read_in_blocks_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="read only once"):
        read_blocks(iter([X]))
    with pytest.raises(InvalidInputError, match="no such file"):
        read_blocks(tmp_path / "absent.parquet")
    with pytest.raises(InvalidInputError, match="holds no file"):
        read_blocks(tmp_path)
    with pytest.raises(InvalidInputError, match="no blocks"):
        read_blocks([])
    (tmp_path / "rows.csv").write_text("")
    with pytest.raises(InvalidInputError, match=r"rows\.csv: the file cannot be read"):
        read_blocks(tmp_path / "rows.csv")
    (tmp_path / "rows.csv").write_text("a,b\nx,1\n")
    with pytest.raises(InvalidInputError, match="column 'a' does not hold numbers"):
        read_blocks(tmp_path / "rows.csv")
    (tmp_path / "rows.txt").write_text("1 2")
    with pytest.raises(InvalidInputError, match=r"only \.parquet"):
        read_blocks(tmp_path / "rows.txt")
    write_parquet(tmp_path / "rows.parquet", X)
    with pytest.raises(InvalidInputError, match="need one kind"):
        read_blocks([tmp_path / "rows.parquet", tmp_path / "rows.csv"])
    with pytest.raises(InputTypeError):
        IPA().fit(iter([X]))


def test_files_are_in_natural_order(tmp_path):
    for number in (10, 2, 1):
        np.save(tmp_path / f"part-{number}.npy", np.full((1, 2), float(number)))
    np.testing.assert_array_equal(read_blocks(tmp_path).to_array()[:, 0], [1.0, 2.0, 10.0])


@pytest.mark.parametrize("ending", ["parquet", "csv", "npy", "zarr"])
def test_written_blocks_are_read_again(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    rows = X.astype(np.float32) if ending != "csv" else X
    assert write_blocks(read_blocks(rows, rows=100), path) == len(X)
    again = read_blocks(path).to_array()
    assert again.dtype == rows.dtype
    np.testing.assert_array_equal(again, rows)
    with pytest.raises(InvalidInputError, match="overwrit"):
        write_blocks(read_blocks(rows), path)
    write_blocks(read_blocks(rows[:5]), path, overwrite=True)
    assert len(read_blocks(path).to_array()) == 5
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ["parquet", "csv", "npy", "zarr"])
def test_a_failed_write_leaves_nothing(tmp_path, ending):
    bad = read_blocks([X[:10], np.full((3, 3), np.nan)])
    with pytest.raises(InvalidInputError, match="block 1"):
        write_blocks(bad, tmp_path / f"rows.{ending}")
    assert list(tmp_path.iterdir()) == []


def test_rows_are_numbered_if_requested(tmp_path):
    gaps = X.copy()
    gaps[1] = np.nan
    write_blocks(read_blocks(gaps, missing="drop"), tmp_path / "rows.parquet", numbered=True)
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column_names == ["row", "x1", "x2", "x3"]
    assert table["row"].to_pylist()[:3] == [0, 2, 3]


def test_mapped_blocks_are_computed_when_read():
    calls = []

    def double(rows):
        calls.append(len(rows))
        return 2 * rows

    mapped = MappedBlocks(read_blocks(X, rows=400), double, 3)
    assert calls == []
    np.testing.assert_array_equal(mapped.to_array(), 2 * X)
    np.testing.assert_array_equal(read_blocks(mapped).to_array(), 2 * X)
    assert calls == [400, 400, 203] * 2


def test_mapped_rows_keep_their_numbers():
    gaps = X.copy()
    gaps[5] = np.nan
    mapped = MappedBlocks(read_blocks(gaps, rows=400, missing="drop"), np.abs, 3)
    sample = draw_sample(mapped, 50)
    np.testing.assert_array_equal(sample.points, np.abs(X[sample.rows]))
    assert sample.n_seen == len(X) - 1


def test_masked_entries_are_missing():
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    np.testing.assert_array_equal(read_blocks(masked).to_array(), X)
    masked = masked.copy()
    masked[5, 1] = np.ma.masked
    masked.data[5, 1] = 1e6
    for source in (masked, [masked[:3], masked[3:]]):
        with pytest.raises(InvalidInputError, match=r"1 NaN .* index \(5, 1\)"):
            read_blocks(source).to_array()
        left = read_blocks(source, missing="drop").to_array()
        np.testing.assert_array_equal(left, np.delete(X, 5, axis=0))


def test_data_frames_keep_their_columns_apart():
    frame = pd.DataFrame(X, columns=NAMES).assign(kind="one")
    blocks = read_blocks(frame, columns=["c", "a"], rows=100)
    assert blocks.names == ("c", "a")
    np.testing.assert_array_equal(blocks.to_array(), X[:, [2, 0]])
    parts = [frame[:10], frame[10:][["kind", "c", "b", "a"]]]
    np.testing.assert_array_equal(read_blocks(parts, columns=NAMES).to_array(), X)
    with pytest.raises(InvalidInputError, match=r"block 1: .* the columns 'c', 'b', 'a'"):
        read_blocks([frame[:10][NAMES], frame[10:][NAMES[::-1]]]).to_array()
    with pytest.raises(InvalidInputError, match="no column 'zz'"):
        read_blocks(frame, columns=["zz"])
    with pytest.raises(InvalidInputError, match="no columns"):
        read_blocks(frame[[]])


def test_functions_must_make_new_iterators():
    once = iter([X[:10], X[10:20]])
    with pytest.raises(InvalidInputError, match="the same iterator twice"):
        read_blocks(lambda: once)
    assert len(list(once)) == 2
    with pytest.raises(InvalidInputError, match="does not return an iterator"):
        read_blocks(lambda: 3)


def test_blocks_of_lists_and_functions_have_the_requested_size():
    for source in ([X[:700], X[700:]], lambda: iter([X[:700], X[700:]])):
        sizes = [len(block.rows) for block in read_blocks(source, rows=300)]
        assert sizes == [300, 300, 100, 300, 3]


def test_what_tools_put_beside_data_is_not_read(tmp_path):
    for name in ("data", "data/.hidden", "data/_temporary", "_named"):
        (tmp_path / name).mkdir()
        write_parquet(tmp_path / name / "part.parquet", X[:5])
    assert read_blocks(tmp_path / "data").n_rows == 5
    assert read_blocks(f"{tmp_path}/data/**/*.parquet").n_rows == 5
    assert read_blocks(tmp_path / "_named").n_rows == 5
    assert read_blocks(f"{tmp_path}/_named/*.parquet").n_rows == 5


def test_order_of_files_does_not_depend_on_the_folder(tmp_path):
    for value, number in enumerate(["001", "01", "1", "1²"]):
        np.save(tmp_path / f"part-{number}.npy", np.full((1, 2), float(value)))
    names = [p.name for p in read_blocks(tmp_path).paths]
    assert names == ["part-001.npy", "part-01.npy", "part-1.npy", "part-1².npy"]


def test_text_files_need_names(tmp_path):
    path = tmp_path / "rows.csv"
    for text, message in {
        "1,2\n3,4\n": "first row holds numbers",
        "a,a\n1,2\n": "several columns are called 'a'",
    }.items():
        path.write_text(text)
        with pytest.raises(InvalidInputError, match=message):
            read_blocks(path)
    # So pandas writes a table without names.
    pd.DataFrame(np.arange(8.0).reshape(2, 4)).to_csv(path, index=False)
    assert read_blocks(path).names == ("0", "1", "2", "3")


def test_kinds_of_columns(tmp_path):
    columns = {
        "decimal": pa.array([Decimal("1.00"), Decimal("2.00")]),
        "flag": [True, False],
        "half": np.array([0.5, 1.5], dtype=np.float16),
        "none": pa.nulls(2),
    }
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    found = read_blocks(tmp_path / "rows.parquet", missing="keep")
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.to_array(), [[1, 1, 0.5, np.nan], [2, 0, 1.5, np.nan]])
    assert read_blocks(np.eye(2, dtype=np.float16)).dtype == np.float64
    swapped = read_blocks(np.eye(2, dtype=">f4"))
    assert swapped.dtype == np.float32
    np.testing.assert_array_equal(swapped.to_array(), np.eye(2))
    for name in ("part-1", "part-2"):
        (tmp_path / name).mkdir()
    single = pa.array([1.0, 2.0], pa.float32())
    parquet.write_table(pa.table({"a": single, "b": single}), tmp_path / "part-1" / "a.parquet")
    parquet.write_table(pa.table({"a": single, "b": pa.nulls(2)}), tmp_path / "part-2/b.parquet")
    both = read_blocks([tmp_path / "part-2" / "b.parquet", tmp_path / "part-1" / "a.parquet"],
                       missing="drop")  # fmt: skip
    assert both.to_array().dtype == np.float32


def test_flags_and_line_breaks_of_text_files(tmp_path):
    n = 20_000
    table = pd.DataFrame({"a": np.arange(n) / 2, "b": np.arange(n) % 2 == 0, "text": "x\ny"})
    table.to_csv(tmp_path / "rows.csv", index=False)
    found = read_blocks(tmp_path / "rows.csv", columns=["a", "b"], rows=2000).to_array()
    np.testing.assert_array_equal(found, table[["a", "b"]].astype(float))


def test_what_does_not_apply_is_refused(tmp_path):
    import dask.array as da
    import dask.dataframe as dd

    np.save(tmp_path / "rows.npy", X)
    lazy = da.from_array(X, chunks=(300, 3))
    for source in (X, tmp_path / "rows.npy", lazy, [X]):
        with pytest.raises(InvalidInputError, match="no names of columns"):
            read_blocks(source, columns=["a"])
    with pytest.raises(InvalidInputError, match="opened already"):
        read_blocks(read_blocks(X), dtype="float32")
    with pytest.raises(InvalidInputError, match="partitions are the blocks"):
        read_blocks(lazy, rows=10)
    with pytest.raises(InvalidInputError, match="no column 'zz'"):
        read_blocks(dd.from_pandas(pd.DataFrame(X, columns=NAMES)), columns=["zz"])
    with pytest.raises(InvalidInputError, match="compute_chunk_sizes"):
        read_blocks(lazy[:, lazy[0] > 0])
    with pytest.raises(InvalidInputError, match="path is empty"):
        read_blocks("")
    with pytest.raises(InvalidInputError, match="sparse"):
        read_blocks(sp.eye_array(3).tocsr())
    with pytest.raises(InvalidInputError, match="must be float32"):
        read_blocks(X, dtype="abc")
    for shape in ((3,), (3, 3, 3)):
        with pytest.raises(InvalidInputError, match="rows and columns"):
            read_blocks(np.zeros(shape))
        zarr.create_array(tmp_path / f"{len(shape)}.zarr", shape=shape, dtype="f8")
        with pytest.raises(InvalidInputError, match="rows and columns"):
            read_blocks(tmp_path / f"{len(shape)}.zarr")
    zarr.create_group(tmp_path / "group.zarr")
    with pytest.raises(InvalidInputError, match="a Zarr group"):
        read_blocks(tmp_path / "group.zarr")
    with pytest.raises(InvalidInputError, match="no such file"):
        read_blocks([tmp_path / "absent.csv"])
    with pytest.raises(InvalidInputError, match="infinite"):
        read_blocks(X * 1e300, dtype="float32").to_array()


@pytest.mark.parametrize("ending", ["parquet", "csv", "npy", "zarr"])
def test_tables_without_rows_are_written(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    assert write_blocks(X[:0], path) == 0
    again = read_blocks(path)
    assert again.to_array().shape == (0, 3)


def test_coordinates_alone_have_no_place_for_numbers(tmp_path):
    for ending in ("npy", "zarr"):
        with pytest.raises(InvalidInputError, match="no place for row numbers"):
            write_blocks(X, tmp_path / f"rows.{ending}", numbered=True)


def test_blocks_without_rows_are_mapped_to_none(tmp_path):
    def refusing(rows):
        assert len(rows)
        return rows[:, :2]

    gappy = X.copy()
    gappy[10:20] = np.nan
    for source in ([X[:10], X[:0], X[10:]], [X[:10], gappy[10:20], X[20:]]):
        mapped = MappedBlocks(read_blocks(source, missing="drop"), refusing, 2)
        left = np.vstack([each[~np.isnan(each).any(axis=1)] for each in source])
        np.testing.assert_array_equal(mapped.to_array(), left[:, :2])
        assert write_blocks(mapped, tmp_path / "rows.npy", overwrite=True) == len(left)
