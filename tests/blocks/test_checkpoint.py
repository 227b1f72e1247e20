"""Checkpoints: finished blocks are recalled, damaged ones are not, other runs are refused."""

from dataclasses import dataclass

import numpy as np
import pytest

from isofold.blocks import checkpoint as checkpoint_module
from isofold.blocks.checkpoint import Checkpoint, Fingerprint, from_arrays, to_arrays, was_written
from isofold.blocks.protocol import Block
from isofold.blocks.sample import KeyedSample
from isofold.exceptions import InvalidInputError

RUN = Fingerprint("1.0", (("a.parquet", 10, 1),), (("--seed", "0"),))


@dataclass(frozen=True, eq=False)
class Seen:
    n: int
    error: float
    far: KeyedSample


def seen(start, stop):
    block = Block(start, np.arange(2.0 * start, 2.0 * stop).reshape(-1, 2))
    return block, Seen(stop - start, start / 7, KeyedSample.of(block, 3, seed=0))


def merged(one, other):
    return Seen(one.n + other.n, max(one.error, other.error), one.far.merged(other.far, 3))


def test_dataclasses_of_arrays_come_back():
    summary = seen(3, 9)[1]
    again = from_arrays(Seen, to_arrays(summary))
    assert (again.n, again.error, again.far.n_seen) == (summary.n, summary.error, 6)
    for name in ("rows", "points", "keys"):
        before, after = getattr(summary.far, name), getattr(again.far, name)
        assert before.dtype == after.dtype
        assert (before == after).all()


def test_blocks_that_tile_rows_are_recalled(tmp_path):
    with Checkpoint.open(tmp_path / "c", RUN, over=False) as checkpoint:
        memory = checkpoint.memory("pass", Seen, merged)
        for start, stop in ((0, 4), (4, 5), (9, 12)):
            memory.keep(*seen(start, stop))
        again = checkpoint.memory("pass", Seen, merged)
        found, whole = again.recall(0, 5), seen(0, 5)[1]
        assert found.n == 5
        assert (found.far.rows == whole.far.rows).all()
        assert (found.far.points == whole.far.points).all()
        assert again.recall(0, 4).n == 4
        for start, stop in ((0, 3), (0, 6), (1, 4), (5, 9), (4, 12)):
            assert again.recall(start, stop) is None
        file = next((tmp_path / "c" / "pass").glob("*12.npz"))
        file.write_bytes(file.read_bytes()[:-20])
        assert again.recall(9, 12) is None


def test_other_runs_are_refused_or_replaced(tmp_path):
    folder = tmp_path / "c"
    with Checkpoint.open(folder, RUN, over=False) as checkpoint:
        assert not checkpoint.is_continued
        checkpoint.keep("seen.npz", seen(0, 4)[1])
        with pytest.raises(InvalidInputError, match="another run"):  # noqa: SIM117
            with Checkpoint.open(folder, RUN, over=True):
                pass
    with Checkpoint.open(folder, RUN, over=False) as checkpoint:
        assert checkpoint.is_continued
        assert checkpoint.recall("seen.npz", Seen).n == 4
    others = {
        "a.parquet was changed": Fingerprint("1.0", (("a.parquet", 10, 2),), RUN.options),
        "b.parquet is new; a.parquet is no longer read": Fingerprint(
            "1.0", (("b.parquet", 10, 1),), RUN.options
        ),
        "--seed was 0 and is not given": Fingerprint("1.0", RUN.files, ()),
        "isofold was 1.0 and is 2.0": Fingerprint("2.0", RUN.files, RUN.options),
    }
    for text, other in others.items():
        with pytest.raises(InvalidInputError, match=text):  # noqa: SIM117
            with Checkpoint.open(folder, other, over=False):
                pass
    with Checkpoint.open(folder, other, over=True) as checkpoint:
        assert not checkpoint.is_continued
        assert checkpoint.recall("seen.npz", Seen) is None
        checkpoint.remove()
    assert not folder.exists()


def test_outputs_are_known_by_what_they_are_not_by_their_names(tmp_path):
    folder, output = tmp_path / "c", tmp_path / "map.csv"
    with Checkpoint.open(folder, RUN, over=False) as checkpoint:
        made = folder / "output.csv"
        made.write_text("ours", encoding="utf-8")
        checkpoint.note_written(output, made)
        assert not checkpoint.has_written(output)
        made.replace(output)
        assert checkpoint.has_written(output)
    assert was_written(folder, output)
    # Both there at the same time, so that they differ in more than their contents.
    other = tmp_path / "other.csv"
    other.write_text("theirs", encoding="utf-8")
    other.replace(output)
    assert not was_written(folder, output)


@pytest.mark.parametrize("over", [False, True])
def test_folder_of_somebody_else_is_refused(tmp_path, over):
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "notes.txt").write_text("hi", encoding="utf-8")
    again = Checkpoint.open(folder, RUN, over=over)
    with pytest.raises(InvalidInputError, match="it holds other files"), again:
        pass
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    (folder / "notes.txt").unlink()
    with Checkpoint.open(folder, RUN, over=over) as checkpoint:
        checkpoint.remove()
    assert not folder.exists()


def test_folder_that_is_written_to_while_it_is_removed_stays_ours(tmp_path, monkeypatch):
    folder = tmp_path / "c"
    clear = checkpoint_module._clear

    def clear_and_write(folder):
        clear(folder)
        (folder / "late.npz").write_bytes(b"")

    with Checkpoint.open(folder, RUN, over=False) as checkpoint, monkeypatch.context() as late:
        late.setattr(checkpoint_module, "_clear", clear_and_write)
        checkpoint.remove()
    assert (folder / "late.npz").exists()
    with Checkpoint.open(folder, RUN, over=True) as checkpoint:
        checkpoint.remove()
    assert not folder.exists()
