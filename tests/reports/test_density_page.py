"""Pages that show the density of all rows: what they hold, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from isofold.assessment import DensityFrame, DensityRules, DensityTiles
from isofold.exceptions import InvalidInputError
from isofold.reports import density as packing
from isofold.reports import make_report, report
from isofold.reports.density import count_steps, quantized
from support.report_cases import Elements, free_assessment, read_block


def spiral(n, *, seed=0):
    """Return points around a spiral, most of its square being empty."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(1.0, 3.0 * np.pi, n)
    return np.column_stack([t * np.cos(t), t * np.sin(t)]) + rng.normal(0.0, 0.1, (n, 2))


def page_of(Y, rows, *, side=600):
    frame = DensityFrame.around(Y, rules=DensityRules(side=side))
    tiles = DensityTiles.of(rows, frame)
    return tiles, make_report(replace(free_assessment(Y), density=tiles))


def decoded(made):
    """Return the counts of a page, as its script reads them."""
    elements = Elements(made.html)
    manifest = json.loads(elements.texts["manifest"])
    packed = manifest["density"]
    tile, n_up, n_across = packed["tile"], packed["rows"], packed["columns"]
    numbers = read_block(elements, packed["tiles"])
    codes = read_block(elements, packed["codes"]).reshape(-1, tile, tile)
    across = -(-n_across // tile)
    padded = np.zeros((-(-n_up // tile) * tile, across * tile), dtype=np.uint8)
    for number, block in zip(numbers, codes, strict=True):
        up, right = divmod(int(number), across)
        padded[up * tile : (up + 1) * tile, right * tile : (right + 1) * tile] = block
    return manifest, np.array(packed["steps"])[padded[:n_up, :n_across]]


def test_the_page_holds_all_counts():
    Y, rows = spiral(400), spiral(60_000, seed=1)
    tiles, made = page_of(Y, rows)
    manifest, counts = decoded(made)
    # No pixel holds more than a byte tells apart.
    assert tiles.counts.max() < 256
    np.testing.assert_array_equal(counts, tiles.counts)
    packed = manifest["density"]
    assert packed["n"] == 60_000 == counts.sum() + packed["outside"]
    low = np.array(packed["corner"]) * manifest["scale"] + manifest["offset"]
    np.testing.assert_allclose(low, tiles.frame.low, rtol=1e-12)
    assert packed["pixel"] * manifest["scale"] == pytest.approx(tiles.frame.pixel, rel=1e-12)
    assert "60,000 rows, mapped to 2 dimensions: given coordinates; 400 of them shown" in made.html
    assert "Measured on the sample of 400 rows" in made.html
    assert f"{tiles.n_outside} rows lie beyond the frame" in made.html or not tiles.n_outside


def test_empty_tiles_are_left_out():
    corners = np.array([[0.0, 0.0], [1.0, 1.0]]).repeat(50, axis=0)
    tiles, made = page_of(corners, corners, side=1024)
    manifest, counts = decoded(made)
    elements = Elements(made.html)
    assert read_block(elements, manifest["density"]["tiles"]).tolist() == [0, 15]
    np.testing.assert_array_equal(counts, tiles.counts)


@pytest.mark.parametrize("most", [1, 255, 256, 300, 12_345, 10**8])
def test_steps_are_exact_below_and_even_ratios_above(most):
    steps = count_steps(most)
    assert steps[0] == 0
    assert steps[-1] == most
    assert len(steps) <= 256
    assert (np.diff(steps) > 0).all()
    # The widest step that the docstring promises, whose ends are rounded.
    assert (np.diff(steps) <= 0.07 * steps[:-1] + 1.0).all()
    counts = np.unique(np.geomspace(1, most, 5000).astype(np.int64))
    shown = steps[quantized(counts, steps)]
    assert (np.abs(shown - counts) <= 0.035 * counts + 0.5).all()
    if most < 256:
        np.testing.assert_array_equal(shown, counts)
    assert (shown > 0).all()


def test_pixels_are_wider_where_the_page_would_be_too_large(monkeypatch):
    Y = spiral(400)
    monkeypatch.setattr(packing, "DENSITY_BYTES", 5000)
    tiles, made = page_of(Y, spiral(20_000, seed=1))
    manifest, counts = decoded(made)
    factor = 600 // manifest["density"]["columns"]
    assert factor in (2, 4, 8)
    np.testing.assert_array_equal(counts, tiles.at_level(factor.bit_length() - 1))
    assert f"Pixels of the density are {factor} times as wide" in made.html


def test_a_page_without_density_has_no_layers():
    Y = spiral(100)
    made = make_report(free_assessment(Y))
    assert 'id="layer-both"' not in made.html
    assert 'id="density-legend"' not in made.html


def test_counts_of_another_map_are_refused():
    Y = spiral(400)
    frame = DensityFrame.around(Y)
    with pytest.raises(InvalidInputError, match="density is a ndarray"):
        report(Y, Y, density=np.zeros((4, 4)))
    with pytest.raises(InvalidInputError, match="counts 10 rows, but the map has 400 points"):
        report(Y, Y, density=DensityTiles.of(Y[:10], frame))
    with pytest.raises(InvalidInputError, match="only 0 of its 400 points"):
        report(Y, Y, density=DensityTiles.of(Y + 1000.0, DensityFrame.around(Y + 1000.0)))
    with pytest.raises(InvalidInputError, match="2 axes and the frame has 1"):
        report(Y, Y, density=DensityTiles.of(Y[:, :1], DensityFrame.around(Y[:, :1])))
