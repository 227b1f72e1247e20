"""What experiments share: fit a method and keep what it says, write tables, run by name."""

from __future__ import annotations

import argparse
import csv
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from isofold._typing import FloatArray
from isofold.datasets import Dataset

__all__ = [
    "FULL",
    "OUTPUT",
    "Experiment",
    "Outcome",
    "Row",
    "Size",
    "add_options",
    "command",
    "fit",
    "run",
    "say",
    "size_of",
    "write_table",
]

T = TypeVar("T")
Row = Mapping[str, Any]

OUTPUT = Path("experiment-output")
LEAST_POINTS = 80
"""Fewer points are too few for the up to 50 neighbors that experiments look at."""
GROUP = 10
"""Points that a cluster or patch has at least, on average, in a rehearsal."""


@dataclass(frozen=True)
class Size:
    """How much of an experiment is run: all of it, or a rehearsal on few points.

    A rehearsal takes the same steps with the same methods and writes the same tables, in seconds
    instead of hours. Its figures mean nothing.

    Attributes
    ----------
    most : int or None
        Largest number of points of a data set; None for the experiment itself.
    """

    most: int | None = None

    def points(self, n: int) -> int:
        """Return the number of points to take instead of n."""
        return n if self.most is None else min(n, self.most)

    def groups(self, n: int) -> int:
        """Return the number of clusters or patches to ask for instead of n."""
        return n if self.most is None else min(n, max(2, self.most // GROUP))

    def repeats(self, n: int) -> int:
        """Return how often to repeat what the experiment repeats n times: enough for a spread."""
        return n if self.most is None else min(n, 2)

    def few(self, values: Sequence[T]) -> Sequence[T]:
        """Return the values of a parameter to try: the first and the last in a rehearsal."""
        return values if self.most is None or len(values) < 3 else [values[0], values[-1]]

    def rows(self, n: int) -> slice | np.ndarray:
        """Return the rows to take of n: evenly spread over all of them, so over all classes."""
        if self.most is None or n <= self.most:
            return slice(None)
        return np.linspace(0, n - 1, self.most).astype(np.intp)

    def part(self, data: Dataset) -> Dataset:
        """Return the part of a data set to work with."""
        rows = self.rows(len(data.X))
        return replace(
            data,
            X=data.X[rows],
            truth=None if data.truth is None else data.truth[rows],
            labels=None if data.labels is None else data.labels[rows],
            targets={key: values[rows] for key, values in data.targets.items()},
        )


FULL = Size()
"""The experiment as it is reported."""

Experiment = Callable[[Path, Size], None]


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


def command(
    experiments: Mapping[str, Experiment],
    description: str | None,
    arguments: Sequence[str] | None = None,
) -> None:
    """Run the experiments that are named on the command line, all by default.

    One that fails does not stop the others; the command ends with status 1 then and names it.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(experiments))
    add_options(parser)
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(experiments))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(experiments)}")
    size = size_of(parser, options)
    chosen = {name: experiments[name] for name in options.names or experiments}
    failed = run(chosen, options.out, size)
    if failed:
        sys.exit(f"{len(failed)} of {len(chosen)} failed: {', '.join(failed)}")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all experiments have."""
    parser.add_argument("--out", type=Path, default=OUTPUT, help="folder of pictures and tables")
    parser.add_argument(
        "--points",
        type=int,
        metavar="N",
        help="rehearse: the same tables from at most N points of every data set, with few "
        f"repetitions; their figures mean nothing (at least {LEAST_POINTS})",
    )


def size_of(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Size:
    """Return how much is to be run."""
    if options.points is not None and options.points < LEAST_POINTS:
        parser.error(f"--points {options.points}: methods ask for at least {LEAST_POINTS} points")
    return Size(options.points)


def run(experiments: Mapping[str, Experiment], folder: Path, size: Size = FULL) -> list[str]:
    """Run all experiments, whatever becomes of any; return the names of those that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name, experiment in experiments.items():
        say(f"== {name}")
        begin = time.process_time()
        try:
            # Seconds are those of one core: threads that wait for each other count, too.
            with threadpool_limits(1):
                experiment(folder, size)
        except Exception:
            failed.append(name)
            say(f"{traceback.format_exc()}== {name} FAILED")
        else:
            say(f"== {name}: {time.process_time() - begin:.1f} s of processor time")
    return failed


def say(text: str) -> None:
    """Print at once, so that a long run can be followed."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
