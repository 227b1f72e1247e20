"""The density of all rows, as a user sees it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from isofold.assessment import DensityFrame, DensityRules, DensityTiles
from isofold.reports import make_report
from support.quick import quick_first
from support.report_cases import free_assessment

N_ROWS = 300_000


def sheet(n, n_components, *, seed):
    """Return even points with a hole in the middle."""
    Y = np.random.default_rng(seed).uniform(-1.0, 1.0, (2 * n, 3))[:, :n_components]
    return Y[np.abs(Y).max(axis=1) > 0.3][:n] * 5.0


def page_of(n_components):
    Y = sheet(3000, n_components, seed=0)
    frame = DensityFrame.around(Y, rules=DensityRules(side=512))
    tiles = DensityTiles.of(sheet(N_ROWS, n_components, seed=1), frame)
    return make_report(replace(free_assessment(Y), density=tiles))


def drawn(opened):
    """Return the opacity of the density in the middle of the map, left of it, and on average."""
    opened.settle()
    return opened.page.evaluate(
        """() => {
          const canvas = document.getElementById("density");
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
          copy.drawImage(canvas, 0, 0);
          const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
          const alpha = (x, y) => data[4 * (Math.round(y) * canvas.width + Math.round(x)) + 3];
          let sum = 0;
          for (let i = 3; i < data.length; i += 4) sum += data[i];
          const [x, y] = [canvas.width / 2, canvas.height / 2];
          return [alpha(x, y), alpha(x - canvas.height / 4, y), (4 * sum) / data.length / 255];
        }"""
    )


def rows_in_view(opened):
    found = re.match(r"About ([\d,]+) of ([\d,]+) rows in view", opened.text("#status"))
    return [int(number.replace(",", "")) for number in found.groups()]


@pytest.mark.parametrize("theme", quick_first(["light", "dark"]))
def test_density_shows_all_rows_and_the_hole(open_page, theme):
    opened = open_page(page_of(2), theme=theme)
    # The sum of all counts as the page has read them.
    assert rows_in_view(opened) == [N_ROWS, N_ROWS]
    middle, left, mean = drawn(opened)
    assert (middle, left) == (0, 255)
    assert 0.1 < mean < 0.9
    assert "Rows per pixel, on a logarithmic scale" in opened.text("#density-legend")
    both = opened.pixels()
    opened.page.click("#layer-sample")
    opened.settle()
    assert drawn(opened)[2] == 0
    assert opened.text("#status").startswith("3,000 of 3,000 points in view")
    assert opened.text("#density-legend") == "The density is not shown."
    opened.page.click("#layer-rows")
    opened.settle()
    # No point: the layer above is clear.
    assert len(opened.pixels()) == 1 < len(both)
    assert drawn(opened)[:2] == [0, 255]
    opened.assert_quiet()


def test_zoom_shows_finer_pixels_and_more_points(open_page):
    opened = open_page(page_of(2), width=900, height=700)
    wide = opened.text("#density-legend")
    assert "of 3,000 points drawn; zoom in for more" in opened.text("#status")
    box = opened.box()
    opened.hover((box["x"] + box["width"] / 2 - box["height"] / 3, box["y"] + box["height"] / 2))
    opened.page.mouse.wheel(0, -1000)
    opened.settle()
    rows, _ = rows_in_view(opened)
    # The view is some five times narrower than the map.
    assert N_ROWS / 100 < rows < N_ROWS / 8
    assert opened.text("#density-legend") != wide
    assert "points drawn" in opened.text("#status")
    opened.page.click("#reset")
    opened.settle()
    assert rows_in_view(opened)[0] == N_ROWS
    # A selection is drawn as a whole.
    opened.page.click("#select-view")
    opened.settle()
    assert "3,000 of 3,000 points drawn" in opened.text("#status")
    assert opened.text("#selection-count").startswith("3,000 of the sample's 3,000 rows")
    opened.assert_quiet()


def test_a_map_of_one_dimension_has_bars(open_page):
    opened = open_page(page_of(1))
    assert rows_in_view(opened) == [N_ROWS, N_ROWS]
    assert 0.05 < drawn(opened)[2] < 0.9
    assert "their heights are numbers of rows" in opened.text("#density-legend")
    opened.assert_quiet()


def test_a_rotated_map_shows_the_sample(open_page):
    opened = open_page(page_of(3))
    assert drawn(opened)[2] > 0.1
    opened.page.focus("#overlay")
    opened.page.keyboard.press("l")
    opened.settle()
    assert drawn(opened)[2] == 0
    assert "known for axis 1 across and axis 2 up" in opened.text("#density-legend")
    opened.page.click("#reset")
    opened.settle()
    assert drawn(opened)[2] > 0.1
    opened.assert_quiet()
