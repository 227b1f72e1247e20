"""How long the first import takes, beside the packages it stands on.

A child process does the import, so that the figures for memory say nothing here.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.harness import Case


def _import_once(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


CASES = [
    Case(
        f"fresh interpreter, import {module}",
        method,
        lambda: None,
        lambda _, m=module: _import_once(m),
    )
    for module, method in (
        ("sys", "interpreter alone"),
        ("isofold", "isofold"),
        ("isofold.quality", "isofold, quality room"),
        ("sklearn.manifold", "scikit-learn"),
    )
]
