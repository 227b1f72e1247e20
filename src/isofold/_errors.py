"""Exceptions and warnings: each message says what was seen, why it matters and what to do."""

from __future__ import annotations

__all__ = [
    "ConvergenceError",
    "DataNotFoundError",
    "DisconnectedGraphWarning",
    "EmbeddingError",
    "InvalidInputError",
    "MemoryLimitError",
    "MissingDependencyError",
]


class InvalidInputError(ValueError):
    """The input cannot be used as it is."""


class ConvergenceError(RuntimeError):
    """An iteration ended before its answer could be trusted."""


class EmbeddingError(RuntimeError):
    """A method returned something that is no embedding of its input."""


class DataNotFoundError(FileNotFoundError):
    """A real data set is not where isofold looks for it."""


class MissingDependencyError(ImportError):
    """An optional package is needed for what was asked."""


class MemoryLimitError(MemoryError):
    """The request would need more memory than there is; nothing was allocated."""


class DisconnectedGraphWarning(UserWarning):
    """The neighbor graph falls into pieces whose mutual distances it does not know."""
