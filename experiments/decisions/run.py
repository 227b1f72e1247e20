"""Random draws of other kinds: whether the method used is the best of the candidates.

`Unfold` is fitted to 80 % of the rows. Its candidates are judged in two ways.

- By held-out rows: five times 80 % of the rows are fitted and the others placed by `transform`, so
  that every row is held out once; the first of these splits is that of `Unfold`. The score is that
  of its rehearsals: the share of the 10 nearest neighbors kept, times one minus the mean of two
  median errors of distances, to them and to the 10 nearest on the map. The mean of the five counts.
- By the truth, where true coordinates exist: Procrustes error on the rows that `Unfold` saw; the
  mean over components, if the truth holds for each by itself.

A decision is right if the method used is the best, or within one percent of the best: an error of
at most 1.01 times the least, or a score of at least .99 times the largest. There are three counts:
by the truth where there is one and otherwise by the score; by either of the two, since the truth
says little where all methods fail; and by the truth or otherwise by the one split that `Unfold`
saw. Scores vary by chance: the standard error of the difference to the best (from the five splits)
is reported, but does not count.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.decisions.kinds import SIZES, Draw, make_draw
from experiments.harness import FULL, Row, Size, say, write_table
from isofold import Unfold
from isofold._typing import FloatArray, IntArray
from isofold.embedding.unfold.rehearsal import fit_quietly, judge, make_embedder, nearest_points
from isofold.exceptions import InvalidInputError
from isofold.neighbors.search.protocol import pair_distances
from isofold.quality import procrustes_error

__all__ = ["METHODS", "SEED", "Verdict", "decide", "draws", "error_of", "fresh"]

SEED, FRESH_SEED = 2026, 2027
"""Seeds of the draws. `Unfold` was changed after a look at the first ones only."""

N_DRAWS = 50
N_FOLDS, N_NEIGHBORS = 5, 10
TIE = 0.01
METHODS = ("ipa", "local_mds", "neighbor_map", "pca")


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was decided on a draw, and how the candidates did.

    Attributes
    ----------
    used : str
        The method used.
    scores : mapping of str to ndarray of shape (n_folds,)
        Held-out scores of every method.
    errors : mapping of str to float
        True errors of every method; empty without a truth.
    unfold : Unfold or None
        The fitted estimator.
    seconds : float
        Processor time of its fit.
    """

    used: str
    scores: Mapping[str, FloatArray]
    errors: Mapping[str, float]
    unfold: Unfold | None = None
    seconds: float = float("nan")

    @property
    def best(self) -> str:
        """The best method: by the truth if there is one, else by held-out rows."""
        if self.errors:
            return min(self.errors, key=self.errors.__getitem__)
        return max(self.scores, key=lambda method: self.scores[method].mean())

    @property
    def is_right(self) -> bool:
        """Whether the method used is the best or ties with it."""
        if self.errors:
            return self.errors[self.used] <= (1 + TIE) * self.errors[self.best]
        return self._keeps_best(np.mean)

    @property
    def is_right_by_either(self) -> bool:
        """Whether the method used is the best, or ties with it, by the truth or the scores."""
        return self.is_right or self._keeps_best(np.mean)

    @property
    def is_right_on_first(self) -> bool:
        """Whether it is the best by the held-out rows of one split, that of `Unfold`."""
        return self._keeps_best(lambda scores: scores[0])

    @property
    def deviation(self) -> float:
        """Standard error of the difference between the scores of the best and the used method."""
        differences = self.scores[self.best] - self.scores[self.used]
        return float(differences.std(ddof=1) / np.sqrt(len(differences)))

    def _keeps_best(self, figure: Any) -> bool:
        largest = max(figure(scores) for scores in self.scores.values())
        return bool(figure(self.scores[self.used]) >= (1 - TIE) * largest)


def error_of(places: FloatArray, draw: Draw, rows: IntArray) -> float:
    """Return the Procrustes error of some rows of a draw with a truth, the mean over pieces."""
    truth = np.asarray(draw.truth)[rows]
    pieces = np.zeros(len(rows)) if draw.pieces is None else draw.pieces[rows]
    errors = [procrustes_error(places[pieces == p], truth[pieces == p]) for p in np.unique(pieces)]
    return float(np.mean(errors))


def decide(draw: Draw) -> Verdict:
    """Return what `Unfold` decides on most of the rows, and how its candidates do."""
    fitted, _ = _splits(draw)[0]
    unfold = Unfold(n_components=draw.n_components, random_state=draw.random_state, n_jobs=1)
    begin = time.process_time()
    fit_quietly(unfold, draw.X[fitted])
    seconds = time.process_time() - begin
    scores, errors = try_all(draw)
    return Verdict(unfold.decision_.method, scores, errors, unfold, seconds)


