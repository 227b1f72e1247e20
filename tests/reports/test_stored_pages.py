"""The page of a loaded model is that of the fresh one, with all that its fit has found."""

import json
import re
import warnings
from html import escape

import numpy as np
import pytest

from isofold import PLML, report
from isofold._findings import emit
from isofold.assessment.findings import find_in_model
from isofold.assessment.models import steps_inside
from isofold.datasets import s_curve
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning
from isofold.storage import load, save
from support.storage_cases import (
    CLOUD,
    EMBEDDERS,
    NOISE,
    SHEET,
    SMALL,
    distances,
    fitted,
    fitted_with_warnings,
    pieces,
    steps_of_extension,
)

# By numbers of samples and features.
DATA = {
    (300, 3): SHEET,
    (300, 2): SHEET[:, :2],
    (302, 3): np.vstack(steps_of_extension()),
    (300, 20): np.hstack([SHEET, 0.02 * NOISE[:300]]),
    (90, 3): pieces(),
    (120, 3): s_curve(120, random_state=0).X,
    (120, 6): CLOUD,
    (45, 3): SMALL,
    # Of tables of pairs, a page can be made of the points as well.
    (45, 45): SMALL,
}


LIKE_OTHERS = {
    "ipa float32",
    "ipa threads",
    "ipa k-means",
    "ipa clusterer",
    "ipa terms",
    "ipa names",
    "ipa labels",
    "ipa reduced",
    "mvu dense",
    "mvu graph",
    "mvu distances",
    "eat linear",
    "eat kernel",
    "tessera map landmarks",
    "plml refined",
    "local mds graph",
    "neighbor map lists",
    "neighbor map distances",
    "kernel eigenmaps values",
    "neighbor map start",
    "twin kernel constrained",
    "out of sample pipeline",
    "out of sample weights",
    "out of sample ridge",
    "out of sample nystrom",
    "out of sample hnsw",
    "out of sample frozen",
    "out of sample distances",
    "unfold cloud",
    "unfold distances",
}
"""Models that differ from another of the same method in what hardly any page shows."""


def data_of(name):
    """Return what a page of a model compares its map with."""
    model = fitted(name)
    data = DATA[len(model.embedding_), model.n_features_in_]
    return distances() if name.endswith("distances") else data


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(each, marks=[pytest.mark.slow] * (each in LIKE_OTHERS)) for each in EMBEDDERS
    ],
)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def page(name):
    return report(data_of(name), fitted(name)).html


def test_a_loaded_model_has_the_same_page(name, page, tmp_path):
    save(fitted(name), tmp_path / "model.iso")
    assert report(data_of(name), load(tmp_path / "model.iso")).html == page


def test_all_doubts_of_the_fit_are_on_the_page_once(name, page):
    for finding in fitted(name).diagnosis_.raised:
        assert page.count(escape(finding.text(), quote=True)) == 1


def told_by(model):
    """Return the texts of the warnings by which a fit tells of its findings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        emit(model.diagnosis_)
    return {str(warning.message) for warning in caught}


def test_a_fit_warns_of_findings_only(name, page):
    model, caught = fitted_with_warnings(name)
    ours = (DisconnectedGraphWarning, DoubtfulMapWarning)
    seen = {str(warning.message) for warning in caught if issubclass(warning.category, ours)}
    charts = [embedder for embedder, _ in getattr(model.map_, "estimators", ())]
    inside = [each for each in (*steps_inside(model), *charts) if hasattr(each, "diagnosis_")]
    assert seen <= set().union(*map(told_by, inside))
    has_doubtful_charts = "doubtful_charts" in {each.code for each in find_in_model(model)}
    for each in inside:
        for finding in each.diagnosis_.raised:
            # Of a doubt that two models share, the page shows that of the outer one; of several
            # charts with doubts it counts all, and shows those of the first.
            is_counted = any(each is chart for chart in charts) and has_doubtful_charts
            is_shown = escape(finding.text()) in page
            assert finding.code in model.diagnosis_.codes or is_shown or is_counted


def test_all_notes_of_the_fit_are_on_the_page_once(name, page):
    for finding in fitted(name).diagnosis_.notes:
        assert page.count(escape(finding.text(), quote=True)) == 1


def columns_of(page):
    """Return the names of the columns of a page."""
    manifest = re.search(r'id="manifest">(.*?)</script>', page).group(1)
    return [column["name"] for column in json.loads(manifest)["columns"]]


def test_components_are_a_column(name, page):
    components = getattr(fitted(name), "component_", np.zeros(1))
    assert columns_of(page) == ["component"] * (len(np.unique(components)) > 1)


def test_components_of_cells_are_a_column():
    X = np.vstack([SHEET, SHEET + 100.0])
    with pytest.warns() as caught:
        model = PLML(random_state=0).fit(X)
    assert DisconnectedGraphWarning in [warning.category for warning in caught]
    html = report(X, model).html
    assert columns_of(html) == ["component"]
    assert "Cells and how well they fit" in html
    assert "2 components" in html
