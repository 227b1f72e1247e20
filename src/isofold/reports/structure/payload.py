"""What the viewer of a structure needs: points, bonds, reference, violations and colors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform

from isofold._typing import FloatArray, IntArray
from isofold.reports.packing import Packer
from isofold.reports.payload import pack_column, to_unit
from isofold.reports.structure.elements import colors_of, size_of_element
from isofold.reports.structure.superposition import MovedReference
from isofold.reports.structure.view import StructureView
from isofold.structure import Structure, Violations
from isofold.tables.page_columns import PageColumn, class_column

__all__ = ["KINDS", "fill_structure", "notable", "worst_first"]

KINDS = {
    "group": "rigid group",
    "distance": "known distance",
    "bound": "bound",
    "angle": "angle",
    "contact": "contact",
}
"""Kinds of what was given, in words."""

MOST_PAIRS = 20_000
"""Violated pairs that a page keeps, the worst ones."""

MOST_LINKS = 100_000
"""Given distances that a page can draw."""

DRAWN_PAIRS = 200
"""Violated pairs that are drawn at first, at most."""

NOTABLE = 1 / 30
"""Violations beyond this fraction of the usual length are counted and drawn."""

MET = 1e-9
"""Violations up to this fraction of the extent of a structure are rounding."""

COMPLETE = 4
LARGEST_GROUP = 400
"""Rigid groups up to the first size are drawn with all pairs, up to the second as a tree."""

LONE_SIZE = 0.05
SIZE_OF_BOND, SIZE_OF_GAP = 0.2, 0.22
"""Radius of a point relative to the usual bond, or to the usual distance of neighbors."""

MOST_COLORS = 10
"""Classes that are told apart by color alone."""

_MOVES = {"light": ["#0a63a8", "#93a3b5", "#cf6a00"], "dark": ["#5aa9ee", "#66788c", "#ffa24d"]}


def fill_structure(
    packer: Packer, structure: Structure, view: StructureView, known: MovedReference | None
) -> tuple[dict[str, Any], list[str]]:
    """Pack all that the viewer needs, and return how to read it and what was left out."""
    unit, middle, scale = to_unit(structure.coordinates)
    dims = unit.shape[1]
    notes: list[str] = []
    bonds = view.bonds if len(view.bonds) else _bonds_of_groups(structure)
    links = _links(structure, notes)
    rows = worst_first(structure.violations, scale)
    if len(rows) > MOST_PAIRS:
        notes.append(f"The {MOST_PAIRS:,} worst of {len(rows):,} violations are kept.")
    manifest: dict[str, Any] = {
        "n": len(unit),
        "dims": dims,
        "scale": scale,
        "unit": view.unit,
        "axes": _pack_axes(packer, unit),
        "rotation": _first_rotation(unit).ravel().tolist(),
        "names": packer.add_texts(tuple(view.labels)) if view.labels else None,
        "radius": packer.add_array(_radii(unit, view, bonds)),
        "bonds": packer.add_array(bonds.astype(np.int32).ravel()),
        "links": packer.add_array(links.astype(np.int32).ravel()),
        "traces": [packer.add_array(trace.astype(np.int32)) for trace in view.traces],
        "anchors": packer.add_array(structure.problem.anchors.points.astype(np.int32)),
        "reference": None,
        "violations": _pack_violations(packer, structure.violations, rows[:MOST_PAIRS]),
        "kinds": KINDS,
        "columns": [
            {**pack_column(packer, column, None), **extras}
            for column, extras in _columns(structure, view, known)
        ],
    }
    if known is not None:
        moved = ((known.positions - middle) / scale).astype(np.float32)
        manifest["reference"] = _pack_axes(packer, moved)
    return manifest, notes


def worst_first(violations: Violations, extent: float) -> IntArray:
    """Return the rows of what is violated, the worst first."""
    size = np.abs(violations.excess)
    order = np.argsort(-size, kind="stable")
    return order[size[order] > MET * extent]


def notable(violations: Violations) -> float:
    """Return from what size on a violation is worth a word: a thirtieth of the usual length."""
    given = np.where(violations.lower > 0.0, violations.lower, violations.upper)
    given = given[np.isfinite(given) & (given > 0.0)]
    if len(given) == 0:
        return 0.0
    return float(f"{NOTABLE * np.median(given):.0e}")


def _pack_axes(packer: Packer, points: npt.NDArray[np.float32]) -> list[dict[str, Any]]:
    """Pack coordinates as three axes; the missing ones are zero."""
    whole = np.zeros((len(points), 3), dtype=np.float32)
    whole[:, : points.shape[1]] = points
    return [packer.add_array(whole[:, axis]) for axis in range(3)]


def _pack_violations(packer: Packer, violations: Violations, rows: IntArray) -> dict[str, Any]:
    kinds = list(KINDS)
    codes = np.array([kinds.index(str(kind)) for kind in violations.kinds[rows]], dtype=np.uint8)
    excess = violations.excess[rows]
    most = float(np.abs(excess)[DRAWN_PAIRS]) if len(rows) > DRAWN_PAIRS else 0.0
    limit = notable(violations)
    drawn = max(most, limit if violations.worst > limit else 0.0)
    numbers = {
        name: packer.add_array(np.asarray(values, dtype=np.float64))
        for name, values in (
            ("excess", excess),
            ("lower", violations.lower[rows]),
            ("upper", violations.upper[rows]),
            ("found", violations.found[rows]),
        )
    }
    return {
        "pairs": packer.add_array(violations.pairs[rows].astype(np.int32).ravel()),
        "codes": packer.add_array(codes),
        "limit": drawn,
        **numbers,
    }


def _first_rotation(unit: npt.NDArray[np.float32]) -> FloatArray:
    """Return a rotation that shows the widest side, never a mirror image."""
    if unit.shape[1] < 3:
        return np.eye(3)
    centered = unit.astype(np.float64) - unit.mean(axis=0)
    axes = np.linalg.svd(centered.T @ centered)[2]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    axes = np.where(largest < 0, -axes, axes)
    if np.linalg.det(axes) < 0:
        axes[2] *= -1.0
    return np.asarray(axes)


def _radii(
    unit: npt.NDArray[np.float32], view: StructureView, bonds: IntArray
) -> npt.NDArray[np.float32]:
    """Return the radius of each point in units of the page."""
    if len(bonds):
        lengths = np.linalg.norm(unit[bonds[:, 0]] - unit[bonds[:, 1]], axis=1)
        usual = SIZE_OF_BOND * float(np.median(lengths))
    else:
        gaps = np.asarray(cKDTree(unit).query(unit, k=[min(2, len(unit))])[0])
        usual = SIZE_OF_GAP * float(np.median(gaps))
    sizes = np.ones(len(unit))
    if view.elements:
        size_of = {symbol: size_of_element(symbol) for symbol in set(view.elements)}
        sizes = np.array([size_of[symbol] for symbol in view.elements])
    return ((usual or LONE_SIZE) * sizes).astype(np.float32)


def _bonds_of_groups(structure: Structure) -> IntArray:
    """Return pairs that make rigid groups visible."""
    pairs: list[IntArray] = [np.empty((0, 2), dtype=np.intp)]
    for group in structure.problem.groups:
        size = len(group.points)
        if size <= COMPLETE:
            inner = np.column_stack(np.triu_indices(size, 1))
        elif size <= LARGEST_GROUP:
            tree = minimum_spanning_tree(squareform(pdist(group.coordinates))).tocoo()
            inner = np.column_stack([tree.row, tree.col])
        else:
            continue
        pairs.append(group.points[inner])
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)


def _links(structure: Structure, notes: list[str]) -> IntArray:
    """Return the pairs whose distance is known or bounded from above."""
    bounds = structure.problem.bounds
    pairs = bounds.pairs[np.isfinite(bounds.upper)]
    if len(pairs) <= MOST_LINKS:
        return pairs
    notes.append(f"{MOST_LINKS:,} of {len(pairs):,} given distances can be drawn, evenly chosen.")
    return pairs[np.linspace(0, len(pairs) - 1, MOST_LINKS).astype(np.intp)]


def _columns(
    structure: Structure, view: StructureView, known: MovedReference | None
) -> list[tuple[PageColumn, dict[str, Any]]]:
    """Return what points can be colored by; the first one colors them at first."""
    n = structure.problem.n_points
    columns: list[tuple[PageColumn, dict[str, Any]]] = []
    if view.elements:
        element = class_column("element", list(view.elements), np.arange(n))
        columns.append((element, {"colors": colors_of(element.table), "most": 18}))
    if known is not None:
        note = "Distance from the reference, as far as it is known."
        columns.append(_errors("error to the reference", known.errors, note))
    columns.append((_moves(structure), {"colors": _MOVES, "key": "moves", "note": _MOVES_NOTE}))
    for name, motions, note in (
        ("rigid cluster: groups and distances", structure.free_motions, _FREE_NOTE),
        ("rigid cluster: with all bounds", structure.undetermined_motions, _BOUND_NOTE),
    ):
        clusters = _classes(name, motions.bodies, "cluster")
        columns.append((clusters, {"most": MOST_COLORS, "note": note}))
    worst = np.zeros(n)
    size = np.abs(structure.violations.excess)
    for side in (0, 1):
        np.maximum.at(worst, structure.violations.pairs[:, side], size)
    columns.append(_errors("worst violation", worst, "Largest violation of what was given of it."))
    if len(structure.energies) > 1:
        columns.append(_errors("spread over starts", structure.spread, _SPREAD_NOTE))
    if structure.component.max(initial=0) > 0:
        parts = _classes("component", structure.component, "component")
        columns.append((parts, {"most": MOST_COLORS, "note": _PARTS_NOTE}))
    columns.append((PageColumn("point number", "number", np.arange(n, dtype=np.float64)), {}))
    return columns


_MOVES_NOTE = (
    "To first order at these coordinates. Nothing that was given is about what is not determined."
)
_FREE_NOTE = (
    "Points of one cluster keep their distances, whatever moves; bounds do not count. Small "
    "clusters are pale."
)
_BOUND_NOTE = "As if every bound were a known distance. What still moves is not determined."
_SPREAD_NOTE = "How far solutions lie apart. It is no error bar: errors are usually larger."
_PARTS_NOTE = "Nothing given tells where components lie relative to each other."


def _errors(name: str, values: FloatArray, note: str) -> tuple[PageColumn, dict[str, Any]]:
    return PageColumn(name, "number", values), {"isError": True, "note": note}


def _classes(name: str, codes: IntArray, word: str) -> PageColumn:
    """Return numbered classes as a column; most pages have few, some thousands."""
    n_classes = int(codes.max(initial=-1)) + 1
    return PageColumn(name, "class", codes, tuple(f"{word} {k + 1:,}" for k in range(n_classes)))


def _moves(structure: Structure) -> PageColumn:
    """Return what holds each point: groups and distances, bounds, or nothing."""
    codes = np.where(structure.undetermined_motions.is_floppy, 2, 1)
    codes = np.where(structure.free_motions.is_floppy, codes, 0)
    table = (
        "largest rigid cluster",
        "moves within bounds",
        "not determined",
    )
    return PageColumn("what moves", "class", codes, table)
