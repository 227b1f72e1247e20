"""Run every case in its own process; record seconds and peak memory; write CSV and markdown.

A suite is a module of this package with a list ``CASES``. A case prepares its data (not timed),
then runs once (timed). Peak memory is the process's high-water mark during the run, less what it
held before; a fresh process makes both honest and lets a peer run out of memory alone.

With the folder ``src`` of another checkout, kernels built, its isofold runs each of our cases too,
just before: what changed is read off one run.

Suites may be run in parts: cases that are not run keep their rows of the table. A suite with a
function ``markdown`` writes its table itself.
"""

from __future__ import annotations

import csv
import json
import os
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
OURS, BEFORE = "isofold", " (before)"
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
        Takes the data, timed; may return a dictionary of figures (numbers or words) to show beside
        the time.
    repeats : int, default=1
        In how many processes it runs, one after the other; the one of median time counts.
    is_slow : bool, default=False
        Whether it takes minutes, so that it runs only if asked for.
    """

    task: str
    method: str
    prepare: Callable[[], Any] = field(repr=False)
    run: Callable[[Any], dict[str, Any] | None] = field(repr=False)
    repeats: int = 1
    is_slow: bool = False

    @property
    def name(self) -> str:
        """Task and method, which no other case of the suite has."""
        return f"{self.task} | {self.method}"


def run_suite(
    suite: str, *, only: str = "", slow: bool = False, before: Path | None = None
) -> list[dict[str, Any]]:
    """Run cases of a suite in turn and write its tables, afresh after every case.

    Parameters
    ----------
    suite : str
        The name of its module.
    only : str, default=""
        Words that the names of the cases to run contain.
    slow : bool, default=False
        Whether to run those that take minutes, too.
    before : Path or None, default=None
        The folder ``src`` of another checkout, which runs our cases too.

    Returns
    -------
    list of dict
        The records of all cases that were run now or earlier; none if none was run now.
    """
    module = import_module(suite)
    cases: list[Case] = module.CASES
    RESULTS.mkdir(exist_ok=True)
    table = RESULTS / suite.rpartition(".")[2]
    known = _read_csv(table.with_suffix(".csv"))
    records = []
    for number, case in enumerate(cases):
        if only.lower() not in case.name.lower() or (case.is_slow and not slow):
            continue
        sources = [before, None] if before and case.method.startswith(OURS) else [None]
        for source in sources:
            method = case.method + (BEFORE if source else "")
            name = f"{case.task} | {method}"
            measured = _measure(suite, number, source)
            known[name] = {"task": case.task, "method": method, **measured}
            print(f"{name}: {_describe(known[name])}", flush=True)
        names = [case.name + age for case in cases for age in (BEFORE, "")]
        records = [known[name] for name in names if name in known]
        _write_csv(table.with_suffix(".csv"), records)
        written = getattr(module, "markdown", markdown)(records)
        table.with_suffix(".md").write_text(written, encoding="utf-8")
    return records


def markdown(records: list[dict[str, Any]]) -> str:
    """Return a table with one line a case."""
    lines = ["| task | method | seconds | peak MB | figures |", "|---|---|---|---|---|"]
    for record in records:
        if record["status"] == "ok":
            figures = ", ".join(
                f"{name} {value if isinstance(value, str) else format(value, '.6g')}"
                for name, value in record["figures"].items()
            )
            cells = f"{record['seconds']:.3g} | {record['peak_mb']:.0f} | {figures}"
        else:
            cells = f"{record['status']} | |"
        lines.append(f"| {record['task']} | {record['method']} | {cells} |")
    return "\n".join(lines) + "\n"


def _measure(suite: str, number: int, source: Path | None) -> dict[str, Any]:
    """Return what the process of median time saw, or the first that failed."""
    runs = []
    for _ in range(import_module(suite).CASES[number].repeats):
        runs.append(_in_own_process(suite, number, source))
        if runs[-1]["status"] != "ok":
            return runs[-1]
    return sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]


def _in_own_process(suite: str, number: int, source: Path | None) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.worker", suite, str(number)]
    environment = {**os.environ, "PYTHONPATH": str(source)} if source else None
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
            cwd=ROOT,
            env=environment,
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


def _read_csv(path: Path) -> dict[str, dict[str, Any]]:
    """Return the records of an earlier run by the names of their cases."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["figures"] = json.loads(row["figures"])
        for measured in ("seconds", "peak_mb"):
            row[measured] = float(row[measured]) if row[measured] else ""
    return {f"{row['task']} | {row['method']}": row for row in rows}


def _write_csv(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        for record in records:
            row = dict(record)
            row["figures"] = json.dumps(row.get("figures", {}))
            writer.writerow(row)
