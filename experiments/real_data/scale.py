"""Time and memory at many sizes, each fit in a fresh process, so that first calls count.

`speed` compares at sizes that people have, `growth` shows how time grows up to a million. Fits of
peers are kept in a file, since they do not change.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.worker import PeakMemory
from threadpoolctl import threadpool_limits

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.real_data.blends import blends
from experiments.real_data.methods import METHODS, OURS, available

__all__ = ["growth", "kept", "speed"]

SHOWN = ("NeighborMap", "UMAP")
SIZES = (500, 2_000, 10_000, 70_000, 200_000)
LARGE = (100_000, 250_000, 500_000, 1_000_000)
AGAIN_UP_TO = 70_000
"""So many points are fitted a second time: what is compiled at the first call is there then."""
MOST_SECONDS = 30 * 60.0
"""A fit that takes longer, by the clock, is stopped; larger ones of the method are not tried."""
COLUMNS = ("import s", "fit s", "clock s", "peak MB", "second fit s")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def speed(folder: Path, size: Size = FULL) -> None:
    """Fit blends of digits at several sizes by NeighborMap and by UMAP."""
    rows = list(_fits(size.few(SIZES), folder, size))
    _compare(rows)
    _write(rows, folder / "real_data_speed")


def growth(folder: Path, size: Size = FULL) -> None:
    """Fit up to a million blends; say by which power of n time grows."""
    rows = list(_fits(size.few(LARGE), folder, size))
    for name in SHOWN:
        done = [row for row in rows if row["method"] == name and row["fit s"] != ""]
        if len({row["points"] for row in done}) > 1:
            points, seconds = (np.log([row[key] for row in done]) for key in ("points", "fit s"))
            say(f"{name}: seconds grow as n to the power {np.polyfit(points, seconds, 1)[0]:.2f}")
    _write(rows, folder / "real_data_growth")


def kept(folder: Path, key: str, made: Any) -> Any:
    """Return what is noted under a key, or call `made` and note what it returns."""
    path = folder / "peers" / "notes.json"
    notes = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if key in notes:
        return notes[key]
    value = made()
    # Another command may have noted something meanwhile.
    notes = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**notes, key: value}, indent=1), encoding="utf-8")
    return value


def _fits(sizes: Iterable[int], folder: Path, size: Size) -> Iterable[Row]:
    """Yield a row a method and size; a method that was stopped once is not run again."""
    blends(1, folder, size)
    for name in available(SHOWN):
        is_stopped = False
        for n in sizes:
            row: dict[str, Any] = {"method": name, "points": n}
            found = None if is_stopped else _fit_of(name, size.points(n), folder, size)
            is_stopped = found is None
            row |= dict.fromkeys(COLUMNS, "")
            yield {**row, **(found or {})}
            say(f"{name}, {n:,}: {found or 'not finished'}")


def _fit_of(name: str, n: int, folder: Path, size: Size) -> dict[str, float] | None:
    if name in OURS:
        return _in_fresh_process(name, n, folder, size)
    return kept(folder, f"{name}, {n} blends", lambda: _in_fresh_process(name, n, folder, size))


def _in_fresh_process(name: str, n: int, folder: Path, size: Size) -> dict[str, float] | None:
    """Return seconds and megabytes of a fit, or None where it was stopped."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_fit_and_send, args=(name, n, folder, size, theirs))
    before = {key: os.environ.get(key) for key in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    process.start()
    for key, value in before.items():
        os.environ.pop(key) if value is None else os.environ.update({key: value})
    theirs.close()
    try:
        return mine.recv() if mine.poll(MOST_SECONDS) else None
    finally:
        process.kill()
        process.join()


def _fit_and_send(name: str, n: int, folder: Path, size: Size, pipe: Any) -> None:
    X = blends(n, folder, size)
    begin = time.process_time()
    model = METHODS[name](2)
    imported = time.process_time() - begin
    memory = PeakMemory()
    with threadpool_limits(1):
        begin, clock = time.process_time(), time.perf_counter()
        model.fit_transform(X)
        found = {
            "import s": imported,
            "fit s": time.process_time() - begin,
            "clock s": time.perf_counter() - clock,
            "peak MB": memory.above_start(),
        }
        if n <= AGAIN_UP_TO:
            begin = time.process_time()
            METHODS[name](2).fit_transform(X)
            found["second fit s"] = time.process_time() - begin
    pipe.send(found)


def _compare(rows: list[Row]) -> None:
    """Say where ours is not faster than its peer."""
    ours, peer = (
        {row["points"]: row["fit s"] for row in rows if row["method"] == name} for name in SHOWN
    )
    for n in ours.keys() & peer.keys():
        if "" not in (ours[n], peer[n]) and ours[n] >= peer[n]:
            say(f"{n:,} points: {SHOWN[0]} is not faster than {SHOWN[1]}")


def _write(rows: list[Row], path: Path) -> None:
    if rows:
        write_table(rows, path)
