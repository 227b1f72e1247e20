"""Functions for workers; they are sent by value, since workers do not see the tests."""

from __future__ import annotations

import os
import signal
import time
import warnings
from pathlib import Path

import numpy as np


def pid_and_sum(X, item):
    """Return where it ran and a number."""
    return os.getpid(), float(X.sum()) + item


def write(out, item):
    """Write to what all share, which only threads of one process may."""
    out[item] = item
    return item


def die_once(X, folder, item):
    """End the worker of every third item when it gets there for the first time."""
    mark = Path(folder) / str(item)
    if item % 3 == 0 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return float((X * (item + 1)).sum())


def die(item):
    """End every worker."""
    os.kill(os.getpid(), signal.SIGKILL)
    return item


def wait_for(mark, item):
    """Wait until a file exists."""
    while not Path(mark).exists():
        time.sleep(0.01)
    return item


def begin_and_wait(begun, mark, item):
    """Say that it runs, and wait until another file exists."""
    Path(begun).touch()
    return wait_for(mark, item)


def warn(item):
    """Warn with the same text for all items."""
    warnings.warn("the same text", UserWarning, stacklevel=1)
    return item


def nested(item):
    """Map in a task, as an estimator with `n_jobs` does."""
    from isofold._parallel import n_workers, ordered_map, runs_elsewhere

    inner = list(ordered_map(abs, range(-item, 0), n_jobs=-1, is_pure=True))
    return sum(inner), n_workers(-1), runs_elsewhere(-1)


def blas_threads(_):
    """Return the numbers of threads of all libraries."""
    from threadpoolctl import ThreadpoolController

    np.ones((2, 2)) @ np.ones((2, 2))
    return {each.num_threads for each in ThreadpoolController().lib_controllers}


def refuse(item):
    """Refuse a parameter, by the name that the caller gives it."""
    from isofold._findings import setting
    from isofold.exceptions import InvalidInputError

    raise InvalidInputError(setting("n_neighbors", item))
