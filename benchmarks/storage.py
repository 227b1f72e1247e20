"""Saving and loading a model, beside joblib: time, memory and size of the file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib

import isofold
from benchmarks.harness import Case
from isofold.datasets import holed_swiss_roll

N_POINTS = 20_000
COMPRESSION = 3


def _fitted() -> Any:
    return isofold.IPA(random_state=0).fit(holed_swiss_roll(N_POINTS, random_state=0).X)


def _write(model: Any, path: Path, method: str) -> None:
    if method == "joblib":
        joblib.dump(model, path, compress=COMPRESSION)
    else:
        isofold.save(model, path, overwrite=True)


def _save(method: str) -> Callable[[Any], dict[str, float]]:
    def run(model: Any) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            _write(model, path, method)
            return {"file MB": os.path.getsize(path) / 1e6}

    return run


def _stored(method: str) -> Callable[[], tuple[tempfile.TemporaryDirectory, Path]]:
    def prepare() -> tuple[tempfile.TemporaryDirectory, Path]:
        folder = tempfile.TemporaryDirectory()
        path = Path(folder.name) / "model"
        _write(_fitted(), path, method)
        return folder, path

    return prepare


def _load(method: str) -> Callable[[tuple[tempfile.TemporaryDirectory, Path]], None]:
    def run(stored: tuple[tempfile.TemporaryDirectory, Path]) -> None:
        (joblib.load if method == "joblib" else isofold.load)(stored[1])

    return run


CASES = [
    case
    for method in ("isofold", "joblib")
    for case in (
        Case(f"save IPA of {N_POINTS:,} points", method, _fitted, _save(method), repeats=3),
        Case(f"load IPA of {N_POINTS:,} points", method, _stored(method), _load(method), repeats=3),
    )
]
