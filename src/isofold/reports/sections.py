"""The written parts of a page: verdict, badges, warnings, scorecard, certificate, how to repeat."""

from __future__ import annotations

import ast
import inspect
import keyword
import re

import numpy as np

import isofold
from isofold._format import percent
from isofold._typing import FloatArray
from isofold.assessment.findings import Findings, MapWords
from isofold.quality.score import CONFIDENCE
from isofold.reports.text import markup, significant

__all__ = [
    "again",
    "axis_choice",
    "badges",
    "certificate",
    "decision",
    "notes",
    "scale_words",
    "scorecard",
    "shape",
    "subject",
    "verdict",
    "warnings",
]

WIDE = 2.0
"""Ratio of width to height from which on a map is flat."""

SENTENCE_LENGTH = 2000
"""Characters of a sentence of a model or of a warning that are shown."""


def subject(findings: Findings, n_features: int | None) -> str:
    """Return what was mapped, how far down and by whom."""
    n_points, n_components = findings.embedding.shape
    data = f"{n_points:,} rows"
    if n_features is not None:
        data += f" of {n_features:,} dimension" + ("" if n_features == 1 else "s")
    plural = "" if n_components == 1 else "s"
    return markup(f"{data}, mapped to {n_components} dimension{plural}: {findings.words.method}")


def verdict(findings: Findings) -> str:
    """Return in one sentence how far the map can be trusted."""
    card = findings.card
    error = float(card["length_error_median"])
    kept = 1.0 - float(card["neighbor_error"])
    if error < 1.0:
        lengths = f"Distances between neighbors are true to {percent(error)} (median)"
    else:
        ratio = significant(findings.ratios.median)
        lengths = (
            f"Distances on the map are not those of the data: {ratio} times as long between "
            f"neighbors (median)"
        )
    return markup(f"{lengths}; {percent(kept)} of the neighbors shown are true ones.")


def badges(words: MapWords, n_components: int) -> str:
    """Return short remarks in a row: certificate, doubts, projection."""
    remarks = []
    if words.is_certified is not None:
        kind, text = ("good", "Certified") if words.is_certified else ("bad", "Not certified")
        remarks.append(f'<li class="badge {kind}">{text}</li>')
    if words.warnings:
        count = len(words.warnings)
        plural = "" if count == 1 else "s"
        remarks.append(f'<li class="badge bad">{count} warning{plural}</li>')
    else:
        remarks.append('<li class="badge">No warnings</li>')
    if n_components > 2:
        text = f"{n_components} dimensions: the screen shows two at a time"
        remarks.append(f'<li class="badge">{text}</li>')
    return f'<ul class="badges">{"".join(remarks)}</ul>'


def warnings(words: MapWords) -> str:
    """Return a box with what should keep a reader from trusting the map, if there is anything."""
    if not words.warnings:
        return ""
    return (
        '<div class="box bad" id="warnings"><strong>Before you trust this map</strong>'
        f"{_list(words.warnings)}</div>"
    )


def decision(words: MapWords) -> str:
    """Return why this method was chosen, if `Unfold` chose it."""
    if not words.decision:
        return ""
    count = len(words.decision)
    plural = "sentence" if count == 1 else "sentences"
    return (
        f'<details class="box" id="decision"><summary><strong>Why this method:</strong> what was '
        f"seen in the data, done and lost, in {count} {plural}</summary>"
        f"{_list(words.decision)}</details>"
    )


def axis_choice(n_components: int) -> str:
    """Return two menus for the axes that are shown, where there are more than two."""
    if n_components < 3:
        return ""
    return (
        '<div class="tool-group" role="group" aria-label="Axes shown">'
        '<label class="quiet" for="axis-x">Across</label> <select id="axis-x"></select> '
        '<label class="quiet" for="axis-y">Up</label> <select id="axis-y"></select> '
        '<button type="button" class="tool" id="mode-rotate" aria-pressed="false" '
        'title="Drag to turn the map; on the keyboard i, j, k and l">Rotate</button></div>'
    )


def shape(embedding: FloatArray) -> str:
    """Return the kind of frame that suits a map: less high if it is flat."""
    if embedding.shape[1] != 2:
        return "strip" if embedding.shape[1] == 1 else "square"
    width, height = np.ptp(np.asarray(embedding, dtype=np.float64) / 2, axis=0)
    return "wide" if width > WIDE * height else "square"


