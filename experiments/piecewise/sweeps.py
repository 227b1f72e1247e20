"""Swiss rolls of several densities and with noise (Tables 4.1 and 4.2).

The thesis averages over k and over the size of the measures and names neither grid; from its
remarks k went from 3 to 36. It begins at 4 here, see the README.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.piecewise.measures import Scores, Yardstick, count_short_cuts, spread
from experiments.piecewise.methods import THESIS, attempt, plml
from experiments.piecewise.paper import TABLE_4_1, TABLE_4_2, Printed
from isofold._typing import FloatArray
from isofold.datasets import swiss_roll
from isofold.quality import procrustes_error, trustworthiness

__all__ = ["density", "noise", "pieces_and_noise"]

PIECES = (3, 6, 9, 18, 36)
SIZES = (5, 10, 15, 20)
N_DRAWS = {250: 3, 500: 3, 1000: 3, 2000: 2}
N_NOISY, N_NOISY_DRAWS = 2000, 1
LARGER = (6, 9, 14, 20, 28, 36)
"""Sizes of cells to counter noise with."""
N_SEEDS = 3
TRUTH, UNTOUCHED = "true sheet", "PLML, untouched"


@dataclass(frozen=True, eq=False)
class Judged:
    """A map of a roll and its scores.

    Attributes
    ----------
    method : str
        Name of the method.
    k : int or None
        Number of neighbors or size of cells, None if the method chose it.
    scores : Scores or None
        None if there was no map.
    sheet_error : float
        Distance from the true sheet, scale allowed for.
    trouble : tuple of str
        Kinds of warnings and errors.
    """

    method: str
    k: int | None
    scores: Scores | None
    sheet_error: float
    trouble: tuple[str, ...]


def density(folder: Path, size: Size = FULL) -> None:
    """Table 4.1: fewer and more points."""
    sizes = size.few(list(TABLE_4_1))
    judged = {n: _draws(n, 0.0, N_DRAWS[n], size) for n in sizes}
    write_table(list(_rows("n", judged, TABLE_4_1)), folder / "density")
    by_size = [row for n, found in judged.items() for row in _by_k("n", n, found)]
    write_table(by_size, folder / "density_by_k")
    write_table(_short_cuts(size), folder / "density_short_cuts")


def noise(folder: Path, size: Size = FULL) -> None:
    """Table 4.2: more and more noise."""
    sigmas = size.few(list(TABLE_4_2))
    judged = {sigma: _draws(N_NOISY, sigma, N_NOISY_DRAWS, size) for sigma in sigmas}
    write_table(list(_rows("noise", judged, TABLE_4_2)), folder / "noise")
    by_size = [row for sigma, found in judged.items() for row in _by_k("noise", sigma, found)]
    write_table(by_size, folder / "noise_by_k")


def pieces_and_noise(folder: Path, size: Size = FULL) -> None:
    """Larger cells against noise (Figure 4.19), by PLML alone and with more draws."""
    rows = []
    n, seeds = size.points(N_NOISY), range(size.repeats(N_SEEDS))
    for sigma in size.few(list(TABLE_4_2)):
        rolls = [swiss_roll(n, noise=sigma, random_state=seed) for seed in seeds]
        row: dict[str, Any] = {"noise": sigma}
        for k in (*LARGER, "auto"):
            maps = [attempt(plml(k), roll.X).embedding for roll in rolls]
            found = [
                (float(trustworthiness(roll.X, Y)), float(procrustes_error(Y, roll.truth)))
                for roll, Y in zip(rolls, maps, strict=True)
                if Y is not None
            ]
            trust, error = np.median(found, axis=0)
            row[f"k = {k}"] = f"{trust:.4f} ({error:.2g})"
        rows.append(row)
    write_table(rows, folder / "pieces_and_noise")


def _draws(n_samples: int, sigma: float, n_draws: int, size: Size) -> tuple[Judged, ...]:
    found: list[Judged] = []
    for seed in range(size.repeats(n_draws)):
        roll = swiss_roll(size.points(n_samples), noise=sigma, random_state=seed)
        found += _judge(roll.X, roll.truth)
        say(f"n = {n_samples}, noise {sigma}, draw {seed}: done")
    return tuple(found)


def _judge(X: FloatArray, truth: FloatArray) -> Iterator[Judged]:
    yardstick = Yardstick(X, SIZES)
    trials = [("PCA", None, PCA(2)), (UNTOUCHED, None, plml())]
    trials += [(name, k, make(k)) for name, make in THESIS.items() for k in PIECES]
    for name, k, model in trials:
        tried = attempt(model, X)
        if tried.embedding is None:
            yield Judged(name, k, None, np.nan, tried.trouble)
            continue
        error = float(procrustes_error(tried.embedding, truth, scale=True))
        yield Judged(name, k, yardstick.score(tried.embedding), error, tried.trouble)
    yield Judged(TRUTH, None, yardstick.score(truth), 0.0, ())


def _rows(
    axis: str,
    judged: Mapping[Any, Iterable[Judged]],
    printed: Mapping[Any, Mapping[str, Printed]],
) -> Iterator[Row]:
    for value, found in judged.items():
        for name in ("Isomap", "LLE", "LTSA", "PCA", "PLML", UNTOUCHED, TRUTH):
            ones = [one for one in found if one.method == name]
            scored = [one.scores for one in ones if one.scores is not None]
            thesis = printed[value].get(name)
            yield {
                axis: value,
                "method": name,
                "T": spread([s.trust for s in scored], ".4f"),
                "thesis": "" if thesis is None else thesis.trust,
                "PE": spread([s.local_error for s in scored]),
                "thesis, 1e-4": "" if thesis is None else thesis.local_error,
                "rho": spread([s.residual for s in scored]),
                "rho, thesis": "" if thesis is None else thesis.residual,
                "error of sheet": float(np.nanmedian([one.sheet_error for one in ones])),
                "no map": f"{len(ones) - len(scored)} of {len(ones)}",
                "warned": f"{sum(bool(one.trouble) for one in ones)} of {len(ones)}",
            }


def _by_k(axis: str, value: Any, found: Iterable[Judged]) -> Iterator[Row]:
    for name in THESIS:
        row: dict[str, Any] = {axis: value, "method": name}
        for measure, what, form in (("T", "trust", ".3f"), ("PE", "local_error", ".3g")):
            for k in PIECES:
                scores = [
                    getattr(one.scores, what).mean()
                    for one in found
                    if (one.method, one.k) == (name, k) and one.scores is not None
                ]
                row[f"{measure}, k = {k}"] = f"{np.mean(scores):{form}}" if scores else "-"
        yield row


def _short_cuts(size: Size) -> list[Row]:
    rows: list[Row] = []
    for n in size.few(list(TABLE_4_1)):
        roll = swiss_roll(size.points(n), random_state=0)
        counts = {f"k = {k}": count_short_cuts(roll.X, roll.truth, k) for k in SIZES}
        rows.append({"n": n, **counts})
    return rows
