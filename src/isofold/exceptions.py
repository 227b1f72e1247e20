"""Exceptions and warnings: each message says what was seen, why it matters and what to do."""

from __future__ import annotations

__all__ = [
    "ConvergenceError",
    "DataNotFoundError",
    "DisconnectedGraphWarning",
    "DoubtfulMapWarning",
    "EarlyInterrupt",
    "EmbeddingError",
    "InputTypeError",
    "InterruptedFitWarning",
    "InvalidInputError",
    "MemoryLimitError",
    "MissingDependencyError",
    "ModelFileError",
    "SchedulerError",
    "UnboundedProblemError",
]


class InvalidInputError(ValueError):
    """The input cannot be used as it is."""


class InputTypeError(InvalidInputError, TypeError):
    """The input is of a type that cannot be used: also Python's `TypeError`."""


class ConvergenceError(RuntimeError):
    """An iteration ended before its answer could be trusted."""


class EmbeddingError(RuntimeError):
    """A method returned something that is not an embedding of its input."""


class DataNotFoundError(FileNotFoundError):
    """A real data set is not where isofold looks for it."""


class MissingDependencyError(ImportError):
    """An optional package is needed for what was asked."""


class MemoryLimitError(MemoryError):
    """The request needs more memory than there is; nothing was allocated."""


class SchedulerError(RuntimeError):
    """A Dask scheduler or its workers were lost; blocks that are in files are kept."""


class DisconnectedGraphWarning(UserWarning):
    """The neighbor graph has several components, and no distances between them."""


class UnboundedProblemError(InvalidInputError):
    """The objective of a program can be improved without end: it has no solution.

    Parameters
    ----------
    message : str
        What was seen, why it matters, what to do.
    n_components : int, default=1
        Number of components that no constraint links.
    """

    def __init__(self, message: str, n_components: int = 1) -> None:
        super().__init__(message)
        self.n_components = n_components


class DoubtfulMapWarning(UserWarning):
    """A map was made, but there are reasons to inspect it before relying on it."""


class InterruptedFitWarning(UserWarning):
    """A fit was ended by its user; what it returned is the best it had."""


class EarlyInterrupt(KeyboardInterrupt):
    """The user has interrupted a fit before it had a result worth returning."""


class ModelFileError(InvalidInputError):
    """A file is not a saved model, or it is damaged, or from a newer isofold."""
