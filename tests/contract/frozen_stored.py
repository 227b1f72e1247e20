"""Model files: what those of earlier versions still do, and what this version writes."""

import json
import tempfile
import zipfile
import zlib
from functools import partial
from pathlib import Path

import numpy as np

from contract.freeze import TESTS, Taken
from isofold import load, save
from support import storage_cases as models

DATA = TESTS / "storage" / "data"

TIMED = {"seconds", "placing", "isofold"}
"""Names in model files under which durations and versions are."""


def take_stored(path):
    """Load a stored model and place its rows."""
    model = load(path)
    rows = np.load(path.with_name(f"{path.stem}-rows.npy"))
    is_map = hasattr(model, "transform")
    arrays = {"placed": model.transform(rows) if is_map else model.predict(rows)}
    if hasattr(model, "embedding_"):
        arrays["embedding"] = model.embedding_
    return Taken(arrays, {"kind": type(model).__name__})


def take_written(name):
    """Save a model and return what is in the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.iso"
        save(models.fitted(name), path)
        return members(path)


def members(path):
    """Return the parts of a model file: arrays, structure, and sentences as text."""
    arrays, said = {}, []
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if name != "model.json":
                arrays[f"member {name}"] = np.array(zlib.crc32(archive.read(name)))
                continue
            structure = without_times(json.loads(archive.read(name)), said)
            arrays["structure"] = np.array(json.dumps(structure, indent=0).splitlines())
    return Taken(arrays, {"sentences": "\n".join(said)})


def without_times(value, said):
    """Return a structure without durations, versions and sentences, which go to a list."""
    if isinstance(value, dict):
        return {
            key: "masked" if key in TIMED else without_times(part, said)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [without_times(part, said) for part in value]
    if isinstance(value, str) and " " in value.strip():
        said.append(value)
        return "sentence"
    return value


def stored_cases():
    """Return the stored model files by name."""
    return {path.stem: partial(take_stored, path) for path in sorted(DATA.glob("*.iso"))}


def written_cases():
    """Return the model files that this version writes, by name."""
    return {name: partial(take_written, name) for name in models.CASES}
