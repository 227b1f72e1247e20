"""From a table to features: which rows and columns, what fills gaps, what is scaled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._format import count, percent
from isofold._typing import FloatArray, IntArray, SeenMetric
from isofold.exceptions import InvalidInputError
from isofold.tables.columnwise import Facts, facts_at, gather_facts, scaled
from isofold.tables.features import assemble, close_gaps, counts_rows, find_useful, medians
from isofold.tables.preprocessing import MISSING_POLICIES, SCALES, Preprocessing
from isofold.tables.select import select
from isofold.tables.table import EXACT, Column, Table
from isofold.tables.text_safety import listed, quoted, refusal

__all__ = [
    "Prepared",
    "about_features",
    "is_whole_array",
    "labels_of",
    "positions_in",
    "prepare",
    "preprocess",
    "refuse_one_point",
]

FEWEST_ROWS = 2
DOMINANT = 0.95
COLORS = 3


@dataclass(frozen=True, eq=False)
class Prepared:
    """Features, ready for a method, and what belongs to the same rows.

    Attributes
    ----------
    X : ndarray of shape (n_used, n_features)
        The features: finite, float32 or float64.
    rows : ndarray of shape (n_used,)
        Which rows of the table they are, counted from 0.
    n_rows : int
        How many rows the table has.
    labels : ndarray of shape (n_used,) or None
        The label column: numbers, or text with "" for what is missing.
    others : tuple of (str, ndarray) pairs
        The columns that are neither features nor the label; `fields` has them by name.
    images : ndarray of shape (n_used, height, width[, 3]) or None
        The rows as pictures, if they were.
    preprocessing : Preprocessing
        What was done, to do it again.
    notes : tuple of str
        Sentences for the screen.
    names : tuple of str, default=()
        What objects are called, if they have names.
    comparison : str, default=None
        How objects were compared, as code, where `X` holds their distances and not points.
    kernel : ndarray of shape (n_used, n_used), default=None
        Kernel of the objects, if they were compared by one.
    """

    X: FloatArray
    rows: IntArray
    n_rows: int
    labels: npt.NDArray[Any] | None
    others: tuple[tuple[str, npt.NDArray[Any]], ...]
    images: npt.NDArray[Any] | None
    preprocessing: Preprocessing
    notes: tuple[str, ...]
    names: tuple[str, ...] = ()
    comparison: str | None = None
    kernel: FloatArray | None = None

    @property
    def metric(self) -> SeenMetric:
        """What `X` holds: points, or distances."""
        return "euclidean" if self.comparison is None else "precomputed"

    @property
    def fields(self) -> dict[str, npt.NDArray[Any]]:
        """The columns that are neither features nor the label, by name."""
        return dict(self.others)

    def restrict(self, which: slice | IntArray) -> Prepared:
        """Return some of the used rows."""
        return replace(
            self,
            X=self.X[which],
            rows=self.rows[which],
            labels=None if self.labels is None else self.labels[which],
            images=None if self.images is None else self.images[which],
            others=tuple((name, values[which]) for name, values in self.others),
        )

    def feature_fields(self, most: int = 12) -> dict[str, npt.NDArray[Any]]:
        """Return the named features in their own units, if there are not too many to look at."""
        names = self.preprocessing.features
        if isinstance(names, int) or len(names) > most:
            return {}
        center, scale = self.preprocessing.center, self.preprocessing.scale
        X = self.X if center is None or scale is None else self.X * np.array(scale) + center
        return {name: X[:, index] for index, name in enumerate(names)}


def prepare(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    label: str | None = None,
    missing: str = "drop",
    scale: str = "none",
) -> Prepared:
    """Choose the features of a table, deal with gaps, and scale."""
    _check_choice(missing, MISSING_POLICIES, "missing values")
    _check_choice(scale, SCALES, "scaling")
    selection = select(table, columns=columns, exclude=exclude, label=label)
    X = assemble(table, selection.features)
    names = tuple(table.names[p] for p in selection.features)
    facts = gather_facts(X, names, table.source)
    kept, notes = find_useful(table, selection, facts, partial(counts_rows, X))
    positions = tuple(selection.features[index] for index in kept)
    if len(kept) < len(names):
        X, names, facts = X[:, kept], tuple(names[p] for p in kept), facts_at(facts, kept)
    preprocessing = Preprocessing(
        features=len(names) if is_whole_array(table, positions) else names,
        label=None if selection.label is None else table.names[selection.label],
        missing=missing,
        fill=medians(X) if missing == "median" else None,
        key=table.key,
    )
    X, rows, more = close_gaps(table, X, names, facts.n_missing, preprocessing)
    if len(rows) < table.n_rows or facts.n_missing.any():
        facts = gather_facts(X, names, table.source)
    refuse_one_point(table.source, len(X), facts)
    if scale == "standard":
        deviation = np.sqrt(facts.variance)
        deviation[deviation == 0] = 1.0
        preprocessing = replace(
            preprocessing, center=tuple(facts.mean.tolist()), scale=tuple(deviation.tolist())
        )
    notes = (*table.notes, *selection.notes, *notes, *more, *about_features(names, facts, scale))
    return _finished(table, X, rows, positions, preprocessing, notes)


def preprocess(table: Table, preprocessing: Preprocessing) -> Prepared:
    """Do to new rows what was done to those of a map.

    Columns are found by name, in whatever order the file has them; further columns do not matter.
    """
    positions = positions_in(preprocessing, table)
    X = assemble(table, positions)
    names = tuple(table.names[p] for p in positions)
    facts = gather_facts(X, names, table.source)
    X, rows, notes = close_gaps(table, X, names, facts.n_missing, preprocessing)
    same = replace(preprocessing, key=table.key)
    return _finished(table, X, rows, positions, same, (*table.notes, *notes))


def _check_choice(value: str, choices: tuple[str, ...], what: str) -> None:
    if value not in choices:
        msg = f"{quoted(value)} is unknown for {what}. Choose one of {', '.join(choices)}."
        raise InvalidInputError(msg)


def is_whole_array(table: Table, positions: tuple[int, ...]) -> bool:
    """Return whether the features are all columns of data without names, in their order."""
    width = table.n_wide or len(table.columns)
    return not table.has_names and positions == tuple(range(width))


def positions_in(preprocessing: Preprocessing, table: Table) -> tuple[int, ...]:
    """Return where the features of a map are in a table."""
    if isinstance(preprocessing.features, int):
        width = table.n_wide or len(table.columns)
        if table.has_names or width != preprocessing.features:
            problem = (
                f"the map was made from {preprocessing.features:,} columns without names, but this "
                f"table has {width:,} columns {'with' if table.has_names else 'without'} names. "
                f"Pass new rows in the format of the first ones."
            )
            raise refusal(table.source, problem)
        positions = tuple(range(width))
    else:
        found = {name: position for position, name in enumerate(table.names)}
        absent = [name for name in preprocessing.features if name not in found]
        if absent:
            seen = listed(table.names) if table.has_names else "columns without names"
            problem = (
                f"{len(absent):,} of the {preprocessing.n_features:,} features of the map are not "
                f"in this table: {listed(absent)}. It has {seen}. Add them, or rename its columns."
            )
            raise refusal(table.source, problem)
        positions = tuple(found[name] for name in preprocessing.features)
    texts = [
        table.columns[p - table.n_wide].name
        for p in positions
        if p >= table.n_wide and table.columns[p - table.n_wide].kind == "text"
    ]
    if texts:
        problem = f"these features of the map are text in this table: {listed(texts)}."
        raise refusal(table.source, f"{problem} Write them as numbers.")
    return positions


def refuse_one_point(source: str, n_rows: int, facts: Facts) -> None:
    """Refuse a table whose rows are all at one point."""
    if n_rows < FEWEST_ROWS:
        problem = f"{count(n_rows, 'row')} to make a map of, but at least {FEWEST_ROWS} are needed."
        raise refusal(source, f"{problem} Pass more data.")
    if (facts.low == facts.high).all():
        problem = "every feature has the same value in all rows, so all rows are one point."
        raise refusal(source, f"{problem} Choose other columns.")


def about_features(names: tuple[str, ...], facts: Facts, scale: str) -> list[str]:
    """Return what a user should know about the features before trusting distances."""
    notes = []
    constant = [name for name, same in zip(names, facts.low == facts.high, strict=True) if same]
    if constant:
        notes.append(
            f"The same in all rows, so distances do not depend on them: {listed(constant)}."
        )
    total = float(facts.variance.sum())
    largest = int(facts.variance.argmax())
    fraction = float(facts.variance[largest]) / total if total > 0 else 0.0
    if scale == "none" and len(names) > 1 and fraction > DOMINANT:
        notes.append(
            f"Column {quoted(names[largest])} has {percent(fraction)} of the variance: it "
            f"dominates all distances. If the columns have different units, try --scale standard."
        )
    return notes


def _finished(
    table: Table,
    X: FloatArray,
    rows: IntArray,
    positions: tuple[int, ...],
    preprocessing: Preprocessing,
    notes: tuple[str, ...],
) -> Prepared:
    """Scale, and add what else is known about the rows."""
    if preprocessing.center is not None and preprocessing.scale is not None:
        X = scaled(X, np.array(preprocessing.center), np.array(preprocessing.scale))
    names = table.names
    label = None if preprocessing.label not in names else names.index(preprocessing.label)
    return Prepared(
        X=X,
        rows=rows,
        n_rows=table.n_rows,
        labels=None if label is None else labels_of(table.column(label), rows),
        others=tuple(_others_of(table, rows, {*positions, label})),
        images=_images_of(table, rows, positions),
        preprocessing=preprocessing,
        notes=notes,
    )


def labels_of(column: Column, rows: IntArray) -> npt.NDArray[Any]:
    """Return labels: text as str with "" for the missing, whole numbers as int64, else floats."""
    values = column.values[rows]
    if column.kind == "text":
        return _filled(values)
    known = ~np.isnan(values)
    whole = values[known]
    if not whole.size or not ((whole == np.round(whole)) & (abs(whole) < EXACT)).all():
        return values
    if known.all():
        return values.astype(np.int64)
    # Classes by number, some of them unknown: only text can say so without inventing a class.
    texts = np.full(len(values), "", dtype=object)
    texts[known] = [str(int(value)) for value in whole]
    return texts


def _filled(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return text with "" where it is missing."""
    return np.where(values == np.array(None), "", values)


def _others_of(
    table: Table, rows: IntArray, used: set[int | None]
) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the named columns that are not used otherwise, for the rows that are."""
    for position, column in enumerate(table.columns, start=table.n_wide):
        if position not in used:
            values = column.values[rows]
            yield column.name, _filled(values) if column.kind == "text" else values


def _images_of(table: Table, rows: IntArray, positions: tuple[int, ...]) -> npt.NDArray[Any] | None:
    """Return the rows as pictures (n, height, width[, 3]), if that is what they were."""
    shape, block = table.image_shape, table.block
    if shape is None or block is None or positions != tuple(range(table.n_wide)):
        return None
    pixels = block if len(rows) == table.n_rows else block[rows]
    images = pixels.reshape(len(rows), *shape)
    if len(shape) == 3 and shape[0] in (1, COLORS) and shape[2] not in (1, COLORS):
        images = np.moveaxis(images, 1, 3)  # colors first, as deep-learning tools store them
    if images.ndim == 4 and images.shape[3] == 1:
        images = images[..., 0]
    is_picture = images.ndim == 3 or (images.ndim == 4 and images.shape[3] == COLORS)
    return images if is_picture and min(images.shape[1:3]) > 1 else None
