"""All sets in two dimensions and in as many as they have: tables, claims, and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist, squareform

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save, show_map
from experiments.real_data.measures import measure
from experiments.real_data.methods import METHODS, available, embed
from experiments.real_data.sets import CHOOSING
from isofold._typing import FloatArray
from isofold.datasets import Dataset

__all__ = [
    "claim",
    "claims_at_best_scale",
    "claims_in_dimension",
    "claims_in_plane",
    "colors",
    "short",
    "summary",
    "tables",
    "verdicts",
]

HIGHER = ("PCA", "Isomap", "UMAP", "IPA", "LocalMDS", "Unfold")
"""The methods that are also asked for as many components as the data have dimensions."""
CLAIMING = ("LocalMDS", "Unfold")
"""The methods that are to be better than their peers."""
IN_SUMMARY = {
    "trustworthiness": 3,
    "continuity": 3,
    "lost": 2,
    "length_error": 2,
    "scaled_error": 2,
}
"""Figures of the summary, and their digits."""
GROUPS = 20
"""Colors of classes are repeated after so many."""
MOST_CONTINUITY_LOST = 0.01
LEAST_TRUST = 0.98

Claims = Callable[[Sequence[Row], str], Iterator[Row]]


def tables(folder: Path, size: Size = FULL) -> None:
    """Map all sets in two dimensions by all methods, then in their own dimension by some."""
    plane: list[Row] = []
    higher: list[Row] = []
    words: list[str] = []
    drawn: dict[tuple[str, str], tuple[Dataset, FloatArray, Row]] = {}
    for one in CHOOSING[: size.repeats(len(CHOOSING))]:
        data = one.load(size)
        say(f"{one.name}: {data}")
        distances = squareform(pdist(data.X))
        for name in available(METHODS):
            for r in (2, one.dimension) if name in HIGHER else (2,):
                made = embed(name, data.X, r, label=one.name, folder=folder)
                figures = asdict(measure(distances, made.Y, metric="precomputed"))
                row = {"set": one.name, "r": r, "method": name, **figures, "seconds": made.seconds}
                (plane if r == 2 else higher).append(row)
                words.append(f"{one.name}, {name}, n_components={r}\n{made.words}\n")
                if r == 2:
                    drawn[one.name, name] = data, made.Y, row
    _write(plane, folder / "real_data_2d", claims=claims_in_plane, best_scale=claims_at_best_scale)
    _write(higher, folder / "real_data_own", claims=claims_in_dimension)
    (folder / "real_data_words.txt").write_text("\n".join(words), encoding="utf-8")
    _draw(drawn, folder / "real_data_2d.png")


def summary(rows: Sequence[Row], figures: Mapping[str, int] = IN_SUMMARY) -> list[Row]:
    """Return one row a set and one column a method: T / C / lost / length / at best scale."""
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        line = table.setdefault(row["set"], {"set": row["set"], "r": row["r"]})
        line[row["method"]] = " / ".join(
            short(row[figure], digits) for figure, digits in figures.items()
        )
    return list(table.values())


def verdicts(claims: Sequence[Row]) -> list[Row]:
    """Return one row a set and method and one column a claim."""
    table: dict[tuple[str, str], dict[str, Any]] = {}
    for claim in claims:
        key = claim["set"], claim["method"]
        line = table.setdefault(key, {"set": claim["set"], "method": claim["method"]})
        value, bound = (short(claim[figure], 3) for figure in ("value", "bound"))
        line[f"{claim['figure']} {claim['wanted']}"] = f"{claim['holds']}: {value} ({bound})"
    return list(table.values())


def claims_in_plane(rows: Sequence[Row], ours: str) -> Iterator[Row]:
    """Compare one of our methods with its peers in two dimensions, set by set."""
    for mine, other in _against(rows, ours):
        for peer in _present(("Isomap", "PCA"), other):
            least = other[peer]["trustworthiness"]
            yield claim(mine, "trustworthiness", f"above {peer}", least, mine_is="above")
        for peer in _present(("UMAP", "t-SNE"), other):
            most = other[peer]["length_error"] / 2
            yield claim(mine, "length_error", f"at most half of {peer}", most, mine_is="at most")
        for peer in _present(("UMAP",), other):
            least = other[peer]["continuity"] - MOST_CONTINUITY_LOST
            yield claim(mine, "continuity", f"{peer} less .01", least, mine_is="at least")


def claims_at_best_scale(rows: Sequence[Row], ours: str) -> Iterator[Row]:
    """Compare lengths in two dimensions, each map made as large as is best for it."""
    for mine, other in _against(rows, ours):
        for peer in _present(("UMAP", "t-SNE"), other):
            most = other[peer]["scaled_error"]
            yield claim(mine, "scaled_error", f"below {peer}", most, mine_is="below")
            yield claim(
                mine, "scaled_error", f"at most half of {peer}", most / 2, mine_is="at most"
            )


def claims_in_dimension(rows: Sequence[Row], ours: str) -> Iterator[Row]:
    """Compare one of our methods with its peers in the data's own dimension, set by set."""
    for mine, other in _against(rows, ours):
        yield claim(mine, "trustworthiness", "at least .98", LEAST_TRUST, mine_is="at least")
        most = other["Isomap"]["length_error"]
        yield claim(mine, "length_error", "below Isomap", most, mine_is="below")


