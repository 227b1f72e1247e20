"""Model files taken apart and put together again, with or without their checksums made right."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import numpy as np


def take_apart(content):
    """Return the header of a model file, and its arrays as they are stored."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(archive.read("model.json"))
        members = [archive.read(f"arrays/{i}.npy") for i in range(len(header["arrays"]))]
    return header, [np.load(io.BytesIO(member)) for member in members]


def put_together(header, arrays, *, extra=(), text=None):
    """Return a model file whose sizes, types and checksums are those of the arrays."""
    from isofold.storage.arrays import StoredArray

    members, entries = {}, []
    for number, given in enumerate(arrays):
        array = np.asarray(given, order="C")
        stored = StoredArray(array.dtype, array.shape, (), "")
        member = stored.head + array.tobytes()
        axes = axes_in(header, number)
        axes = axes if len(axes) == array.ndim else list(range(array.ndim))
        members[f"arrays/{number}.npy"] = member
        entries.append(
            {
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "axes": axes,
                "sha256": hashlib.sha256(member).hexdigest(),
            }
        )
    text = json.dumps(header | {"arrays": entries}) if text is None else text
    return zip_of({**members, "model.json": text, **dict(extra)})


def axes_in(header, number):
    """Return the axes that a header, which may be damaged, says of an array."""
    try:
        return list(header["arrays"][number]["axes"])
    except (LookupError, TypeError):
        return []


def zip_of(members):
    """Return a zip of members by name."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


def changed(content, **changes):
    """Return a model file with entries of its header replaced."""
    header, arrays = take_apart(content)
    return put_together(header | changes, arrays)
