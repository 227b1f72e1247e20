"""Model files with faults and traps, and a process in which each of them is loaded and used.

Run as a script with a folder of good files (and the rows to transform beside them), it loads every
mutation of them and prints what happened as JSON. It is a process of its own, so that a crash is
seen, and one in which forbidden calls are recorded.
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import resource
import signal
import struct
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.storage_files import put_together, take_apart, zip_of

SECONDS = 20
"""Time of the processor for one file; the good ones take a hundredth of a second."""

MEMORY = 8 * 2**30

FORBIDDEN = {
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.remove",
    "pickle.find_class",
    "socket.connect",
    "subprocess.Popen",
}

RAW = ("flip", "cut", "insert", "double", "zero", "few")

POOL = [
    None,
    True,
    -1,
    0,
    3,
    2**31,
    2**63,
    10**30,
    -(2**62),
    1e308,
    0.5,
    "",
    "os:system",
    "__class__",
    "precomputed",
    "nan",
    [],
    {},
    [[[[]]]],
    {"type": "float", "value": "nan"},
    {"type": "float", "value": "inf"},
    {"type": "float", "value": "__import__('os')"},
    {"type": "tuple", "items": []},
    {"type": "array", "number": 0},
    {"type": "array", "number": 5},
    {"type": "array", "number": 10**9},
    {"type": "object", "number": 0},
    {"type": "object", "number": 2},
    {"type": "object", "number": -1},
    {"type": "scalar", "dtype": "<f8", "bytes": "000000000000f87f"},
    {"type": "scalar", "dtype": "|O8", "bytes": "0000000000000000"},
    {"type": "dtype", "name": "|O"},
    {"type": "enum", "kind": "Status", "name": "__init__"},
    {"type": "function", "name": "os.system"},
]


def raw_mutations(content, rng, n):
    """Yield files with bytes flipped, cut off, put in, doubled or zeroed."""
    for number in range(n):
        damaged = bytearray(content)
        at, length = rng.integers(len(damaged)), int(rng.integers(1, 200))
        kind = RAW[number % len(RAW)]
        if kind == "flip":
            damaged[at] ^= 1 << int(rng.integers(8))
        elif kind == "cut":
            del damaged[at:]
        elif kind == "insert":
            damaged[at:at] = rng.bytes(length)
        elif kind == "double":
            damaged[at:at] = damaged[at : at + length]
        elif kind == "zero":
            damaged[at : at + length] = bytes(len(damaged[at : at + length]))
        else:
            for place in rng.integers(len(damaged), size=8):
                damaged[place] = rng.integers(256)
        yield kind, bytes(damaged)


def places_of(tree):
    """Return all places in a tree of JSON, as (container, key)."""
    pairs = list(tree.items() if isinstance(tree, dict) else enumerate(tree))
    inner = [
        place for _, entry in pairs if isinstance(entry, dict | list) for place in places_of(entry)
    ]
    return [(tree, key) for key, _ in pairs] + inner


def header_mutations(content, rng, n):
    """Yield files whose header was edited, with checksums that fit."""
    header, arrays = take_apart(content)
    for number in range(n):
        edited = copy.deepcopy(header)
        places = places_of(edited["objects"]) if number % 8 else places_of(edited)
        tree, key = places[rng.integers(len(places))]
        kind = ("replace", "delete", "swap", "rename", "kind")[number % 5]
        if kind == "replace":
            tree[key] = copy.deepcopy(POOL[rng.integers(len(POOL))])
        elif kind == "delete":
            del tree[key]
        elif kind == "swap":
            other, place = places[rng.integers(len(places))]
            tree[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(tree[key])
        elif kind == "rename" and isinstance(tree, dict):
            tree[["transform", "__dict__", "a b", "_fit", "x_"][rng.integers(5)]] = tree.pop(key)
        else:
            objects = edited["objects"]
            one, two = rng.integers(len(objects), size=2)
            objects[one]["kind"] = objects[two]["kind"]
        yield f"header {kind}", put_together(edited, arrays)


def array_mutations(content, rng, n):
    """Yield files in which one array has other numbers or another shape; checksums fit."""
    header, arrays = take_apart(content)
    for number in range(n):
        at = int(rng.integers(len(arrays)))
        array = arrays[at].copy()
        kinds = ("numbers", "few", "shape", "type", "swap", "cut", "grow", "fill")
        kind = kinds[number % len(kinds)]
        values = extremes(array.dtype)
        if kind in ("numbers", "few") and array.size:
            count = array.size if kind == "numbers" else 1
            array.flat[rng.integers(array.size, size=count)] = values[rng.integers(len(values))]
        elif kind == "fill":
            array[...] = values[rng.integers(len(values))]
        elif kind == "shape":
            array = [array.ravel(), array[None], array[..., None], array.T][rng.integers(4)]
        elif kind == "type":
            names = ["<f8", "<f4", "<i8", "<i4", "|b1", "<c16", ">f8", "|u1", "<U3"]
            with np.errstate(all="ignore"):
                array = array.astype(names[rng.integers(len(names))])
        elif kind == "swap":
            array = arrays[rng.integers(len(arrays))]
        elif kind == "cut":
            array = array[: max(0, len(array) - int(rng.integers(1, 5)))] if array.ndim else array
        elif array.ndim:
            array = np.concatenate([array, array, array])
        changed = [*arrays[:at], array, *arrays[at + 1 :]]
        yield f"array {kind}", put_together(header, changed)


def extremes(dtype):
    """Return numbers that no array of a model should hold."""
    if dtype.kind == "f":
        return np.array([np.nan, np.inf, -np.inf, -1.0, 0.0, np.finfo(dtype).max, 1e-300], dtype)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.array([ends.max, ends.min, 2**30, 10**5, 300, 1, 0]).astype(dtype)
    return np.ones(1, dtype=dtype)


class Trap:
    """What a pickle would run."""

    def __reduce__(self):
        return Path.touch, (Path("canary"),)


def foreign(name, fields=None):
    return {"kind": "scikit-learn", "class": name, "fields": fields or {}}


def traps(content):
    """Yield files that were made to harm."""
    header, arrays = take_apart(content)
    root = header["objects"][-1]
    bad = [
        {"kind": "os:system", "fields": {"command": "touch canary"}},
        {"kind": "isofold.storage.registry:import_module", "fields": {}},
        {"kind": "__import__", "fields": {}},
        foreign("os.system"),
        foreign("cluster.KMeans.__init__"),
        foreign("cluster..KMeans"),
        foreign("cluster.os"),
        foreign("cluster.k_means"),
        foreign("datasets.fetch_openml", {"name": "a"}),
        foreign("utils._testing.os"),
        foreign("../../evil.Evil"),
        foreign("externals.joblib.load"),
        foreign("pipeline.Pipeline", {"steps": [], "memory": "."}),
        foreign("cluster.AgglomerativeClustering", {"memory": "canary"}),
        foreign("preprocessing.FunctionTransformer", {"func": "os.system"}),
        foreign("cluster.KMeans", {"self": 1, "__class__": "os"}),
        {"kind": "Status", "fields": {}},
        {"kind": "KDTreeSearch", "fields": {"points": 3, "workers": 1}},
        {"kind": "GooseMap", "fields": {"__class__": 1}},
    ]
    for entry in bad:
        objects = [entry, *shifted(header["objects"], 1)]
        yield (
            "trap kind",
            put_together(header | {"objects": objects, "model": len(objects) - 1}, arrays),
        )
        yield "trap model", put_together(header | {"objects": [entry], "model": 0}, arrays)
    for name in ("transform", "_transform", "__class__", "__reduce__", "fit", "a.b", "é", "__x_"):
        objects = copy.deepcopy(header["objects"])
        objects[-1]["fields"][name] = root["fields"].get("embedding_", 1)
        yield "trap attribute", put_together(header | {"objects": objects}, arrays)
    own = len(header["objects"]) - 1
    for number in (own, own + 1, -1, 10**9, None, "0", True, 1.0):
        objects = copy.deepcopy(header["objects"])
        objects[-1]["fields"]["n_jobs"] = {"type": "object", "number": number}
        yield "trap circle", put_together(header | {"objects": objects}, arrays)
    payload = pickle.dumps(Trap())
    yield "trap pickle", put_together(header, arrays, extra=[("data.pkl", payload)])
    yield "trap pickle", zip_of({"model.json": payload})
    yield "trap pickle", payload
    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    yield "trap object array", replaced(content, "arrays/0.npy", stream.getvalue())
    yield from text_traps(header, arrays)
    yield from zip_traps(content)


def swelling_headers(good):
    """Yield headers that are small in a file and large in the memory of who loads it.

    All are no longer than any file may be but for two, and would be loaded if nobody counted.
    """
    start, unit = json.dumps(good)[:-1] + ',"more":', '{"a":0},'
    yield "as many as may be", start + "[" + unit * (2**20 // marks_in(unit)) + "0]}"
    for unit in ('{"a":0},', "0,"):
        yield f"many {unit}", start + "[" + unit * (5 * 2**20 // len(unit)) + "0]}"
    yield "very many", start + "[" + "[]," * (20 * 2**20) + "0]}"
    yield "long text", start + '"' + "a" * (60 * 2**20) + '\\ud83d\\ude00"}'
    yield "wide text", start + '"' + "a" * (15 * 2**20) + '\U0001f600"}'
    yield "open text", start + '"' + '\\",' * (5 * 2**20)
    yield "deep", start + "[" * (15 * 2**20)


def marks_in(text):
    """Return how many marks of JSON before a value there are."""
    return sum(text.count(mark) for mark in ",[{")


def shifted(objects, by):
    """Return objects whose references count from another number."""
    objects = copy.deepcopy(objects)
    for tree, key in places_of(objects):
        if key == "number" and tree.get("type") == "object":
            tree[key] += by
    return objects


def text_traps(header, arrays):
    """Yield files whose JSON is a trap."""
    good = json.dumps(header)
    for text in (
        "[" * 200_000 + "]" * 200_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        "NaN",
        "null",
        "[]",
        '"model"',
        "1" * 5000,
        "\ud800".encode("utf-16", "surrogatepass"),
        good.replace('"format"', '"format": 1, "format"', 1),
        good + "}",
        good.replace('"isofold model"', "NaN", 1),
        " " * (70 * 2**20) + good,
    ):
        yield "trap text", put_together(header, arrays, text=text)
    deep = 1
    for _ in range(60):
        deep = [deep]
    objects = copy.deepcopy(header["objects"])
    objects[-1]["fields"]["n_jobs"] = deep
    yield "trap depth", put_together(header | {"objects": objects}, arrays)
    entry = take_apart(put_together(header, arrays))[0]["arrays"]
    for shape in ([2**40], [2**20, 2**20], [10**30], [-1], [2**48, 0], [1] * 40, ["3"], 3):
        declared = [{**entry[0], "shape": shape, "axes": list(range(2))}, *entry[1:]]
        text = json.dumps(header | {"arrays": declared})
        yield "trap shape", put_together(header, arrays, text=text)
    for dtype in ("|O", "|V8", "<M8[s]", "<f16", "f8,i4", "<U99999999", "[('a','f8')]", 8, None):
        declared = [{**entry[0], "dtype": dtype}, *entry[1:]]
        text = json.dumps(header | {"arrays": declared})
        yield "trap type", put_together(header, arrays, text=text)


def replaced(content, name, member):
    """Return a file with one member replaced, its checksum left as it was."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    return zip_of(members | {name: member})


