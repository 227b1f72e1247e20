"""A bar for the progress of fits, on the standard error stream."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from isofold._progress.stages import Progress, interrupted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Display
    from rich.progress import TaskID

__all__ = ["progress_bar"]

WORTH_A_LINE = 0.2
"""Seconds from which a finished stage leaves a line."""

NAME_WIDTH, BAR_WIDTH = 24, 24
"""Characters of the name of a stage and of its bar, so that bars stay where they are."""

_shown: ContextVar[Callable[[Progress], None] | None] = ContextVar("isofold_bar", default=None)


@contextmanager
def progress_bar(*, after: float = 0.0) -> Iterator[Callable[[Progress], None]]:
    """Show a line for every stage under way, and keep one of every longer one that has ended."""
    around = _shown.get()
    if around is not None:
        yield around
        return
    bar = _listener(after)
    token = _shown.set(bar)
    try:
        yield bar
    finally:
        _shown.reset(token)
        if isinstance(bar, _Bar):
            bar.stop()


def _ignore(_: Progress) -> None:
    """Show nothing."""


def _listener(after: float) -> Callable[[Progress], None]:
    """Return what shows progress here: a bar, lines in a notebook that has no bars, or nothing."""
    is_screen = sys.stderr is not None and sys.stderr.isatty()
    if not is_screen and "IPython" not in sys.modules:
        return _ignore
    from rich.console import Console

    console = Console(stderr=True)
    # Without this package a bar in a notebook would only print warnings.
    if console.is_jupyter and find_spec("ipywidgets") is None:
        return _Lines(Console(stderr=True, force_jupyter=False))
    is_screen = is_screen and not console.is_dumb_terminal
    return _Bar(console, after) if is_screen or console.is_jupyter else _ignore


class _Lines:
    """A line for every longer stage that has ended."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, event: Progress) -> None:
        """Print the line of a stage at its end."""
        if _leaves_a_line(event):
            self._console.print(_line(event), highlight=False, markup=False)


class _Bar:
    """Stages under way, by the names of those around them and their own."""

    def __init__(self, console: Console, after: float) -> None:
        self._console = console
        self._display = _make_display(console)
        self._tasks: dict[tuple[str, ...], TaskID] = {}
        self._ended: list[str] = []
        self._is_shown = self._is_over = False
        # Long work may report nothing for a while: the timer shows the bar all the same.
        self._lock = threading.RLock()
        self._timer = threading.Timer(after, self._show)
        self._timer.daemon = True
        if after > 0.0:
            self._timer.start()
        else:
            self._show()

    def __call__(self, event: Progress) -> None:
        """Show an event of a stage."""
        path = (*event.within, event.stage)
        with self._lock:
            # A stage that failed never reported its end.
            for other in [known for known in self._tasks if known != path[: len(known)]]:
                self._display.remove_task(self._tasks.pop(other))
            if event.fraction == 1.0:
                self._end(path, event)
                return
            if path not in self._tasks:
                name = "  " * len(event.within) + event.stage
                self._tasks[path] = self._display.add_task(
                    name.ljust(NAME_WIDTH), total=None, fraction="", objective="", left=""
                )
            is_known = event.fraction is not None
            self._display.update(
                self._tasks[path],
                total=1.0 if is_known else None,
                completed=event.fraction if is_known else 0.0,
                fraction=f"{event.fraction:4.0%}" if is_known else "",
                objective=_objective(event),
                left=_time_left(event),
            )

    def stop(self) -> None:
        """Leave the terminal as it was, and only lines of what has ended."""
        self._timer.cancel()
        with self._lock:
            if self._is_shown:
                self._display.stop()
            self._is_shown, self._is_over = False, True

    def _show(self) -> None:
        with self._lock:
            # The work may have ended while the timer waited for the lock.
            if self._is_over:
                return
            self._is_shown = True
            self._display.start()
            for line in self._ended:
                self._print(line)

    def _end(self, path: tuple[str, ...], event: Progress) -> None:
        task = self._tasks.pop(path, None)
        if task is not None:
            self._display.remove_task(task)
        if not _leaves_a_line(event):
            return
        line = _line(event)
        self._ended.append(line)
        if self._is_shown:
            self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False)


def _make_display(console: Console) -> Display:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Display

    def text(template: str) -> Any:
        return TextColumn(template, markup=False)

    return Display(
        text("{task.description}"),
        BarColumn(BAR_WIDTH),
        text("{task.fields[fraction]}"),
        TimeElapsedColumn(),
        text("{task.fields[left]}"),
        text("{task.fields[objective]}"),
        console=console,
        transient=True,
        # What is printed goes above the bar; a pipe must get what is meant for it.
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    )


def _leaves_a_line(event: Progress) -> bool:
    return event.fraction == 1.0 and not event.within and event.seconds >= WORTH_A_LINE


def _line(event: Progress) -> str:
    return "  ".join(filter(None, [f"{event.stage}: {event.seconds:.1f} s", _objective(event)]))


def _objective(event: Progress) -> str:
    return "" if event.objective is None else f"objective {event.objective:.6g}"


def _time_left(event: Progress) -> str:
    if interrupted():
        return "ending; Ctrl-C again gives up"
    if event.seconds_left is None:
        return ""
    minutes, seconds = divmod(round(event.seconds_left), 60)
    return f"{minutes} min left" if minutes >= 10 else f"{minutes}:{seconds:02d} left"
