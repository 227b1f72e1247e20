"""Work on a Dask client: the same bytes as here, whatever becomes of workers."""

import os
import warnings
from contextlib import contextmanager
from functools import partial
from threading import Lock, Thread

import cloudpickle
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import isofold
from isofold._cluster import ClusterRules, client_backend, on_workers
from isofold._findings import SHELL, speaking
from isofold._parallel import n_workers, ordered_map, runs_elsewhere
from isofold.exceptions import ClusterError, DoubtfulMapWarning, InvalidInputError
from isofold.extension import training_points
from isofold.quality import distances, scorecard
from isofold.structure import StructureFromBounds, StructureProblem
from support import dask_tasks as tasks
from support.command_runs import run, write_array
from support.dask_cluster import local_client, lonely_scheduler
from support.storage_cases import CASES, fitted

pytest.importorskip("distributed")

# Workers do not see the folder of the tests.
cloudpickle.register_pickle_by_value(tasks)

X = np.random.default_rng(0).normal(size=(400, 12))


@contextmanager
def on(client, **more):
    with parallel_config(backend="dask", client=client, **more):
        yield


@pytest.fixture
def sent(monkeypatch, dask_cluster):
    """Sizes of the arrays that were sent for themselves."""
    sizes, scatter = [], dask_cluster.scatter

    def seen(data, **options):
        sizes.extend(each.nbytes for each in data)
        return scatter(data, **options)

    monkeypatch.setattr(dask_cluster, "scatter", seen)
    return sizes


def test_pure_work_runs_on_workers_in_order_and_sends_arrays_once(dask_cluster, sent):
    big = np.ones((100, 100))
    with on(dask_cluster):
        found = list(ordered_map(partial(tasks.pid_and_sum, big), range(20), is_pure=True))
    assert [value for _, value in found] == [1e4 + i for i in range(20)]
    assert os.getpid() not in {pid for pid, _ in found}
    assert len({pid for pid, _ in found}) == 2
    assert sent == [big.nbytes]


def test_what_is_not_said_to_be_pure_stays_in_threads_and_loses_no_write(dask_cluster):
    out = np.zeros(5000)
    with on(dask_cluster):
        list(ordered_map(partial(tasks.write, out), range(1, 40), n_jobs=2))
    np.testing.assert_array_equal(out[:40], np.arange(40))


def test_a_write_to_what_was_sent_is_an_error(dask_cluster):
    out = np.zeros(5000)
    with on(dask_cluster), pytest.raises(ValueError, match="read-only"):
        list(ordered_map(partial(tasks.write, out), range(1, 4), is_pure=True))


def test_one_job_and_one_item_and_what_cannot_be_pickled_stay_here(dask_cluster):
    here, big = os.getpid(), np.ones(1)
    where = partial(tasks.pid_and_sum, big)
    held = Lock()
    with on(dask_cluster):
        assert {pid for pid, _ in ordered_map(where, range(3), n_jobs=1, is_pure=True)} == {here}
        assert {pid for pid, _ in ordered_map(where, range(1), is_pure=True)} == {here}
        locked = ordered_map(lambda _: (held.locked(), os.getpid()), range(2), is_pure=True)
        assert list(locked) == [(False, here)] * 2
    assert not runs_elsewhere(None)


def test_jobs_are_those_of_this_machine(dask_cluster):
    with on(dask_cluster):
        assert (n_workers(None), n_workers(1), n_workers(2)) == (1, 1, 2)


def test_a_task_starts_no_further_tasks(dask_cluster):
    with on(dask_cluster):
        assert list(ordered_map(tasks.nested, (2, 3), is_pure=True)) == [
            (3, 1, False),
            (6, 1, False),
        ]


def test_joblib_in_a_task_does_not_reach_for_the_client(dask_cluster):
    from joblib import Parallel, delayed

    with on(dask_cluster):
        found = Parallel()(delayed(tasks.nested)(item) for item in (2, 3))
    assert found == [(3, 1, False), (6, 1, False)]


def test_workers_have_one_thread_for_blas(dask_cluster):
    with on(dask_cluster):
        found = list(ordered_map(tasks.blas_threads, range(2), is_pure=True))
    assert found == [{1}, {1}]


