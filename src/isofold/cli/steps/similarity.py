"""Objects of a file as distances: how they are compared, and what a method sees of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from isofold._format import count, duration
from isofold.cli.console import Console
from isofold.cli.steps.inputs import ReadOptions, read_file
from isofold.cli.steps.method import read_value

if TYPE_CHECKING:
    from isofold.tables import Prepared
    from isofold.tables.objects import Collection

__all__ = ["COMPARISONS", "DEFAULTS", "make_comparison", "read_distances"]

TEXT = ("strings", "sequences", "texts")


@dataclass(frozen=True)
class ShellSimilarity:
    """A kernel or distance by its name on the command line.

    Attributes
    ----------
    name : str
        Its class in `isofold.similarity`.
    kinds : tuple of str
        Objects that it compares.
    """

    name: str
    kinds: tuple[str, ...]


COMPARISONS = {
    "edit": ShellSimilarity("EditDistance", TEXT),
    "spectrum": ShellSimilarity("SpectrumKernel", TEXT),
    "mismatch": ShellSimilarity("MismatchKernel", TEXT),
    "subsequence": ShellSimilarity("SubsequenceKernel", TEXT),
    "alignment": ShellSimilarity("AlignmentDistance", TEXT),
    "tfidf": ShellSimilarity("TfidfKernel", TEXT),
    "wl": ShellSimilarity("WeisfeilerLehmanKernel", ("molecules", "graphs")),
    "paths": ShellSimilarity("ShortestPathKernel", ("molecules", "graphs")),
    "dtw": ShellSimilarity("DTWDistance", ("series",)),
}

DEFAULTS = {
    "strings": "edit",
    "sequences": "spectrum",
    "molecules": "wl:edge_label=bond",
    "graphs": "wl",
    "texts": "tfidf",
    "series": "dtw",
}
"""How objects are compared if nothing is said: what takes seconds for a thousand."""


def read_distances(
    path: Path, kind: str, similarity: str | None, reading: ReadOptions, console: Console
) -> Prepared:
    """Read the objects of a file, compare all pairs, and return their distances."""
    from isofold.tables.objects import objects_of_table, read_collection

    found = read_collection(path, kind, encoding=reading.encoding or "utf-8")
    if found is None:  # a table
        found = objects_of_table(
            read_file(path, reading),
            kind,
            columns=reading.columns,
            exclude=reading.exclude,
            label=reading.label,
        )
    text = similarity or DEFAULTS[kind]
    left_out = "" if len(found.objects) == found.n_rows else f" of {found.n_rows:,}"
    console.say(f"Read {path.name}: {len(found.objects):,}{left_out} {kind}.")
    for note in found.notes:
        console.note(note)
    return _prepared(found, text, reading.label, console)


def _compare(found: Collection, text: str, console: Console) -> dict[str, Any]:
    """Return distances of all objects by a comparison as it is typed, its code, and its kernel."""
    import time

    from isofold._memory import require_memory
    from isofold.similarity import ObjectKernel, distances_from_kernel

    n = len(found.objects)
    require_memory(
        4 * 8 * n * n, what=f"Comparing all pairs of {n:,} {found.kind}", instead="Take fewer."
    )
    began = time.perf_counter()
    compare = make_comparison(text, found.kind, found.objects)
    values, code = compare(found.objects), f"{compare!r}({found.kind})"
    made = {"X": values, "comparison": code}
    if isinstance(compare, ObjectKernel):
        code = f"distances_from_kernel({code})"
        made = {"X": distances_from_kernel(values), "comparison": code, "kernel": values}
    pairs = count(n * (n - 1) // 2, "pair")
    took = duration(time.perf_counter() - began)
    console.say(f"Compared {pairs} by {text} in {took}; --similarity chooses another.")
    return made


def make_comparison(chosen: str, kind: str, objects: Any = None) -> Any:
    """Return the kernel or distance that ``name:parameter=value,...`` stands for."""
    from isofold import similarity
    from isofold._findings import PYTHON, speaking
    from isofold.exceptions import InvalidInputError

    name, _, typed = chosen.partition(":")
    fitting = [n for n, comparison in COMPARISONS.items() if kind in comparison.kinds]
    if name not in fitting:
        _refuse(f"--similarity {name} does not compare {kind}. Choose one of {', '.join(fitting)}.")
    # A comma within brackets does not separate parameters.
    pairs = [pair for pair in re.split(r",(?=\s*\w+=)", typed) if pair]
    given = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            _refuse(f"--similarity {chosen}: {pair!r} is not of the form parameter=value.")
        given[key.strip()] = read_value(value, f"--similarity {name}:{key.strip()}")
    if "n_gram" in given and isinstance(given["n_gram"], list):
        given["n_gram"] = tuple(given["n_gram"])
    made: Any = getattr(similarity, COMPARISONS[name].name)
    if name == "tfidf":
        # Only the options: its terms are those of the texts.
        texts, made = (["a text"] if objects is None else objects), made.of
        if objects is None and given.get("min_texts") is not None:
            given.pop("min_texts")
        given = {"texts": texts, **given}
    try:
        with speaking(PYTHON):
            return made(**given)
    except (TypeError, InvalidInputError) as error:
        import inspect

        known = [key for key in inspect.signature(made).parameters if key != "texts"]
        wrong = next((key for key in given if key not in (*known, "texts")), None)
        if wrong is None:
            _refuse(f"--similarity {chosen}: {error}")
        _refuse(f"--similarity {name} has no parameter {wrong!r}; it has {', '.join(known)}.")


def _prepared(found: Collection, text: str, label: str | None, console: Console) -> Prepared:
    """Return distances as what a method fits, with names and columns of the same objects."""
    import numpy as np

    from isofold.exceptions import InvalidInputError
    from isofold.tables import Preprocessing
    from isofold.tables.preparation import Prepared, labels_of
    from isofold.tables.text_safety import listed, quoted

    columns = {column.name: column for column in found.columns}
    if label is not None and label not in columns:
        there = f"They have {listed(list(columns))}." if columns else "There are none."
        msg = f"--label {quoted(label)} is nothing that the file tells of its objects. {there}"
        raise InvalidInputError(msg)
    every = np.arange(len(found.objects))
    return Prepared(
        **_compare(found, text, console),
        rows=found.rows,
        n_rows=found.n_rows,
        labels=None if label is None else labels_of(columns[label], every),
        others=tuple(
            (name, labels_of(column, every)) for name, column in columns.items() if name != label
        ),
        images=None,
        preprocessing=Preprocessing(features=len(every), label=label),
        notes=(),
        names=found.names,
    )


def _refuse(message: str) -> NoReturn:
    raise click.UsageError(message, click.get_current_context(silent=True))
