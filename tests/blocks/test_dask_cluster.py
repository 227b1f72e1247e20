"""Passes on real worker processes: the same bytes, whatever becomes of workers and schedulers."""

import gc
from threading import Thread

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pytest
import zarr
from distributed import Future
from pyarrow import parquet

from isofold import PLML, read_blocks
from isofold.blocks.dask_blocks import DaskBlocks
from isofold.blocks.sample import draw_sample
from isofold.exceptions import ClusterError
from support import dask_readers as readers
from support.dask_cluster import local_client, lonely_scheduler
from support.dask_readers import as_frame, counted_array, counted_frame, reads, sheet, wait_for
from support.quick import quick_are

# Workers do not see the folder of the tests.
cloudpickle.register_pickle_by_value(readers)

X = sheet(2000)
SIZE = 200


def fitted(table):
    return PLML(random_state=0).fit(table, sample_size=SIZE)


@pytest.fixture(scope="module")
def known():
    """The model and the images of all rows, from an array in memory."""
    model = fitted(read_blocks(X))
    return model, model.transform(X)


def assert_same(model, images, known):
    np.testing.assert_array_equal(model.stream_.rows, known[0].stream_.rows)
    np.testing.assert_array_equal(model.embedding_, known[0].embedding_)
    np.testing.assert_array_equal(np.asarray(images), known[1])


def write_pieces(folder, n_pieces):
    folder.mkdir()
    for number, rows in enumerate(np.array_split(X, n_pieces)):
        table = pa.table({f"c{axis}": rows[:, axis] for axis in range(3)})
        parquet.write_table(table, folder / f"part-{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables")
    np.save(path / "rows.npy", X)
    as_frame(X).to_csv(path / "rows.csv", index=False)
    write_pieces(path / "seven", 7)
    write_pieces(path / "seventy", 70)
    array = zarr.create_array(path / "rows.zarr", shape=X.shape, chunks=(300, 3), dtype="f8")
    array[:] = X
    return path


LOCAL = {
    "memory": lambda folder: read_blocks(X, rows=333),
    "list": lambda folder: read_blocks(np.array_split(X, [1, 10, 1990])),
    "memory map": lambda folder: read_blocks(np.load(folder / "rows.npy", mmap_mode="r"), rows=99),
    "npy": lambda folder: read_blocks(folder / "rows.npy", rows=512),
    "parquet in 7": lambda folder: read_blocks(folder / "seven"),
    "parquet in 70": lambda folder: read_blocks(folder / "seventy"),
    "zarr": lambda folder: zarr.open_array(folder / "rows.zarr"),
    "csv": lambda folder: read_blocks(folder / "rows.csv", rows=100),
}

LAZY = {
    "array": lambda folder: da.from_array(X, chunks=(300, 2)),
    "array of one chunk": lambda folder: da.from_array(X, chunks=-1),
    "zarr": lambda folder: da.from_zarr(folder / "rows.zarr"),
    "frame": lambda folder: dd.from_pandas(as_frame(X), npartitions=6),
    "parquet in 7": lambda folder: dd.read_parquet(folder / "seven"),
    "parquet in 70": lambda folder: DaskBlocks.of_blocks(read_blocks(folder / "seventy")),
    "csv": lambda folder: DaskBlocks.of_blocks(read_blocks(folder / "rows.csv", rows=100)),
}


@pytest.mark.parametrize("kind", LOCAL)
def test_same_bytes_from_every_source(kind, folder, known):
    table = LOCAL[kind](folder)
    model = PLML(random_state=0)
    images = model.fit_transform(table, sample_size=SIZE)
    assert_same(model, images.to_array(), known)
    np.testing.assert_array_equal(model.transform(table).to_array(), known[1])


@pytest.mark.parametrize("kind", quick_are(["array", "frame", "parquet in 70"], LAZY))
def test_same_bytes_on_two_workers(kind, folder, known, dask_cluster):
    table = LAZY[kind](folder)
    model = PLML(random_state=0)
    images = model.fit_transform(table, sample_size=SIZE)
    assert_same(model, images.compute(), known)
    np.testing.assert_array_equal(np.asarray(model.transform(table).compute()), known[1])


@pytest.mark.parametrize(
    "n_workers", [1, pytest.param(4, marks=pytest.mark.slow)], ids=["one", "four"]
)
def test_same_bytes_on_any_number_of_workers(n_workers, folder, known, tmp_path):
    with local_client(tmp_path, n_workers) as client, client.as_current():
        for kind in ("array", "frame") if n_workers == 1 else LAZY:
            model = fitted(LAZY[kind](folder))
            assert_same(model, model.transform(LAZY[kind](folder)).compute(), known)


def test_same_bytes_in_threads(folder, known):
    with dask.config.set(scheduler="threads"):
        for make in LAZY.values():
            model = PLML(random_state=0)
            images = model.fit_transform(make(folder), sample_size=SIZE)
            assert_same(model, images.compute(), known)


def test_parts_may_arrive_in_any_order(dask_cluster, known, tmp_path):
    # The first partition is done when the last one is: it waits for what the last one does.
    events = {0: ("wait", 1)}
    table = counted_array(X, 8, tmp_path, events=events)
    last = table.partitions[7].map_blocks(
        readers.touching, tmp_path / "go", dtype=float, meta=X[:0]
    )
    model = fitted(da.concatenate([*(table.partitions[i] for i in range(7)), last]))
    assert_same(model, model.transform(X), known)


# The passes in their order: every one reads all partitions once.
PASSES = {"sample": 1, "place": 2, "transform": 3}


