"""One ordered map for all parallel work, so that results never depend on `n_jobs`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_workers(n_jobs: int | None) -> int:
    """Return the number of workers that scikit-learn's convention for `n_jobs` means here."""
    return int(effective_n_jobs(n_jobs))


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    n_jobs: int | None = None,
    processes: bool = False,
) -> Iterator[Result]:
    """Apply a function to every item in threads and yield the results in order.

    Threads suit our kernels: NumPy, SciPy and BLAS release the interpreter lock, and the
    arrays are shared rather than copied. Results are handed over as they come, so that a
    caller who adds them up never holds them all. Processes are for the few kernels that
    keep the lock.
    """
    if n_workers(n_jobs) == 1:
        return map(function, items)
    prefer = "processes" if processes else "threads"
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
    results: Iterator[Result] = parallel(delayed(function)(item) for item in items)
    return results