def zip_traps(content):
    """Yield files whose container is a trap."""
    yield "bomb", replaced(content, "arrays/0.npy", bytes(200 * 2**20))
    yield "bomb", replaced(content, "arrays/999.npy", bytes(50 * 2**20))
    for name in ("../evil.npy", "/etc/passwd", "arrays/../model.json", "C:\\evil", "arrays/"):
        yield "foreign member", replaced(content, name, b"evil")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream = io.BytesIO(content)
        with zipfile.ZipFile(stream, "a") as archive:
            archive.writestr("model.json", "{}")
        yield "same name twice", stream.getvalue()
    # Fields of the directory at the end: flags, packing, sizes and offsets of the first member.
    start = content.index(b"PK\x01\x02")
    for offset, form, value in (
        (8, "<H", 1),
        (10, "<H", 12),
        (10, "<H", 14),
        (10, "<H", 99),
        (20, "<I", 0xFFFFFFF0),
        (24, "<I", 0xFFFFFFF0),
        (24, "<I", 10),
        (42, "<I", 0),
        (42, "<I", 0xFFFFFFF0),
    ):
        damaged = bytearray(content)
        struct.pack_into(form, damaged, start + offset, value)
        yield "directory", bytes(damaged)
    yield "nested", zip_of({"model.json": content, "arrays/0.npy": content})
    yield "prefix", b"#!/bin/sh\ntouch canary\n" + content


