"""Record what the code of this checkout makes, and compare two such records to the last bit.

    python tests/contract/freeze.py record FOLDER [--only 'maps/ipa*']
    python tests/contract/freeze.py compare BEFORE AFTER

A record is a plain folder: for every case an .npz of arrays, which must be equal, and a .json of
texts, of which differing lines are only listed. Names of cases and arrays stay when those of
classes and parameters change: only the lambdas in `frozen_maps.py` and its neighbors are edited.
"""

# ruff: noqa: T201 - what is found is printed

import argparse
import difflib
import json
import multiprocessing
import os
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src"

WORKERS = 2

RAISED = "raised"
"""The array of a case that could not be recorded: the name of its error."""


@dataclass(frozen=True)
class Taken:
    """What a case made: arrays by name, compared by their bytes, and texts by name."""

    arrays: dict
    texts: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """How two records differ: what must not, and unified diffs of texts, which may."""

    failures: list
    diffs: list
    counts: Counter


def kinds():
    """Return all cases: by kind and name, a function without arguments that returns `Taken`."""
    from contract import frozen_maps, frozen_measures, frozen_pages, frozen_shell, frozen_stored

    return {
        "maps": frozen_maps.cases(),
        "measures": frozen_measures.cases(),
        "stored": frozen_stored.stored_cases(),
        "files": frozen_stored.written_cases(),
        "shell": frozen_shell.cases(),
        "pages": frozen_pages.cases(),
    }


def slug(name):
    """Return the name of a case as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def plain(value):
    """Return a value as an array that can be stored without pickling."""
    array = np.asarray(value)
    return array.astype(str) if array.dtype == object else array


def write_case(folder, kind, name, taken):
    """Write what a case made."""
    place = Path(folder) / kind
    place.mkdir(parents=True, exist_ok=True)
    arrays = {key: plain(value) for key, value in taken.arrays.items()}
    # np.savez would take some names for its own parameters.
    with (place / f"{slug(name)}.npz").open("wb") as file:
        np.savez(file, **{f"={key}": array for key, array in arrays.items()})
    texts = {key: text.splitlines() for key, text in taken.texts.items()}
    content = json.dumps({"name": name, "texts": texts}, ensure_ascii=False, indent=1)
    (place / f"{slug(name)}.json").write_text(content + "\n", encoding="utf-8")


def run_case(case):
    """Return what a case makes; of one that fails, the error."""
    from threadpoolctl import threadpool_limits

    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            return case()
    except Exception as error:
        return Taken({RAISED: type(error).__name__}, {"traceback": traceback.format_exc()})


def record_cases(folder, cases):
    """Record given cases in this process."""
    for kind, named in cases.items():
        for name, case in named.items():
            write_case(folder, kind, name, run_case(case))


def work(folder, kind, name):
    """Record one case in a process of the pool; return how long it took and what it raised."""
    begin = time.perf_counter()
    taken = run_case(kinds()[kind][name])
    write_case(folder, kind, name, taken)
    raised = taken.texts["traceback"] if RAISED in taken.arrays else ""
    return kind, name, time.perf_counter() - begin, raised


def use_this_checkout():
    """Import isofold and the tests' own modules from the checkout that holds this file."""
    ours = [str(SOURCE), str(TESTS)]
    sys.path[:] = ours + [path for path in sys.path if path not in ours]
    import isofold

    if not Path(isofold.__file__).resolve().is_relative_to(SOURCE):
        sys.exit(f"isofold was imported from {isofold.__file__}, which is not in {SOURCE}.")


def record(folder, only="*"):
    """Record all cases whose kind/name matches a pattern, in several processes."""
    use_this_checkout()
    folder = Path(folder).resolve()
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty: a record never mixes with another.")
    begin, failed, seconds = time.perf_counter(), 0, Counter()
    names = [(kind, name) for kind, named in kinds().items() for name in named]
    names = [pair for pair in names if fnmatchcase("/".join(pair), only)]
    files = Counter((kind, slug(name)) for kind, name in names)
    if len(files) < len(names):
        sys.exit(f"Cases share a file name: {[pair for pair, n in files.items() if n > 1]}.")
    # Those that take longest first, so that no core waits for the other at the end.
    order = ["pages", "shell", "stored", "measures", "files", "maps"]
    names.sort(key=lambda pair: order.index(pair[0]))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(WORKERS, os.cpu_count() or 1), mp_context=spawn) as pool:
        for done in as_completed([pool.submit(work, folder, *pair) for pair in names]):
            kind, name, took, raised = done.result()
            seconds[kind, name] = took
            if raised:
                failed += 1
                print(f"FAILED {kind}/{name}\n{raised}", flush=True)
    for (kind, name), took in seconds.most_common(8):
        print(f"{took:6.1f} s  {kind}/{name}")
    counts = ", ".join(f"{n} {kind}" for kind, n in Counter(kind for kind, _ in names).items())
    print(f"{len(names)} cases ({counts}) in {time.perf_counter() - begin:.0f} s, {failed} failed.")
    return 1 if failed else 0


