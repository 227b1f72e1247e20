"""The harness measures what it says it measures; so do the figures of the suites."""

import csv
import json
from importlib import import_module

import numpy as np
import pytest
from benchmarks import harness, ipa_accuracy, ipa_data, ipa_speed, peers
from benchmarks.__main__ import SUITES

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
    Case("hang", "peer", lambda: None, lambda _: time.sleep(3600)),
]
"""


@pytest.fixture
def records(tmp_path, monkeypatch, capsys):
    (tmp_path / "suite_of_four.py").write_text(SUITE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    for task in ("sleep", "allocate", "fail"):
        harness.run_suite("suite_of_four", only=task)
    monkeypatch.setattr(harness, "TIME_LIMIT", 1.0)
    return {record["task"]: record for record in harness.run_suite("suite_of_four", only="hang")}


def test_records_time_memory_and_failures(records, tmp_path):
    assert records["sleep"]["seconds"] >= 0.2  # sleeping never ends early
    # 200 MB were held at once. The kernel counts pages in batches (well below 1 MB), and the
    # interpreter needs a little for itself. What the preparation held and freed, and this
    # process's own memory, must not count.
    assert 199 <= records["allocate"]["peak_mb"] <= 210
    assert records["allocate"]["figures"] == {"bytes": 200 * 2**20}
    assert records["fail"]["status"] == "failed: MemoryError: no room"
    assert records["hang"]["status"] == "stopped after 1 s"
    with (tmp_path / "suite_of_four.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"][:6] for row in rows] == ["ok", "ok", "failed", "stoppe"]
    assert json.loads(rows[1]["figures"]) == {"bytes": 200 * 2**20}
    table = (tmp_path / "suite_of_four.md").read_text(encoding="utf-8")
    assert "| fail | peer | failed: MemoryError: no room |" in table


SUITE_IN_PARTS = """
from pathlib import Path
from benchmarks.harness import Case

def count(_):
    with Path("{log}").open("a") as file:
        file.write("x")
    return {{"words": "none, or one", "number": 1.5}}

CASES = [
    Case("first", "ours", lambda: None, count, repeats=3),
    Case("second", "ours", lambda: None, lambda _: None),
    Case("third", "peer", lambda: None, lambda _: None, is_slow=True),
]
"""


def test_parts_of_a_suite_leave_the_others_alone(tmp_path, monkeypatch, capsys):
    log = tmp_path / "log"
    suite = SUITE_IN_PARTS.format(log=log)
    (tmp_path / "suite_in_parts.py").write_text(suite, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(harness, "RESULTS", tmp_path)

    def tasks(**chosen):
        return [record["task"] for record in harness.run_suite("suite_in_parts", **chosen)]

    assert tasks(only="FIRST | ours") == ["first"]
    assert log.read_text(encoding="utf-8") == "xxx"
    first = (tmp_path / "suite_in_parts.md").read_text(encoding="utf-8").splitlines()[2]
    assert first.endswith("| words none, or one, number 1.5 |")
    assert tasks(only="second") == ["first", "second"]
    assert tasks(only="third", slow=True) == ["first", "second", "third"]
    assert log.read_text(encoding="utf-8") == "xxx"
    # The row of the first case is the one that was written before, to the last digit.
    table = (tmp_path / "suite_in_parts.md").read_text(encoding="utf-8")
    assert table.splitlines()[2] == first


SUITE_OF_AGES = """
from benchmarks.harness import Case
import isofold

def age(_):
    return {"age": getattr(isofold, "age", "now")}

