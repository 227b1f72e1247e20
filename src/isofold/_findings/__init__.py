"""What a fit has to say: findings as data, one text for each of them, and vocabularies."""

from isofold._findings.emit import emit, warn_user, warning_of
from isofold._findings.finding import Diagnosis, Finding, Severity
from isofold._findings.vocabulary import (
    PYTHON,
    SHELL,
    Value,
    Vocabulary,
    parameter,
    setting,
    speaking,
)

__all__ = [
    "PYTHON",
    "SHELL",
    "Diagnosis",
    "Finding",
    "Severity",
    "Value",
    "Vocabulary",
    "emit",
    "parameter",
    "setting",
    "speaking",
    "warn_user",
    "warning_of",
]
