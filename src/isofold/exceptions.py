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
    "UnboundedProblemError",
]


class InvalidInputError(ValueError):
    """The input cannot be used as it is."""


class InputTypeError(InvalidInputError, TypeError):
    """The input is of a type that cannot be used: also Python's `TypeError`."""


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


class UnboundedProblemError(InvalidInputError):
    """The objective of a program can be improved without end: it has no solution.

    Parameters
    ----------
    message : str
        What was seen, why it matters, what to do.
    n_components : int, default=1
        Into how many pieces the constraints fall apart.
    """

    def __init__(self, message: str, n_components: int = 1) -> None:
        super().__init__(message)
        self.n_components = n_components


class DoubtfulMapWarning(UserWarning):
    """A map was made, but there are reasons not to trust it unseen."""


class InterruptedFitWarning(UserWarning):
    """A fit was ended by its user; what it returned is the best it had."""


class EarlyInterrupt(KeyboardInterrupt):
    """The user has asked for the end of a fit, and there is no state yet that is worth having."""


class ModelFileError(InvalidInputError):
    """A file is no saved model, or a damaged one, or one of a newer isofold."""
