"""What experiments share: fit a method and keep what it says, write tables, run by name."""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isofold._typing import FloatArray

__all__ = ["Experiment", "Outcome", "Row", "command", "fit", "say", "write_table"]

Row = Mapping[str, Any]
Experiment = Callable[[Path], None]

OUTPUT = Path("experiment-output")


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted method.

    Attributes
    ----------
    name : str
        Name of the method, for tables and pictures.
    model : estimator
        The fitted estimator.
    embedding : ndarray of shape (n_samples, n_components)
        The map.
    seconds : float
        Processor time of the fit, which other work on the machine does not change.
    warnings : tuple of str
        What the method warned of, each once.
    """

    name: str
    model: Any
    embedding: FloatArray
    seconds: float
    warnings: tuple[str, ...]


def fit(name: str, model: Any, X: FloatArray) -> Outcome:
    """Fit an estimator and record its processor time and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.process_time()
        embedding = model.fit_transform(X)
        seconds = time.process_time() - begin
    say(f"{name}: {seconds:.1f} s")
    words = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    return Outcome(name, model, embedding, seconds, tuple(words))


def write_table(rows: Sequence[Row], path: Path) -> None:
    """Write rows with the same keys as CSV and as markdown, and show them."""
    columns = list(rows[0])
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    lines = [columns, ["---"] * len(columns)]
    lines += [[_cell(row[column]) for column in columns] for row in rows]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    say(text)


def command(experiments: Mapping[str, Experiment], description: str | None) -> None:
    """Run the experiments that are named on the command line, all by default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(experiments))
    parser.add_argument("--out", type=Path, default=OUTPUT, help="folder of pictures and tables")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(experiments))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(experiments)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or experiments:
        say(f"== {name}")
        experiments[name](options.out)


def say(text: str) -> None:
    """Print at once, so that a long run can be followed."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
