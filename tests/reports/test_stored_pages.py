"""The page of a loaded model is that of the fresh one, with all that its fit has found."""

from html import escape

import numpy as np
import pytest

from isofold import report
from isofold.datasets import s_curve
from isofold.storage import load, save
from support.storage_cases import CLOUD, EMBEDDERS, NOISE, SHEET, SMALL, distances, fitted, pieces

# By numbers of samples and features.
DATA = {
    (300, 3): SHEET,
    (300, 2): SHEET[:, :2],
    (300, 20): np.hstack([SHEET, 0.02 * NOISE[:300]]),
    (90, 3): pieces(),
    (120, 3): s_curve(120, random_state=0).X,
    (120, 6): CLOUD,
    (45, 3): SMALL,
    # Of tables of pairs, a page can be made of the points as well.
    (45, 45): SMALL,
}


def data_of(name):
    """Return what a page of a model compares its map with."""
    model = fitted(name)
    data = DATA[len(model.embedding_), model.n_features_in_]
    return distances() if name.endswith("distances") else data


@pytest.fixture(scope="module", params=EMBEDDERS)
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


def test_all_notes_of_the_fit_are_on_the_page_once(name, page):
    for finding in fitted(name).diagnosis_.notes:
        assert page.count(escape(finding.text(), quote=True)) == 1


def test_components_are_a_column(name, page):
    components = getattr(fitted(name), "component_", np.zeros(1))
    assert ('"name": "component"' in page) == (len(np.unique(components)) > 1)