def mutations(content, rng, *, n_raw, n_inner):
    """Yield all kinds of mutations of one file."""
    yield from raw_mutations(content, rng, n_raw)
    yield from header_mutations(content, rng, n_inner)
    yield from array_mutations(content, rng, n_inner)


def answer(model, X):
    """Return what a model makes of rows."""
    return getattr(model, "transform" if hasattr(model, "transform") else "predict")(X)


def outcome(path, X, expected):
    """Load and use a file, and say how that ended.

    Damage that nobody made up for is seen, or is where it does not matter.
    """
    from isofold.exceptions import ModelFileError
    from isofold.storage import load

    try:
        model = load(path)
    except ModelFileError as error:
        return "refused" if "\n" not in str(error) else f"several lines: {error}"
    except Exception as error:
        return f"load raised {error!r:.300}"
    if expected is not None:
        same = np.array_equal(answer(model, X), expected)
        return "used" if same else "other numbers from a damaged file"
    ends = "used"
    for method in ("transform", "predict", "predict_proba", "distance_to_manifold", "is_outside"):
        try:
            if hasattr(model, method):
                getattr(model, method)(X)
        except Slow:
            return f"{method} did not end"
        except Exception:
            ends = "raised"
    try:
        if hasattr(model, "inverse_transform"):
            model.inverse_transform(model.embedding_[:5])
    except Slow:
        return "inverse_transform did not end"
    except Exception:
        ends = "raised"
    return ends


