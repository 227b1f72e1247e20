"""Soft lengths: errors cost something instead of being forbidden."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Soft"]


@dataclass(frozen=True)
class Soft:
    """Lengths whose squared errors cost ``weight``/2 each, in natural units.

    Parameters
    ----------
    weight : float
        From 4 (lengths bend) to 4096 (hard to certify).

    Examples
    --------
    >>> Soft(16.0)
    Soft(weight=16.0)
    """

    weight: float
