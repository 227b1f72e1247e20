"""How models show themselves: `plot` on every embedder, and the preview in notebooks."""

import re
import warnings
from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.manifold import Isomap

import isofold
from isofold._base import BaseEmbedder
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning, InvalidInputError
from isofold.plot.preview import MOST_POINTS
from support.embedders import LinearEmbedder
from support.quick import quick_are

MOST_BYTES = 30_000

EMBEDDERS = {
    "IPA": {},
    "MVU": {},
    "PLML": {},
    "EAT": {},
    "ColoredMVU": {},
    "DisjointMVU": {},
    "FastMVU": {},
    "KernelLaplacianEigenmaps": {},
    "LandmarkMVU": {},
    "LocalMDS": {"n_epochs": 3},
    "NeighborMap": {},
    "OutOfSample": {"estimator": Isomap()},
    "TesseraMap": {},
    "TwinKernelEmbedding": {},
    "Unfold": {},
}


def test_every_embedder_is_looked_at():
    public = {name for name in isofold.__all__ if isinstance(getattr(isofold, name), type)}
    assert {n for n in public if issubclass(getattr(isofold, n), BaseEmbedder)} == set(EMBEDDERS)


QUICK = ["IPA", "MVU", "PLML", "LocalMDS", "NeighborMap", "OutOfSample", "Unfold"]
"""Of the others only the base class draws, which is the same for all."""


@pytest.mark.parametrize("name", quick_are(QUICK, EMBEDDERS))
def test_every_embedder_shows_its_map(name, roll):
    embedder = getattr(isofold, name)(**EMBEDDERS[name])
    if "random_state" in embedder.get_params():
        embedder.set_params(random_state=0)
    # A patch of the roll that is nearly flat, and small enough for all of them.
    X = roll[(roll[:, 1] < 10.0) & (roll[:, 0] > 0.0)][:60]
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, DisconnectedGraphWarning, DoubtfulMapWarning):
            warnings.simplefilter("ignore", category)
        embedder.fit(X, y)
    ax = embedder.plot(color=y)
    assert sum(len(c.get_offsets()) for c in ax.collections) == len(X)
    assert ax.get_aspect() == 1.0
    (collection,) = embedder.plot(kind="distortion").collections
    np.testing.assert_array_equal(collection.get_array(), np.sort(embedder.distortion_))
    page = embedder._repr_html_()
    assert name in page
    assert f"{len(X)} points in 2 dimensions" in page


class TestPlot:
    @pytest.mark.parametrize("kind", ["embedding", "distortion", "spectrum", "patch_graph"])
    def test_what_the_model_knows_needs_no_data(self, ipa, kind):
        assert isinstance(ipa.plot(kind=kind), plt.Axes)

    @pytest.mark.parametrize("kind", ["shepard", "neighbor_curve", "length_ratios"])
    def test_comparisons_need_the_data(self, ipa, roll, kind):
        assert isinstance(ipa.plot(roll, kind=kind), plt.Axes)
        with pytest.raises(InvalidInputError, match="X was not given"):
            ipa.plot(kind=kind)

    def test_one_point_and_everything(self, ipa, roll):
        assert isinstance(ipa.plot(roll, kind="neighbors_of", point=3), plt.Axes)
        assert isinstance(ipa.plot(roll, kind="overview"), plt.Figure)

    def test_distortion_is_measured_if_there_are_data(self, ipa, roll):
        (own,) = ipa.plot(color="distortion").collections
        np.testing.assert_array_equal(own.get_array(), np.sort(ipa.distortion_))
        (measured,) = ipa.plot(roll, color="distortion").collections
        expected = isofold.quality.local_isometry(roll, ipa.embedding_).per_point
        np.testing.assert_array_equal(measured.get_array(), np.sort(expected))

    def test_a_method_without_patches_says_so(self, roll):
        model = isofold.LocalMDS(n_epochs=2, random_state=0).fit(roll[:100])
        with pytest.raises(InvalidInputError, match="LocalMDS has no patches"):
            model.plot(kind="patch_graph")
        with pytest.raises(InvalidInputError, match="X was not given"):
            model.plot(kind="spectrum")

    def test_unknown_wishes_are_refused(self, ipa):
        with pytest.raises(InvalidInputError, match="kind='pie' is unknown"):
            ipa.plot(kind="pie")
        with pytest.raises(InvalidInputError, match="color has no meaning"):
            ipa.plot(kind="spectrum", color=[1])
        with pytest.raises(InvalidInputError, match="whole figure"):
            ipa.plot(kind="overview", ax=plt.subplots()[1])

    def test_an_unfitted_model_has_nothing_to_show(self):
        with pytest.raises(NotFittedError):
            isofold.IPA().plot()


