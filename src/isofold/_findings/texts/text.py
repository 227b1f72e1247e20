"""What is said of one finding, and which kind of warning says it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CONVERGENCE", "DISCONNECTED", "DOUBTFUL", "INTERRUPTED", "Text"]

DOUBTFUL = "doubtful"
DISCONNECTED = "disconnected"
CONVERGENCE = "convergence"
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Text:
    """What is said of a finding, and which kind of warning says it."""

    message: str
    advice: str = ""
    category: str = DOUBTFUL