CASES = [Case(f"age of {who}", who, lambda: None, age) for who in ("isofold X", "peer")]
"""


def test_another_checkout_runs_our_cases_in_the_same_run(tmp_path, monkeypatch, capsys):
    (tmp_path / "suite_of_ages.py").write_text(SUITE_OF_AGES, encoding="utf-8")
    (tmp_path / "old" / "isofold").mkdir(parents=True)
    (tmp_path / "old" / "isofold" / "__init__.py").write_text("age = 'old'", encoding="utf-8")
    # The suite is found beside the other checkout, too.
    (tmp_path / "old" / "suite_of_ages.py").write_text(SUITE_OF_AGES, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    records = harness.run_suite("suite_of_ages", before=tmp_path / "old")
    assert [(record["method"], record["figures"]["age"]) for record in records] == [
        ("isofold X (before)", "old"),
        ("isofold X", "now"),
        ("peer", "now"),
    ]
    # Both ages of a case stay in the table when another case runs alone.
    assert len(harness.run_suite("suite_of_ages", only="peer")) == 3


@pytest.mark.parametrize("suite", SUITES)
def test_no_two_cases_have_the_same_name(suite):
    names = [case.name for case in import_module(f"benchmarks.{suite}").CASES]
    assert len(set(names)) == len(names)


def test_metric_fit_undoes_a_linear_map():
    truth = np.random.RandomState(0).uniform(size=(300, 2))
    Y = truth @ np.array([[1e-3, 2e-4], [0.0, 3e-3]])
    fitted = peers.metric_fit(truth, Y)
    # Lengths are exact here, so that only the rounding of a well-conditioned fit is left.
    assert ipa_data.Sheet(truth, truth).error(fitted) < 1e-10


def test_the_floor_is_the_error_of_noise_within_the_sheet():
    # 20,000 points: the error of a sum of squares is about 1 %, that of its root half of it.
    sheet = ipa_data.roll(20_000, 0, noise=0.1)
    noisy = sheet.truth + 0.1 * np.random.RandomState(0).standard_normal(sheet.truth.shape)
    assert sheet.error(noisy) == pytest.approx(sheet.floor, rel=0.03)
    assert ipa_data.in_units(sheet, 1e6).floor == pytest.approx(sheet.floor)
    lifted = ipa_data.lifted_roll(100, 20, 0, noise=None)
    assert ipa_data.LEAST_NOISE < lifted.noise < ipa_data.MOST_NOISE


def test_outliers_are_not_judged():
    sheet = ipa_data.roll(200, 0)
    among = ipa_data.with_outliers(sheet, 0.1, 0)
    assert among.X.shape == (220, 3)
    placed = np.concatenate([sheet.truth, np.full((20, 2), 1e6)])
    assert among.error(placed) < 1e-10


def test_a_row_of_the_accuracy_table():
    sheets = [ipa_data.roll(500, seed) for seed in range(2)]
    figures = ipa_accuracy._ours(sheets, limit=0.1)
    assert figures["verdict"] == "met"
    assert figures["certified"] == "2 of 2"
    record = {"task": "t", "method": ipa_accuracy.OUR_METHOD, "status": "ok", "figures": figures}
    failed = {"task": "u", "method": "peer", "status": "failed: no room", "figures": {}}
    table = ipa_accuracy.markdown([record, failed])
    assert "| 0.1 | met |" in table
    assert "| failed: no room |" in table
    assert "Limits met: 1 of 1. Wrong maps without a doubt: 0." in table
    missed = ipa_accuracy._errors([0.02, 0.03, 0.04], [0.01] * 3, 1.1)
    assert (missed["in F"], missed["verdict"]) == (pytest.approx(3.0), "MISSED")


def test_a_map_that_was_not_stitched_is_not_certified():
    cloud = np.random.RandomState(0).normal(size=(300, 10))
    figures = ipa_accuracy._ours([ipa_data.Sheet(cloud, cloud[:, :2])], limit=None)
    assert figures["certified"] == "0 of 1"
    assert figures["uncertified"] == "NOT_STITCHED 1"


def test_claims_of_speed_are_judged():
    def record(n, method, seconds):
        figures = {"input_mb": 10.0}
        fields = {"task": ipa_speed._task(n), "method": method, "status": "ok"}
        return {**fields, "seconds": seconds, "peak_mb": 90.0, "figures": figures}

    records = [
        record(100_000, ipa_speed.OURS, 0.5),
        record(1_000_000, ipa_speed.OURS, 1.4),
        record(1_000_000, ipa_speed.KMEANS, 0.7),
        record(5_000_000, ipa_speed.OURS, 9.0),
        record(10_000_000, ipa_speed.OURS, 50.0),
    ]
    table = ipa_speed.markdown(records)
    assert "| seconds at 1,000,000 | 1.4 | ≤ 1.5 | met |" in table
    assert "| in times of k-means | 2 | ≤ 1.5 | MISSED |" in table
    assert "| exponent of growth, 100,000 to 10,000,000 | 1 | ≤ 1.05 | met |" in table
    assert "in times of the input | 9 | ≤ 8 | MISSED |" in table
    assert "LTSA" not in table  # it was not run


def test_both_searches_find_the_same_balls():
    balls = ipa_speed._prepare_balls(1_000)
    ours = ipa_speed._our_balls(balls)
    assert ours == ipa_speed._scipy_balls(balls, at_once=1)
    assert ours == ipa_speed._scipy_balls(balls, at_once=7)


def test_parts_add_up_to_the_whole():
    parts = ipa_speed._parts(ipa_data.roll(500, 0))
    assert set(parts) == {*ipa_speed.PARTS, "rest"}
    assert min(parts.values()) > 0.0
