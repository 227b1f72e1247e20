"""Tables 4.1 to 4.4 from the measures of all maps, the number of the thesis in brackets."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.disjoint_manifolds import paper
from experiments.disjoint_manifolds.cases import CASES
from experiments.disjoint_manifolds.methods import N_NEIGHBORS, OURS, PEERS
from experiments.harness import FULL, Row, Size, write_table

__all__ = ["best_table", "read_measures", "speed_up_table", "write_tables"]

NOTHING = "-"
Best = Callable[[Sequence[float]], float]
Measures = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Column:
    """A data set in one dimension of its map; the thesis has a number for the first."""

    data: str
    q: str
    in_thesis: bool

    @property
    def title(self) -> str:
        return f"{self.data}, q = {self.q}"


def write_tables(folder: Path, size: Size = FULL) -> None:
    """Write the tables from what the methods have left in the folder, whatever its size."""
    del size
    measures = read_measures(folder)
    # The thesis does not say which labels: squares where there are some, else pieces or classes.
    labeled = [{**row, "label error": row["error in squares"] or row["error"]} for row in measures]
    kinds: list[tuple[str, str, Best, paper.Table]] = [
        ("4_1", "label error", min, paper.ONE_NN_ERROR),
        ("4_1_pieces", "error", min, {}),
        ("4_2", "trustworthiness", max, paper.TRUSTWORTHINESS),
        ("4_3", "continuity", max, paper.CONTINUITY),
        ("shape", "shape", min, {}),
    ]
    for name, measure, best, printed in kinds:
        rows = best_table(labeled, measure, best, printed)
        write_table(rows, folder / f"disjoint_table_{name}")
    write_table(speed_up_table(measures), folder / "disjoint_table_4_4")


def read_measures(folder: Path) -> list[dict[str, str]]:
    """Return the lines of all measures in the folder."""
    rows: list[dict[str, str]] = []
    for case in CASES:
        for group in ("peers", "ours"):
            path = folder / f"disjoint_{case}_{group}.csv"
            if path.exists():
                with path.open(newline="", encoding="utf-8") as file:
                    rows += csv.DictReader(file)
    return rows


def best_table(measures: Measures, measure: str, best: Best, printed: paper.Table) -> list[Row]:
    """Return a line a method, with its best number over the numbers of neighbors."""
    rows: list[Row] = []
    for method in (*PEERS, *OURS):
        row = {"method": method.name}
        for column in _columns(measures):
            values = [
                float(line[measure])
                for line in _of(measures, method.name, column)
                if line[measure] != ""
            ]
            row[column.title] = f"{best(values):.2f}" if values else NOTHING
            if column.in_thesis and method.name in printed:
                place = paper.DATA.index(column.data)
                row[column.title] += f" ({printed[method.name][place]:.2f})"
        rows.append(row)
    return rows


def speed_up_table(measures: Measures) -> list[Row]:
    """Return the time of MVU over that of MVU-DM, a line for each number of neighbors."""
    rows: list[Row] = []
    for k in N_NEIGHBORS:
        row = {"k": str(k)}
        for column in _columns(measures):
            seconds = [
                float(line["seconds"])
                for method in ("MVU", "MVU-DM")
                for line in _of(measures, method, column)
                if line["k"] == str(k) and line["seconds"] != ""
            ]
            row[column.title] = f"{seconds[0] / seconds[1]:.2f}" if len(seconds) == 2 else NOTHING
            if column.in_thesis:
                row[column.title] += f" ({paper.SPEED_UP[k][paper.DATA.index(column.data)]:.2f})"
        rows.append(row)
    return rows


def _columns(measures: Measures) -> list[Column]:
    columns: dict[tuple[str, str], Column] = {}
    seen: set[str] = set()
    for line in measures:
        data, q = line["data"], line["q"]
        if (data, q) not in columns:
            columns[data, q] = Column(data, q, in_thesis=data not in seen)
            seen.add(data)
    return list(columns.values())


def _of(measures: Measures, method: str, column: Column) -> Iterator[Mapping[str, str]]:
    return (
        line
        for line in measures
        if (line["method"], line["data"], line["q"]) == (method, column.data, column.q)
    )
