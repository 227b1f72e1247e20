"""The demonstration and the README do what they promise."""

import re
import runpy
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "demo.py"


def test_python_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 (our own text)
    assert len(blocks) == 3
    assert "trustworthiness" in capsys.readouterr().out
    assert len(names["tree"].edges) == 1999


def test_demo_writes_picture_table_and_page(tmp_path, capsys):
    runpy.run_path(str(DEMO))["main"](tmp_path)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    scores = pd.read_csv(tmp_path / "scores.csv", index_col="measure")
    # Isomap on the holed roll: neighbors kept, the hole inflated.
    assert scores.loc["trustworthiness", "value"] > 0.99
    assert 0.01 < scores.loc["procrustes_error", "value"] < 0.2
    assert "<table" in (tmp_path / "scores.html").read_text(encoding="utf-8")
    assert "trustworthiness" in capsys.readouterr().out
