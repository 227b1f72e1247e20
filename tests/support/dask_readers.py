"""Partitions of a table that count how often they are read, and may end their worker meanwhile.

Workers do not see the folder of the tests: whoever imports this registers it by value.
"""

from __future__ import annotations

import operator
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Reader:
    """Reads one partition, and notes it in a folder.

    What happens at the read of a given number is said by `event`: "die" ends the worker, "fail"
    raises an error, "wait" says so by a file "waiting" and goes on when there is a file "go".
    """

    folder: str
    number: int
    event: str = ""
    at: int = 1

    def __call__(self, rows):
        log = Path(self.folder) / f"reads-{self.number}"
        with log.open("a") as file:
            file.write("x")
        if self.event and log.stat().st_size == self.at:
            self._happen()
        return rows

    def _happen(self):
        if self.event == "die":
            die()
        if self.event == "fail":
            msg = "the network has a bad moment"
            raise OSError(msg)
        (Path(self.folder) / "waiting").touch()
        wait_for(Path(self.folder) / "go")


def wait_for(path):
    """Wait until a file is there."""
    while not path.exists():
        time.sleep(0.005)


def touching(rows, path):
    """Return rows, and make a file."""
    path.touch()
    return rows


def die_once(mark):
    """End the worker, unless this was done already."""
    if not mark.exists():
        mark.touch()
        die()


def die(*_):
    """End the worker."""
    os.kill(os.getpid(), signal.SIGKILL)


def counted_array(X, n_parts, folder, *, events=None, known=True):
    """Return a Dask array whose partitions are read by readers; events are by partition number."""
    parts = []
    for number, rows in enumerate(np.array_split(X, n_parts)):
        value = _read(folder, number, rows, events)
        shape = (len(rows) if known else np.nan, X.shape[1])
        parts.append(da.from_delayed(value, shape, dtype=X.dtype))
    return da.concatenate(parts)


def counted_frame(frame, n_parts, folder, *, events=None):
    """Return a Dask data frame whose partitions are read by readers."""
    cuts = np.array_split(np.arange(len(frame)), n_parts)
    parts = [_read(folder, i, frame.iloc[cut], events) for i, cut in enumerate(cuts)]
    ends = [*(frame.index[cut[0]] for cut in cuts), frame.index[-1]]
    return dd.from_delayed(parts, meta=frame.iloc[:0], divisions=tuple(ends), verify_meta=False)


def _read(folder, number, rows, events):
    reader = Reader(str(folder), number, *(events or {}).get(number, ()))
    # By value; and not pure, so that every pass reads anew unless values are kept.
    there = dask.delayed(cloudpickle.loads, pure=False)(cloudpickle.dumps(reader))
    return dask.delayed(operator.call, pure=False)(there, rows)


def reads(folder):
    """Return how often every partition was read."""
    logs = sorted(folder.glob("reads-*"), key=lambda path: int(path.name.partition("-")[2]))
    return [path.stat().st_size for path in logs]


def sheet(n, seed=0):
    """Return points on a sheet that is rolled up loosely."""
    rng = np.random.default_rng(seed)
    t, height = rng.uniform(0.0, 4.0, n), rng.uniform(0.0, 2.0, n)
    return np.column_stack([(1 + t / 4) * np.cos(t), (1 + t / 4) * np.sin(t), height])


def as_frame(X, index=None):
    """Return points as a data frame."""
    return pd.DataFrame(X, columns=[f"c{axis}" for axis in range(X.shape[1])], index=index)
