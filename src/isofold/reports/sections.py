"""The written parts of a page: verdict, badges, findings, scorecard, certificate, how to repeat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from isofold._findings import Diagnosis, Finding
from isofold._format import count, dimensions
from isofold._typing import FloatArray
from isofold.assessment import Assessment
from isofold.quality.score import CONFIDENCE
from isofold.reports.text import markup

__all__ = [
    "again",
    "axis_choice",
    "badges",
    "certificate",
    "decision",
    "density_panel",
    "doubt_box",
    "doubts",
    "findings",
    "layer_choice",
    "note_box",
    "notes",
    "scale_text",
    "scorecard",
    "shape",
    "subject",
    "verdict",
]

WIDE = 2.0
"""Ratio of width to height from which on a map has a low frame."""

TEXT_LENGTH = 2000
"""Characters of a finding or of a warning that are shown."""

DENSITY_CODE = (
    "# X is a sample. All rows are counted by report(..., density=tiles), see "
    "isofold.assessment.DensityTiles"
)
"""What is added to the lines that make a page again."""


def subject(assessment: Assessment, n_features: int | None) -> str:
    """Return what was mapped, to how many dimensions and by which method."""
    n_points, n_components = assessment.embedding.shape
    density = assessment.density
    data = count(n_points if density is None else density.n_rows, "row")
    if n_features is not None:
        data += f" of {dimensions(n_features)}"
    shown = "" if density is None else f"; {n_points:,} of them shown as points"
    method = assessment.origin.method
    return markup(f"{data}, mapped to {dimensions(n_components)}: {method}{shown}")


def verdict(assessment: Assessment) -> str:
    """Return what can be read off the map, as the shell says it."""
    return markup(assessment.verdict, TEXT_LENGTH)


def badges(assessment: Assessment) -> str:
    """Return short remarks in a row: certificate, doubts, projection."""
    remarks = []
    certified, n_doubts = assessment.proof.is_certified, len(assessment.diagnosis.raised)
    if certified is not None:
        kind, text = ("good", "Certified") if certified else ("bad", "Not certified")
        remarks.append(f'<li class="badge {kind}">{text}</li>')
    kind, text = (" bad", count(n_doubts, "doubt")) if n_doubts else ("", "No doubts")
    remarks.append(f'<li class="badge{kind}">{text}</li>')
    n_points, n_components = assessment.embedding.shape
    if assessment.density is not None:
        text = f"Measured on the sample of {count(n_points, 'row')}"
        remarks.append(f'<li class="badge">{text}</li>')
    if n_components > 2:
        text = f"{n_components} dimensions: the screen shows two at a time"
        remarks.append(f'<li class="badge">{text}</li>')
    return f'<ul class="badges">{"".join(remarks)}</ul>'


def doubts(assessment: Assessment) -> str:
    """Return a box with the reasons to inspect the map before relying on it, if there are any."""
    return doubt_box(assessment.diagnosis, what="map")


def doubt_box(diagnosis: Diagnosis, *, what: str) -> str:
    """Return a box with the doubts and failures of a diagnosis, if there are any."""
    if diagnosis.is_sound:
        return ""
    return (
        f'<div class="box bad" id="doubts"><strong>Before you rely on this {what}</strong>'
        f"{_list(diagnosis.raised)}</div>"
    )


def findings(assessment: Assessment) -> str:
    """Return a box with what is good to know but no doubt, if there is anything."""
    elsewhere = {finding.code for finding in assessment.decision.notes}
    return note_box([note for note in assessment.diagnosis.notes if note.code not in elsewhere])


def note_box(noted: Sequence[Finding]) -> str:
    """Return a box with findings that are good to know, if there are any."""
    if not noted:
        return ""
    return f'<div class="box" id="findings"><strong>Good to know</strong>{_list(noted)}</div>'


def decision(assessment: Assessment) -> str:
    """Return why this method was chosen, if `Unfold` chose it; doubts have their own box."""
    why = assessment.decision.notes
    if not why:
        return ""
    return (
        f'<details class="box" id="decision"><summary><strong>Why this method:</strong> what was '
        f"seen in the data, and what was done</summary>{_list(why)}</details>"
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
        'title="Drag to rotate the map; on the keyboard i, j, k and l">Rotate</button></div>'
    )


def layer_choice(assessment: Assessment) -> str:
    """Return buttons for what is drawn, where there are all rows and a sample of them."""
    if assessment.density is None:
        return ""
    return (
        '<div class="tool-group" role="group" aria-label="What is drawn">'
        '<button type="button" class="tool" id="layer-rows" aria-pressed="false" '
        'title="The density of all rows">All rows</button>'
        '<button type="button" class="tool" id="layer-sample" aria-pressed="false" '
        'title="The points of the sample">Sample</button>'
        '<button type="button" class="tool" id="layer-both" aria-pressed="true" '
        'title="The density, and some points of the sample: more of them when you zoom in">Both'
        "</button></div>"
    )


def density_panel(assessment: Assessment) -> str:
    """Return the room for the legend of the density, where there is one."""
    if assessment.density is None:
        return ""
    return (
        '<section class="panel" aria-labelledby="density-title">'
        '<h3 id="density-title" class="panel-title">All rows: density</h3>'
        '<div id="density-legend"></div></section>'
    )


def shape(embedding: FloatArray) -> str:
    """Return the kind of frame that suits a map: a low one if it is wide."""
    if embedding.shape[1] != 2:
        return "strip" if embedding.shape[1] == 1 else "square"
    width, height = np.ptp(np.asarray(embedding, dtype=np.float64) / 2, axis=0)
    return "wide" if width > WIDE * height else "square"


def scale_text(n_components: int) -> str:
    """Return what the bar on the map measures."""
    if n_components == 1:
        return "The bar is in the units of the data; heights are numbers of points."
    return "The scale is the same on both axes, in the units of the data."


def notes(texts: list[str]) -> str:
    """Return what the page leaves out."""
    items = "".join(f"<li>{markup(text)}</li>" for text in texts)
    return f'<ul class="notes">{items}</ul>' if items else ""


def scorecard(assessment: Assessment) -> str:
    """Return the table of all measures."""
    card = assessment.card
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
        f'<th scope="col" class="text">what it means</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def certificate(assessment: Assessment) -> str:
    """Return what is proved, and whether there are doubts."""
    proof = assessment.proof.text or (
        "There is nothing to prove: this method does not solve a problem whose optimum could be "
        "certified. Rely on the measures above."
    )
    if assessment.diagnosis.is_sound:
        rest = "<p>No doubt about this map was found.</p>"
    else:
        rest = "<p>See the doubts at the top of the page.</p>"
    return f"<p>{markup(proof, TEXT_LENGTH)}</p>{rest}"


def again(assessment: Assessment, *, has_numbers: bool = False) -> str:
    """Return parameters, versions and the lines that make the page again."""
    origin = assessment.origin
    # Escaped line by line, since markup has no line ends.
    code = "\n".join(markup(line, TEXT_LENGTH) for line in origin.code)
    if assessment.density is not None:
        code += f"\n{DENSITY_CODE}"
    is_sample = assessment.density is not None and not has_numbers
    parameters = _pairs(origin.parameters) or '<p class="quiet">None are known.</p>'
    return (
        f"<pre><code>{code}</code></pre>"
        f'<details><summary>Parameters and versions</summary><div class="columns">'
        f"<div><h3>Parameters</h3>{parameters}</div>"
        f"<div><h3>Versions</h3>{_pairs(origin.versions)}</div></div>"
        f'</details><p class="quiet">Rows are counted from 0, in the order of the '
        f"{'sample' if is_sample else 'data'}.</p>"
    )


def _list(found: Iterable[Finding]) -> str:
    items = "".join(f"<li>{markup(each.text(), TEXT_LENGTH)}</li>" for each in found)
    return f"<ul>{items}</ul>"


def _pairs(pairs: tuple[tuple[str, str], ...]) -> str:
    if not pairs:
        return ""
    items = "".join(f"<dt>{markup(k)}</dt><dd>{markup(v)}</dd>" for k, v in pairs)
    return f'<dl class="pairs">{items}</dl>'


def _figure(value: float) -> str:
    return markup(f"{value:.4g}")
