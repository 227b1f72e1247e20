"""What a fit has to say: findings as data, one text for each of them, and vocabularies."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from isofold._findings.finding import Diagnosis, Finding, Severity
    from isofold._findings.vocabulary import (
        PYTHON,
        SHELL,
        Value,
        Vocabulary,
        parameter,
        setting,
        speaking,
        spoken,
        worded,
    )
    from isofold._findings.warning import emit, repeat_warnings, tells_findings, warn_user

_HOMES = {
    "PYTHON": "vocabulary",
    "SHELL": "vocabulary",
    "Diagnosis": "finding",
    "Finding": "finding",
    "Severity": "finding",
    "Value": "vocabulary",
    "Vocabulary": "vocabulary",
    "emit": "warning",
    "parameter": "vocabulary",
    "repeat_warnings": "warning",
    "setting": "vocabulary",
    "speaking": "vocabulary",
    "spoken": "vocabulary",
    "tells_findings": "warning",
    "warn_user": "warning",
    "worded": "vocabulary",
}

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
    "repeat_warnings",
    "setting",
    "speaking",
    "spoken",
    "tells_findings",
    "warn_user",
    "worded",
]


def __getattr__(name: str) -> _Any:
    # Loaded when first used, so that the shell does not wait for NumPy to name an option.
    if name in _HOMES:
        return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
