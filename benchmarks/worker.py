"""The process of one case: prepare, run, print seconds and peak memory as JSON."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from importlib import import_module
from pathlib import Path

PROC = Path("/proc")


def memory_mb(field: str, process: int | str = "self") -> float:
    """Return a figure of /proc/PROCESS/status, such as VmRSS (now) or VmHWM (at most)."""
    for line in (PROC / str(process) / "status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 2**10
    return 0.0


def children(process: int) -> list[int]:
    """Return the living descendants of a process."""
    task = PROC / str(process) / "task" / str(process) / "children"
    direct = [int(child) for child in task.read_text(encoding="ascii").split()]
    return direct + [below for child in direct for below in children(child)]


class PeakMemory:
    """Largest memory since it was made, above what there was then.

    Linux keeps a high-water mark that can be set back; worker processes count with their own.
    Elsewhere only the mark of the whole life of the process is known, which includes
    the preparation (and, after a fork, the parent).
    """

    def __init__(self) -> None:
        try:
            (PROC / "self" / "clear_refs").write_text("5", encoding="ascii")
            self.on_linux = True
        except OSError:
            self.on_linux = False
        self.before = memory_mb("VmRSS") if self.on_linux else self._whole_life()

    def above_start(self) -> float:
        """Return the megabytes."""
        if not self.on_linux:
            return self._whole_life() - self.before
        workers = sum(memory_mb("VmHWM", child) for child in children(os.getpid()))
        return memory_mb("VmHWM") + workers - self.before

    @staticmethod
    def _whole_life() -> float:
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main(suite: str, number: int) -> None:
    """Run one case of a suite."""
    case = import_module(suite).CASES[number]
    data = case.prepare()
    memory = PeakMemory()
    start = time.perf_counter()
    figures = case.run(data)
    seconds = time.perf_counter() - start
    record = {"seconds": seconds, "peak_mb": memory.above_start(), "figures": figures or {}}
    print(json.dumps(record))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
