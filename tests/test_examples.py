"""The demonstration and the README do what they promise."""

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "demo.py"


# Digits have more dimensions than the map: the first example warns of it, as it should.
@pytest.mark.filterwarnings("ignore::isofold._errors.DoubtfulMapWarning")
def test_python_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 (our own text)
    assert len(blocks) == 10
    shown = capsys.readouterr().out
    assert "trustworthiness" in shown
    assert "contraction" in shown
    assert len(names["tree"].edges) == 1999


def test_demo_writes_picture_table_and_page(tmp_path, capsys):
    runpy.run_path(str(DEMO))["main"](tmp_path)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    scores = pd.read_csv(tmp_path / "scores.csv", index_col="measure")
    # The clean roll at 2,000 points: the limit that we set ourselves is 2e-4.
    assert scores.loc["trustworthiness", "value"] > 0.999
    assert scores.loc["procrustes_error", "value"] < 2e-4
    page = (tmp_path / "scores.html").read_text(encoding="utf-8")
    assert "<table" in page
    assert "Certified" in page
    shown = capsys.readouterr().out
    assert "trustworthiness" in shown
    assert "No doubt about this map was found." in shown
