"""Progress of long work, and a clean end of it by Ctrl-C.

Deep code says what it does, without knowing who listens:

    with stage("stitch patches", total=n_steps) as steps:
        for step in ...:
            steps.advance(objective=value)

Who listens is a matter of context: nobody by default, a bar with ``verbose=True`` or
``with isofold.progress():``, a function with ``with isofold.progress(function):``. Stages nest; a
listener gets the innermost one and those around it.

Listeners are called in the thread that fits, never in those that it starts.

Loops that hold a best state run within `interruptible` and end when `interrupted` says so: the
first Ctrl-C asks for that, the second one raises. Once asked, all later loops of the same fit end
at once, too. Elsewhere Ctrl-C raises as always, and a fit leaves the estimator as it was.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from isofold._findings import warn_user
from isofold._progress.signals import is_usual
from isofold.exceptions import InterruptedFitWarning, InvalidInputError

__all__ = [
    "Progress",
    "Stage",
    "closing",
    "fitting",
    "interrupt",
    "interrupted",
    "interruptible",
    "progress",
    "stage",
    "until_interrupted",
    "within_fit",
]

LEAST_INTERVAL = 0.05
"""Seconds between two reports of a stage; nobody could follow more."""

MOST_UNDER_WAY = 0.999
"""Fraction of a stage that has not ended, at most."""

LEAST_FRACTION = 0.02
"""Fraction of a stage that must be done before its end can be estimated."""


@dataclass(frozen=True)
class Progress:
    """What a listener gets.

    Attributes
    ----------
    stage : str
        What is being done.
    fraction : float or None
        How much of this stage is done, from 0 to 1; None if it is not known. It is 1 at the end of
        the stage, and only then.
    objective : float or None
        Current value of what the stage minimizes or maximizes, if it does.
    seconds : float
        Time since the stage began.
    within : tuple of str
        The stages around this one, the outermost first.
    """

    stage: str
    fraction: float | None
    objective: float | None
    seconds: float
    within: tuple[str, ...] = ()

    @property
    def seconds_left(self) -> float | None:
        """Time until the stage ends, if it goes on as it did; None if it is not known."""
        if self.fraction is None or self.fraction < LEAST_FRACTION:
            return None
        return self.seconds * (1.0 - self.fraction) / self.fraction


Listener = Callable[[Progress], Any]
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class _FitStatus:
    """One outermost fit: whether its user has asked for its end, and whether it is ending."""

    interrupted: bool = False
    is_closing: bool = False


@dataclass
class Stage:
    """A stretch of work that is under way; see `stage`."""

    name: str
    total: float | None
    within: tuple[str, ...]
    listeners: tuple[Listener, ...]
    began: float = field(default_factory=time.perf_counter)
    done: float = 0.0
    objective: float | None = None
    _reported: float = -1.0

    def advance(self, amount: float = 1.0, *, objective: float | None = None) -> None:
        """Say that so much more of the total is done."""
        self.done += amount
        self.objective = self.objective if objective is None else objective
        self._report()

    def _report(self, *, is_first: bool = False, is_last: bool = False) -> None:
        if not self.listeners:
            return
        now = time.perf_counter()
        if not is_first and not is_last and now - self._reported < LEAST_INTERVAL:
            return
        self._reported = now
        fraction = min(MOST_UNDER_WAY, self.done / self.total) if self.total else None
        fraction = 1.0 if is_last else fraction
        event = Progress(self.name, fraction, self.objective, now - self.began, self.within)
        for listener in self.listeners:
            listener(event)


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("isofold_listeners", default=())
_stages: ContextVar[tuple[str, ...]] = ContextVar("isofold_stages", default=())
_fit: ContextVar[_FitStatus | None] = ContextVar("isofold_fit", default=None)


@contextmanager
def stage(name: str, *, total: float | None = None) -> Iterator[Stage]:
    """Report the begin, the steps and the end of some work to the listeners."""
    around = _stages.get()
    current = Stage(name, total, around, _listeners.get())
    token = _stages.set((*around, name))
    try:
        current._report(is_first=True)
        yield current
        current._report(is_last=True)
    finally:
        _stages.reset(token)


@contextmanager
def progress(listener: Listener | None = None) -> Iterator[None]:
    """Follow the progress of all fits inside the block.

    Parameters
    ----------
    listener : callable or None, default=None
        Called with a `Progress`: stage, fraction, objective, seconds. By default a bar is shown on
        the standard error stream, if that is a screen or a notebook.

    Examples
    --------
    >>> import isofold
    >>> from isofold.datasets import swiss_roll
    >>> seen = []
    >>> with isofold.progress(lambda event: seen.append(event.stage)):
    ...     Y = isofold.IPA(random_state=0).fit_transform(swiss_roll(500, random_state=0).X)
    >>> "stitch patches" in seen
    True
    """
    if listener is not None and not callable(listener):
        msg = f"listener={listener!r} must be a function of one argument, or None for a bar."
        raise InvalidInputError(msg)
    with ExitStack() as stack:
        if listener is None:
            from isofold._progress.bar import progress_bar

            listener = stack.enter_context(progress_bar())
        # A bar around this one shows the same.
        if listener not in _listeners.get():
            stack.callback(_listeners.reset, _listeners.set((*_listeners.get(), listener)))
        yield


@contextmanager
def fitting(*, verbose: bool = False) -> Iterator[None]:
    """Surround a fit: show its progress if requested, and warn at its end if it was interrupted."""
    around = _fit.get()
    current = _FitStatus() if around is None else around
    with ExitStack() as stack:
        stack.callback(_fit.reset, _fit.set(current))
        if verbose:
            stack.enter_context(progress())
        yield
    if current.interrupted and around is None:
        msg = (
            "The fit was interrupted. The result is the best found until then: look at its status "
            "and its quality before you trust it, or fit again."
        )
        warn_user(msg, InterruptedFitWarning)


def interrupted() -> bool:
    """Return whether the user has asked for the end of this fit."""
    current = _fit.get()
    return current is not None and current.interrupted and not current.is_closing


def interrupt() -> None:
    """Ask for the end of this fit, as Ctrl-C does."""
    current = _fit.get()
    if current is not None:
        current.interrupted = True


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first Ctrl-C ask for an end, which the loop inside sees by `interrupted`.

    Only where a best state can be returned, and only in the main thread, which is the one that
    gets signals. A second Ctrl-C raises `KeyboardInterrupt`.
    """
    with ExitStack() as stack:
        current = _fit.get()
        if current is None:
            current = _FitStatus()
            stack.callback(_fit.reset, _fit.set(current))
        usual = _usual_handler()
        if usual is not None and not current.interrupted:

            def ask(*_: Any) -> None:
                current.interrupted = True
                signal.signal(signal.SIGINT, usual)

            signal.signal(signal.SIGINT, ask)
            stack.callback(signal.signal, signal.SIGINT, usual)
        yield


def until_interrupted(results: Iterable[Result]) -> Iterator[Result]:
    """Yield results until the end of this fit is asked for; the first one in any case."""
    for result in results:
        yield result
        if interrupted():
            return


@contextmanager
def closing() -> Iterator[None]:
    """Let loops inside run to their end although that of the fit was asked for: they are short.

    What Ctrl-C does does not change: it raises if it is the second one.
    """
    current = _fit.get() or _FitStatus()
    before, current.is_closing = current.is_closing, True
    try:
        yield
    finally:
        current.is_closing = before


def within_fit(function: Callable[[Item], Result]) -> Callable[[Item], Result]:
    """Return a function for other threads: there, too, it sees the end of this fit asked for."""
    current = _fit.get()

    def run(item: Item) -> Result:
        token = _fit.set(current)
        try:
            return function(item)
        finally:
            _fit.reset(token)

    return run


def _usual_handler() -> Any:
    """Return the handler of Ctrl-C if it is one that raises and is in force here, else None."""
    if threading.current_thread() is not threading.main_thread():
        return None
    handler = signal.getsignal(signal.SIGINT)
    return handler if is_usual(handler) else None
