"""Ctrl-C for a program of its own, from its first line to the end of its process.

While there is work to be given up, Ctrl-C raises `KeyboardInterrupt` as always. Before that, when
modules are loaded, and after it, when Python shuts down, an exception could be swallowed,
become another one, or show a long traceback: there the process ends at once. Either way
its exit code is 130.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["INTERRUPTED", "install", "is_usual", "raising", "seen"]

INTERRUPTED = 130


class _CtrlC:
    """What Ctrl-C does now, and whether it did."""

    raises = False
    is_seen = False


def install() -> None:
    """Take Ctrl-C over for the rest of this process, unless whoever started it ignores it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _on_interrupt)
    sys.excepthook, sys.unraisablehook = _excepthook, _unraisablehook
    # Whoever registers first is called last: after it, Python takes its handlers away.
    atexit.register(_end_quietly)


@contextmanager
def raising() -> Iterator[None]:
    """Surround work that can be given up: Ctrl-C raises an exception in it."""
    _CtrlC.raises = True
    try:
        yield
    finally:
        _CtrlC.raises = False
        # If Ctrl-C comes while text is run as code, as dataclasses do, Python remembers it and ends
        # by the signal, whatever was done about it; until more text is run.
        exec("")  # noqa: S102 - nothing is run


def seen() -> bool:
    """Return whether Ctrl-C was pressed, even if its exception became another one."""
    return _CtrlC.is_seen


def is_usual(handler: Any) -> bool:
    """Return whether a handler of Ctrl-C raises `KeyboardInterrupt`, Python's or the one here."""
    return handler is signal.default_int_handler or handler is _on_interrupt


def _on_interrupt(number: int, frame: Any) -> None:
    if not _CtrlC.raises:
        os._exit(INTERRUPTED)
    _CtrlC.is_seen = True
    signal.default_int_handler(number, frame)


def _excepthook(kind: Any, error: Any, traceback: Any) -> None:
    if issubclass(kind, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__excepthook__(kind, error, traceback)


def _unraisablehook(unraisable: Any) -> None:
    # One that was raised where nothing can be, such as in a destructor, shows in the exit code.
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _end_quietly() -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        if signal.SIGINT in signal.sigpending():
            os._exit(INTERRUPTED)
