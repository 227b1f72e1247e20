"""Figures: what is drawn, where, in which colors; looked at through matplotlib's artists."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from isofold import plot
from isofold._format import percent
from isofold.assessment.charts import thinned
from isofold.exceptions import InvalidInputError, MissingDependencyError
from isofold.plot import canvas, map_figures
from isofold.plot.palette import CLASSES_DARK, CLASSES_LIGHT, OTHERS, SEQUENTIAL

FIGURES = ("embedding", "distortion", "shepard", "neighbor_curve", "length_ratios", "spectrum")


def points(n=60, d=2, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d))


def drawn(ax):
    """Return the places of all points in an axes."""
    return np.concatenate([c.get_offsets() for c in ax.collections if len(c.get_offsets())])


def hexes(collection):
    return {mpl.colors.to_hex(color) for color in collection.get_facecolors()}


class TestEmbedding:
    def test_all_points_are_drawn_to_the_same_scale(self):
        Y = points() * [5.0, 1.0]
        ax = plot.embedding(Y)
        np.testing.assert_array_equal(drawn(ax), Y)
        assert ax.get_aspect() == 1.0
        (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert low < Y[:, 0].min() < Y[:, 0].max() < high
        assert bottom < Y[:, 1].min() < Y[:, 1].max() < top

    def test_the_scale_bar_is_as_long_as_it_says(self):
        ax = plot.embedding(points() * 7.0)
        (bar,) = ax.lines
        shown = float(ax.texts[0].get_text())
        assert np.ptp(bar.get_xdata()) == pytest.approx(shown, rel=1e-9)
        assert shown in (1.0, 2.0, 5.0, 10.0)

    def test_classes_have_colors_and_names(self):
        ax = plot.embedding(points(6), color=pd.Series(["b", "a"] * 3, name="kind"))
        legend = ax.get_legend()
        assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
        assert legend.get_title().get_text() == "kind"
        assert [hexes(c) for c in ax.collections] == [{CLASSES_LIGHT[0]}, {CLASSES_LIGHT[1]}]
        np.testing.assert_array_equal(ax.collections[0].get_offsets(), points(6)[1::2])

    def test_on_dark_backgrounds_colors_are_others(self):
        with plt.style.context("dark_background"):
            ax = plot.embedding(points(6), color=["a", "b"] * 3)
        assert hexes(ax.collections[0]) == {CLASSES_DARK[0]}

    def test_numbers_in_names_are_sorted_as_numbers(self):
        ax = plot.embedding(points(30), color=[f"no {k % 3 + 9}" for k in range(30)])
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert names == ["no 9", "no 10", "no 11"]

    def test_many_classes_have_marks_and_the_rarest_are_others(self):
        labels = np.concatenate([np.repeat(np.arange(36), 4), np.arange(31)])
        ax = plot.embedding(points(len(labels)), color=[f"c{k}" for k in labels])
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert len(names) == 30
        assert names[-1] == "others"
        assert names[:2] == ["c0", "c1"]
        looks = [
            (tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes())
            for c in ax.collections
        ]
        assert len(set(looks)) == 30
        assert hexes(ax.collections[0]) == {OTHERS}
        assert len(drawn(ax)) == len(labels)

    def test_numbers_have_a_color_bar_and_gaps_are_gray(self):
        values = np.arange(60.0)
        values[7] = np.nan
        ax = plot.embedding(points(), color=pd.Series(values, name="age"))
        gray, colored = ax.collections
        assert len(gray.get_offsets()) == 1
        assert hexes(gray) == {OTHERS}
        np.testing.assert_array_equal(colored.get_array(), np.delete(values, 7))
        assert colored.get_cmap()(0.0) == mpl.colors.to_rgba(SEQUENTIAL[0])
        assert ax.figure.axes[1].get_ylabel() == "age"

    @pytest.mark.parametrize(
        ("color", "is_classes"),
        [
            (np.arange(60) % 10, True),
            (np.arange(60), False),
            (np.arange(60) % 2 == 0, True),
            (np.linspace(0, 1, 60), False),
            ([None, *np.linspace(0, 1, 59)], False),
            ([None, "a"] * 30, True),
        ],
    )
    def test_what_is_a_class_and_what_a_number(self, color, is_classes):
        ax = plot.embedding(points(), color=color)
        assert (ax.get_legend() is not None) == is_classes

    @pytest.mark.parametrize("label", ["$\\frac{", "_hidden", "a\nb\x00c", "x" * 10_000, "<b>&"])
    def test_hostile_names_are_only_text(self, label):
        ax = plot.embedding(points(4), color=pd.Series([label, "b"] * 2, name=label))
        ax.figure.canvas.draw()
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert len(names) == 2
        assert all(len(name) <= canvas.LONGEST_WORD + 2 for name in names)

    def test_lines_are_strips_and_space_has_three_axes(self):
        strip = plot.embedding(points(d=1))
        np.testing.assert_array_equal(drawn(strip)[:, 0], points(d=1)[:, 0])
        assert strip.get_ylim()[0] < drawn(strip)[:, 1].min()
        space = plot.embedding(points(d=3))
        assert space.name == "3d"
        np.testing.assert_array_equal(np.stack(space.collections[0]._offsets3d, 1), points(d=3))
        reach = np.ptp(points(d=3), axis=0)
        aspect = space._box_aspect
        np.testing.assert_allclose(aspect / aspect[0], reach / reach[0], rtol=1e-9)

    def test_of_more_axes_two_are_shown_or_those_asked_for(self):
        Y = points(d=5)
        np.testing.assert_array_equal(drawn(plot.embedding(Y)), Y[:, :2])
        ax = plot.embedding(Y, axes=(3, 1))
        np.testing.assert_array_equal(drawn(ax), Y[:, [3, 1]])
        assert ax.get_xlabel() == "axes 4 and 2 of 5"
        for axes in ((5,), (-1, 0), (0, 1, 2, 3), "x", (0.5,)):
            with pytest.raises(InvalidInputError, match="must name one to 3"):
                plot.embedding(Y, axes=axes)

    def test_of_many_points_the_density_is_shown(self, monkeypatch):
        monkeypatch.setattr(map_figures, "MANY", 50)
        Y = points()
        (cells,) = plot.embedding(Y).collections
        assert cells.get_rasterized()
        assert cells.get_array().sum() == len(Y)
        values = np.linspace(0.0, 1.0, 60)
        means = plot.embedding(Y, color=values).collections[0].get_array()
        weights = cells.get_array()
        assert np.ma.sum(means * weights) == pytest.approx(values.sum(), rel=1e-9)
        classes = plot.embedding(Y, color=["a", "b"] * 30)
        assert all(c.get_rasterized() for c in classes.collections)
        assert len(drawn(classes)) == 60

    def test_points_at_one_place_are_drawn(self):
        for d in (1, 2, 3):
            plot.embedding(np.zeros((5, d))).figure.canvas.draw()

    @pytest.mark.parametrize(
        "color", ["age", [1.0, 2.0], np.ones((60, 2)), [np.nan] * 60, [1j] * 60]
    )
    def test_columns_that_are_none_are_refused(self, color):
        with pytest.raises(InvalidInputError, match="color"):
            plot.embedding(points(), color=color)

    def test_axes_must_suit(self):
        flat, space = plt.subplots()[1], plt.subplots(subplot_kw={"projection": "3d"})[1]
        for ax, d in ((flat, 3), (space, 2), ("ax", 2)):
            with pytest.raises(InvalidInputError, match="Pass matplotlib axes"):
                plot.embedding(points(d=d), ax=ax)


class TestMeasuredFigures:
    def test_distortion_colors_points_by_it(self, known):
        (collection,) = plot.distortion(known).collections
        # The worst are drawn last, so that none of them is hidden.
        np.testing.assert_array_equal(collection.get_array(), np.sort(known.distortion))
        order = np.argsort(known.distortion, kind="stable")
        np.testing.assert_array_equal(collection.get_offsets(), known.embedding[order])

    def test_rounding_does_not_look_like_an_error(self):
        ax = plot.distortion(points(), points())
        assert ax.collections[0].get_clim() == (0.0, 0.01)

    def test_shepard_shows_the_counts_and_the_diagonal(self, known):
        ax = plot.shepard(known)
        shown = ax.collections[0].get_array()
        assert shown.sum() == known.shepard.n_pairs
        np.testing.assert_array_equal(shown.filled(0), known.shepard.counts.T)
        (line,) = ax.lines
        np.testing.assert_array_equal(line.get_xdata(), line.get_ydata())

    def test_the_curve_is_that_of_the_card(self, known):
        ax = plot.neighbor_curve(known)
        for line, expected in zip(
            ax.lines, (known.curve.kept, known.curve.above_chance), strict=False
        ):
            sizes = line.get_xdata().astype(int)
            assert sizes[0] == 1
            assert sizes[-1] == len(known.embedding) - 2
            assert len(sizes) <= 400
            np.testing.assert_array_equal(line.get_ydata(), expected[sizes - 1])
        assert [line.get_label() for line in ax.lines[:2]] == ["kept", "above chance"]
        assert f"{float(known.curve.area):.3f}" in ax.get_title()

    def test_a_long_curve_is_thinned_at_even_ratios(self):
        at = thinned(10**6)
        assert len(at) <= 400
        assert (at[0], at[-1]) == (0, 10**6 - 1)
        ratios = (at[200:] + 1)[1:] / (at[200:] + 1)[:-1]
        # 400 steps over six decades; rounding to whole numbers moves each by less than 1/1000.
        np.testing.assert_allclose(ratios, 10 ** (6 / 399), rtol=2e-3)

    def test_ratios_add_up_to_one(self, known):
        ax = plot.length_ratios(known)
        heights = [bar.get_height() for bar in ax.containers[0]]
        assert sum(heights) == pytest.approx(1.0)
        np.testing.assert_allclose(heights, known.ratios.counts / known.ratios.counts.sum())
        assert ax.get_xlim() == (0.0, known.ratios.edges[-1])

    def test_the_spectrum_marks_the_axes_of_the_map(self):
        X = points(100, 6) * np.arange(6, 0, -1)
        bars = plot.spectrum(X[:, :2], X).patches
        assert len(bars) == 6
        colors = [mpl.colors.to_hex(bar.get_facecolor()) for bar in bars]
        assert colors[0] == colors[1] != colors[2] == OTHERS
        assert sum(bar.get_height() for bar in bars) == pytest.approx(1.0)

    def test_patches_and_links_are_drawn_where_they_are(self, known):
        lines, centers = plot.patch_graph(known).collections
        assert len(lines.get_segments()) == len(known.patches.links)
        np.testing.assert_array_equal(lines.get_array(), np.sort(known.patches.link_error))
        order = np.argsort(known.patches.patch_error, kind="stable")
        np.testing.assert_array_equal(centers.get_offsets(), known.patches.centers[order])

    def test_neighbors_are_joined_by_lines(self, known):
        ax = plot.neighbors_of(known, 11)
        segments = ax.collections[1].get_segments()
        partners = known.near.indices[11]
        np.testing.assert_array_equal([s[0] for s in segments], [known.embedding[11]] * 12)
        np.testing.assert_array_equal([s[1] for s in segments], known.embedding[partners])
        beside = ax.figure.axes[1]
        np.testing.assert_array_equal(beside.lines[0].get_xdata(), known.near.before[11])
        np.testing.assert_array_equal(beside.lines[1].get_xdata(), known.near.after[11])
        (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert ((known.embedding[partners] >= [low, bottom]).all(axis=1)).all()
        assert ((known.embedding[partners] <= [high, top]).all(axis=1)).all()

    @pytest.mark.parametrize("point", [-1, 800, 2.5, "a"])
    def test_unknown_points_are_refused(self, known, point):
        with pytest.raises(InvalidInputError, match="point"):
            plot.neighbors_of(known, point)

    def test_the_overview_has_all_figures(self, known):
        figure = plot.overview(known, color=np.arange(len(known.embedding)))
        panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
        assert len(panels) == 8
        texts = panels[-1].texts[0].get_text()
        assert "800 points in 2-D" in texts
        assert "proved to be optimal" in texts
        figure.canvas.draw()

    @pytest.mark.parametrize("d", [1, 3])
    def test_the_overview_of_other_dimensions(self, d):
        X = points(50, 4)
        plot.overview(X[:, :d], X).canvas.draw()

    @pytest.mark.parametrize("name", FIGURES)
    def test_given_axes_are_used_and_no_figure_is_opened(self, known, name):
        figure = mpl.figure.Figure()
        ax = figure.subplots()
        before = plt.get_fignums()
        assert getattr(plot, name)(known, ax=ax) is ax
        assert plt.get_fignums() == before

    @pytest.mark.parametrize("name", FIGURES[2:])
    def test_figures_that_compare_ask_for_the_data(self, name):
        with pytest.raises(InvalidInputError, match="X was not given"):
            getattr(plot, name)(points())


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name=name.partition(".")[0])

    monkeypatch.setattr("isofold._dependencies.import_module", absent)
    with pytest.raises(MissingDependencyError, match=r"isofold\[plot\]"):
        plot.embedding(points())


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.0, "0%"),
        (1e-14, "0%"),
        (1e-5, "0.001%"),
        (0.00159, "0.2%"),
        (0.0159, "1.6%"),
        (0.1, "10%"),
        (0.99, "99%"),
        (0.9996, "99.96%"),
        (0.999999, "99.9999%"),
        (1.0 - 1e-15, "100%"),
        (1.0, "100%"),
        (1.004, "100%"),
        (12.346, "1,235%"),
        (np.inf, "∞"),
        (np.nan, "-"),
    ],
)
def test_percent_does_not_round_losses_away(fraction, text):
    assert percent(fraction) == text


@pytest.mark.parametrize(("longest", "length"), [(1.0, 1.0), (4.99, 2.0), (0.07, 0.05), (1e6, 1e6)])
def test_round_lengths(longest, length):
    assert canvas.round_length(longest) == pytest.approx(length)