def picture(page):
    """Return the SVG of a preview, parsed."""
    return ET.fromstring(re.search(r"<svg.*</svg>", page).group())  # noqa: S314 - our own


def dots(svg):
    """Return the places of all points of a picture."""
    paths = [path.get("d") for path in svg.iter() if path.tag.endswith("path")]
    found = [re.findall(r"M(\S+) (\S+?)h0", path) for path in paths]
    return np.array([place for path in found for place in path], dtype=float)


class TestPreview:
    def test_a_fitted_model_has_a_small_safe_picture(self, ipa):
        page = ipa._preview()
        assert len(page.encode()) < MOST_BYTES
        assert not re.search(
            r"<script|<img|<link|href|url\(|https?://(?!www\.w3\.org/2000/svg)", page
        )
        assert "no doubts, certified optimal" in page
        assert f"{len(ipa.embedding_)} points in 2 dimensions" in page
        ET.fromstring(page.replace("&nbsp;", " "))  # noqa: S314 - our own

    def test_the_picture_has_the_shape_of_the_map(self, ipa):
        places = dots(picture(ipa._preview()))
        assert len(places) == min(MOST_POINTS, len(ipa.embedding_))
        # Equal aspect: width over height as on the map, to a tenth of a pixel.
        shape = np.ptp(places, axis=0)
        expected = np.ptp(ipa.embedding_, axis=0)
        np.testing.assert_allclose(shape / shape[0], expected / expected[0], atol=2e-3)

    def test_of_many_points_some_are_drawn(self):
        model = LinearEmbedder(random_state=0).fit(np.random.RandomState(0).normal(size=(5000, 3)))
        page = model._preview()
        assert len(dots(picture(page))) == MOST_POINTS
        assert "5,000 points" in page
        assert len(page.encode()) < MOST_BYTES

    @pytest.mark.parametrize("d", [1, 3, 4])
    def test_other_dimensions(self, d):
        X = np.random.RandomState(0).normal(size=(50, 5))
        page = LinearEmbedder(n_components=d).fit(X)._preview()
        assert len(dots(picture(page))) == 50
        assert ("first two shown" in page) == (d > 2)

    def test_points_at_one_place(self):
        model = LinearEmbedder().fit(np.random.RandomState(0).normal(size=(20, 3)))
        model.embedding_ = np.zeros((20, 2))
        assert np.isfinite(dots(picture(model._preview()))).all()

    def test_hostile_names_are_escaped(self):
        hostile = type("<script>alert('x')</script>", (LinearEmbedder,), {})
        model = hostile().fit(np.random.RandomState(0).normal(size=(20, 3)))
        assert "<script" not in model._preview()
        assert "&lt;script&gt;" in model._preview()

    def test_doubts_are_counted(self):
        X = np.random.RandomState(0).normal(size=(200, 3))
        with pytest.warns(DoubtfulMapWarning):
            ipa = isofold.IPA(random_state=0).fit(X)
        assert re.search(r"[1-9]\d* doubts?", ipa._preview())

    def test_the_diagram_of_scikit_learn_stays(self, ipa):
        page = ipa._repr_html_()
        assert page.startswith('<figure class="isofold-preview"')
        assert "sk-top-container" in page
        bundle = ipa._repr_mimebundle_()
        assert bundle["text/plain"] == repr(ipa)
        assert bundle["text/html"].startswith('<figure class="isofold-preview"')

    def test_before_the_fit_there_is_only_the_diagram(self):
        assert "isofold-preview" not in isofold.IPA()._repr_html_()
        assert "isofold-preview" not in isofold.IPA()._repr_mimebundle_()["text/html"]

    def test_text_is_shown_if_it_is_asked_for(self, ipa):
        with config_context(display="text"):
            assert not hasattr(ipa, "_repr_html_")
            assert set(ipa._repr_mimebundle_()) == {"text/plain"}
