"""Tables of doubts against errors: ``python -m experiments.ipa_failures.summarize FILE.csv``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from experiments.draw_tables import markdown_table, short_options
from experiments.harness import FULL, Size, say
from experiments.ipa_failures.run import CODES, results_in

__all__ = ["is_failure", "main", "summary", "tables"]

LARGEST_ERROR = 0.1
"""Error relative to the extent above which a map has failed, whatever the noise."""

FLOORS, LEAST_FLOOR, LEAST_ERROR = 3.0, 1e-3, 0.02
"""A map has also failed above three times the floor F, if the floor is at least 1e-3 and the error
above 0.02: below, both are too small to matter."""

SLOW = 10.0
"""Seconds above which a draw is listed."""


def tables(folder: Path, size: Size = FULL) -> None:
    """Write the tables of the draws in a folder, however many there are."""
    del size
    path = results_in(folder)
    text = summary(pd.read_csv(path))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    say(text)


def main() -> None:
    """Write the tables of a file of draws to the standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="file of comma-separated values")
    sys.stdout.write(summary(pd.read_csv(parser.parse_args().file)))


def is_failure(draws: pd.DataFrame, *, least_error: float = LEAST_ERROR) -> pd.Series:
    """Return which maps have failed; all those of surfaces without a flat truth have."""
    beyond_floor = (
        (draws.floor >= LEAST_FLOOR)
        & (draws.error > FLOORS * draws.floor)
        & (draws.error > least_error)
    )
    return (draws.error > LARGEST_ERROR) | beyond_floor | ~draws.has_truth


def summary(draws: pd.DataFrame) -> str:
    """Return all tables as Markdown.

    Parameters
    ----------
    draws : DataFrame
        One row a draw, as `experiments.ipa_failures.run` writes them.

    Returns
    -------
    str
        The tables.
    """
    crashed = draws[draws.exception.notna()]
    draws = draws[draws.exception.isna()].copy()
    draws["failure"] = is_failure(draws)
    raised = draws[[f"raised_{name}" for name in CODES]].astype(bool)
    draws["doubted"] = raised.any(axis=1)
    draws["doubts"] = [_names(row) for row in raised.to_numpy()]
    true_flat = draws[draws.has_truth]
    misses = draws[draws.failure & ~draws.doubted]
    alarms = draws[~draws.failure & draws.doubted]
    strict = is_failure(draws, least_error=0.0)
    parts = [
        ("Draws", _confusion(draws)),
        ("By surface", _by_surface(draws)),
        ("Doubts", _agreements(true_flat)),
        ("Failures without a doubt", _listed(misses)),
        ("Doubts without a failure", _listed(alarms)),
        ("Slow", _listed(draws[draws.seconds > SLOW])),
        (
            "Exceptions",
            markdown_table(("draw", "exception"), crashed[["number", "exception"]].to_numpy()),
        ),
    ]
    head = (
        f"{len(draws)} draws, seed {', '.join(map(str, sorted(set(draws.seed))))}. Seconds a draw: "
        f"median {draws.seconds.median():.2g}, 95 % below {draws.seconds.quantile(0.95):.2g}, "
        f"largest {draws.seconds.max():.3g}. With every error above {FLOORS:g} F counted, however "
        f"small, {int((strict & ~draws.doubted).sum())} of {int(strict.sum())} failures have no "
        f"doubt.\n"
    )
    return head + "".join(f"\n## {title}\n\n{table}" for title, table in parts)


def _confusion(draws: pd.DataFrame) -> str:
    groups = [("all", draws)]
    groups += [("flat", draws[draws.has_truth]), ("closed or curved", draws[~draws.has_truth])]
    rows = []
    for name, group in groups:
        good, bad = group[~group.failure], group[group.failure]
        fraction = f"{good.doubted.mean():.0%}" if len(good) else "-"
        row = (name, len(bad), bad.doubted.sum(), (~bad.doubted).sum(), len(good))
        rows.append((*row, good.doubted.sum(), fraction))
    head = ("surfaces", "failures", "doubted", "missed", "good", "doubted", "fraction")
    return markdown_table(head, rows)


def _by_surface(draws: pd.DataFrame) -> str:
    rows = []
    for name, group in draws.groupby("surface"):
        good, bad = group[~group.failure], group[group.failure]
        median = f"{good.error.median():.1e}" if len(good) else "-"
        rows.append((name, len(good), good.doubted.sum(), median, len(bad), bad.doubted.sum()))
    return markdown_table(
        ("surface", "good", "doubted", "median error", "failures", "doubted"), rows
    )


def _agreements(draws: pd.DataFrame) -> str:
    """Return how each figure goes with the error, on the surfaces whose truth is known."""
    stitched = draws[~(draws.raised_projected | draws.raised_unstitched).astype(bool)]
    rows = []
    for name in CODES:
        raised = draws[f"raised_{name}"].astype(bool)
        others = [f"raised_{other}" for other in CODES if other != name]
        alone = raised & ~draws[others].astype(bool).any(axis=1)
        counts = [(raised & draws.failure).sum(), (raised & ~draws.failure).sum()]
        only = [(alone & draws.failure).sum(), (alone & ~draws.failure).sum()]
        rows.append((name, *_agreement(draws, name), *_agreement(stitched, name), *counts, *only))
    head = ("doubt", "AUC", "Spearman", "AUC, stitched", "Spearman, stitched")
    return markdown_table(
        (*head, "on failures", "on good ones", "alone", "alone on good ones"), rows
    )


def _agreement(draws: pd.DataFrame, name: str) -> tuple[str, str]:
    """Return how well a figure tells failures, and how well it orders errors."""
    values = draws[f"figure_{name}"]
    if values.nunique() < 2 or draws.failure.nunique() < 2:
        return "-", "-"
    auc = roc_auc_score(draws.failure, values)
    return f"{auc:.3f}", f"{spearmanr(values, draws.error).statistic:.2f}"


def _listed(draws: pd.DataFrame) -> str:
    head = (
        "draw",
        "surface",
        "n",
        "d",
        "r",
        "noise",
        "options",
        "F",
        "error",
        "estimate",
        "misfit",
    )
    rows = []
    for draw in draws.itertuples():
        figures = (draw.noise, draw.floor, draw.error, draw.estimated_error, draw.figure_misfit)
        noise, *others = (f"{value:.2g}" for value in figures)
        what = (draw.number, draw.surface, draw.n_samples, draw.n_features, draw.n_components)
        rest = (draw.n_patches, draw.status, f"{draw.seconds:.1f}", draw.doubts)
        rows.append((*what, noise, short_options(draw.options), *others, *rest))
    return markdown_table((*head, "patches", "status", "seconds", "doubts"), rows)


def _names(raised: Iterable[bool]) -> str:
    return ", ".join(name for name, is_raised in zip(CODES, raised, strict=True) if is_raised)


if __name__ == "__main__":
    main()
