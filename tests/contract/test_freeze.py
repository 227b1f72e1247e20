"""The script that freezes what the code makes: it finds a changed bit, and lists changed words."""

import subprocess
import sys

import numpy as np
import pytest

from contract.freeze import Taken, compare, compare_records, kinds, record_cases

CHEAP = ("out of sample embedding", "eat linear")

SCRIPT = "tests/contract/freeze.py"


def made(*, numbers=(1.0, 2.0), code=0, words="one\ntwo", extra=()):
    """Return cases of two kinds."""
    cases = {
        "maps": {"a map": lambda: Taken({"embedding_": np.array(numbers)})},
        "shell": {"a run": lambda: Taken({"0 exit code": np.array(code)}, {"0 stdout": words})},
    }
    for name in extra:
        cases["maps"][name] = lambda: Taken({"embedding_": np.zeros(2)})
    return cases


@pytest.fixture
def before(tmp_path):
    record_cases(tmp_path / "before", made())
    return tmp_path / "before"


def difference_to(before, **changes):
    """Return what differs from a record, and the exit code of the script."""
    after = before.with_name("after")
    record_cases(after, made(**changes))
    return compare_records(before, after), compare(before, after)


def test_the_same_is_equal(before):
    found, code = difference_to(before)
    assert (found.failures, found.diffs, code) == ([], [], 0)
    assert found.counts == {"maps": 1, "shell": 1}


def test_one_changed_bit_is_found(before):
    found, code = difference_to(before, numbers=(1.0, np.nextafter(2.0, 3.0)))
    words = "1 of 2 differ, max abs difference 4.44e-16"
    assert found.failures == [f"maps/a-map: embedding_: {words}"]
    assert code == 1


def test_the_sign_of_zero_is_a_bit(before, tmp_path):
    for folder, zero in (("plus", 0.0), ("minus", -0.0)):
        record_cases(tmp_path / folder, made(numbers=(zero,)))
    assert compare(tmp_path / "plus", tmp_path / "minus") == 1


@pytest.mark.parametrize("numbers", [(1.0,), (1, 2), np.float32([1.0, 2.0]), ("1", "2")])
def test_another_shape_or_type_is_found(before, numbers):
    found, code = difference_to(before, numbers=numbers)
    assert "became" in found.failures[0]
    assert code == 1


def test_a_changed_exit_code_is_found(before):
    found, code = difference_to(before, code=2)
    assert found.failures == [
        "shell/a-run: 0 exit code: 1 of 1 differ, max abs difference 2",
    ]
    assert code == 1


def test_a_missing_case_is_found_on_either_side(before):
    found, code = difference_to(before, extra=["another"])
    assert found.failures == ["maps/another: only after"]
    assert code == 1
    assert compare_records(before.with_name("after"), before).failures == [
        "maps/another: only before"
    ]


def test_changed_words_are_listed_only(before, capsys):
    found, code = difference_to(before, words="one\n2")
    assert (found.failures, code) == ([], 0)
    assert found.diffs[-2:] == ["-two", "+2"]
    assert "-two\n+2\n" in capsys.readouterr().out


def test_a_case_that_fails_is_not_equal_to_itself(before):
    def fail():
        raise ArithmeticError

    for name in ("first", "second"):
        record_cases(before.with_name(name), {"maps": {"a map": fail}})
    found = compare_records(before.with_name("first"), before.with_name("second"))
    assert found.failures == ["maps/a-map: could not be recorded"]


def test_nothing_is_not_equal_to_nothing(tmp_path):
    assert compare(tmp_path, tmp_path) == 1


def test_two_records_of_the_same_code_are_equal(tmp_path):
    cases = {"maps": {name: kinds()["maps"][name] for name in CHEAP}}
    for name in ("once", "twice"):
        record_cases(tmp_path / name, cases)
    found = compare_records(tmp_path / "once", tmp_path / "twice")
    assert (found.failures, found.diffs) == ([], [])
    assert found.counts == {"maps": 2}
    with np.load(tmp_path / "once" / "maps" / "eat-linear.npz") as arrays:
        assert {"=embedding_", "=transform", "=solution 0 status"} <= set(arrays.files)


def test_the_script_explains_itself(request):
    result = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, request.config.rootpath / SCRIPT, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "record" in result.stdout
    assert "compare" in result.stdout
