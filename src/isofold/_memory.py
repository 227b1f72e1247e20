"""Memory: how much there is, how large a block may be, and refusal before it is exceeded."""

from __future__ import annotations

import os
from pathlib import Path

from isofold.exceptions import MemoryLimitError

CONTROL_GROUP = Path("/sys/fs/cgroup")
BLOCK_BYTES = 32 * 2**20
"""Target size of one working block: a few fit in the last-level cache's neighborhood
and two threads with several temporaries each stay far below 1 GB."""


def available_bytes() -> int | None:
    """Return the memory that a new allocation can hope for, or None where it is unknown."""
    known = [amount for amount in (_machine_bytes(), _container_bytes()) if amount is not None]
    return min(known, default=None)


def _machine_bytes() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(free.split()[1]) * 1024
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container_bytes() -> int | None:
    """Return what a container's limit leaves, or None outside of one."""
    try:
        limit = (CONTROL_GROUP / "memory.max").read_text(encoding="ascii")
        used = (CONTROL_GROUP / "memory.current").read_text(encoding="ascii")
        return max(0, int(limit) - int(used))
    except (OSError, ValueError):  # no such file, or the word "max" for no limit
        return None


def require_memory(needed: int, *, what: str, instead: str) -> None:
    """Refuse an allocation that would not fit."""
    available = available_bytes()
    if available is not None and needed > available:
        msg = (
            f"{what} would need {needed / 2**30:.1f} GiB, but {available / 2**30:.1f} GiB "
            f"are available. {instead}"
        )
        raise MemoryLimitError(msg)


def block_rows(bytes_per_row: int, n_rows: int) -> int:
    """Return how many rows of a blocked computation fit in one block (at least one)."""
    return max(1, min(n_rows, BLOCK_BYTES // max(1, bytes_per_row)))