def test_warnings_arrive_once_and_errors_in_the_words_of_the_caller(dask_cluster):
    with on(dask_cluster):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            assert list(ordered_map(tasks.warn, range(4), is_pure=True)) == [0, 1, 2, 3]
        assert [str(each.message) for each in caught] == ["the same text"]
        with speaking(SHELL), pytest.raises(InvalidInputError, match=r"^--n-neighbors 7$"):
            list(ordered_map(tasks.refuse, (7, 8), is_pure=True))


def test_workers_that_die_change_nothing(dask_cluster, tmp_path):
    big = np.random.default_rng(1).normal(size=(60, 60))
    die_once = partial(tasks.die_once, big, str(tmp_path))
    with on(dask_cluster):
        found = list(ordered_map(die_once, range(1, 5), is_pure=True))
    # One did die: it left a mark.
    assert [each.name for each in tmp_path.iterdir()] == ["3"]
    assert found == [float((big * (item + 1)).sum()) for item in range(1, 5)]


def test_progress_advances_with_results(dask_cluster):
    from isofold._progress.stages import progress, stage

    seen = []
    with on(dask_cluster), progress(seen.append), stage("work", total=3) as steps:
        list(ordered_map(abs, range(3), is_pure=True, steps=steps))
        assert steps.done == 3
    assert seen[-1].fraction == 1.0


@pytest.mark.parametrize(
    "make",
    [lambda: isofold.DisjointMVU(random_state=0), lambda: isofold.Unfold(random_state=0)],
    ids=["DisjointMVU", "Unfold"],
)
def test_embedders_have_the_same_bytes_and_findings(dask_cluster, make):
    arc, height = np.divmod(np.arange(25.0), 5)
    sheet = np.stack([np.cos(0.3 * arc) / 0.3, np.sin(0.3 * arc) / 0.3, height], axis=1)
    two = np.concatenate([sheet, sheet + 30.0])
    fits = []
    for where in (parallel_config(backend="sequential"), on(dask_cluster)):
        with where, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fits.append((make().fit(two), [str(each.message) for each in caught]))
    (here, told_here), (there, told_there) = fits
    assert here.embedding_.tobytes() == there.embedding_.tobytes()
    # Unknown figures are NaN, which equals nothing, but reads the same.
    assert repr(here.diagnosis_) == repr(there.diagnosis_)
    assert told_here == told_there


@pytest.mark.parametrize(
    "make",
    [
        lambda: isofold.LDLC(n_clusters=4, n_components=1, n_init=3, random_state=0),
        lambda: isofold.VQPCA(n_clusters=4, n_components=1, n_init=3, random_state=0),
        lambda: isofold.MPPCA(n_clusters=3, n_components=1, n_init=3, random_state=0),
    ],
    ids=["LDLC", "VQPCA", "MPPCA"],
)
def test_restarts_have_the_same_bytes(dask_cluster, make):
    here = make().fit(X[:120])
    with on(dask_cluster):
        there = make().fit(X[:120])
    assert here.labels_.tobytes() == there.labels_.tobytes()
    assert here.reconstruction_error_ == there.reconstruction_error_


def test_placing_new_points_has_the_same_bytes(dask_cluster, sent, monkeypatch):
    # So few points are one task otherwise, which would stay here.
    monkeypatch.setattr(training_points, "MOST_ROWS", 400)
    wide = np.random.default_rng(4).normal(size=(700, 200))
    model = isofold.OutOfSample.from_embedding(wide[:200], wide[:200, :2])
    here = model.transform(wide)
    assert not sent
    with on(dask_cluster):
        there = model.transform(wide)
    assert here.tobytes() == there.tobytes()
    # The training points, and those of the search in single precision, whose number is rounded up
    # to whole registers: once for both blocks.
    assert sent == [wide[:200].nbytes, 208 * 200 * 4]


def test_scorecards_have_the_same_bytes_and_send_points_once(dask_cluster, sent, monkeypatch):
    # So few points are one task otherwise, which would stay here.
    monkeypatch.setattr(distances, "TASK_BYTES", 1)
    many = np.random.default_rng(5).normal(size=(700, 3))
    here = scorecard(many, many[:, :2], random_state=0)
    with on(dask_cluster):
        there = scorecard(many, many[:, :2], random_state=0)
    assert [float(here[name]) for name in here] == [float(there[name]) for name in there]
    assert sent.count(many.nbytes) == 1


