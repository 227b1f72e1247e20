"""Input files as they must never hurt us: hand-made families, cut and mutated files, bombs.

The same seed gives the same files. An entry is marked "must fail" only if no reading of it could
give a table to make a map of; of the others, some are valid by luck or on purpose.
"""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from support.fuzzed_arrays import array_variants
from support.fuzzed_stores import store_variants
from support.fuzzed_text import text_variants
from support.valid_files import valid_files

SEED = 20240229
MUTATIONS_PER_FILE = 25
CUTS_PER_FILE = 18

# Other endings under which these contents are a table nonetheless.
FITTING = {("csv", "tsv"), ("csv", "txt"), ("zarr.zip", "zarr")}

Content = bytes | Callable[[Path], None]
Variant = tuple[str, Content, bool]


def variants() -> Iterator[Variant]:
    """Yield name, content (bytes, or what writes it to a path) and whether it must fail."""
    generator = random.Random(SEED)  # noqa: S311 - not for secrets
    yield from text_variants()
    yield from array_variants()
    yield from store_variants()
    yield from _wrong_endings()
    yield from _cuts(generator)
    yield from _mutations(generator)
    yield from _places()


def write_all(folder: Path) -> list[tuple[Path, bool]]:
    """Write every variant below a folder; return their paths and whether they must fail."""
    entries = []
    for number, (name, content, must_fail) in enumerate(variants()):
        path = Path(folder) / f"{number:03d}-{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content)
        entries.append((path, must_fail))
    return entries


def _wrong_endings() -> Iterator[Variant]:
    """Yield files whose contents are not what their names say."""
    contents = {
        **valid_files(),
        "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(200)),
        "jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(200),
        "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< >>\nendobj\n",
        "program": b"\x7fELF\x02\x01\x01" + bytes(100),
        "page": b"<!doctype html>\n<html><body><p>404 not found</p></body></html>\n",
        "json": b'{\n  "rows": "none",\n  "reason": "unauthorized"\n}\n',
        "noise": random.Random(1).randbytes(500),  # noqa: S311
    }
    for kind, content in contents.items():
        for ending in ("csv", "tsv", "txt", "parquet", "npy", "npz", "h5ad", "zarr", "csv.gz"):
            if (kind, ending) not in FITTING and kind != ending:
                yield f"{kind}-as.{ending}", content, True


def _cuts(generator: random.Random) -> Iterator[Variant]:
    """Yield beginnings of valid files: all these formats say how long they should be."""
    for ending, content in valid_files().items():
        if ending == "csv":
            continue
        lengths = sorted(generator.sample(range(1, len(content) - 1), CUTS_PER_FILE))
        for length in lengths:
            yield f"cut-{length}.{ending}", content[:length], True


def _mutations(generator: random.Random) -> Iterator[Variant]:
    """Yield valid files in which bits or bytes were changed; some stay valid."""
    for ending, content in valid_files().items():
        for number in range(MUTATIONS_PER_FILE):
            changed = bytearray(content)
            for _ in range(generator.choice((1, 1, 2, 5, 20))):
                place = generator.randrange(len(changed))
                action = generator.choice(("flip", "set", "insert", "remove", "repeat"))
                if action == "flip":
                    changed[place] ^= 1 << generator.randrange(8)
                elif action == "set":
                    changed[place] = generator.choice((0, 10, 34, 44, 127, 128, 255))
                elif action == "insert":
                    changed[place:place] = generator.randbytes(generator.randint(1, 4))
                elif action == "remove":
                    del changed[place : place + generator.randint(1, 4)]
                else:
                    changed[place:place] = changed[place : place + 16]
            yield f"mutated-{number}.{ending}", bytes(changed), False


def _places() -> Iterator[Variant]:
    """Yield things that are no files, and files in strange places."""
    table = valid_files()["csv"]
    yield "folder.csv", Path.mkdir, True
    yield "folder.zarr", Path.mkdir, True
    yield "pipe.csv", os.mkfifo, True
    yield "endless.csv", lambda path: path.symlink_to("/dev/zero"), True
    yield "nothing.npy", lambda path: path.symlink_to("/dev/null"), True
    yield "dangling.csv", lambda path: path.symlink_to("nowhere.csv"), True
    yield "circle.csv", lambda path: path.symlink_to(path.name), True
    yield "no-ending", table, True
    yield "unknown.xlsx", table, True
    yield "unknown.json", b"[1, 2, 3]", True
    yield "unknown.pkl", b"cos\nsystem\n(S'true'\ntR.", True
    yield "/".join(["deep"] * 40) + "/table.csv", table, False
    yield "émoji 🌍 'quotes' $(true).csv", table, False
    yield "line\nend\x1b[31m.csv", b"a,b\n1\n", True
    yield "UPPER.CSV", table, False
