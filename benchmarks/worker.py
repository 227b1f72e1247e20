"""The process of one case: prepare, run, print seconds and peak memory as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib import import_module


def peak_mb() -> float:
    """Return the high-water mark of this process and its finished children."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    usage = [
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return max(usage) / unit


def main(suite: str, number: int) -> None:
    """Run one case of a suite."""
    case = import_module(f"benchmarks.{suite}").CASES[number]
    data = case.prepare()
    before = peak_mb()
    start = time.perf_counter()
    figures = case.run(data)
    seconds = time.perf_counter() - start
    record = {"seconds": seconds, "peak_mb": peak_mb() - before, "figures": figures or {}}
    print(json.dumps(record))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
