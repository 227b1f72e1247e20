"""What studies of random draws share: files of rows that can be resumed, noise, Markdown tables."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isofold._typing import FloatArray

__all__ = [
    "append_row",
    "log_uniform",
    "markdown_table",
    "noise_floor",
    "numbers_in",
    "short_options",
]


def log_uniform(rng: np.random.RandomState, low: float, high: float) -> float:
    """Return a random number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def noise_floor(truth: FloatArray, noise: float) -> float:
    """Return F = σ√r / extent, the error that noise in the plane alone causes."""
    centered = truth - truth.mean(axis=0)
    extent = np.sqrt((centered**2).sum() / len(centered))
    return float(noise * np.sqrt(truth.shape[1]) / extent)


def numbers_in(path: Path, seed: int) -> set[int]:
    """Return the numbers of the draws of a seed that a file holds."""
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {int(row["number"]) for row in csv.DictReader(file) if int(row["seed"]) == seed}


def append_row(path: Path, row: dict[str, Any], columns: Sequence[str]) -> None:
    """Write a row at the end of a file, with the names of the columns if it is the first."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, columns)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table, or "None." if it has no rows."""
    rows = list(rows)
    if not rows:
        return "None.\n"
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def short_options(options: str) -> str:
    """Return options with fewer digits."""
    words = options.strip("{}").replace("'", "").replace("np.float64", "").split()
    return " ".join(_rounded(word) for word in words)


def _rounded(word: str) -> str:
    number = word.strip("(),")
    try:
        return word.replace(number, f"{float(number):.3g}")
    except ValueError:
        return word
