"""One ordered map for all parallel work, so that results never depend on `n_jobs`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from numbers import Integral
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from isofold._errors import EarlyInterrupt, InvalidInputError
from isofold._progress import Stage, interrupted, within_fit

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items handed out at a time for every worker. More would let results pile up behind a slow
# consumer; fewer would let workers wait for the last of a batch.
_BATCH = 4

MOST_WORKERS = 16
"""Workers beyond the number of cores that are started at most, whatever `n_jobs` says."""


def n_workers(n_jobs: int | None) -> int:
    """Return the number of workers that scikit-learn's convention for `n_jobs` means here."""
    msg = f"n_jobs={n_jobs!r} must be a whole number other than 0 (-1 for all cores), or None."
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise InvalidInputError(msg)
    try:
        return min(int(effective_n_jobs(n_jobs)), max(MOST_WORKERS, os.cpu_count() or 1))
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
    if processes:
        # Each takes the memory of an interpreter, and more than there are cores gain nothing.
        workers = min(workers, os.cpu_count() or 1)
    where = {"prefer": "processes"} if processes else {"require": "sharedmem"}
    run = function if processes else within_fit(function)
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
