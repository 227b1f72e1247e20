"""The written parts of the page of a structure: verdict, what is not determined, figures, proof."""

from __future__ import annotations

import numpy as np

from isofold._findings import Diagnosis
from isofold._format import count, dimensions, percent, significant
from isofold.reports.sections import TEXT_LENGTH
from isofold.reports.structure.payload import KINDS, notable, worst_first
from isofold.reports.structure.superposition import MovedReference, knows_hand
from isofold.reports.structure.view import StructureView
from isofold.reports.text import markup
from isofold.structure import RelaxationBound, Structure, Violations
from isofold.structure.rules import StructureRules

__all__ = [
    "badges",
    "figures",
    "kinds",
    "other_findings",
    "proof",
    "reading",
    "subject",
    "undetermined",
    "verdict",
    "worst_pairs",
]

LISTED = 30
"""Violations in the table of the worst ones."""


def length(value: float, unit: str) -> str:
    """Return a length with its unit."""
    return f"{significant(value)} {unit}".strip()


def subject(structure: Structure) -> str:
    """Return what was given."""
    problem = structure.problem
    given = [count(problem.n_points, "point")]
    for number, what in (
        (len(problem.groups), "rigid group"),
        (len(problem.bounds), "known or bounded distance"),
        (len(problem.angles), "angle"),
        (len(problem.centers), "center of known hand"),
        (len(problem.anchors), "anchor"),
    ):
        if number:
            given.append(count(number, what, "centers of known hand" if "hand" in what else None))
    return markup(f"{', '.join(given)}; placed in {dimensions(structure.coordinates.shape[1])}")


def verdict(structure: Structure, unit: str) -> str:
    """Return in a sentence or two how well what was given is met, and whether it decides."""
    bound = structure.relaxation
    worst, limit = structure.violations.worst, notable(structure.violations)
    n_given, n_broken = len(structure.violations), _n_beyond(structure.violations, limit)
    if bound is not None and bound.is_contradiction:
        met = "What was given contradicts itself: no structure in any dimension meets all of it."
    elif n_broken == 0:
        accuracy = f" to {length(worst, unit)}" if len(_broken(structure)) else ""
        met = f"Every given distance is met{accuracy}."
    else:
        met = (
            f"The worst of {count(n_given, 'given distance')} is off by {length(worst, unit)}; "
            f"{n_broken:,} {'is' if n_broken == 1 else 'are'} off by more than "
            f"{length(limit, unit)}."
        )
    if n_given == 0:
        met = "No distance was given."
    n_parts, n_left = _n_parts(structure), structure.undetermined_motions.n_motions
    if n_parts > 1:
        rest = f"They do not join all points: {n_parts:,} components lie at no known place."
    elif n_left:
        rest = f"They say nothing about {count(n_left, 'motion')}: parts are not determined."
    elif structure.free_motions.n_motions:
        rest = "Parts of the structure can move within their bounds."
    else:
        rest = "At these coordinates nothing moves without changing a given distance."
    return markup(f"{met} {rest}", 600)


def badges(structure: Structure) -> str:
    """Return short remarks in a row."""
    n_doubts = len(structure.diagnosis.raised)
    remarks = [("bad", count(n_doubts, "doubt")) if n_doubts else ("", "No doubts")]
    if not knows_hand(structure):
        remarks.append(("bad", "Hand not determined"))
    free, left = structure.free_motions.n_motions, structure.undetermined_motions.n_motions
    if left:
        remarks.append(("bad", f"{count(left, 'motion')} not determined"))
    elif free:
        remarks.append(("", f"{count(free, 'motion')} within bounds"))
    else:
        remarks.append(("good", "Rigid"))
    if _n_parts(structure) > 1:
        remarks.append(("bad", f"{_n_parts(structure):,} components"))
    items = "".join(f'<li class="badge {kind}">{text}</li>' for kind, text in remarks)
    return f'<ul class="badges">{items}</ul>'


UNDETERMINED = ("structure_parts", "undetermined_motions", "hand_unknown")
"""Findings about what the data do not determine; they have a box of their own."""


def undetermined(structure: Structure) -> str:
    """Return a box with what the data do not determine, if there is anything."""
    left = structure.undetermined_motions
    is_open = {
        "structure_parts": _n_parts(structure) > 1,
        "undetermined_motions": left.n_motions > 0,
        "hand_unknown": not knows_hand(structure),
    }
    own = {
        "structure_parts": "Where components lie relative to each other: nothing joins them.",
        "undetermined_motions": (
            f"Where {int(left.is_floppy.sum()):,} of {count(structure.problem.n_points, 'point')} "
            f"are: nothing that was given is about {count(left.n_motions, 'motion')}."
        ),
        "hand_unknown": "The mirror image meets all that was given just as well.",
    }
    items = [
        " ".join(f.text() for f in structure.diagnosis if f.code == code) or own[code]
        for code in UNDETERMINED
        if is_open[code]
    ]
    if left.n_motions:
        items.append("Color by what moves to see which points are drawn at one place of many.")
    if not items:
        return ""
    listed = "".join(f"<li>{markup(item, TEXT_LENGTH)}</li>" for item in items)
    return (
        f'<div class="box bad" id="undetermined"><strong>Not determined</strong>'
        f"<ul>{listed}</ul></div>"
    )


