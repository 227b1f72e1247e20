"""The harness measures what it says it measures."""

import csv
import json

import pytest
from benchmarks import harness

SUITE = """
import time
from benchmarks.harness import Case

def fail(_):
    raise MemoryError("no room")

def allocate(_):
    return {"bytes": float(len(bytearray(200 * 2**20)))}

CASES = [
    Case("sleep", "ours", lambda: None, lambda _: time.sleep(0.2)),
    Case("allocate", "ours", lambda: bytearray(300 * 2**20) and None, allocate),
    Case("fail", "peer", lambda: None, fail),
    Case("hang", "peer", lambda: None, lambda _: time.sleep(60)),
]
"""


@pytest.fixture
def records(tmp_path, monkeypatch, capsys):
    (tmp_path / "suite_of_four.py").write_text(SUITE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "TIME_LIMIT", 5.0)
    return {record["task"]: record for record in harness.run_suite("suite_of_four")}


def test_records_time_memory_and_failures(records, tmp_path):
    assert records["sleep"]["seconds"] >= 0.2  # sleeping never ends early
    # 200 MB were held at once. The kernel counts pages in batches (well below 1 MB), and the
    # interpreter needs a little for itself. What the preparation held and freed, and this
    # process's own memory, must not count.
    assert 199 <= records["allocate"]["peak_mb"] <= 210
    assert records["allocate"]["figures"] == {"bytes": 200 * 2**20}
    assert records["fail"]["status"] == "failed: MemoryError: no room"
    assert records["hang"]["status"] == "stopped after 5 s"
    with (tmp_path / "suite_of_four.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"][:6] for row in rows] == ["ok", "ok", "failed", "stoppe"]
    assert json.loads(rows[1]["figures"]) == {"bytes": 200 * 2**20}
    table = (tmp_path / "suite_of_four.md").read_text(encoding="utf-8")
    assert "| fail | peer | failed: MemoryError: no room |" in table