def scale_words(n_components: int) -> str:
    """Return what the bar on the map measures."""
    if n_components == 1:
        return "The bar is in the units of the data; heights are numbers of points."
    return "The scale is the same on both axes, in the units of the data."


def notes(sentences: list[str]) -> str:
    """Return what the page leaves out."""
    items = "".join(f"<li>{markup(sentence)}</li>" for sentence in sentences)
    return f'<ul class="notes">{items}</ul>' if items else ""


def scorecard(findings: Findings) -> str:
    """Return the table of all measures."""
    card = findings.card
    lines = []
    for entry in card.entries:
        low, high = entry.score.interval
        interval = "exact" if entry.score.exact else f"{_figure(low)} to {_figure(high)}"
        lines.append(
            f'<tr><th scope="row">{markup(entry.name)}</th>'
            f'<td class="number">{_figure(float(entry.score))}</td>'
            f'<td class="number">{interval}</td>'
            f'<td class="number">{markup(entry.best) or "&ndash;"}</td>'
            f'<td class="text">{markup(entry.meaning)}</td></tr>'
        )
    names = ("measure", "value", f"{CONFIDENCE:.0%} interval", "best")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="Scorecard">'
        f'<table class="score"><caption>{markup(card.title)}</caption><thead><tr>{head}'
        f'<th scope="col" class="text">what it says</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def certificate(words: MapWords) -> str:
    """Return what is proved, and what is doubted."""
    proof = words.certificate or (
        "There is nothing to prove here: this method solves no problem whose optimum could be "
        "certified. Trust the measures above."
    )
    if words.warnings:
        doubts = "<p>See the warnings at the top of the page.</p>"
    else:
        doubts = "<p>Nothing was found that speaks against this map.</p>"
    return f"<p>{markup(proof, SENTENCE_LENGTH)}</p>{doubts}"


def again(words: MapWords) -> str:
    """Return parameters, versions and the lines that make the page again."""
    parameters = _pairs(words.parameters) or '<p class="quiet">None are known.</p>'
    versions = _pairs(words.versions)
    return (
        f"<pre><code>{_escaped_code(words)}</code></pre>"
        f'<details><summary>Parameters and versions</summary><div class="columns">'
        f"<div><h3>Parameters</h3>{parameters}</div><div><h3>Versions</h3>{versions}</div></div>"
        f'</details><p class="quiet">Rows are counted from 0, in the order of the data.</p>'
    )


def _escaped_code(words: MapWords) -> str:
    """Return Python lines, escaped one by one, since markup has no line ends."""
    name = words.method.split(",")[0].split(" ")[0]
    known = getattr(isofold, name, None) if name in isofold.__all__ else None
    if inspect.isclass(known):
        lines = [
            f"from isofold import {name}, report",
            f"model = {name}({_arguments(known, words.parameters)}).fit(X)",
            'report(X, model, "report.html")',
        ]
    elif name.isidentifier() and not keyword.iskeyword(name) and words.parameters:
        given = ", ".join(f"{key}={_as_code(value)}" for key, value in words.parameters.items())
        lines = [
            "from isofold import report",
            f"model = {name}({given}).fit(X)",
            'report(X, model, "report.html")',
        ]
    else:
        lines = ["from isofold import report", 'report(X, Y, "report.html")  # Y: the coordinates']
    return "\n".join(markup(line, SENTENCE_LENGTH) for line in lines)


def _arguments(known: type, parameters: dict[str, str]) -> str:
    """Return the parameters that differ from what they are by default, as code."""
    defaults = inspect.signature(known).parameters
    return ", ".join(
        f"{name}={_as_code(value)}"
        for name, value in parameters.items()
        if name not in defaults or str(defaults[name].default) != value
    )


def _as_code(value: str) -> str:
    """Return a parameter that was put into words as Python again, as far as that is possible."""
    if re.fullmatch(r"[A-Za-z_][\w.]*\(.*\)", value, flags=re.DOTALL):
        return value
    if " of " in value or value.endswith("…"):
        return "..."
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return repr(value)
    return value


def _list(sentences: tuple[str, ...]) -> str:
    items = "".join(f"<li>{markup(sentence, SENTENCE_LENGTH)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>"


def _pairs(pairs: dict[str, str]) -> str:
    if not pairs:
        return ""
    items = "".join(f"<dt>{markup(k)}</dt><dd>{markup(v)}</dd>" for k, v in pairs.items())
    return f'<dl class="pairs">{items}</dl>'


def _figure(value: float) -> str:
    return markup(f"{value:.4g}")
