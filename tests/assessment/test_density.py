"""Counts of all rows on a map: exact, whatever the blocks."""

import numpy as np
import pytest

from isofold.assessment import DensityFrame, DensityRules, DensityTiles
from isofold.exceptions import InvalidInputError
from support.quick import quick_are

RULES = DensityRules(side=64)


def images(n=5000, n_components=2, *, seed=0):
    return (
        np.random.default_rng(seed).normal(size=(n, n_components)) * [3.0, 1.0, 2.0][:n_components]
    )


def test_counts_are_those_of_a_histogram():
    Y = images()
    frame = DensityFrame.around(Y, rules=RULES)
    tiles = DensityTiles.of(Y, frame)
    n_up, n_across = frame.shape
    edges = [
        a + frame.pixel * np.arange(n + 1) for a, n in zip(frame.low, (n_across, n_up), strict=True)
    ]
    expected, *_ = np.histogram2d(*Y.T, bins=edges)
    np.testing.assert_array_equal(tiles.counts, expected.T)
    assert (tiles.n_outside, tiles.n_rows) == (0, len(Y))
    assert max(frame.shape) == RULES.side
    assert frame.shape[0] < RULES.side


def test_borders_belong_to_the_pixel_above_and_ends_to_the_frame():
    # Quarters have no rounding: every value is a border of pixels.
    frame = DensityFrame((-1.0, 0.0), (1.0, 1.0), side=8)
    grid = np.arange(-6, 7) / 4
    Y = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    tiles = DensityTiles.of(Y, frame)
    expected, *_ = np.histogram2d(*Y.T, bins=[np.arange(-4, 5) / 4, np.arange(5) / 4])
    np.testing.assert_array_equal(tiles.counts, expected.T)
    assert tiles.n_outside == len(Y) - 9 * 5
    assert tiles.n_rows == len(Y)


@pytest.mark.parametrize("n_components", quick_are([2], [1, 2, 3]))
@pytest.mark.parametrize("size", [1, 7, 1000, 20_000])
def test_blocks_of_any_size_and_order_count_the_same(n_components, size):
    Y = images(20_000 if size > 1 else 300, n_components)
    # A frame that leaves rows out.
    frame = DensityFrame.around(Y[:50], rules=RULES)
    whole = DensityTiles.of(Y, frame)
    assert 0 < whole.n_outside < len(Y) / 2
    assert whole.counts.sum() + whole.n_outside == len(Y) == whole.n_rows
    blocks = [Y[start : start + size] for start in range(0, len(Y), size)][::-1]
    streamed = DensityTiles.of_blocks(iter(blocks), frame)
    half = len(blocks) // 2
    merged = DensityTiles.of_blocks(blocks[half:], frame).merged(
        DensityTiles.of_blocks(blocks[:half], frame)
    )
    for other in (streamed, merged):
        np.testing.assert_array_equal(other.counts, whole.counts)
        assert other.n_outside == whole.n_outside


def test_single_precision_lies_where_its_values_lie():
    Y = images().astype(np.float32)
    frame = DensityFrame.around(Y, rules=RULES)
    of_single, of_double = (DensityTiles.of(Y.astype(kind), frame) for kind in (np.float32, float))
    np.testing.assert_array_equal(of_single.counts, of_double.counts)


def test_levels_sum_four_pixels_and_lose_nothing():
    Y = images()
    # Odd numbers of pixels: the last ones have no partner.
    frame = DensityFrame((-9.0, -4.0), (9.0, 4.0), side=45)
    tiles = DensityTiles.of(Y, frame)
    assert frame.shape == (20, 45)
    coarse = tiles.at_level(2)
    assert coarse.shape == (5, 12)
    assert coarse.sum() == tiles.counts.sum()
    assert coarse[1, 3] == tiles.counts[4:8, 12:16].sum()
    assert coarse[4, 11] == tiles.counts[16:, 44:].sum()


def test_of_more_axes_the_first_two_count():
    Y = images(n_components=3)
    frame = DensityFrame.around(Y)
    assert frame == DensityFrame.around(Y[:, :2])
    np.testing.assert_array_equal(
        DensityTiles.of(Y, frame).counts, DensityTiles.of(Y[:, :2], frame).counts
    )


@pytest.mark.parametrize(
    "Y", [[[5.0, -3.0]], [[0.0, 0.0], [0.0, 0.0]], [[1e9], [1e9]], [[1.0, 2.0], [1.0, 3.0]]]
)
def test_a_frame_without_extent_still_holds_its_points(Y):
    tiles = DensityTiles.of(Y, DensityFrame.around(Y, rules=RULES))
    assert tiles.counts.sum() == len(Y)


def test_no_rows_are_no_counts():
    tiles = DensityTiles.of(np.empty((0, 2)), DensityFrame((0.0, 0.0), (1.0, 1.0), side=4))
    assert (tiles.n_rows, tiles.counts.sum()) == (0, 0)


def test_what_cannot_be_counted_is_refused():
    frame = DensityFrame((0.0, 0.0), (1.0, 1.0), side=4)
    with pytest.raises(InvalidInputError, match="images contains 1 NaN"):
        DensityTiles.of([[0.5, np.nan]], frame)
    with pytest.raises(InvalidInputError, match="1 axes and the frame has 2"):
        DensityTiles.of([[0.5]], frame)
    here, there = (DensityTiles.of(Y, DensityFrame.around(Y)) for Y in ([[0.0]], [[1.0]]))
    with pytest.raises(InvalidInputError, match="two frames cannot be added"):
        here.merged(there)
    with pytest.raises(InvalidInputError, match="side=0 is out of range"):
        DensityFrame((0.0,), (1.0,), side=0)
    bad = [(0.0, 0.0), (0.0, np.inf), (np.nan, 1.0), (1.0, 0.0)]
    for low, high in [*[((a,), (b,)) for a, b in bad], ((), ()), ((0.0,), (1.0, 1.0))]:
        with pytest.raises(InvalidInputError, match="has no pixels"):
            DensityFrame(low, high)