def _against(rows: Sequence[Row], ours: str) -> Iterator[tuple[Row, dict[str, Row]]]:
    """Yield our row and those of all methods by name, set by set."""
    for name in dict.fromkeys(row["set"] for row in rows):
        of_set = {row["method"]: row for row in rows if row["set"] == name}
        if ours in of_set:
            yield of_set[ours], of_set


def _present(peers: Sequence[str], others: Mapping[str, Row]) -> list[str]:
    """Return the peers that were run: UMAP may not be installed."""
    return [peer for peer in peers if peer in others]


def claim(mine: Row, figure: str, wanted: str, bound: float, *, mine_is: str) -> Row:
    """Return whether a figure of ours is above, below, at least or at most its bound."""
    value = mine[figure]
    holds = {
        "above": value > bound,
        "at least": value >= bound,
        "below": value < bound,
        "at most": value <= bound,
    }[mine_is]
    return {
        "set": mine["set"],
        "method": mine["method"],
        "figure": figure,
        "wanted": wanted,
        "value": value,
        "bound": bound,
        "holds": "yes" if holds else "no",
    }


def _write(rows: Sequence[Row], path: Path, **claims: Claims) -> None:
    """Write all figures, a summary, and which claims hold."""
    write_table(rows, path)
    write_table(summary(rows), path.with_name(f"{path.name}_summary"))
    for (kind, claims_of), name in product(claims.items(), CLAIMING):
        found = list(claims_of(rows, name))
        if found:
            write_table(verdicts(found), path.with_name(f"{path.name}_{kind}_{name}"))
            n_held = sum(claim["holds"] == "yes" for claim in found)
            say(f"{name}: {n_held} of {len(found)} claims hold\n")


def short(value: float, digits: int) -> str:
    """Return a number without the zero in front of its point."""
    return f"{value:.{digits}f}".removeprefix("0")


def _draw(drawn: dict[tuple[str, str], tuple[Dataset, FloatArray, Row]], path: Path) -> None:
    sets, methods = (list(dict.fromkeys(names)) for names in zip(*drawn, strict=True))
    figure, panels = plt.subplots(
        len(sets),
        len(methods),
        figsize=(2.9 * len(methods), 3.1 * len(sets)),
        layout="constrained",
        squeeze=False,
    )
    for (set_name, method), (data, Y, row) in drawn.items():
        color, shades = colors(data)
        title = f"{set_name}, {method}\n" + ", ".join(
            (
                f"T {short(row['trustworthiness'], 3)}",
                f"C {short(row['continuity'], 3)}",
                f"length {short(row['length_error'], 2)}",
            )
        )
        axes = panels[sets.index(set_name), methods.index(method)]
        show_map(axes, Y, color, title, s=3, cmap=shades)
    save(figure, path)


def colors(data: Dataset) -> tuple[FloatArray, str]:
    """Return a number a sample and the color map: classes, or the pan of faces, or the order."""
    if data.labels is not None:
        classes = np.unique(data.labels, return_inverse=True)[1]
        return (classes % GROUPS).astype(np.float64), "tab20" if classes.max() >= 10 else "tab10"
    values = data.targets["pose"][:, 0] if "pose" in data.targets else np.arange(len(data.X))
    return np.argsort(np.argsort(values)).astype(np.float64), "viridis"
