"""A click on an empty place of the map shows what a point there would look like."""

import re

import numpy as np
import pytest
from scipy.spatial import cKDTree

from isofold.reports import payload
from isofold.tables.page_columns import read_column
from support.report_cases import free_page

PICTURE = """() => {
  const canvas = document.querySelector("#point-body .thumbnail");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return Array.from(data).filter((_, i) => i % 4 === 0);
}"""


def gray(Y, case):
    """Return pictures of two pixels that are linear in the place, from 20 to 220."""
    low, high = case.Y.min(axis=0), case.Y.max(axis=0)
    return 20.0 + 200.0 * (Y - low) / (high - low)


@pytest.fixture
def opened(open_page, case):
    images = gray(case.Y, case).round().astype(np.uint8)[:, None, :]
    labels = np.where(case.Y[:, 0] < 115.0, "left", "right")
    fields = {**case.fields, "level": case.Y[:, 1]}
    page = open_page(free_page(case.Y, labels=labels, fields=fields, images=images))
    yield page
    page.assert_quiet()


def empty_place(case):
    """Return the place within the map that is farthest from all points."""
    tried = np.random.default_rng(0).uniform([103, -47], [112, -33], size=(2000, 2))
    return tried[cKDTree(case.Y).query(tried)[0].argmax()]


def test_an_empty_place_looks_like_its_neighbors(opened, case):
    assert "empty place" in opened.text("#point-body")
    place = empty_place(case)
    opened.click(opened.where(np.vstack([case.Y, place]))[-1])
    text = opened.text("#point-body")
    assert "A point here" in text
    assert "no data" not in text
    # A pixel is some thousandth of the map; the columns are shown with four digits.
    where = re.search(r"on the map\s+(\S+), (\S+)", text)
    found = np.array([float(x.replace("\N{MINUS SIGN}", "-")) for x in where.groups()])
    np.testing.assert_allclose(found, place, atol=0.05)
    level = re.search(r"level\s+(\S+)", text).group(1).replace("\N{MINUS SIGN}", "-")
    assert float(level) == pytest.approx(found[1], abs=0.02)
    # Where a tenth of the rows is missing, the others are off their middle by less than a spacing.
    height = re.search(r"height\s+(\S+)", text).group(1).replace("\N{MINUS SIGN}", "-")
    assert float(height) == pytest.approx(found[1], abs=1.5)
    assert re.search(r"label\s+left", text)
    assert re.search(r"kind\s+\S+ \(\d+%\)", text)
    # Linear pictures are restored but for the rounding of the bytes.
    np.testing.assert_allclose(opened.page.evaluate(PICTURE), gray(found, case), atol=2.0)
    assert "A point here" in opened.page.locator("#live").inner_text()
    opened.page.click("#point-clear")
    assert "Click a point" in opened.text("#point-body")


def test_places_without_data_are_flagged(opened):
    box = opened.box()
    opened.click((box["x"] + 6, box["y"] + 6))
    assert "no data here" in opened.text("#point-body")
    opened.page.focus("#overlay")
    opened.page.keyboard.press("Escape")
    assert "Click a point" in opened.text("#point-body")
    opened.page.keyboard.press("h")
    text = opened.text("#point-body")
    assert "A point here" in text
    assert "no data" not in text


@pytest.mark.slow
def test_pages_without_pictures_or_columns_have_no_way_back(open_page, case):
    bare = open_page(free_page(case.Y))
    assert "empty place" not in bare.text("#point-body")
    box = bare.box()
    bare.click((box["x"] + 6, box["y"] + 6))
    assert "Click a point" in bare.text("#point-body")
    deep = open_page(free_page(np.column_stack([case.Y, case.Y[:, 0]]), labels=case.labels))
    assert "empty place" not in deep.text("#point-body")
    deep.page.focus("#overlay")
    deep.page.keyboard.press("h")
    assert "Click a point" in deep.text("#point-body")


def test_thick_columns_are_averaged_over_more_rows():
    rng = np.random.default_rng(0)
    unit = rng.uniform(-1, 1, size=(400, 2)).astype(np.float32)
    order = rng.permutation(400)
    smooth = read_column(unit[:, 0] ** 2, 400, name="smooth")
    noise = read_column(np.append(rng.normal(size=399), np.nan), 400, name="noise")
    few = payload._way_back(unit, [smooth], None, order)
    many = payload._way_back(unit, [noise], None, order)
    assert few["k"] < many["k"]
    assert few["limit"] == many["limit"] > 1.0
