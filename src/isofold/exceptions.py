"""Errors and warnings of isofold, to be caught or silenced by name."""

from isofold._errors import (
    ConvergenceError,
    DataNotFoundError,
    DisconnectedGraphWarning,
    DoubtfulMapWarning,
    EmbeddingError,
    InputTypeError,
    InterruptedFitWarning,
    InvalidInputError,
    MemoryLimitError,
    MissingDependencyError,
    ModelFileError,
    UnboundedProblemError,
)

__all__ = [
    "ConvergenceError",
    "DataNotFoundError",
    "DisconnectedGraphWarning",
    "DoubtfulMapWarning",
    "EmbeddingError",
    "InputTypeError",
    "InterruptedFitWarning",
    "InvalidInputError",
    "MemoryLimitError",
    "MissingDependencyError",
    "ModelFileError",
    "UnboundedProblemError",
]
