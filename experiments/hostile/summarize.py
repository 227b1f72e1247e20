"""Tables of warnings against errors: ``python -m experiments.hostile.summarize draws.csv``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.draw_tables import markdown_table, short_options
from experiments.harness import FULL, Size, say
from experiments.hostile.run import METHODS, results_in
from experiments.ipa_failures.summarize import SLOW, is_failure

__all__ = ["judged", "summary", "tables"]

LEAST_WRONG, FEWEST_WRONG = 0.005, 3
"""Fraction and number of wrong samples from which on a map that is right else is a failure."""

TEXT = ("unknown", "raised", "doubts", "figures", "admitted", "used", "options")


def tables(folder: Path, size: Size = FULL) -> None:
    """Write the tables of the draws in a folder, however many there are."""
    del size
    for method in METHODS:
        path = results_in(folder, method)
        text = summary(pd.read_csv(path))
        path.with_suffix(".md").write_text(text, encoding="utf-8")
        say(text)


def main() -> None:
    """Write the tables of a file of draws to the standard output."""
    parser = argparse.ArgumentParser(prog="experiments.hostile.summarize", description=__doc__)
    parser.add_argument("file", type=Path, help="file of comma-separated values")
    say(summary(pd.read_csv(parser.parse_args().file)))


def judged(draws: pd.DataFrame) -> pd.DataFrame:
    """Return the draws with what became of each.

    Parameters
    ----------
    draws : DataFrame
        One row a draw, as `experiments.hostile.run` writes them; without exceptions.

    Returns
    -------
    DataFrame
        The same with further columns. "verdict" is "good", "failure", "few points wrong", or
        "curved" for a map of a surface that is curved, but so little that a flat map can be nearly
        exact: no verdict is passed on whether to warn of that. "known" tells whether the answer
        can be known, "warned" whether something was raised, "alarm" whether it was without need.
    """
    # A column without any text is read as one of numbers.
    texts = {name: draws[name].astype(object).where(draws[name].notna(), "") for name in TEXT}
    draws = draws.assign(**texts)
    failed = is_failure(draws)
    few = (draws.wrong >= LEAST_WRONG) & (draws.wrong * draws.n_samples >= FEWEST_WRONG)
    is_curved = draws.loss > 0
    draws["verdict"] = np.select(
        [failed, few, is_curved], ["failure", "few points wrong", "curved"], "good"
    )
    draws["known"] = draws.unknown == ""
    # The diagnosis of IPA is its user's to see; that of a method within `Unfold` is not.
    draws["warned"] = (draws.raised != "") | ((draws.method == "ipa") & (draws.doubts != ""))
    # The user knows of wrong samples that are marked as outliers.
    left = draws.wrong_unmarked >= LEAST_WRONG
    left &= draws.n_wrong_unmarked >= FEWEST_WRONG
    draws["heard"] = draws.warned | ((draws.verdict == "few points wrong") & ~left)
    draws["silent"] = draws.verdict.isin(["failure", "few points wrong"]) & ~draws.heard
    unneeded = np.array([_is_unneeded(row) for row in draws.itertuples()], dtype=bool)
    # Where nobody can know, a doubt is right even if the map is.
    draws["alarm"] = (draws.verdict == "good") & draws.known & draws.warned & unneeded
    return draws


def _is_unneeded(row: Any) -> bool:
    """Return whether a warning has no good reason; disconnected samples and outliers are some."""
    right = set()
    if row.is_apart:
        right.add("components")
    if row.has_outliers:
        right.add("outliers")
    doubts = set(row.doubts.split())
    return not doubts or bool(doubts - right)


def summary(draws: pd.DataFrame) -> str:
    """Return all tables as Markdown.

    Parameters
    ----------
    draws : DataFrame
        One row a draw, as `experiments.hostile.run` writes them.

    Returns
    -------
    str
        The tables.
    """
    crashed = draws[draws.exception.notna()]
    draws = judged(draws[draws.exception.isna()])
    silent, alarms = draws[draws.silent], draws[draws.alarm]
    method = ", ".join(sorted(set(draws.method)))
    head = (
        f"{len(draws)} draws of {method}, seed {', '.join(map(str, sorted(set(draws.seed))))}. "
        f"Seconds a draw: median {draws.seconds.median():.2g}, 95 % below "
        f"{draws.seconds.quantile(0.95):.2g}, largest {draws.seconds.max():.3g}.\n"
    )
    lost = crashed[["number", "family", "n_samples", "exception"]].to_numpy()
    parts = [
        ("Draws", _overall(draws)),
        ("Why nobody can know", _by_reason(draws[~draws.known])),
        ("By family", _by_family(draws)),
        ("Silent failures whose answer can be known", _listed(silent[silent.known])),
        ("Silent failures whose answer nobody can know", _listed(silent[~silent.known])),
        ("False alarms where the answer can be known", _listed(alarms)),
        ("Slow", _listed(draws[draws.seconds > SLOW])),
        ("Exceptions", markdown_table(("draw", "family", "n", "exception"), lost)),
    ]
    return head + "".join(f"\n## {title}\n\n{table}" for title, table in parts)


def _counts(group: pd.DataFrame) -> tuple[Any, ...]:
    """Return the figures of a group: good maps and alarms, failures and silent ones."""
    good = group[group.verdict == "good"]
    bad = group[group.verdict.isin(["failure", "few points wrong"])]
    admitted = int((bad.silent & (bad.admitted != "")).sum())
    return (
        len(good),
        int(good.alarm.sum()),
        _fraction(good.alarm[good.known]),
        len(bad),
        int((bad.verdict == "few points wrong").sum()),
        int(bad.silent.sum()),
        _fraction(bad.silent),
        admitted,
    )


COUNTED = (
    "good",
    "false alarms",
    "%",
    "failures",
    "of them few points",
    "silent",
    "%",
    "admitted by the decision only",
)


def _overall(draws: pd.DataFrame) -> str:
    has_truth = draws.has_truth.astype(bool)
    groups = [
        ("all", draws),
        ("can be known", draws[draws.known]),
        ("can be known, flat", draws[draws.known & has_truth]),
        ("can be known, no flat map", draws[draws.known & ~has_truth]),
        ("nobody can know", draws[~draws.known]),
    ]
    rows = [(name, len(group), *_counts(group)) for name, group in groups]
    return markdown_table(("answer", "draws", *COUNTED), rows)


def _by_reason(draws: pd.DataFrame) -> str:
    rows = [(name, len(group), *_counts(group)) for name, group in draws.groupby("unknown")]
    return markdown_table(("reason", "draws", *COUNTED), rows)


def _by_family(draws: pd.DataFrame) -> str:
    rows = []
    for name, group in draws.groupby("family"):
        known = group[group.known]
        rows.append((name, len(group), len(known), *_counts(known)[:-1]))
    return markdown_table(("family", "draws", "can be known", *COUNTED[:-1]), rows)


def _fraction(values: pd.Series) -> str:
    return f"{values.mean():.0%}" if len(values) else "-"


def _listed(draws: pd.DataFrame) -> str:
    head = ("draw", "family", "n", "d", "r", "noise", "options", "F", "error", "wrong", "verdict")
    rows = []
    for draw in draws.sort_values("number").itertuples():
        noise, floor, error, wrong = (
            f"{value:.2g}" for value in (draw.noise, draw.floor, draw.error, draw.wrong)
        )
        what = (draw.number, draw.family, draw.n_samples, draw.n_features, draw.n_components)
        verdict = draw.verdict if not draw.unknown else f"{draw.verdict} ({draw.unknown})"
        figures = (noise, short_options(draw.options), floor, error, wrong, verdict)
        rows.append((*what, *figures, draw.used, draw.doubts, draw.admitted, f"{draw.seconds:.1f}"))
    return markdown_table((*head, "used", "doubts", "admitted", "seconds"), rows)


if __name__ == "__main__":
    main()
