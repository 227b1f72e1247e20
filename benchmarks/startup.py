"""How long the first import and the first word of the command line take, beside peers and limits.

A child process does the work, so that the figures for memory say nothing here.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from benchmarks.harness import Case

LIMITS = {"import isofold": 0.5, "isofold --help": 0.7}
"""Seconds that we allow ourselves."""


def _run(arguments: list[str]) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def _case(task: str, method: str, arguments: list[str]) -> Case:
    limit = LIMITS.get(task)
    figures = None if limit is None else {"limit": limit}

    def run(_: None) -> dict[str, float] | None:
        _run(arguments)
        return figures

    return Case(f"fresh interpreter, {task}", method, lambda: None, run, repeats=5)


CASES = [
    *(
        _case(f"import {module}", method, ["-c", f"import {module}"])
        for module, method in (
            ("sys", "interpreter alone"),
            ("isofold", "isofold"),
            ("isofold.quality", "isofold, quality room"),
            ("sklearn.manifold", "scikit-learn"),
            ("umap", "umap-learn"),
        )
        if find_spec(module.partition(".")[0])
    ),
    _case("isofold --help", "isofold", ["-m", "isofold", "--help"]),
]
