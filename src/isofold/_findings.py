"""Diagnosis: what could make a map untrue, each doubt with its figure and its limit.

No single figure tells all failures; together they do (the table of draws in `docs/ipa.md`). A flag
that is raised does not mean that the map is wrong, but that it should not be trusted unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from isofold._typing import IntArray

__all__ = ["Diagnosis", "Flag"]


@dataclass(frozen=True, eq=False)
class Flag:
    """One doubt.

    Attributes
    ----------
    name : str
        A word for it.
    value : float
        What was seen.
    threshold : float
        The limit.
    is_raised : bool
        Whether the limit is exceeded.
    message : str
        What was seen and what it means, in plain words.
    advice : str
        What to do.
    patches : ndarray of int
        The patches concerned, where the doubt is about some of them.
    """

    name: str
    value: float
    threshold: float
    is_raised: bool
    message: str
    advice: str
    patches: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp), repr=False)


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """All doubts about a map, raised or not.

    Attributes
    ----------
    flags : tuple of Flag
        The doubts.
    """

    flags: tuple[Flag, ...]

    @property
    def raised(self) -> tuple[Flag, ...]:
        """The doubts that exceed their limits."""
        return tuple(flag for flag in self.flags if flag.is_raised)

    @property
    def is_sound(self) -> bool:
        """Whether no doubt is raised."""
        return not self.raised

    def __iter__(self) -> Iterator[Flag]:
        return iter(self.flags)

    def __getitem__(self, name: str) -> Flag:
        for flag in self.flags:
            if flag.name == name:
                return flag
        known = ", ".join(flag.name for flag in self.flags)
        msg = f"There is no flag {name!r}. The flags are {known}."
        raise KeyError(msg)

    def summary(self) -> str:
        """Return the raised doubts in words."""
        if self.is_sound:
            return "No doubt about this map was found."
        parts = [f"{flag.message} {flag.advice}" for flag in self.raised]
        return "This map is not to be trusted unseen. " + " ".join(parts)

    def __str__(self) -> str:
        rows = [f"{'flag':<16} {'value':>10} {'limit':>10}"]
        rows += [
            f"{flag.name:<16} {flag.value:>10.3g} {flag.threshold:>10.3g}"
            + (f"  ! {flag.message} {flag.advice}" if flag.is_raised else "")
            for flag in self.flags
        ]
        return "\n".join(rows)
