"""Collections of Dask, in threads: names, index, partitions, types, missing values, bad blocks."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import sklearn

from isofold import IPA, PLML, read_blocks
from isofold.blocks.dask_blocks import DaskBlocks
from isofold.exceptions import InputTypeError, InvalidInputError
from support.dask_readers import as_frame, counted_array, counted_frame, reads, sheet

X = sheet(1500)
SIZE = 150


@pytest.fixture(autouse=True)
def threads():
    """Tests of a cluster may have left a client, which is the default of all collections."""
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="module")
def known():
    model = PLML(random_state=0).fit(read_blocks(X), sample_size=SIZE)
    return model, model.transform(X)


def both(table, **how):
    """Return a model with what it makes of a table in the pass of its fit, and later."""
    model = PLML(random_state=0)
    images = model.fit_transform(table, sample_size=SIZE, **how)
    return model, images, model.transform(table)


def test_data_frames_keep_names_index_and_divisions(known):
    index = pd.Index(np.arange(len(X)) * 3.0 + 1.0, name="when")
    frame = dd.from_pandas(as_frame(X, index), npartitions=4)
    model, *tables = both(frame)
    assert list(model.feature_names_in_) == ["c0", "c1", "c2"]
    for images in tables:
        assert isinstance(images, dd.DataFrame)
        assert images.divisions == frame.divisions
        assert list(images.columns) == list(model.get_feature_names_out()) == ["plml0", "plml1"]
        found = images.compute()
        pd.testing.assert_index_equal(found.index, index)
        assert list(found.dtypes) == list(images.dtypes) == [np.float64] * 2
        np.testing.assert_array_equal(found, known[1])


def test_a_model_of_a_data_frame_knows_its_columns():
    model, *_ = both(dd.from_pandas(as_frame(X), npartitions=2))
    swapped = dd.from_pandas(as_frame(X)[["c1", "c0", "c2"]], npartitions=2)
    with pytest.raises(InvalidInputError, match="Column 0 of X is 'c1', but it was 'c0'"):
        model.transform(swapped)
    with pytest.raises(InvalidInputError, match="X has 2 features, but PLML is expecting 3"):
        model.transform(da.from_array(X[:, :2], chunks=500))
    # Rows without names are taken, silently, as the blocks of a file are.
    np.testing.assert_array_equal(
        model.transform(da.from_array(X, chunks=500)), model.transform(as_frame(X))
    )


def test_columns_of_a_frame_that_have_no_texts_are_no_names(known):
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    model, images, _ = both(frame)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(images.compute(), known[1])


def test_columns_can_be_chosen(known):
    frame = as_frame(X).assign(name="text")[["name", "c2", "c1", "c0"]]
    lazy = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(InvalidInputError, match=r"column 'name' holds .*columns=\["):
        read_blocks(lazy)
    _, images, later = both(read_blocks(lazy, columns=["c0", "c1", "c2"]))
    np.testing.assert_array_equal(images.compute(), known[1])
    np.testing.assert_array_equal(later.compute(), known[1])


@pytest.mark.parametrize("known_sizes", [True, False])
def test_chunks_of_columns_unknown_sizes_and_empty_partitions(known_sizes, known):
    table = da.from_array(X, chunks=(400, 2))
    none = da.from_array(X[:0], chunks=(1, 2))
    table = da.concatenate([none, table[:700], none, table[700:], none]).rechunk({1: 2})
    if not known_sizes:
        table = table.map_blocks(
            lambda rows: rows,
            dtype=float,
            meta=X[:0],
            chunks=(tuple([np.nan] * table.numblocks[0]), (2, 1)),
        )
    _, images, later = both(table)
    np.testing.assert_array_equal(images.compute(), known[1])
    np.testing.assert_array_equal(later.compute(), known[1])
    assert images.shape[0] == len(X) or not known_sizes


def test_empty_partitions_of_data_frames(known):
    frame = dd.from_pandas(as_frame(X), npartitions=6)
    far = frame.map_partitions(lambda part: part[(part.index < 300) | (part.index >= 900)])
    model = known[0]
    found = model.transform(far).compute()
    kept = np.r_[0:300, 900:1500]
    np.testing.assert_array_equal(found.index, kept)
    np.testing.assert_array_equal(found, known[1][kept])
    assert list(found.columns) == ["plml0", "plml1"]
    _, images, later = both(far)
    pd.testing.assert_frame_equal(images.compute(), later.compute())
    with pytest.raises(InvalidInputError, match="X has no rows in any of its blocks"):
        PLML().fit(frame.map_partitions(lambda part: part[:0]), sample_size=SIZE)


@pytest.mark.parametrize("embedder", [PLML, IPA])
def test_single_precision_stays_single(embedder):
    table = da.from_array(X.astype(np.float32), chunks=(400, 3))
    model = embedder(random_state=0)
    images = model.fit_transform(table, sample_size=SIZE)
    here = embedder(random_state=0)
    expected = here.fit_transform(read_blocks(X.astype(np.float32)), sample_size=SIZE).to_array()
    assert images.dtype == images.compute().dtype == expected.dtype == np.float32
    np.testing.assert_array_equal(images, expected)
    np.testing.assert_array_equal(images, model.transform(table))


def test_integers_flags_and_nullable_columns_are_numbers():
    rows = np.round(X * 100)
    whole = da.from_array(rows.astype(np.int32), chunks=(400, 3))
    expected = PLML(random_state=0).fit_transform(read_blocks(rows), sample_size=SIZE).to_array()
    np.testing.assert_array_equal(both(whole)[1], expected)
    frame = as_frame(rows).astype({"c0": "int16", "c1": "Int64", "c2": "double[pyarrow]"})
    _, images, later = both(dd.from_pandas(frame, npartitions=3))
    np.testing.assert_array_equal(images.compute(), expected)
    np.testing.assert_array_equal(later.compute(), expected)
    flags = dd.from_pandas(as_frame(X).assign(c3=X[:, 0] > 0), npartitions=3)
    blocks = read_blocks(flags)
    np.testing.assert_array_equal(blocks.to_array(), np.column_stack([X, X[:, 0] > 0]))


@pytest.mark.parametrize("nullable", [False, True])
def test_rows_with_missing_values_are_dropped_with_their_index(nullable):
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    complete = np.flatnonzero(~np.isnan(gaps).any(axis=1))
    frame = as_frame(gaps, index=np.arange(len(X)) * 2)
    lazy = dd.from_pandas(frame.convert_dtypes() if nullable else frame, npartitions=5)
    expected = read_blocks(gaps, missing="drop")
    here = PLML(random_state=0).fit_transform(expected, sample_size=SIZE).to_array()
    _, *tables = both(read_blocks(lazy, missing="drop"))
    for images in tables:
        np.testing.assert_array_equal(images.compute().index, complete * 2)
        np.testing.assert_array_equal(images.compute(), here)
    _, *tables = both(read_blocks(da.from_array(gaps, chunks=(400, 3)), missing="drop"))
    for images in tables:
        assert np.isnan(images.shape[0])
        np.testing.assert_array_equal(images.compute(), here)
    # All partitions are bad: the first that is read is named.
    with pytest.raises(InvalidInputError, match=r"X, partition \d, rows .* contains 4[23] NaN"):
        PLML().fit(lazy, sample_size=SIZE)


def replaced(frame, number, change):
    """Return a data frame of Dask with one bad partition that its meta does not tell of."""
    parts = frame.to_delayed()
    parts[number] = dask.delayed(change)(parts[number])
    return dd.from_delayed(parts, meta=frame._meta, verify_meta=False)


BAD = {
    "NaN": (lambda part: part.assign(c1=np.nan), "X, partition 3.* NaN"),
    "text": (lambda part: part.assign(c1="one"), "X, partition 3.* no number: .*'one'"),
    "width": (lambda part: part[["c0", "c1"]], "X, partition 3: .* columns 'c0', 'c1', but"),
    "order": (lambda part: part[["c1", "c0", "c2"]], "X, partition 3: .* columns 'c1', 'c0'"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_partition_is_named(kind, known):
    change, message = BAD[kind]
    bad = replaced(dd.from_pandas(as_frame(X), npartitions=5), 3, change)
    with pytest.raises(InvalidInputError, match=message):
        PLML().fit(bad, sample_size=SIZE)
    with pytest.raises(InvalidInputError, match=message):
        known[0].transform(bad).compute()


def test_a_bad_block_of_an_array_is_named(known):
    parts = [dask.delayed(X[i : i + 300]) for i in range(0, 1500, 300)]
    for bad, message in ((X[:300, :2], "has 2 columns"), (X[:300].astype(str), "holds <U")):
        parts[2] = dask.delayed(bad)
        table = da.concatenate([da.from_delayed(part, (300, 3), dtype=float) for part in parts])
        with pytest.raises(InvalidInputError, match=f"X, partition 2, .*{message}"):
            PLML().fit(table, sample_size=SIZE)
        with pytest.raises(InvalidInputError, match=f"X, partition 2, .*{message}"):
            known[0].transform(table).compute()


def test_what_later_rows_hold_is_named_by_their_numbers(known):
    bad = X.copy()
    bad[1200, 1] = np.nan
    for table in (da.from_array(bad, chunks=(500, 3)), da.ma.masked_invalid(da.from_array(bad))):
        with pytest.raises(InvalidInputError, match=r"1 NaN .* index \(1200, 1\)"):
            known[0].transform(table).compute()


def test_delayed_values_are_refused():
    with pytest.raises(InputTypeError, match="from_delayed"):
        PLML().fit(dask.delayed(X))


def test_a_refused_table_leaves_the_model_as_it_was(known):
    model = PLML(random_state=0).fit(read_blocks(X), sample_size=SIZE)
    bad = X.copy()
    bad[700] = np.inf
    with pytest.raises(InvalidInputError, match="X, partition 1, rows 500 to 999"):
        model.fit(da.from_array(bad, chunks=(500, 3)), sample_size=SIZE)
    np.testing.assert_array_equal(model.transform(X), known[1])


def test_containers_of_the_user_leave_lazy_tables_alone(known):
    array, frame = da.from_array(X, chunks=(500, 3)), dd.from_pandas(as_frame(X), npartitions=2)
    with sklearn.config_context(transform_output="pandas"):
        _, *tables = both(array)
        assert all(isinstance(table, da.Array) for table in tables)
        np.testing.assert_array_equal(tables[0], known[1])
    model = PLML(random_state=0).set_output(transform="pandas")
    images = model.fit_transform(frame, sample_size=SIZE)
    assert isinstance(images, dd.DataFrame)
    assert isinstance(model.transform(frame), dd.DataFrame)
    assert isinstance(model.transform(array), da.Array)
    np.testing.assert_array_equal(model.transform(array), known[1])
    blocks = model.transform(read_blocks(X))
    np.testing.assert_array_equal(blocks.to_array(), known[1])
    kept = PLML(random_state=0).set_output(transform="polars")
    np.testing.assert_array_equal(
        kept.fit_transform(read_blocks(X), sample_size=SIZE).to_array(), known[1]
    )
    # Tables in memory are put into the container.
    here = model.transform(as_frame(X))
    assert isinstance(here, pd.DataFrame)
    np.testing.assert_array_equal(here, known[1])


def test_images_are_kept_in_memory_without_a_client(known, tmp_path):
    _, images, later = both(counted_array(X, 6, tmp_path))
    assert reads(tmp_path) == [2] * 6
    np.testing.assert_array_equal(images.compute(), known[1])
    assert reads(tmp_path) == [2] * 6
    np.testing.assert_array_equal(later[:10].compute(), known[1][:10])
    assert reads(tmp_path) == [3, 2, 2, 2, 2, 2]


def test_a_data_frame_is_counted_by_one_column(tmp_path):
    # What is read lazily by columns, such as Parquet, is counted without the others.
    seen = []

    def read(number, columns=None):
        seen.append(tuple(columns or ()))
        table = as_frame(X[500 * number : 500 * (number + 1)])
        return table if columns is None else table[list(columns)]

    frame = dd.from_map(read, [0, 1, 2], meta=as_frame(X[:0]))
    blocks = read_blocks(frame)
    assert blocks.n_rows is None
    assert blocks.counted().n_rows == len(X)
    assert seen == [("c0",)] * 3
    assert blocks.counted() is blocks.counted()
    counted = counted_frame(as_frame(X), 5, tmp_path)
    PLML(random_state=0).fit(counted, sample_size=SIZE)
    assert reads(tmp_path) == [3] * 5


def test_blocks_of_other_sources_are_read_by_tasks(known):
    blocks = read_blocks(np.array_split(X, 5))
    lazy = DaskBlocks.of_blocks(blocks)
    assert lazy.n_rows == len(X)
    np.testing.assert_array_equal(lazy.to_array(), X)
    _, images, later = both(lazy)
    np.testing.assert_array_equal(images, known[1])
    np.testing.assert_array_equal(later, known[1])
    assert DaskBlocks.of_blocks(lazy) is lazy