def test_starts_of_structures_have_the_same_bytes(dask_cluster):
    pairs = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]
    square = StructureProblem(4).with_distances(pairs, [1, 1, 1, 1, 2**0.5, 2**0.5])
    solver = StructureFromBounds(n_components=2, n_init=3, random_state=0)
    with pytest.warns(DoubtfulMapWarning, match="Another start ends"):
        here = solver.fit(square).coordinates_
    with on(dask_cluster), pytest.warns(DoubtfulMapWarning, match="Another start ends"):
        there = solver.fit(square).coordinates_
    assert here.tobytes() == there.tobytes()


def test_methods_are_compared_on_workers(dask_cluster, tmp_path):
    path, address = write_array(tmp_path / "sheet.npy"), dask_cluster.scheduler.address
    here = run("compare", path, "-m", "ipa,pca,colored-mvu")
    there = run("compare", path, "-m", "ipa,pca,colored-mvu", "--scheduler", address)
    assert there.exit_code == 0, there.stderr

    def without_seconds(result):
        return [line.rsplit(maxsplit=1)[0] for line in result.stdout.splitlines()]

    assert without_seconds(here) == without_seconds(there)


def test_a_scheduler_that_does_not_answer_is_named(tmp_path):
    path = write_array(tmp_path / "sheet.npy")
    result = run("compare", path, "-m", "pca", "--scheduler", "nowhere://1")
    assert result.exit_code == 2
    assert "No Dask scheduler answers at --scheduler nowhere://1" in result.stderr


def test_grid_search_has_the_same_scores(dask_cluster):
    points, labels = X[:60, :4], np.arange(60) % 3
    pipeline = make_pipeline(isofold.IPA(random_state=0), KNeighborsClassifier())
    grid = {"ipa__n_neighbors": [8, 12]}

    def search():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = GridSearchCV(pipeline, grid, cv=2).fit(points, labels)
            mapped = make_pipeline(isofold.Unfold(random_state=0), KNeighborsClassifier())
            scores = cross_val_score(mapped, points, labels, cv=2)
        return found.cv_results_["mean_test_score"].tolist(), scores.tolist()

    here = search()
    with on(dask_cluster):
        there = search()
    assert here == there


def test_no_worker_at_all_is_an_error(dask_cluster):
    rules = ClusterRules(look=0.05, patience=0.1)
    # Nobody has this resource: to the tasks it is as if there were no worker.
    with on(dask_cluster, resources={"none": 1}):
        work = on_workers(abs, range(3), client_backend(), rules)
        threads = dask_cluster.nthreads
        dask_cluster.nthreads = dict
        try:
            with pytest.raises(ClusterError, match=r"has had no worker for 0\.1 seconds"):
                next(work)
        finally:
            dask_cluster.nthreads = threads


def test_a_lost_scheduler_is_an_error(tmp_path):
    begun = tmp_path / "begun"
    wait = partial(tasks.begin_and_wait, str(begun), str(tmp_path / "never"))
    with lonely_scheduler() as (client, process), on(client):

        def end():
            tasks.wait_for(begun, None)
            process.kill()

        ending = Thread(target=end)
        ending.start()
        with pytest.raises(ClusterError, match=r"scheduler at tcp://.* is lost"):
            list(ordered_map(wait, range(3), is_pure=True))
        ending.join()
        # Nor does work that begins later wait for it.
        with pytest.raises(ClusterError, match="Dask"):
            list(ordered_map(abs, range(3), is_pure=True))


@pytest.mark.slow
def test_a_task_that_ends_all_workers_is_an_error(tmp_path):
    died = pytest.raises(ClusterError, match="Every worker that ran one of the tasks")
    with local_client(tmp_path) as client, on(client), died:
        list(ordered_map(tasks.die, range(2), is_pure=True))


@pytest.mark.parametrize("name", sorted(n for n in isofold.__all__ if n[0].isupper()))
def test_every_estimator_can_be_sent(name):
    estimator = getattr(isofold, name)
    if not hasattr(estimator, "fit"):
        pytest.skip("not an estimator")
    again = cloudpickle.loads(cloudpickle.dumps(estimator()))
    assert again.get_params(deep=False).keys() == estimator().get_params(deep=False).keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_fitted_model_can_be_sent(name):
    model, new = fitted(name), CASES[name][1]
    again = cloudpickle.loads(cloudpickle.dumps(model))
    verb = "transform" if hasattr(model, "transform") else "predict"
    if new is not None and hasattr(model, verb):
        here, there = (np.asarray(getattr(each, verb)(new)) for each in (model, again))
        np.testing.assert_array_equal(here, there)