def try_all(draw: Draw) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Return the held-out scores of all candidates, and their true errors if there is a truth."""
    scores = {method: np.zeros(N_FOLDS) for method in METHODS}
    errors = {} if draw.truth is None else dict.fromkeys(METHODS, np.inf)
    for fold, (train, test) in enumerate(_splits(draw)):
        for method in METHODS:
            embedder = _fitted(method, draw, draw.X[train])
            if embedder is None:
                continue
            scores[method][fold] = _score(embedder, draw.X[train], draw.X[test])
            if errors and fold == 0:
                errors[method] = error_of(embedder.embedding_, draw, train)
    return scores, errors


def draws(folder: Path, size: Size = FULL) -> None:
    """Run the draws whose wrong decisions were looked at."""
    _run(SEED, folder / "decisions_draws", size)


def fresh(folder: Path, size: Size = FULL) -> None:
    """Run the draws that nobody had looked at."""
    _run(FRESH_SEED, folder / "decisions_fresh", size)


def _run(seed: int, path: Path, size: Size) -> None:
    rows = []
    for number in size.few(range(N_DRAWS)):
        draw = make_draw(seed, number, largest=size.points(SIZES[1]))
        rows.append(_row(number, draw, decide(draw)))
        _append(path.with_name(f"{path.name}_log.csv"), rows[-1])
        say(" | ".join(str(value) for value in rows[-1].values()))
    write_table(rows, path)
    kinds = ("right", "right by either", "right, one split")
    counts = {key: sum(row[key] == "yes" for row in rows) for key in kinds}
    say(", ".join(f"{key}: {count} of {len(rows)}" for key, count in counts.items()))


def _splits(draw: Draw) -> list[tuple[IntArray, IntArray]]:
    """Return the rows that are fitted and those that are held out, of every split."""
    n = len(draw.X)
    order = np.random.RandomState(draw.random_state).permutation(n)
    held = np.array_split(order, [round(n * fold / N_FOLDS) for fold in range(1, N_FOLDS)])
    return [(np.setdiff1d(order, rows), np.sort(rows)) for rows in held]


def _fitted(method: str, draw: Draw, train: FloatArray) -> Any:
    """Return a fitted candidate, None if it refuses the data."""
    seed = {} if method == "pca" else {"random_state": draw.random_state, "n_jobs": 1}
    embedder = make_embedder(method, draw.n_components, **seed)
    try:
        fit_quietly(embedder, train)
    except InvalidInputError:
        return None
    return embedder


def _score(embedder: Any, train: FloatArray, test: FloatArray) -> float:
    near = nearest_points(train, test, N_NEIGHBORS, is_same=False)
    placed, lengths_to = embedder.transform(test), partial(pair_distances, test, train)
    return judge(near, lengths_to, embedder.embedding_, placed, is_same=False).score


def _row(number: int, draw: Draw, verdict: Verdict) -> Row:
    decision = verdict.unfold.decision_
    rehearsed = {c.method: c.score for c in decision.candidates}
    figures = verdict.errors or {m: scores.mean() for m, scores in verdict.scores.items()}
    right_at_first = verdict.is_right if verdict.errors else verdict.is_right_on_first
    return {
        "draw": number,
        "kind": draw.kind,
        "n": len(draw.X),
        "parameters": draw.words,
        "judged by": "error" if verdict.errors else "score",
        **{method: round(float(figures[method]), 4) for method in METHODS},
        "used": verdict.used,
        "best": verdict.best,
        "right": "yes" if verdict.is_right else "NO",
        "right by either": "yes" if verdict.is_right_by_either else "NO",
        "right, one split": "yes" if right_at_first else "NO",
        "standard error": round(verdict.deviation, 4),
        **{f"score {m}": round(float(verdict.scores[m].mean()), 4) for m in METHODS},
        **{f"rehearsed {m}": _rounded(rehearsed, m) for m in METHODS},
        "dimension": round(verdict.unfold.survey_.dimension, 2),
        "misfit": _rounded(decision.evidence, "misfit"),
        "seconds": round(verdict.seconds, 1),
    }


def _rounded(figures: Mapping[str, float], name: str) -> float | str:
    """Return a figure for the table, nothing if it was not measured."""
    return round(figures[name], 4) if name in figures else ""


def _append(path: Path, row: Row) -> None:
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(row))
        if is_new:
            writer.writeheader()
        writer.writerow(row)