def other_findings(structure: Structure) -> Diagnosis:
    """Return the findings that are not about what is not determined."""
    return Diagnosis(tuple(f for f in structure.diagnosis if f.code not in UNDETERMINED))


def kinds(structure: Structure, unit: str) -> str:
    """Return a table of violations by the kind of what was given."""
    lines = []
    limit = notable(structure.violations)
    for kind, word in KINDS.items():
        some = structure.violations.of(kind)
        if len(some) == 0:
            continue
        cells = (
            f"{len(some):,}",
            f"{_n_beyond(some, limit):,}",
            length(some.worst, unit),
            length(some.mean, unit),
        )
        numbers = "".join(f'<td class="number">{markup(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th scope="row">{word}</th>{numbers}</tr>')
    if not lines:
        return '<p class="quiet">No distance was given.</p>'
    beyond = f"off by more than {length(limit, unit)}"
    head = ("kind", "given", beyond, "worst violation", "mean, zeros included")
    title = "Violations by kind; contacts count only where points are too near"
    return _table(title, head, lines)


def worst_pairs(structure: Structure, view: StructureView) -> str:
    """Return a table of the worst violations, whose rows the viewer shows when clicked."""
    violations, rows = structure.violations, _broken(structure)
    if len(rows) == 0:
        return '<p class="quiet">Nothing that was given is violated.</p>'
    excess = violations.excess
    lines = []
    for rank, row in enumerate(rows[:LISTED]):
        first, second = (_name(structure, view, point) for point in violations.pairs[row])
        side = "long" if excess[row] > 0 else "short"
        lines.append(
            f'<tr><th scope="row"><button type="button" class="link" data-pair="{rank}">'
            f"<bdi>{markup(first)}</bdi> &ndash; <bdi>{markup(second)}</bdi></button></th>"
            f'<td class="text">{KINDS[str(violations.kinds[row])]}</td>'
            f'<td class="number">{_interval(violations.lower[row], violations.upper[row])}</td>'
            f'<td class="number">{significant(violations.found[row], 4)}</td>'
            f'<td class="number too-{side}">{significant(abs(excess[row]))} too {side}</td></tr>'
        )
    unit = f", in {view.unit}" if view.unit else ""
    title = f"The {len(lines)} worst of {len(rows):,} violations{unit}"
    return _table(title, ("pair", "kind", "given", "found", "violation"), lines)


def figures(structure: Structure, view: StructureView, known: MovedReference | None) -> str:
    """Return a table of figures and what they mean."""
    d, unit = structure.coordinates.shape[1], view.unit
    energy = f"{significant(structure.energy)} {unit}²" if unit else significant(structure.energy)
    free, left = structure.free_motions.n_motions, structure.undetermined_motions.n_motions
    rows = [
        ("energy", energy, _ENERGY),
        ("worst violation", length(structure.violations.worst, unit), _WORST),
        _hand(structure),
        (
            f"variance in {dimensions(d)}",
            percent(structure.variance_fraction),
            _VARIANCE.format(d=d),
        ),
        ("free motions", f"{free:,}", _FREE),
        ("motions not determined", f"{left:,}", _LEFT),
        *_starts(structure, unit),
        *_comparison(view, known),
    ]
    lines = [
        f'<tr><th scope="row">{markup(name)}</th><td class="number">{markup(value)}</td>'
        f'<td class="text">{markup(meaning, 600)}</td></tr>'
        for name, value, meaning in rows
    ]
    return _table("Figures of the structure", ("figure", "value", "what it means"), lines)


_ENERGY = "Weighted sum of squared violations. Zero: all that was given is met."
_WORST = "How far the worst distance is outside of its bounds."
_VARIANCE = (
    "How much of the relaxation, which may use more dimensions, lies in {d}. Near 100%: the data "
    "nearly decide on {d} dimensions by themselves. Much less: it was forced there, and may be "
    "caught in a poor shape. Try more starts."
)
_FREE = (
    "Independent motions that rigid groups and known distances leave, beyond those of the whole in "
    "space, to first order. In a protein these are bonds that turn."
)
_LEFT = (
    "Motions that are left even if every bound is taken as a known distance: nothing that was "
    "given is about them."
)
_STARTS = "Energies of the best and of the worst start. The structure is that of the best one."
_SPREAD = (
    "Mean over the points of how far solutions of several starts lie apart. It is no error bar: "
    "starts share the same data and may share the same error."
)


def proof(structure: Structure) -> str:
    """Return what is proved of a structure, and what is not."""
    d = structure.coordinates.shape[1]
    return (
        f"<p>{markup(_proved(structure.relaxation), 900)}</p>"
        f"<p><strong>Not proved:</strong> that this is the only structure that agrees with what "
        f"was given, or the best one in {dimensions(d)}. The problem in {dimensions(d)} has many "
        f"local optima. A bound on the relaxation says how good any structure can be at best; the "
        f"violations above say how good this one is.</p>"
    )


