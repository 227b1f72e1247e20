"""One ordered map for all parallel work, and one thread for BLAS: results never depend on either."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from numbers import Integral
from threading import Lock
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController

from isofold._errors import EarlyInterrupt, InvalidInputError
from isofold._progress import Stage, interrupted, within_fit

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items handed out at a time for every worker. More would let results pile up behind a slow
# consumer; fewer would let workers wait for the last of a batch.
_BATCH = 4


class _OneThread:
    """Holds BLAS to one thread while anyone asks for it, in whatever thread of ours.

    The limit is the process's. Each for itself, two fits that overlap would restore what the other
    had set: one would go on with many threads, and the process would be left with one.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_holders = 0
        self._libraries: Any = None
        self._limit: Any = None

    def hold(self) -> None:
        """Set the limit, if nobody has."""
        with self._lock:
            if self._n_holders == 0:
                if self._libraries is None:
                    self._libraries = _blas_libraries()
                self._limit = self._libraries.limit(limits=1)
            self._n_holders += 1

    def release(self) -> None:
        """Restore what was before, if nobody else needs the limit."""
        with self._lock:
            self._n_holders -= 1
            if self._n_holders == 0:
                self._limit.restore_original_limits()


def _blas_libraries() -> Any:
    """Return the BLAS libraries of NumPy and SciPy. Finding them takes as long as a small fit."""
    import scipy.linalg  # noqa: F401 - it brings its own, which must be loaded to be found

    return ThreadpoolController().select(user_api="blas")


_one_thread = _OneThread()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread: how it cuts up a product decides how the product is rounded."""
    _one_thread.hold()
    try:
        yield
    finally:
        _one_thread.release()


def _with_one_thread(function: Callable[[Item], Result], item: Item) -> Result:
    """Call a function in a process that does not know what the calling one holds."""
    with one_blas_thread():
        return function(item)


def n_workers(n_jobs: int | None) -> int:
    """Return the number of workers that scikit-learn's convention for `n_jobs` means here."""
    msg = f"n_jobs={n_jobs!r} must be a whole number other than 0 (-1 for all cores), or None."
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise InvalidInputError(msg)
    try:
        return int(effective_n_jobs(n_jobs))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(msg) from error


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    n_jobs: int | None = None,
    processes: bool = False,
    steps: Stage | None = None,
) -> Iterator[Result]:
    """Apply a function to every item in threads and yield the results in order.

    Threads suit our kernels: NumPy, SciPy and BLAS release the interpreter lock, and the
    arrays are shared rather than copied. Processes are for the few kernels that keep the lock.
    Only a few results exist at a time, so that a caller who adds them up never holds them all.
    A stage, if there is one, advances with every result.
    """
    results = _results(function, items, n_workers(n_jobs), processes=processes)
    for result in results:
        if steps is not None:
            steps.advance()
        yield result


def _results(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, *, processes: bool
) -> Iterator[Result]:
    if workers == 1:
        yield from map(function, items)
        return
    where = {"prefer": "processes"} if processes else {"require": "sharedmem"}
    run = partial(_with_one_thread, function) if processes else within_fit(function)
    remaining = iter(items)
    with Parallel(n_jobs=workers, **where) as parallel:
        while batch := list(islice(remaining, _BATCH * workers)):
            try:
                found = parallel(delayed(run)(item) for item in batch)
            except Exception as error:
                # Ctrl-C on a terminal goes to processes, too, and breaks them.
                if processes and interrupted():
                    raise EarlyInterrupt from error
                raise
            yield from found
