"""One ordered map for all parallel work, and one thread for BLAS: results depend on neither."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice, pairwise
from numbers import Integral
from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs, parallel_config
from threadpoolctl import ThreadpoolController

from isofold._cluster import client_backend, is_in_worker, on_workers
from isofold._findings import setting
from isofold._progress.stages import Stage, interrupted, within_fit
from isofold.exceptions import EarlyInterrupt, InvalidInputError

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items that are out at a time for every worker. More would let results pile up behind a slow
# consumer; fewer would let workers wait for it, or for the last of a batch.
_BATCH = 4

_LEAST_ROWS = 5000
"""Rows for which a thread of its own is worth while: a sweep over fewer takes a millisecond."""

MOST_WORKERS = 64
"""Workers beyond which more than one a core only take memory: none would have work of its own."""


class _BlasThreads:
    """The threads of the BLAS libraries: those of NumPy and SciPy, each of which brings its own.

    Mostly the number is the process's, and stays at one while anyone asks for it. Each for itself,
    two fits that overlap would restore what the other had set: one would go on with many threads,
    and the process would be left with one. Only where OpenMP runs the threads is the number that
    of the calling thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_holders = 0
        self._before: list[int] = []

    @contextmanager
    def held_to_one(self) -> Iterator[None]:
        """Hold the libraries to one thread each."""
        own = [library for library in _libraries() if _is_of_thread(library)]
        shared = [library for library in _libraries() if not _is_of_thread(library)]
        before = _set_threads(own, [1] * len(own))
        with self._lock:
            if self._n_holders == 0:
                self._before = _set_threads(shared, [1] * len(shared))
            self._n_holders += 1
        try:
            yield
        finally:
            _set_threads(own, before)
            with self._lock:
                self._n_holders -= 1
                if self._n_holders == 0:
                    _set_threads(shared, self._before)


@cache
def _libraries() -> tuple[Any, ...]:
    """Return the controllers of the BLAS libraries; to find them takes as long as a small fit."""
    import scipy.linalg  # noqa: F401 - its library is found only once it is loaded

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def _is_of_thread(library: Any) -> bool:
    return getattr(library, "threading_layer", None) == "openmp"


def _set_threads(libraries: list[Any], numbers: list[int]) -> list[int]:
    """Set the threads of some libraries, and return how many they had."""
    before = [library.num_threads for library in libraries]
    for library, number in zip(libraries, numbers, strict=True):
        # threadpoolctl lets only the thread that first set a number set another one.
        release = getattr(library, "clear_controlling_thread", lambda **_: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)
    return before


