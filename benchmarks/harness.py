"""Run every case in its own process; record seconds and peak memory; write CSV and markdown.

A suite is a module of this package with a list ``CASES``. A case prepares its data (not timed),
then runs once (timed). Peak memory is the process's high-water mark during the run, less what it
held before; a fresh process makes both honest and lets a peer run out of memory alone.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TIME_LIMIT = 900.0
COLUMNS = ("task", "method", "status", "seconds", "peak_mb", "figures")


@dataclass(frozen=True)
class Case:
    """One method at one task.

    Parameters
    ----------
    task : str
        What is done, for example ``"trustworthiness, n = 20,000"``; cases of one task are compared.
    method : str
        Who does it; names that begin with ``isofold`` are ours.
    prepare : callable
        Returns the data, not timed.
    run : callable
        Takes the data, timed; may return a dictionary of figures to show beside the time.
    """

    task: str
    method: str
    prepare: Callable[[], Any] = field(repr=False)
    run: Callable[[Any], dict[str, float] | None] = field(repr=False)


def run_suite(suite: str) -> list[dict[str, Any]]:
    """Run all cases of a suite (the name of its module) in turn and write its tables."""
    cases: list[Case] = import_module(suite).CASES
    records = []
    for number, case in enumerate(cases):
        record = {"task": case.task, "method": case.method, **_in_own_process(suite, number)}
        records.append(record)
        print(f"{case.task} | {case.method}: {_describe(record)}", flush=True)
    RESULTS.mkdir(exist_ok=True)
    table = RESULTS / suite.rpartition(".")[2]
    _write_csv(table.with_suffix(".csv"), records)
    table.with_suffix(".md").write_text(markdown(records), encoding="utf-8")
    return records


def markdown(records: list[dict[str, Any]]) -> str:
    """Return a table with one line a case."""
    lines = ["| task | method | seconds | peak MB | figures |", "|---|---|---|---|---|"]
    for record in records:
        if record["status"] == "ok":
            figures = ", ".join(f"{name} {value:.6g}" for name, value in record["figures"].items())
            cells = f"{record['seconds']:.3g} | {record['peak_mb']:.0f} | {figures}"
        else:
            cells = f"{record['status']} | |"
        lines.append(f"| {record['task']} | {record['method']} | {cells} |")
    return "\n".join(lines) + "\n"


def _in_own_process(suite: str, number: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.worker", suite, str(number)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return {"status": f"stopped after {TIME_LIMIT:.0f} s"}
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return {"status": f"failed: {last[:120]}"}
    return {"status": "ok", **json.loads(done.stdout.splitlines()[-1])}


def _describe(record: dict[str, Any]) -> str:
    if record["status"] != "ok":
        return str(record["status"])
    return f"{record['seconds']:.3g} s, {record['peak_mb']:.0f} MB, {record['figures']}"


def _write_csv(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        for record in records:
            row = dict(record)
            row["figures"] = json.dumps(row.get("figures", {}))
            writer.writerow(row)
