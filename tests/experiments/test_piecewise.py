"""What the experiments on piecewise-linear maps measure with, on cases with a known answer."""

import numpy as np
import pytest
from experiments.piecewise.curves import is_chain, order_of
from experiments.piecewise.measures import count_short_cuts

from isofold.datasets import swiss_roll


def test_a_closed_curve_cut_once_has_one_break():
    line = np.roll(np.arange(100.0), 30)
    found = order_of(line)
    assert (found.breaks, found.torn) == (1, 1)
    np.testing.assert_array_equal(found.cut, [[29, 30]])


def test_neighbors_that_change_places_are_breaks_but_no_tears():
    line = np.arange(100.0)
    line[[40, 41]] = line[[41, 40]]
    found = order_of(line)
    # 39-40 and 41-42 are two apart now, and the ends are torn as those of any open line.
    assert (found.breaks, found.torn) == (3, 1)


def test_a_circle_folded_onto_a_line_is_not_torn():
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    found = order_of(np.cos(angle + 0.01))
    assert found.torn == 0
    assert found.breaks > 90


@pytest.mark.parametrize(
    ("tree", "expected"),
    [([[0, 1], [1, 2], [2, 3]], True), ([[0, 1], [0, 2], [0, 3]], False), ([], True)],
)
def test_chains_have_no_branches(tree, expected):
    assert is_chain(np.array(tree, dtype=int)) is expected


def test_short_cuts_lead_from_turn_to_turn():
    dense, sparse = (swiss_roll(n, random_state=0) for n in (2000, 250))
    assert count_short_cuts(dense.X, dense.truth, 5) == 0
    assert count_short_cuts(sparse.X, sparse.truth, 20) > 100
