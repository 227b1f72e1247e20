"""The example and the README do what they promise."""

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import isofold
from isofold.datasets import holed_swiss_roll
from isofold.quality import procrustes_error

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "first_map.py"


# Digits have more dimensions than the map: the first example warns of it, as it should.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 (our own text)
    assert len(blocks) == 2
    plt.close("all")
    shown = capsys.readouterr().out
    assert "trustworthiness" in shown
    assert "contraction" in shown
    np.testing.assert_array_equal(
        names["again"].transform(names["X"][:5]), names["unfold"].transform(names["X"][:5])
    )


# `isofold demo` does the same, and has a quick test.
@pytest.mark.slow
def test_first_map_writes_figure_page_and_model(tmp_path, capsys):
    runpy.run_path(str(EXAMPLE))["main"](tmp_path)
    assert (tmp_path / "overview.png").read_bytes().startswith(b"\x89PNG")
    assert "A rolled sheet with a hole" in (tmp_path / "page.html").read_text("utf-8")
    roll = holed_swiss_roll(2000, random_state=0)
    Y = isofold.load(tmp_path / "model.iso").transform(roll.X)
    # The clean roll at 2,000 points: the limit that we set ourselves is 2e-4.
    assert procrustes_error(Y, roll.truth) < 2e-4
    shown = capsys.readouterr().out
    assert "trustworthiness" in shown
    assert "places points as before" in shown


def test_the_picture_of_the_length_errors_has_its_figures(tmp_path, capsys):
    runpy.run_path(str(ROOT / "examples" / "length_errors.py"))["main"](tmp_path)
    drawn = (tmp_path / "length-errors.svg").read_text("utf-8")
    shown = re.findall(
        r"length_error ([\d.]+), shown_length_error ([\d.]+)", capsys.readouterr().out
    )
    kept = (ROOT / "docs" / "images" / "length-errors.svg").read_text("utf-8")
    for recall, precision in shown:
        figures = f"length_error {recall}, shown_length_error {precision}"
        assert figures in drawn
        assert figures in kept
    (torn, side_by_side), (near, folded) = np.array(shown, dtype=float)
    assert min(torn, folded) > 0.5
    assert max(side_by_side, near) == 0.0
