"""How large cells should be: larger with noise, and by a power of the number of points."""

from functools import partial

import numpy as np
import pytest

from isofold.datasets import swiss_roll
from isofold.merging.cell_size import choose_cell_size
from isofold.merging.cells import cut_cells
from isofold.merging.rules import RULES, MergingRules
from support.quick import quick_first

cut = partial(cut_cells, clustering="balanced", least=3, seed=0, is_quick=True)


def chosen(points, *, seed=0, rules=RULES):
    return choose_cell_size(points, points, 2, cut, np.random.RandomState(seed), rules=rules)


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_noise_asks_for_larger_cells(seed):
    clean, noisy = (swiss_roll(2000, noise=s, random_state=seed).X for s in (0.0, 0.5))
    # The first size is 2q + 5, which clean dense data keep.
    assert chosen(clean) == 9
    assert chosen(noisy) >= 14


def test_few_points_have_the_first_size():
    assert chosen(swiss_roll(60, random_state=0).X) == 9


def test_sizes_from_a_sample_grow_with_the_points():
    X = swiss_roll(4000, random_state=0).X
    rules = MergingRules(sample_size=1000)
    drawn = X[np.sort(np.random.RandomState(0).permutation(4000)[:1000])]
    # n^(4/(q + 4)) with q = 2, of four times as many points.
    assert chosen(X, rules=rules) == round(chosen(drawn) * 4 ** (2 / 3))