def read_record(folder):
    """Return the paths of the cases of a record, without their endings."""
    folder = Path(folder)
    if not folder.is_dir():
        sys.exit(f"There is no record in {folder}.")
    return {str(path.relative_to(folder).with_suffix("")) for path in folder.glob("*/*.npz")}


def read_case(folder, case):
    """Return arrays and texts of a case."""
    with np.load(Path(folder) / f"{case}.npz", allow_pickle=False) as file:
        arrays = {key.removeprefix("="): file[key] for key in file.files}
    told = json.loads((Path(folder) / f"{case}.json").read_text(encoding="utf-8"))
    return arrays, told["texts"]


def difference(a, b):
    """Return in words how two arrays differ, or an empty text if their bytes are the same."""
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{a.dtype}{a.shape} became {b.dtype}{b.shape}"
    if a.tobytes() == b.tobytes():
        return ""
    if a.dtype.kind not in "biuf":
        changed = np.flatnonzero(a.ravel() != b.ravel())
        first = changed[0] if len(changed) else 0
        return f"{len(changed)} differ, {a.ravel()[first]!r} became {b.ravel()[first]!r}"
    x, y = a.astype(np.float64), b.astype(np.float64)
    equal = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore"):
        gaps = np.where(equal, 0.0, np.abs(x - y))
    return f"{np.sum(~equal)} of {a.size} differ, max abs difference {gaps.max():.3g}"


def compare_records(before, after):
    """Return how two records differ."""
    cases = read_record(before), read_record(after)
    failures = [f"{case}: only before" for case in sorted(cases[0] - cases[1])]
    failures += [f"{case}: only after" for case in sorted(cases[1] - cases[0])]
    diffs, counts = [], Counter()
    for case in sorted(cases[0] & cases[1]):
        counts[case.split("/")[0]] += 1
        (arrays, texts), (new_arrays, new_texts) = read_case(before, case), read_case(after, case)
        if RAISED in arrays or RAISED in new_arrays:
            failures.append(f"{case}: could not be recorded")
        for name in sorted(arrays.keys() | new_arrays.keys()):
            if name in arrays and name in new_arrays:
                words = difference(arrays[name], new_arrays[name])
            else:
                words = "only before" if name in arrays else "only after"
            if words:
                failures.append(f"{case}: {name}: {words}")
        for name in sorted(texts.keys() | new_texts.keys()):
            pair = texts.get(name, []), new_texts.get(name, [])
            titles = f"before/{case} {name}", f"after/{case} {name}"
            diffs += difflib.unified_diff(*pair, *titles, lineterm="", n=0)
    return Found(failures, diffs, counts)


def compare(before, after):
    """Tell how two records differ; return 1 if anything but texts does."""
    found = compare_records(before, after)
    kind_of = Counter(failure.split("/")[0] for failure in found.failures)
    print("\n".join(found.diffs + found.failures))
    n_texts = sum(line.startswith("+++ ") for line in found.diffs)
    for kind in sorted(found.counts.keys() | kind_of.keys()):
        print(f"{kind}: {found.counts[kind]} cases on both sides, {kind_of[kind]} differences")
    print(f"{len(found.failures)} differences that must not be, {n_texts} other texts (listed).")
    return 1 if found.failures or not found.counts else 0


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write what the code of this checkout makes")
    recording.add_argument("folder")
    recording.add_argument("--only", default="*", help="pattern of kind/name, such as 'maps/ipa*'")
    comparing = commands.add_parser("compare", help="tell how two records differ")
    comparing.add_argument("before")
    comparing.add_argument("after")
    given = parser.parse_args()
    if given.command == "record":
        return record(given.folder, given.only)
    return compare(given.before, given.after)


if __name__ == "__main__":
    # Under its own name, so that processes of the pool and the cases share its classes.
    sys.path[:0] = [str(TESTS)]
    from contract.freeze import main as run

    sys.exit(run())
