"""What a page shows of a structure beyond its coordinates: bonds, elements, a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.reports.structure.elements import element_of
from isofold.structure import Structure
from isofold.tables.text_safety import plain

__all__ = ["StructureView", "read_view"]

LONGEST_NAME = 200
"""Characters of a name that a page keeps."""

LONGEST_UNIT = 20


def _no_pairs() -> IntArray:
    return np.empty((0, 2), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class StructureView:
    """What else is known of a structure that a page shows; all of it is optional.

    Attributes
    ----------
    bonds : array-like of int of shape (n_bonds, 2)
        Pairs of points that are joined by a stick. Without any, points of small rigid groups are.
    elements : sequence of str of length n_points
        Chemical elements, for colors and sizes of the points.
    labels : sequence of str of length n_points
        What points are called; the names of the problem if empty.
    reference : array-like of shape (n_points, n_components) or None
        Coordinates of a known structure, NaN where they are not known. It is superimposed by a
        rotation and a shift, unless anchors say where the structure lies.
    core : array-like of int or None
        Points over which the reference is superimposed; all of them if None.
    traces : sequence of sequences of int
        Chains of points that are drawn as a ribbon, such as the backbone of a protein.
    unit : str
        Unit of the lengths, such as "Å".

    Examples
    --------
    >>> from isofold.reports import StructureView
    >>> StructureView(bonds=[[0, 1], [0, 2]], elements=["O", "H", "H"], unit="Å").unit
    'Å'
    """

    bonds: Any = field(default_factory=_no_pairs)
    elements: Sequence[str] = ()
    labels: Sequence[str] = ()
    reference: Any = None
    core: Any = None
    traces: Sequence[Any] = ()
    unit: str = ""


def read_view(view: StructureView | None, structure: Structure) -> StructureView:
    """Return a view as arrays and safe texts, checked against its structure."""
    given = view or StructureView()
    n, shape = structure.problem.n_points, structure.coordinates.shape
    names = given.labels if len(given.labels) else structure.problem.names
    return StructureView(
        bonds=_points(given.bonds, n, name="bonds").reshape(-1, 2),
        elements=tuple(map(element_of, _texts(given.elements, n, name="elements"))),
        labels=_texts(names, n, name="labels"),
        reference=_coordinates(given.reference, shape),
        core=None if given.core is None else _points(given.core, n, name="core"),
        traces=tuple(_points(trace, n, name="traces") for trace in given.traces),
        unit=plain(given.unit).strip()[:LONGEST_UNIT],
    )


def _texts(values: Sequence[Any], n_points: int, *, name: str) -> tuple[str, ...]:
    """Return one text for every point, or none at all."""
    if len(values) not in (0, n_points):
        msg = f"There are {len(values)} {name} for {n_points} points. Pass one for every point."
        raise InvalidInputError(msg)
    return tuple(plain(value)[:LONGEST_NAME] for value in values)


def _points(values: Any, n_points: int, *, name: str) -> IntArray:
    """Return numbers of points."""
    numbers = np.asarray(values)
    if numbers.size == 0:
        return np.empty(numbers.shape, dtype=np.intp)
    pairs_fit = name != "bonds" or (numbers.ndim == 2 and numbers.shape[1] == 2)
    if numbers.dtype.kind not in "iu" or not pairs_fit:
        shape = "pairs" if name == "bonds" else "lists"
        msg = (
            f"{name} must be {shape} of whole numbers, the points, but is an array of "
            f"{numbers.dtype} of shape {numbers.shape}."
        )
        raise InvalidInputError(msg)
    if numbers.min() < 0 or numbers.max() >= n_points:
        wrong = numbers[(numbers < 0) | (numbers >= n_points)].flat[0]
        msg = f"{name} names point {wrong}, but points are 0 to {n_points - 1}."
        raise InvalidInputError(msg)
    return numbers.astype(np.intp)


def _coordinates(values: Any, shape: tuple[int, ...]) -> FloatArray | None:
    """Return a reference of the shape of its structure, NaN where it is not known."""
    if values is None:
        return None
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != shape:
        msg = f"reference has the shape {numbers.shape}, but the structure needs {shape}."
        raise InvalidInputError(msg)
    return np.where(np.isfinite(numbers), numbers, np.nan)
