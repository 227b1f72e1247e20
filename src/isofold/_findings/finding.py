"""Findings: what a fit has to say, as data.

A `Finding` has a code, a severity, a figure beside its limit, and the samples or patches concerned.
It has no sentence: `texts` holds one template for every code, and whoever shows a finding (warning,
console, page, plot) renders it in a vocabulary.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self

import numpy as np

from isofold._findings.texts import TEXTS, Text
from isofold._findings.vocabulary import PYTHON, Attributes, Parameters, Vocabulary
from isofold._format import count, percent
from isofold._typing import IntArray

__all__ = ["Diagnosis", "Finding", "Severity"]

MOST_LISTED = 5
"""Numbers of a list that are shown."""


WHOLE = 0.95
"""Fraction of the points from which on a part of the data counts as the whole."""


GIVEN = "given"
"""Form of a finding that brings its own text, as those of older files do."""


class Severity(Enum):
    """How much a finding matters."""

    CHECKED = "checked"
    """Looked for, and within its limit."""
    NOTE = "note"
    """Good to know; the map can be trusted all the same."""
    DOUBT = "doubt"
    """A reason to inspect the map before relying on it."""
    FAILURE = "failure"
    """The map is wrong, or no map of these data."""


def _nobody() -> IntArray:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Finding:
    """One thing that was looked for.

    Attributes
    ----------
    code : str
        What it is about, such as "noise"; unique within a diagnosis.
    severity : Severity
        How much it matters.
    value, limit : float
        What was seen, and the limit beyond which it is a doubt; NaN where there is none.
    samples, patches : ndarray of int
        The samples and the patches concerned, where it is about some of them.
    parameters : tuple of (str, value) pairs
        The figures of the text.
    form : str
        Which of the texts of this code, where there are several.
    """

    code: str
    severity: Severity
    value: float = float("nan")
    limit: float = float("nan")
    samples: IntArray = field(default_factory=_nobody, repr=False)
    patches: IntArray = field(default_factory=_nobody, repr=False)
    parameters: tuple[tuple[str, Any], ...] = ()
    form: str = ""

    @classmethod
    def of(
        cls,
        code: str,
        severity: Severity = Severity.NOTE,
        *,
        form: str = "",
        value: float = float("nan"),
        samples: Any = None,
        patches: Any = None,
        **figures: Any,
    ) -> Self:
        """Return a finding whose figures are given by name."""
        return cls(
            code,
            severity,
            float(value),
            samples=_nobody() if samples is None else np.asarray(samples, dtype=np.intp),
            patches=_nobody() if patches is None else np.asarray(patches, dtype=np.intp),
            parameters=tuple(figures.items()),
            form=form,
        )

    @classmethod
    def checked(
        cls,
        code: str,
        value: float,
        limit: float,
        *,
        is_raised: bool,
        form: str = "",
        patches: Any = None,
        **figures: Any,
    ) -> Self:
        """Return a finding with its figure and limit: a doubt if it is raised."""
        return cls(
            code,
            Severity.DOUBT if is_raised else Severity.CHECKED,
            float(value),
            float(limit),
            patches=_nobody() if patches is None else np.asarray(patches, dtype=np.intp),
            parameters=tuple(figures.items()),
            form=form,
        )

    @property
    def is_raised(self) -> bool:
        """Whether it is a doubt or a failure."""
        return self.severity in (Severity.DOUBT, Severity.FAILURE)

    def message(self, vocabulary: Vocabulary = PYTHON) -> str:
        """Return what was seen and what it means."""
        return self._render(self._text.message, vocabulary)

    def advice(self, vocabulary: Vocabulary = PYTHON) -> str:
        """Return what to do; may be empty."""
        return self._render(self._text.advice, vocabulary)

    def text(self, vocabulary: Vocabulary = PYTHON) -> str:
        """Return message and advice."""
        return f"{self.message(vocabulary)} {self.advice(vocabulary)}".strip()

    @property
    def category(self) -> str:
        """The kind of warning that tells of it, see `isofold._findings.warning`."""
        return self._text.category

    @property
    def _text(self) -> Text:
        if self.form == GIVEN:
            return TEXTS[GIVEN]
        return TEXTS[f"{self.code}/{self.form}" if self.form else self.code]

    def _render(self, template: str, vocabulary: Vocabulary) -> str:
        figures = {"value": self.value, "limit": self.limit, **dict(self.parameters)}
        names = {"p": Parameters(vocabulary), "a": Attributes(vocabulary)}
        return _WRITER.vformat(template, (), {**figures, **names})


class _Writer(string.Formatter):
    """Fills templates; `isofold._findings.texts` says what their format codes mean."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return one figure as text."""
        if format_spec.startswith("#"):
            one, _, many = format_spec[1:].partition("|")
            return count(int(value), one, many or None)
        if format_spec.startswith("?"):
            one, _, many = format_spec[1:].partition("|")
            return one if value == 1 else many
        if format_spec == "part":
            return "the data" if value > WHOLE else f"a part with {value:.0%} of the points"
        if format_spec == "percent":
            return percent(float(value))
        if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
            return ", ".join(value)
        if isinstance(value, tuple):
            shown = [format(each, format_spec) for each in value[:MOST_LISTED]]
            return ", ".join([*shown, *(["…"] if len(value) > MOST_LISTED else [])])
        return str(super().format_field(value, format_spec))


_WRITER = _Writer()


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """All that a fit has found, doubts or not.

    Attributes
    ----------
    findings : tuple of Finding
        The findings, in the order in which they are shown.
    """

    findings: tuple[Finding, ...] = ()

    @property
    def raised(self) -> tuple[Finding, ...]:
        """The doubts and failures."""
        return tuple(finding for finding in self.findings if finding.is_raised)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What is good to know, but no doubt."""
        return tuple(f for f in self.findings if f.severity is Severity.NOTE)

    @property
    def is_sound(self) -> bool:
        """Whether there is no doubt."""
        return not self.raised

    @property
    def codes(self) -> frozenset[str]:
        """The codes of the doubts and failures."""
        return frozenset(finding.code for finding in self.raised)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, code: str) -> Finding:
        for finding in self.findings:
            if finding.code == code:
                return finding
        known = ", ".join(finding.code for finding in self.findings) or "none"
        msg = f"There is no finding {code!r}. The findings are: {known}."
        raise KeyError(msg)

    def __contains__(self, code: object) -> bool:
        return any(finding.code == code for finding in self.findings)

    def summary(self, vocabulary: Vocabulary = PYTHON) -> str:
        """Return the doubts as one text."""
        if self.is_sound:
            return "No doubt about this map was found."
        return summarize(self.raised, vocabulary)

    def __str__(self) -> str:
        rows = [f"{'finding':<16} {'value':>10} {'limit':>10}"]
        rows += [
            f"{finding.code:<16} {finding.value:>10.3g} {finding.limit:>10.3g}"
            + (f"  ! {finding.text()}" if finding.is_raised else "")
            for finding in self.findings
        ]
        return "\n".join(rows)


def summarize(findings: Sequence[Finding], vocabulary: Vocabulary = PYTHON) -> str:
    """Return doubts about a map as one text."""
    texts = " ".join(finding.text(vocabulary) for finding in findings)
    return f"Inspect this map before relying on it. {texts}"
