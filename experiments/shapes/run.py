"""The confusion table: every finding on its shapes, and on all other shapes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.shapes.cases import Trial, trials
from isofold._findings import Finding
from isofold.neighbors import build_graph
from isofold.survey import recognize_shapes

__all__ = ["CODES", "Verdict", "by_case", "by_code", "confusion", "errors", "graph_only", "judge"]

CODES = (
    "closed_curve",
    "cylinder",
    "torus",
    "sphere",
    "branching",
    "clusters",
    "cloud",
    "mixed_dimensions",
)
N_NEIGHBORS = 12

FRESH = range(100, 102)
"""Seeds of the table. Thresholds were chosen on the seeds 0 and 1."""

GRAPH_SEEDS = range(100, 101)
"""Seeds of the table for graphs without points, in which developments take longer."""


@dataclass(frozen=True)
class Verdict:
    """What was raised on a trial.

    Attributes
    ----------
    trial : Trial
        The trial.
    raised : frozenset of str
        Codes of the shapes that were recognized.
    examined : frozenset of str
        Codes of all shapes that were looked for.
    seconds : float
        Processor time.
    """

    trial: Trial
    raised: frozenset[str]
    examined: frozenset[str]
    seconds: float

    @property
    def missed(self) -> frozenset[str]:
        """Shapes that should have been recognized, if they were looked for at all."""
        return (self.trial.case.expected & self.examined) - self.raised

    @property
    def false(self) -> frozenset[str]:
        """Shapes that should not have been recognized."""
        return self.raised - self.trial.case.expected


def judge(trial: Trial, *, with_points: bool = True) -> Verdict:
    """Return what is raised on a trial."""
    points = trial.points()
    graph = build_graph(points, n_neighbors=N_NEIGHBORS, kind="mutual")
    nodes = points[graph.sample_of_node] if with_points else None
    begin = time.process_time()
    found = recognize_shapes(nodes, graph, random_state=trial.seed)
    seconds = time.process_time() - begin
    return Verdict(trial, _codes(f for f in found if f.is_raised), _codes(found), seconds)


def confusion(folder: Path, size: Size = FULL) -> None:
    """Write the tables of the fresh seeds."""
    _write([judge(trial) for trial in trials(FRESH, size)], folder / "shapes")


def graph_only(folder: Path, size: Size = FULL) -> None:
    """Write the tables for graphs without points."""
    verdicts = [judge(trial, with_points=False) for trial in trials(GRAPH_SEEDS, size)]
    _write(verdicts, folder / "shapes_graph_only")


def by_code(verdicts: Sequence[Verdict]) -> list[Row]:
    """Return the confusion table: a row for every shape that was looked for."""
    rows = []
    for name in CODES:
        examined = [v for v in verdicts if name in v.examined]
        positive = [v for v in examined if name in v.trial.case.expected]
        negative = [v for v in examined if name not in v.trial.case.expected]
        bare = [v for v in negative if not v.trial.case.expected]
        if examined:
            rows.append(
                {
                    "shape": name,
                    "positives": len(positive),
                    "recognized": sum(name in v.raised for v in positive),
                    "missed": sum(name not in v.raised for v in positive),
                    "other shapes": len(negative) - len(bare),
                    "false alarms there": sum(name in v.false for v in negative)
                    - sum(name in v.false for v in bare),
                    "negative controls": len(bare),
                    "false alarms": sum(name in v.false for v in bare),
                }
            )
    return rows


def by_case(verdicts: Sequence[Verdict]) -> list[Row]:
    """Return a row for every case: how often each size was right, and what else was raised."""
    rows = []
    sizes = sorted({v.trial.n_samples for v in verdicts})
    for name in dict.fromkeys(v.trial.case.name for v in verdicts):
        own = [v for v in verdicts if v.trial.case.name == name]
        row = {"case": name, "expected": ", ".join(sorted(own[0].trial.case.expected)) or "-"}
        for size in sizes:
            of_size = [v for v in own if v.trial.n_samples == size]
            right = sum(not v.missed and not v.false for v in of_size)
            row[f"right at n = {size}"] = f"{right} / {len(of_size)}"
        rows.append(row)
    return rows


def errors(verdicts: Sequence[Verdict]) -> list[Row]:
    """Return a row for every trial with a miss or a false alarm."""
    return [
        {
            "case": v.trial.case.name,
            "n": v.trial.n_samples,
            "dimensions": v.trial.n_features or "own",
            "noise": v.trial.noise,
            "seed": v.trial.seed,
            "missed": ", ".join(sorted(v.missed)) or "-",
            "false alarm": ", ".join(sorted(v.false)) or "-",
        }
        for v in verdicts
        if v.missed or v.false
    ]


def _write(verdicts: Sequence[Verdict], path: Path) -> None:
    write_table(by_code(verdicts), path.with_name(f"{path.name}_by_code"))
    write_table(by_case(verdicts), path.with_name(f"{path.name}_by_case"))
    wrong = errors(verdicts)
    if wrong:
        write_table(wrong, path.with_name(f"{path.name}_errors"))
    seconds = np.array([v.seconds for v in verdicts])
    say(
        f"{len(verdicts)} trials, {len(wrong)} with an error. Seconds: median "
        f"{np.median(seconds):.2g}, largest {seconds.max():.2g}."
    )


def _codes(findings: Iterable[Finding]) -> frozenset[str]:
    return frozenset(finding.code for finding in findings)
