"""Files that are damaged, or made to harm: refused or harmless, and nothing of them is ever run."""

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from isofold.exceptions import ModelFileError
from isofold.storage import load, save
from support.storage_cases import CASES, fitted
from support.storage_files import put_together, take_apart
from support.storage_mutations import swelling_headers

TESTS = Path(__file__).parents[1]

# Between them they hold everything that compiled code looks at. The first is also made into traps.
MODELS = [
    "ipa k-means",
    "ldlc",
    "mvu",
    "local mds",
    "plml",
    "tessera map landmarks",
    "out of sample weights",
    "out of sample nystrom",
    "out of sample hnsw",
    "classifier words",
    "ipa terms",
]
FEW, MANY = (3, 3), (36, 30)
"""Mutations of the bytes of every model, and of what is inside."""

SECONDS = 3600
"""After which reading hangs, however busy the machine is."""


@pytest.fixture(
    scope="module",
    params=[FEW, pytest.param(MANY, marks=pytest.mark.slow)],
    ids=["few", "a thousand"],
)
def outcomes(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for number, name in enumerate(MODELS):
        save(fitted(name), folder / f"good{number}.iso")
        np.save(folder / f"good{number}.npy", CASES[name][1][:12])
    script = TESTS / "support" / "storage_mutations.py"
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(script), str(folder), *map(str, request.param)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        cwd=folder,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    at = (folder / "current").read_text() if (folder / "current").exists() else "start"
    assert done.returncode == 0, f"ended by {done.returncode} at {at}: {done.stderr[-3000:]}"
    return folder, json.loads(done.stdout), request.param == MANY


def test_mutations_are_refused_or_harmless(outcomes):
    _, found, are_many = outcomes
    counts = found["counts"]
    assert found["failures"] == []
    assert any(key.endswith("refused") for key in counts)
    if not are_many:
        return
    assert sum(counts.values()) >= 1000
    # Not all are stopped at the door: those with checksums made right reach the models.
    assert sum(count for key, count in counts.items() if key.endswith("refused")) > 600
    assert counts["array used"] + counts["array raised"] > 100


def test_nothing_in_a_file_is_run(outcomes):
    folder, found, _ = outcomes
    assert found["forbidden"] == []
    assert not (folder / "canary").exists()


# A header of at most 17 MiB is held as bytes, as text, and twice more while values are counted; or
# there are a million values of no more than a hundred bytes each, and a header of 4 MiB.
LARGEST_PEAK = 2**20 * max(4 * 17, 100 + 4 * 4)


@pytest.mark.slow
def test_a_small_file_does_not_swell(tmp_path):
    path = tmp_path / "model.iso"
    save(fitted("vqpca"), path)
    header, arrays = take_apart(path.read_bytes())
    ends = {}
    for kind, text in swelling_headers(header):
        path.write_bytes(put_together(header, arrays, text=text))
        assert path.stat().st_size < 200_000
        tracemalloc.start()
        try:
            load(path)
            ends[kind] = "loaded"
        except ModelFileError as error:
            ends[kind] = str(error)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < LARGEST_PEAK, (kind, peak)
    for kind, end in ends.items():
        words = "loaded" if kind.startswith("as many") else "its header"
        assert words in end, kind