def reading(structure: Structure) -> str:
    """Return what the picture shows."""
    if structure.coordinates.shape[1] < 3:
        return "The scale is the same on both axes, in the units of the data."
    return "Parallel projection: the bar holds at every depth. What is far away is paler."


def _proved(bound: RelaxationBound | None) -> str:
    if bound is None:
        return (
            "Nothing was proved: no bound on the relaxation was asked for. Ask for it by "
            "certify=True."
        )
    text = (
        f"No structure in any dimension has less energy than {bound.bound:,.8g} (with "
        f"the stretch that pulls points apart); the relaxation has {bound.value:,.8g}, "
        f"a relative gap of {significant(bound.gap, 2)}."
    )
    if bound.is_contradiction:
        text += (
            f" The given distances contradict each other: their weighted squared violations are "
            f"at least {significant(bound.penalty_bound)} in any dimension."
        )
    return text


def _hand(structure: Structure) -> tuple[str, str, str]:
    """Return the row about the hand."""
    vote = structure.vote
    if np.isnan(vote):
        if knows_hand(structure):
            why = "Handed groups or anchors tell the structure from its mirror image."
            return "hand", "given", why
        why = "Nothing given tells the structure from its mirror image."
        return "hand", "not determined", why
    meaning = (
        "How clearly local centers prefer this hand over the mirror image: 1 if all of them agree "
        "in the relaxation, 0 if they do not decide."
    )
    if abs(vote) < StructureRules().undecided:
        meaning += " Here they hardly decide."
    if not np.isnan(structure.mirror_energy):
        meaning += (
            f" Both hands were refined: the mirror image has the energy "
            f"{significant(structure.mirror_energy)}."
        )
    return "vote for the hand", f"{vote:.2f}", meaning


def _starts(structure: Structure, unit: str) -> list[tuple[str, str, str]]:
    """Return the rows about several starts."""
    energies = structure.energies
    if len(energies) < 2:
        return []
    ends = f"{significant(float(energies[0]))} to {significant(float(energies[-1]))}"
    mean = length(float(structure.spread.mean()), unit)
    return [
        (f"energies of {len(energies)} starts", ends, _STARTS),
        ("spread over starts", mean, _SPREAD),
    ]


def _comparison(view: StructureView, known: MovedReference | None) -> list[tuple[str, str, str]]:
    """Return the rows about the reference."""
    if known is None or np.isnan(known.errors).all():
        return []
    how = (
        "after superposition by rotation and shift"
        if known.is_moved
        else "in the frame of the anchors"
    )
    n_known = int((~np.isnan(known.errors)).sum())
    median, largest = (
        length(float(value), view.unit)
        for value in (np.nanmedian(known.errors), np.nanmax(known.errors))
    )
    meaning = (
        f"Root mean square over {count(n_known, 'point')}, {how}; median {median}, largest "
        f"{largest}."
    )
    rows = [("distance from the reference", length(known.rms, view.unit), meaning)]
    if view.core is not None:
        meaning = f"The same over the {count(len(known.core), 'point')} that were superimposed."
        rows.append(("of its core", length(known.core_rms, view.unit), meaning))
    if known.is_mirrored:
        meaning = (
            "Distance from the mirror image of the reference: it fits much better, so that the "
            "structure has the wrong hand."
        )
        rows.append(("from its mirror image", length(known.mirror_rms, view.unit), meaning))
    return rows


def _table(title: str, head: tuple[str, ...], lines: list[str]) -> str:
    columns = "".join(f'<th scope="col"{_text_column(name)}>{markup(name)}</th>' for name in head)
    return (
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="{markup(title)}">'
        f'<table class="score"><caption>{markup(title)}</caption><thead><tr>{columns}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _text_column(name: str) -> str:
    return ' class="text"' if name in ("kind", "what it means") else ""


def _interval(lower: float, upper: float) -> str:
    if lower == upper:
        return significant(lower, 4)
    if np.isinf(upper):
        return f"≥ {significant(lower, 4)}"
    if lower == 0.0:
        return f"≤ {significant(upper, 4)}"
    return f"{significant(lower, 4)} to {significant(upper, 4)}"


def _name(structure: Structure, view: StructureView, point: int) -> str:
    return view.labels[point] if view.labels else structure.problem.name_of(point)


def _n_beyond(violations: Violations, limit: float) -> int:
    return int((np.abs(violations.excess) > limit).sum())


def _n_parts(structure: Structure) -> int:
    return int(structure.component.max(initial=0)) + 1


def _extent(structure: Structure) -> float:
    """Return half the extent of a structure, as the viewer has it."""
    return float(np.ptp(structure.coordinates, axis=0).max()) / 2 or 1.0


def _broken(structure: Structure) -> np.ndarray:
    return worst_first(structure.violations, _extent(structure))