_blas_threads = _BlasThreads()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread: how it cuts up a product decides how the product is rounded."""
    with _blas_threads.held_to_one():
        yield


def _with_one_thread(function: Callable[[Item], Result], item: Item) -> Result:
    """Call a function in a worker, which may not know what the caller holds."""
    with one_blas_thread():
        return function(item)


def n_workers(n_jobs: int | None) -> int:
    """Return the number of workers that scikit-learn's convention for `n_jobs` means here.

    Whatever is asked for, there are no more than 64 or one a core: results do not depend on it.
    These are threads and processes of this machine. Inside ``parallel_config(backend="dask")`` None
    means one here, too, and in a task on one of its workers there is one in any case: the cores are
    for other tasks.
    """
    msg = (
        f"{setting('n_jobs', n_jobs)} must be a whole number other than 0 (-1 for all cores), "
        f"or None."
    )
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise InvalidInputError(msg)
    try:
        most = max(MOST_WORKERS, cpu_count())
        bounded = n_jobs if n_jobs is None else max(-most, min(n_jobs, most))
        if client_backend() is None:
            return int(effective_n_jobs(bounded))
        with parallel_config(backend="sequential" if is_in_worker() else "threading"):
            return int(effective_n_jobs(1 if bounded is None else bounded))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(msg) from error


def runs_elsewhere(n_jobs: int | None) -> bool:
    """Return whether pure work goes to the workers of a Dask client.

    It does inside ``joblib.parallel_config(backend="dask")``, unless ``n_jobs=1`` keeps it here. A
    task on a worker keeps its own work, or workers would wait for each other.
    """
    return n_jobs != 1 and client_backend() is not None and not is_in_worker()


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    n_jobs: int | None = None,
    processes: bool = False,
    is_pure: bool = False,
    steps: Stage | None = None,
) -> Iterator[Result]:
    """Apply a function to every item in threads and yield the results in order.

    Threads suit our kernels: NumPy, SciPy and BLAS release the interpreter lock, and the
    arrays are shared rather than copied. Processes are for the few kernels that keep the lock.
    A function that only returns something, and writes to nothing that it shares with others,
    `is_pure`: it may also run on the workers of a Dask client (`runs_elsewhere`).
    Only a few results exist at a time, so that a caller who adds them up never holds them all.
    A stage, if there is one, advances with every result.
    """
    workers = n_workers(n_jobs)
    if is_pure and runs_elsewhere(n_jobs):
        results = on_workers(function, items, client_backend())
    else:
        results = _results(function, items, workers, processes=processes)
    for result in results:
        if steps is not None:
            steps.advance()
        yield result


def side_by_side(*parts: Callable[[], Any], n_jobs: int | None) -> list[Any]:
    """Return what functions return that need nothing of each other."""
    return list(ordered_map(lambda part: part(), parts, n_jobs=n_jobs))


def _results(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, *, processes: bool
) -> Iterator[Result]:
    if workers == 1:
        yield from map(function, items)
        return
    held = partial(_with_one_thread, function)
    if processes:
        yield from _in_processes(held, items, workers)
    else:
        yield from _in_threads(within_fit(held), items, workers)


def _in_threads(
    run: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Yield results in order; joblib's threads would be polled for every batch of them."""
    remaining = iter(items)
    with ThreadPoolExecutor(workers) as pool:
        waiting = deque(pool.submit(run, item) for item in islice(remaining, _BATCH * workers))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(run, item) for item in islice(remaining, 1))
                yield result
        finally:
            for future in waiting:
                future.cancel()


def _in_processes(
    run: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Yield results in order, batch by batch."""
    # Each takes the memory of an interpreter, and more than there are cores gain nothing.
    workers = min(workers, os.cpu_count() or 1)
    where = {"prefer": "processes"} if client_backend() is None else {"backend": "loky"}
    remaining = iter(items)
    with Parallel(n_jobs=workers, **where) as parallel:
        while batch := list(islice(remaining, _BATCH * workers)):
            try:
                found = parallel(delayed(run)(item) for item in batch)
            except Exception as error:
                # Ctrl-C on a terminal goes to processes, too, and breaks them.
                if interrupted():
                    raise EarlyInterrupt from error
                raise
            yield from found


class RowTeam:
    """Threads that share out the rows of a compiled kernel, sweep after sweep.

    Parameters
    ----------
    n_rows : int
        Rows of the kernels.
    n_jobs : int or None
        Threads, by scikit-learn's convention; one for few rows, which are done sooner than shared.
    least_rows : int, optional
        Rows for which a thread of its own is worth while.
    """

    def __init__(self, n_rows: int, n_jobs: int | None, *, least_rows: int = _LEAST_ROWS) -> None:
        most = min(n_workers(n_jobs), max(1, n_rows // least_rows))
        self.n_threads = most
        self._n_rows = n_rows
        self._pool = ThreadPoolExecutor(most) if most > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def each(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Call ``kernel(first, last, *arguments)`` for spans that cover all rows."""
        bounds = [part * self._n_rows // self.n_threads for part in range(self.n_threads + 1)]
        self._share(kernel, bounds, *arguments)

    def each_part(self, weights: Any, kernel: Callable[..., None], *arguments: Any) -> None:
        """Do so for spans of other rows, whose weights add up to about the same."""
        heavy = np.cumsum(weights)
        limits = heavy[-1] * np.arange(self.n_threads + 1) / self.n_threads
        bounds = np.searchsorted(heavy, limits).tolist()
        self._share(kernel, [0, *bounds[1:-1], len(heavy)], *arguments)

    def _share(self, kernel: Callable[..., None], bounds: list[int], *arguments: Any) -> None:
        if self._pool is None:
            kernel(bounds[0], bounds[-1], *arguments)
            return
        spans = pairwise(bounds)
        for done in [self._pool.submit(kernel, *span, *arguments) for span in spans]:
            done.result()
