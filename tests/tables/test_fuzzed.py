"""Hundreds of damaged, hostile and senseless files: one line of text each, and nothing worse."""

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from support import fuzzed_files

LEAST_UNUSABLE = 300
MOST_MEMORY = 12 * 2**30
"""Of addresses, not of memory: Arrow and HDF5 reserve more than they use."""

SECONDS = 120
MOST_REPEATS = 20
LONGEST_MESSAGE = 700

RUN = """
import json, resource, signal, sys, warnings
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
signal.signal(signal.SIGALRM, signal.SIG_DFL)
warnings.simplefilter("error")
from isofold.exceptions import InvalidInputError, MemoryLimitError, MissingDependencyError
from isofold.tables import prepare, read_table
for path in json.load(sys.stdin):
    signal.alarm({seconds})  # ends the process: what hangs is never told
    try:
        prepared = prepare(read_table(path))
        outcome, words = "table", str(prepared.X.shape)
    except (InvalidInputError, MemoryLimitError, MissingDependencyError) as error:
        outcome, words = "refused", str(error)
    except BaseException as error:
        outcome, words = "raised", repr(error)
    print(json.dumps((path, outcome, words)), flush=True)
"""


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    return fuzzed_files.write_all(tmp_path_factory.mktemp("fuzzed"))


@pytest.fixture(scope="module")
def outcomes(entries):
    """Read all files in another process, whose memory is bounded."""
    finished = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", RUN.format(memory=MOST_MEMORY, seconds=SECONDS)],
        input=json.dumps([str(path) for path, _ in entries]),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = [json.loads(line) for line in finished.stdout.splitlines()]
    # A crash or a hang ends the process at the file that is told here.
    where = entries[len(told)][0].name if len(told) < len(entries) else ""
    assert (finished.returncode, where, finished.stderr) == (0, "", "")
    return {Path(path): (outcome, words) for path, outcome, words in told}


def test_there_are_enough_and_no_two_are_equal(entries):
    names = [path.name.partition("-")[2] for path, _ in entries]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert sum(must_fail for _, must_fail in entries) >= LEAST_UNUSABLE
    files = [path for path, _ in entries if path.is_file()]
    distinct = {(path.suffix, hashlib.sha256(path.read_bytes()).digest()) for path in files}
    # What holds the same under another name is in the list for its name.
    assert len(distinct) > len(files) - MOST_REPEATS


def test_same_files_every_time(entries):
    for (path, must_fail), (name, content, again) in zip(
        entries, fuzzed_files.variants(), strict=True
    ):
        assert path.name.endswith(name.rpartition("/")[2])
        assert must_fail == again
        assert callable(content) or path.read_bytes() == content


def test_nothing_is_raised_but_our_own(outcomes):
    assert {p.name: words for p, (outcome, words) in outcomes.items() if outcome == "raised"} == {}


def test_what_is_no_table_is_refused(entries, outcomes):
    passed = [
        path.name for path, must_fail in entries if must_fail and outcomes[path][0] == "table"
    ]
    assert passed == []


def test_what_only_looks_strange_is_read(outcomes):
    refused = {
        path.name: words
        for path, (outcome, words) in outcomes.items()
        if path.name.partition("-")[2].startswith("valid-") and outcome != "table"
    }
    assert refused == {}


def test_messages_are_one_printable_line(outcomes):
    bad = {
        path.name: words
        for path, (outcome, words) in outcomes.items()
        if outcome == "refused" and not (words.isprintable() and 20 < len(words) < LONGEST_MESSAGE)
    }
    assert bad == {}
