"""The shell makes the same page of a fit as of the model that it saved."""

import re

import numpy as np
import pytest

from isofold import load, report
from support.command_runs import run, write_csv
from support.quick import quick_are


@pytest.mark.parametrize(
    "method",
    quick_are(["ipa", "neighbor-map"], ["auto", "ipa", "plml", "local-mds", "neighbor-map"]),
)
def test_a_page_of_the_fit_is_that_of_the_saved_model(method, tmp_path):
    # A cloud, so that there are doubts.
    X = np.random.RandomState(0).normal(size=(150, 3))
    data = write_csv(tmp_path / "cloud.csv", ["x", "y", "z"], X.tolist())
    model, fresh, later = (tmp_path / name for name in ("model.iso", "fresh.html", "later.html"))
    made = run(
        "embed", data, "-m", method, "--model", model, "--report", fresh, "--n-components", 2
    )
    assert made.exit_code == 0, made.stderr
    assert run("report", data, "--model", model, "-o", later).exit_code == 0
    pages = [path.read_text(encoding="utf-8") for path in (fresh, later)]
    assert pages[0] == pages[1]
    box = re.compile(r'<div class="box bad" id="doubts">.*?</div>')
    assert box.findall(pages[0]) == box.findall(report(X, load(model)).html)
    assert box.findall(pages[0])
