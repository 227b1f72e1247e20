"""Long work as a user sees it: a bar after two seconds, warnings as sentences, Ctrl-C."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from isofold.cli.console.console import Console
from isofold.exceptions import (
    DisconnectedGraphWarning,
    DoubtfulMapWarning,
    InterruptedFitWarning,
)

__all__ = ["Watched", "following", "watched"]

PATIENCE = 2.0
"""Seconds of work that need no bar."""

# Of interest to who wrote the code, not to who runs it.
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)


@dataclass
class Watched:
    """What happened during a stretch of work.

    Attributes
    ----------
    doubts : list of str
        Reasons not to trust the result, in sentences.
    notes : list of str
        Other warnings.
    is_interrupted : bool
        Whether the user ended it, and got the best that was found until then.
    seconds : float
        How long it took.
    """

    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_interrupted: bool = False
    seconds: float = 0.0

    @property
    def messages(self) -> tuple[str, ...]:
        """All that was warned of."""
        return (*self.doubts, *self.notes)


@contextmanager
def watched(console: Console) -> Iterator[Watched]:
    """Follow some work and gather its warnings."""
    seen = Watched()
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with following(console):
            yield seen
    seen.seconds = time.perf_counter() - began
    _sort(caught, seen)


@contextmanager
def following(console: Console) -> Iterator[None]:
    """Show the progress of what happens inside, if there is somebody to see it."""
    if not console.shows_progress:
        yield
        return
    from isofold._progress.bar import progress_bar
    from isofold._progress.stages import progress

    with ExitStack() as stack:
        bar = stack.enter_context(progress_bar(after=PATIENCE))
        stack.enter_context(progress(bar))
        yield


def _sort(caught: list[warnings.WarningMessage], seen: Watched) -> None:
    """Put warnings where they belong, each text once."""
    from sklearn.exceptions import ConvergenceWarning

    doubtful = (
        DoubtfulMapWarning,
        DisconnectedGraphWarning,
        InterruptedFitWarning,
        ConvergenceWarning,
    )
    for warning in caught:
        if issubclass(warning.category, _FOR_DEVELOPERS):
            continue
        text = " ".join(str(warning.message).split())
        seen.is_interrupted |= issubclass(warning.category, InterruptedFitWarning)
        kind = seen.doubts if issubclass(warning.category, doubtful) else seen.notes
        if text not in kind:
            kind.append(text)