@pytest.mark.parametrize(
    "when", ["place", *(pytest.param(w, marks=pytest.mark.slow) for w in ("sample", "transform"))]
)
def test_a_killed_worker_changes_nothing(when, dask_cluster, known, tmp_path):
    table = counted_array(X, 8, tmp_path, events={5: ("die", PASSES[when])})
    model = fitted(table)
    images = model.transform(table).compute()
    assert_same(model, images, known)
    # It was read once for each pass, and once more because its worker died.
    assert reads(tmp_path)[5] >= 4
    dask_cluster.wait_for_workers(2)


@pytest.mark.slow
def test_kept_images_of_a_killed_worker_are_made_again(dask_cluster, known, tmp_path):
    table = counted_array(X, 8, tmp_path)
    model = PLML(random_state=0)
    images = model.fit_transform(table, sample_size=SIZE)
    before = dask_cluster.scheduler_info(n_workers=-1)["workers"]
    kill = dask_cluster.submit(readers.die_once, tmp_path / "mark", pure=False)
    kill.result()
    assert_same(model, images.compute(), known)
    assert sum(reads(tmp_path)) > 16
    assert set(dask_cluster.scheduler_info(n_workers=-1)["workers"]) != set(before)
    dask_cluster.wait_for_workers(2)


def test_tasks_that_failed_once_give_the_same_bytes(dask_cluster, known, tmp_path):
    table = counted_array(X, 8, tmp_path, events={3: ("fail", 1), 6: ("fail", 2)})
    model = fitted(table)
    assert_same(model, model.transform(X), known)
    assert reads(tmp_path) == [2, 2, 2, 3, 2, 2, 3, 2]


def test_images_are_kept_beside_the_second_pass(dask_cluster, known, tmp_path):
    table = counted_array(X, 8, tmp_path)
    model = PLML(random_state=0)
    images = model.fit_transform(table, sample_size=SIZE)
    assert reads(tmp_path) == [2] * 8
    assert_same(model, images.compute(), known)
    assert reads(tmp_path) == [2] * 8
    assert len(_kept(dask_cluster)) == 8
    del images
    gc.collect()
    assert not _kept(dask_cluster)


def _kept(client):
    return [key for key in client.futures if str(key).startswith("isofold")]


def test_rows_of_data_frames_are_counted_once(dask_cluster, known, tmp_path):
    table = counted_frame(as_frame(X, index=np.arange(2000) * 10), 8, tmp_path)
    model = PLML(random_state=0)
    images = model.fit_transform(table, sample_size=SIZE)
    assert_same(model, images.compute(), known)
    assert reads(tmp_path) == [3] * 8
    assert images.divisions == table.divisions
    np.testing.assert_array_equal(images.compute().index, np.arange(2000) * 10)


def test_a_second_pass_releases_the_first_images(dask_cluster, tmp_path):
    far = X.copy()
    sample = draw_sample(read_blocks(X), SIZE + 1000).ranked(0, SIZE + 1000).rows
    missed = np.setdiff1d(np.arange(len(X)), sample)[:60]
    far[missed] = sheet(60, seed=1) * 0.05 + [0.0, 0.0, 30.0]
    here = PLML(random_state=0)
    with pytest.warns(match="component"):
        expected = here.fit_transform(read_blocks(far), sample_size=SIZE).to_array()
    assert here.stream_.n_joined == 60
    model = PLML(random_state=0)
    with pytest.warns(match="component"):
        images = model.fit_transform(counted_array(far, 8, tmp_path), sample_size=SIZE)
    assert_same(model, images.compute(), (here, expected))
    assert reads(tmp_path) == [3] * 8
    assert len(_kept(dask_cluster)) == 8


def test_a_lost_scheduler_is_an_error_and_another_one_goes_on(dask_cluster, known, tmp_path):
    table = counted_array(X, 8, tmp_path, events={5: ("wait", 2)})
    model = PLML(n_components=1, random_state=0)
    with lonely_scheduler() as (client, process), client.as_current():

        def end_the_scheduler():
            wait_for(tmp_path / "waiting")
            process.kill()

        thread = Thread(target=end_the_scheduler, daemon=True)
        thread.start()
        with pytest.raises(ClusterError, match="connection to the Dask scheduler at tcp"):
            model.fit(table, sample_size=SIZE)
        thread.join()
        assert not hasattr(model, "embedding_")
        # A client that looks for its scheduler would let new work wait for half a minute.
        with pytest.raises(ClusterError, match="new Client"):
            model.fit(table, sample_size=SIZE)
        with pytest.raises(ClusterError, match="new Client"):
            known[0].transform(table)
    (tmp_path / "go").touch()
    model = fitted(table)
    assert_same(model, model.transform(table).compute(), known)


@pytest.mark.slow
def test_workers_that_always_die_are_an_error(dask_cluster, tmp_path):
    table = da.from_array(X, chunks=(1000, 3)).map_blocks(readers.die, dtype=float, meta=X[:0])
    with pytest.raises(ClusterError, match="several workers died"):
        fitted(table)
    dask_cluster.wait_for_workers(2)


def test_canceled_work_is_an_error(dask_cluster, tmp_path):
    table = counted_array(X, 8, tmp_path, events={5: ("wait", 1)})

    def cancel():
        wait_for(tmp_path / "waiting")
        dask_cluster.cancel([Future(key, dask_cluster) for key in _kept(dask_cluster)])
        (tmp_path / "go").touch()

    thread = Thread(target=cancel, daemon=True)
    thread.start()
    with pytest.raises(ClusterError, match="canceled"):
        fitted(table)
    thread.join()
