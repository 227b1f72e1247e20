"""The command line with a million rows: seconds by stage, beside pyarrow on the same tables.

A rolled sheet with a hole, all digits of its coordinates, and a column of labels. The command runs
within the process, which has imported nothing of isofold before. A stage does not count those
inside it.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Case

N_ROWS = 1_000_000
TASK = f"embed a CSV file, n = {N_ROWS:,}"

STAGES = {
    "read": ("isofold.cli.steps.inputs", "read_file"),
    "prepare": ("isofold.cli.steps.inputs", "prepare_table"),
    "fit": ("isofold._base", "BaseEmbedder", "fit"),
    "write map": ("isofold.cli.steps.mapping", "write_map"),
    "note": ("isofold.cli.steps.mapping", "model_notes"),
    "write model": ("isofold.storage", "save"),
    "short scorecard": ("isofold.cli.steps.scores", "measure"),
    "scorecard": ("isofold.assessment.measure", "scorecard"),
    "measure": ("isofold", "assess"),
    "write page": ("isofold.cli.steps.pages", "write_page"),
}
"""What does the work of every stage: a module, or a class in it, and the function."""


def main(path: str) -> None:
    """Write the table, in a process of its own."""
    import pyarrow as pa
    from pyarrow import csv

    from isofold.datasets import holed_swiss_roll

    data = holed_swiss_roll(N_ROWS, random_state=0)
    columns = dict(zip("xyz", data.X.T, strict=True))
    names = np.array(["east", "west"])[np.asarray(data.labels)]
    csv.write_csv(pa.table({**columns, "side": names.tolist()}), path)


def _table() -> Path:
    """Return the file, which later cases find in the memory of the system."""
    path = Path(tempfile.gettempdir()) / f"isofold-benchmark-roll-{N_ROWS}.csv"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        subprocess.run([sys.executable, "-m", "benchmarks.command_line", unfinished], check=True)
        unfinished.rename(path)
    path.read_bytes()
    return path


def _embed(path: Path, options: tuple[str, ...], outputs: tuple[str, ...]) -> dict[str, float]:
    """Run the command and return the seconds of its stages."""
    began = time.perf_counter()
    from isofold.cli.main import main as group
    from isofold.cli.main import run

    spent = _Stages()
    names = {".csv": "--output", ".html": "--report", ".iso": "--model"}
    with tempfile.TemporaryDirectory() as folder:
        written = [w for end in outputs for w in (names[end], f"{folder}/map{end}")]
        arguments = ["embed", str(path), "--label", "side", *options, *written]
        code = run(group, arguments)
    if code:
        msg = f"the command ended with code {code}"
        raise RuntimeError(msg)
    rest = time.perf_counter() - began - sum(spent.seconds.values())
    return {**spent.seconds, "imports and rest": rest}


class _Stages:
    """Seconds within the functions of `STAGES`, without those of functions inside."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inside = [0.0]
        for stage, (module, *owners, name) in STAGES.items():
            owner = importlib.import_module(module)
            for each in owners:
                owner = getattr(owner, each)
            setattr(owner, name, self._timed(stage, getattr(owner, name)))

    def _timed(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            self._inside.append(0.0)
            start = time.perf_counter()
            try:
                return work(*given, **named)
            finally:
                whole = time.perf_counter() - start
                self.seconds[stage] = self.seconds.get(stage, 0.0) + whole - self._inside.pop()
                self._inside[-1] += whole

        return run


def _read_and_write(path: Path) -> dict[str, float]:
    """Read the table and write a map of it by pyarrow: what all files cost at least."""
    began = time.perf_counter()
    from pyarrow import csv

    imported = time.perf_counter()
    table = csv.read_csv(path)
    read = time.perf_counter()
    again = csv.read_csv(path)
    read_again = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        again = again.append_column("row", [np.arange(len(table))])
        csv.write_csv(again.select(["row", "side", "x", "y", "z"]), f"{folder}/map.csv")
    return {
        "import": imported - began,
        "read": read - imported,
        "read again": read_again - read,
        "write map": time.perf_counter() - read_again,
    }


CASES = [
    *(
        Case(
            f"{TASK}, {what}",
            f"isofold, {method}{cores}",
            _table,
            partial(_embed, options=("--method", method, *options), outputs=outputs),
        )
        for what, outputs in (
            ("map, model and page", (".csv", ".iso", ".html")),
            ("map alone", (".csv",)),
        )
        for method in ("auto", "ipa")
        for cores, options in (("", ()), (", all cores", ("--jobs", "-1")))
    ),
    Case(f"{TASK}, map alone", "limit: pyarrow reads and writes", _table, _read_and_write),
]

if __name__ == "__main__":
    main(sys.argv[1])
