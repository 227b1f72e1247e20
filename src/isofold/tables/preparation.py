"""From a table to features: which rows and columns, what fills gaps, what is scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._format import count, percent
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.tables.columnwise import Facts, facts_at, gather_facts, scaled
from isofold.tables.extras import fields_of, images_of, labels_of
from isofold.tables.features import assemble, close_gaps, find_useful, medians
from isofold.tables.preprocess import MISSING_POLICIES, SCALES, Recipe
from isofold.tables.select import select
from isofold.tables.table import Table
from isofold.tables.text_safety import listed, quoted, refusal

__all__ = ["Prepared", "apply_recipe", "prepare"]

FEWEST_ROWS = 2
DOMINANT = 0.95


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
    fields : dict of str to ndarray
        The columns that are neither features nor the label.
    images : ndarray of shape (n_used, height, width[, 3]) or None
        The rows as pictures, if they were.
    recipe : Recipe
        What was done, to do it again.
    notes : tuple of str
        Sentences for the screen.
    """

    X: FloatArray
    rows: IntArray
    n_rows: int
    labels: npt.NDArray[Any] | None
    fields: dict[str, npt.NDArray[Any]]
    images: npt.NDArray[Any] | None
    recipe: Recipe
    notes: tuple[str, ...]

    def feature_fields(self, most: int = 12) -> dict[str, npt.NDArray[Any]]:
        """Return the named features in their own units, if there are not too many to look at."""
        names = self.recipe.features
        if isinstance(names, int) or len(names) > most:
            return {}
        center, scale = self.recipe.center, self.recipe.scale
        X = self.X if center is None or scale is None else self.X * np.array(scale) + center
        return {name: X[:, place] for place, name in enumerate(names)}


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
    kept, notes = find_useful(table, selection, X, facts)
    positions = tuple(selection.features[place] for place in kept)
    if len(kept) < len(names):
        X, names, facts = X[:, kept], tuple(names[p] for p in kept), facts_at(facts, kept)
    recipe = Recipe(
        features=len(names) if _is_whole_array(table, positions) else names,
        label=None if selection.label is None else table.names[selection.label],
        missing=missing,
        fill=medians(X) if missing == "median" else None,
    )
    X, rows, more = close_gaps(table, X, names, facts.n_missing, recipe)
    if len(rows) < table.n_rows or facts.n_missing.any():
        facts = gather_facts(X, names, table.source)
    _refuse_one_point(table, X, facts)
    if scale == "standard":
        deviation = np.sqrt(facts.variance)
        deviation[deviation == 0] = 1.0
        recipe = replace(recipe, center=tuple(facts.mean.tolist()), scale=tuple(deviation.tolist()))
    notes = (*table.notes, *selection.notes, *notes, *more, *_about(names, facts, scale))
    return _finished(table, X, rows, positions, recipe, notes)


def apply_recipe(recipe: Recipe, table: Table) -> Prepared:
    """Do to new rows what was done to those of a map.

    Columns are found by name, in whatever order the file has them; further columns do not matter.
    """
    positions = _positions(recipe, table)
    X = assemble(table, positions)
    names = tuple(table.names[p] for p in positions)
    facts = gather_facts(X, names, table.source)
    X, rows, notes = close_gaps(table, X, names, facts.n_missing, recipe)
    return _finished(table, X, rows, positions, recipe, (*table.notes, *notes))


def _check_choice(value: str, choices: tuple[str, ...], what: str) -> None:
    if value not in choices:
        msg = f"{quoted(value)} is no way of {what}. Choose one of {', '.join(choices)}."
        raise InvalidInputError(msg)


def _is_whole_array(table: Table, positions: tuple[int, ...]) -> bool:
    """Return whether the features are all columns of data without names, in their order."""
    width = table.n_wide or len(table.columns)
    return not table.has_names and positions == tuple(range(width))


def _positions(recipe: Recipe, table: Table) -> tuple[int, ...]:
    """Return where a recipe's features are in a table."""
    if isinstance(recipe.features, int):
        width = table.n_wide or len(table.columns)
        if table.has_names or width != recipe.features:
            words = (
                f"the map was made from {recipe.features:,} columns without names, but this table "
                f"has {width:,} columns {'with' if table.has_names else 'without'} names. Pass new "
                f"rows in the format of the first ones."
            )
            raise refusal(table.source, words)
        positions = tuple(range(width))
    else:
        places = {name: place for place, name in enumerate(table.names)}
        absent = [name for name in recipe.features if name not in places]
        if absent:
            seen = listed(table.names) if table.has_names else "columns without names"
            words = (
                f"{len(absent):,} of the {recipe.n_features:,} features of the map are not in this "
                f"table: {listed(absent)}. It has {seen}. Add them, or rename its columns."
            )
            raise refusal(table.source, words)
        positions = tuple(places[name] for name in recipe.features)
    texts = [
        table.columns[p - table.n_wide].name
        for p in positions
        if p >= table.n_wide and table.columns[p - table.n_wide].kind == "text"
    ]
    if texts:
        words = f"these features of the map are text in this table: {listed(texts)}."
        raise refusal(table.source, f"{words} Write them as numbers.")
    return positions


def _refuse_one_point(table: Table, X: FloatArray, facts: Facts) -> None:
    if len(X) < FEWEST_ROWS:
        words = f"{count(len(X), 'row')} to make a map of, but at least {FEWEST_ROWS} are needed."
        raise refusal(table.source, f"{words} Pass more data.")
    if (facts.low == facts.high).all():
        words = "every feature has the same value in all rows, so all are one point."
        raise refusal(table.source, f"{words} Choose other columns.")


def _about(names: tuple[str, ...], facts: Facts, scale: str) -> list[str]:
    """Return what a user should know about the features before trusting distances."""
    notes = []
    constant = [name for name, same in zip(names, facts.low == facts.high, strict=True) if same]
    if constant:
        notes.append(f"The same in all rows, so without effect on distances: {listed(constant)}.")
    total = float(facts.variance.sum())
    largest = int(facts.variance.argmax())
    share = float(facts.variance[largest]) / total if total > 0 else 0.0
    if scale == "none" and len(names) > 1 and share > DOMINANT:
        notes.append(
            f"Column {quoted(names[largest])} has {percent(share)} of the variance: distances "
            f"are almost only its own. If the columns have different units, try --scale standard."
        )
    return notes


def _finished(
    table: Table,
    X: FloatArray,
    rows: IntArray,
    positions: tuple[int, ...],
    recipe: Recipe,
    notes: tuple[str, ...],
) -> Prepared:
    """Scale, and add what else is known about the rows."""
    if recipe.center is not None and recipe.scale is not None:
        X = scaled(X, np.array(recipe.center), np.array(recipe.scale))
    names = table.names
    label = None if recipe.label not in names else names.index(recipe.label)
    return Prepared(
        X=X,
        rows=rows,
        n_rows=table.n_rows,
        labels=None if label is None else labels_of(table.column(label), rows),
        fields=fields_of(table, rows, {*positions, label}),
        images=images_of(table, rows, positions),
        recipe=recipe,
        notes=notes,
    )
