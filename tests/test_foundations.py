"""The files below all rooms: memory, parallel map, optional packages, lazy package."""

import threading

import numpy as np
import pytest

import isofold
from isofold import _memory
from isofold._dependencies import require
from isofold._parallel import ordered_map
from isofold._validation import check_finite, check_points
from isofold.exceptions import InvalidInputError, MemoryLimitError, MissingDependencyError


def test_rooms_are_attributes_and_listed():
    assert {"datasets", "linalg", "neighbors", "quality"} <= set(dir(isofold))
    assert isofold.__getattr__("quality") is isofold.quality
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        _ = isofold.magic


def test_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 2**30)
    _memory.require_memory(2**30, what="This", instead="")
    with pytest.raises(MemoryLimitError, match=r"All distances would need 3\.0 GiB, but 1\.0 GiB"):
        _memory.require_memory(3 * 2**30, what="All distances", instead="Use blocks.")
    monkeypatch.setattr(_memory, "available_bytes", lambda: None)
    _memory.require_memory(2**60, what="This", instead="")


def test_available_memory_without_proc(monkeypatch, tmp_path):
    def absent(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(_memory, "CONTROL_GROUP", tmp_path)
    seen = _memory.available_bytes()
    assert seen > 2**20
    monkeypatch.setattr(_memory.Path, "read_text", absent)
    assert _memory.available_bytes() >= seen // 2  # all memory, not only what is free now
    monkeypatch.delattr("os.sysconf")
    assert _memory.available_bytes() is None


def test_available_memory_in_a_container(monkeypatch, tmp_path):
    monkeypatch.setattr(_memory, "CONTROL_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1048576\n")
    assert _memory.available_bytes() > 2 * 2**20
    (tmp_path / "memory.max").write_text("3145728\n")
    assert _memory.available_bytes() == 2 * 2**20


def test_blocks_have_at_least_one_row():
    assert _memory.block_rows(2**60, 10) == 1
    assert _memory.block_rows(1, 10) == 10


def test_map_keeps_order_in_threads():
    started = threading.Barrier(2, timeout=600)

    def slow_first(item):
        if item < 2:
            started.wait()  # both workers are busy at once, so they really run in parallel
        return item * item

    assert list(ordered_map(slow_first, range(20), n_jobs=2)) == [i * i for i in range(20)]


def test_missing_package_is_named_with_its_extra():
    with pytest.raises(MissingDependencyError, match=r'Juggling needs .* "isofold\[circus\]"'):
        require("no_such_package", extra="circus", purpose="Juggling")


@pytest.mark.parametrize(
    "code", ["import no_such_helper", "raise ImportError('libbroken.so: cannot open')"]
)
def test_broken_package_is_not_called_absent(tmp_path, monkeypatch, code):
    (tmp_path / "broken_package.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        MissingDependencyError, match=r"installed but cannot be imported: .*\."
    ) as e:
        require("broken_package", extra="circus", purpose="Juggling")
    assert "not installed" not in str(e.value)


def test_large_sums_are_not_mistaken_for_bad_entries():
    # The sum overflows although every entry is finite.
    check_finite(np.full((10, 10), 1e308), name="X")
    with pytest.raises(InvalidInputError, match="1 NaN and 1 infinite"):
        check_finite(np.array([1.0, np.nan, np.inf]), name="X")


def test_integers_become_floats_and_float32_stays():
    assert check_points([[1, 2], [3, 4]]).dtype == np.float64
    single = np.ones((3, 2), dtype=np.float32)
    assert check_points(single) is single
