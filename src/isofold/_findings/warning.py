"""Findings as warnings of Python, at the line of the user that led here."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

from isofold._findings.finding import Finding, summarize
from isofold._findings.texts import CONVERGENCE, DISCONNECTED, DOUBTFUL, INTERRUPTED
from isofold.exceptions import (
    DisconnectedGraphWarning,
    DoubtfulMapWarning,
    InterruptedFitWarning,
)

__all__ = ["emit", "repeat_warnings", "tells_findings", "warn_user"]


def _warnings() -> dict[str, type[Warning]]:
    """Return the kinds of warnings by the categories of findings."""
    from sklearn.exceptions import ConvergenceWarning

    return {
        DISCONNECTED: DisconnectedGraphWarning,
        CONVERGENCE: ConvergenceWarning,
        DOUBTFUL: DoubtfulMapWarning,
        INTERRUPTED: InterruptedFitWarning,
    }


def tells_findings(warning: object) -> bool:
    """Tell whether a warning is about findings in a diagnosis, rather than another library's."""
    ours = (DisconnectedGraphWarning, DoubtfulMapWarning, InterruptedFitWarning)
    return isinstance(warning, ours) or hasattr(warning, "findings")


def emit(findings: Iterable[Finding]) -> None:
    """Warn of doubts and failures, once for each kind of warning."""
    raised = [finding for finding in findings if finding.is_raised]
    for category, warning in _warnings().items():
        own = [finding for finding in raised if finding.category == category]
        # Of an interruption the outermost fit warns, at its end.
        if own and category != INTERRUPTED:
            is_doubt = category == DOUBTFUL
            text = summarize(own) if is_doubt else " ".join(finding.text() for finding in own)
            message = warning(text)
            # Other libraries use scikit-learn's kind of warning, too: this tells ours from theirs.
            message.findings = tuple(own)  # type: ignore[attr-defined]
            warn_user(message, warning)


def repeat_warnings(told: Iterable[tuple[Warning, type[Warning], str, int]]) -> None:
    """Warn here of what another process was warned of; here the filters of the user hold."""
    for message, category, filename, lineno in told:
        if tells_findings(message):
            warn_user(message, category)
        else:
            warnings.warn_explicit(message, category, filename, lineno, registry=_REPEATED)


# What was shown already, as Python keeps it for every module.
_REPEATED: dict[Any, Any] = {}


def warn_user(message: str | Warning, category: type[Warning]) -> None:
    """Warn at the line of the user that led here, however deep in the package this is called."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _package_of(frame.f_globals) in _PASSED:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


# Code between a user and a warning: this package, those that call it, and what runs its contexts.
_PASSED = (__name__.partition(".")[0], "sklearn", "contextlib")


def _package_of(module: dict[str, object]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]
