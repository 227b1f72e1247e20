"""Standard streams that are closed, full, or that nobody reads."""

from __future__ import annotations

import os
import sys

__all__ = ["discard_rest", "open_closed"]


def open_closed() -> None:
    """Let streams that are closed (``>&-``) lead to nowhere, as ``>/dev/null`` does.

    Otherwise the next file that is opened would get their number, and what a library prints would
    end up in it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                _lead_to_nowhere(number)
            # Open as long as the process lives.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def discard_rest() -> None:
    """Let streams that cannot be written lead to nowhere: Python would try again when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _lead_to_nowhere(stream.fileno())


def _lead_to_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