class Slow(BaseException):
    """A file takes too long."""


def too_slow(_signal, _frame):
    raise Slow


def main(folder, n_raw, n_inner):
    """Try all mutations of the files in a folder; print counts and failures."""
    from isofold.storage import load

    counts, failures, forbidden = {}, [], []
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, too_slow)
    warnings.simplefilter("ignore")
    path = folder / "mutated.iso"
    for good in sorted(folder.glob("good*.iso")):
        content = good.read_bytes()
        rows = np.load(good.with_suffix(".npy"))
        # This also imports all modules before calls are watched.
        expected = answer(load(good), rows)
        rng = np.random.default_rng(len(content))
        every = list(mutations(content, rng, n_raw=n_raw, n_inner=n_inner))
        every += list(traps(content)) if good.stem == "good0" else []
        watch(forbidden)
        for number, (kind, mutated) in enumerate(every):
            path.write_bytes(mutated)
            (folder / "current").write_text(f"{good.name} {number} {kind}")
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                found = outcome(path, rows, expected if kind in RAW else None)
            except Slow:
                found = "load did not end"
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            if found not in ("refused", "used", "raised"):
                failures.append(f"{good.name} {number} {kind}: {found}")
            key = f"{kind.split()[0]} {found if len(found) < 9 else 'failed'}"
            counts[key] = counts.get(key, 0) + 1
    print(json.dumps({"counts": counts, "failures": failures, "forbidden": forbidden}))  # noqa: T201


def watch(forbidden, installed=[]):  # noqa: B006 - remembers that it was called
    """Record forbidden calls from now on."""
    if installed:
        return
    installed.append(True)
    sys.addaudithook(
        lambda event, arguments: (
            forbidden.append(f"{event} {arguments!r:.200}") if event in FORBIDDEN else None
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
