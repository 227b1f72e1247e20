"""Property tests with new examples, round after round, until the time is up: `make fuzz`.

Every round is a process of its own, so that a crash counts as a failure like any other. In a
round every test draws more examples than in `make test`, from the seed of the round and in an order
of its own. It goes on after failures: they are printed at the end of their round, and again in the
summary.
"""

# ruff: noqa: T201 - what is found is printed

import argparse
import json
import os
import random
import re
import secrets
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LONGEST = 60
"""Lines of a failure that are printed: the error, its example and how to reproduce it."""


class Round:
    """A plugin of pytest: stops when the time is up, and writes a line for every finding."""

    def __init__(self, log, *, seed, end):
        self.log, self.seed, self.end = log, seed, end

    def pytest_collection_modifyitems(self, items):
        """Shuffle tests: those that the end of the time cuts off are others in every round."""
        random.Random(self.seed).shuffle(items)  # noqa: S311 - no secret

    def pytest_runtest_logstart(self, nodeid):
        self.write(begun=nodeid)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.write(failed=report.nodeid, text=shortened(report.longreprtext))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item):
        counts = re.findall(r"(\d+) (?:pass|fail)ing", getattr(item, "hypothesis_statistics", ""))
        self.write(ended=item.nodeid, examples=sum(map(int, counts)))
        if time.time() >= self.end:
            item.session.shouldstop = "the time is up"

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(failed=report.nodeid, text=shortened(report.longreprtext))

    def write(self, **event):
        self.log.write(json.dumps(event) + "\n")
        self.log.flush()


def shortened(text):
    """Return what a failure says, without the code around it."""
    said = [line[1:].rstrip() for line in text.splitlines() if line.startswith("E ")]
    return "\n".join((said or text.splitlines())[-LONGEST:])


def run_round(path, *, seed, end, arguments):
    """Run all property tests once; return the exit code of pytest."""
    options = ["-q", "-m", "hypothesis", "-p", "no:cacheprovider", "--hypothesis-profile=fuzz"]
    with path.open("w", encoding="utf-8") as log:
        return pytest.main(
            [*options, f"--hypothesis-seed={seed}", *arguments],
            plugins=[Round(log, seed=seed, end=end)],
        )


def findings_of(path, finished):
    """Return the number of examples of every test that has ended, and failures with their text."""
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    counts = {event["ended"]: event["examples"] for event in events if "ended" in event}
    failures = {(event["failed"], event["text"]) for event in events if "failed" in event}
    expected = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    if finished.returncode not in expected:
        last = next(
            (event["begun"] for event in reversed(events) if "begun" in event), "collection"
        )
        said = "\n".join((finished.stdout + finished.stderr).splitlines()[-LONGEST:])
        failures.add((last, f"The round ended here, with exit code {finished.returncode}:\n{said}"))
    return counts, failures


def files_with_properties():
    """Return the test files that use Hypothesis: to collect all others takes longer than a test."""
    paths = sorted(TESTS.rglob("test_*.py"))
    return [str(path) for path in paths if "hypothesis" in path.read_text(encoding="utf-8")]


def explore(seed, *, end, arguments):
    """Run one round in another process; return its seed and what it has found."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "round.jsonl"
        path.touch()
        command = [sys.executable, __file__, "--round", path, "--seed", seed, "--end", end]
        finished = subprocess.run(  # noqa: S603 - our own code in our own interpreter
            [*map(str, command), *arguments], capture_output=True, text=True, check=False
        )
        return seed, *findings_of(path, finished)


def fuzz(*, minutes, jobs, seed, arguments):
    """Explore until the time is up, print what was found, and return the number of failures."""
    end = time.time() + 60 * minutes
    n_rounds, n_examples, found = 0, {}, {}

    def rounds(first):
        number = first
        while time.time() < end:
            yield explore(seed + number, end=end, arguments=arguments)
            number += jobs

    def work(first):
        nonlocal n_rounds
        for used, counts, failures in rounds(first):
            n_rounds += 1
            for test, count in counts.items():
                n_examples[test] = n_examples.get(test, 0) + count
            new = [failure for failure in failures if failure not in found]
            found.update(dict.fromkeys(new, used))
            print(f"Seed {used}: {sum(counts.values())} examples of {len(counts)} tests, "
                  f"{len(failures)} failures, {len(new)} of them new.", flush=True)  # fmt: skip
            for test, text in new:
                print(f"  {test}\n{text}", flush=True)

    print(f"Exploring for {minutes:g} minutes in {jobs} process(es), from seed {seed}.", flush=True)
    with ThreadPoolExecutor(jobs) as workers:
        list(workers.map(work, range(jobs)))
    print(f"\n{n_rounds} round(s), {sum(n_examples.values())} examples of {len(n_examples)} tests.")
    for (test, text), used in sorted(found.items()):
        print(f"\nFAILED {test} (seed {used})\n{text}")
    print(f"{len(found)} failing examples." if found else "Nothing was found.")
    return len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to explore")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes side by side")
    parser.add_argument("--seed", type=int, help="seed of the first round; by default a new one")
    parser.add_argument("--round", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--end", type=float, help=argparse.SUPPRESS)
    options, arguments = parser.parse_known_args()
    arguments = arguments or files_with_properties()
    if options.round is not None:
        return run_round(options.round, seed=options.seed, end=options.end, arguments=arguments)
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    n_found = fuzz(minutes=options.minutes, jobs=options.jobs, seed=seed, arguments=arguments)
    return int(n_found > 0)


if __name__ == "__main__":
    sys.exit(main())
