"""Balls around queries hold what all pairs say they hold, by every way to look for it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isofold.neighbors.search.query_balls import BallRules, QueryBalls, squared_of_pairs

RNG = np.random.RandomState(0)


def clouds():
    """Yield tables of several shapes: flat, thin, far from the origin, heavy-tailed, on a grid."""
    sheet = RNG.uniform(size=(1500, 2)) @ RNG.normal(size=(2, 14))
    yield "noise", RNG.normal(size=(1500, 3))
    yield "line", RNG.uniform(size=(1500, 1))
    yield "sheet", sheet + 1e-3 * RNG.normal(size=sheet.shape)
    yield "many columns", RNG.normal(size=(1500, 40))
    yield "far away", 1e6 + RNG.normal(size=(1500, 12))
    yield "heavy tails", RNG.standard_cauchy(size=(1500, 20)) ** 3
    yield "grid", RNG.randint(0, 6, size=(1500, 3)).astype(float)
    yield "tiny", 1e-30 * RNG.normal(size=(1500, 12))


def balls_of(points, tree, rules):
    exact = cdist(points[:60], points, "sqeuclidean")
    squared = np.sort(exact, axis=1)[np.arange(60), RNG.randint(1, 40, size=60)]
    squared[7] = -1.0  # no ball
    balls = QueryBalls.of(points[:60], squared, points[:900], rules=rules)
    return exact, replace(balls, uses_tree=tree)


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize(("name", "points"), list(clouds()))
def test_pairs_are_all_pairs_within_the_radii(name, points, tree):
    exact, balls = balls_of(points, tree, BallRules(crowded=1.0, n_pairs=700, n_products=4096))
    found = np.zeros(exact.shape, dtype=bool)
    for pairs in balls.pairs(points):
        assert not found[pairs.queries, pairs.rows].any()
        found[pairs.queries, pairs.rows] = True
        assert np.array_equal(pairs.squared, exact[pairs.queries, pairs.rows])
    assert np.array_equal(found, exact <= balls.squared[:, None])


@pytest.mark.parametrize(("name", "points"), list(clouds()))
def test_crowded_balls_are_compared_with_all_rows(name, points):
    exact, balls = balls_of(points, True, BallRules(crowded=-1.0, n_lines=400, n_together=7))
    assert list(balls.pairs(points)) == []
    assert [query for query, _ in balls.to_all(points)] == np.delete(np.arange(60), 7).tolist()
    for query, squared in balls.to_all(points):
        assert np.array_equal(squared, exact[query])
    seen = np.zeros(exact.shape, dtype=int)
    for line in balls.nearly_to_all(points):
        where = slice(line.first, line.first + len(line.squared))
        assert np.abs(line.squared - exact[line.query, where]).max() <= line.rounding
        seen[line.query, where] += 1
    assert (np.delete(seen, 7, axis=0) == 1).all()


def test_few_and_many_pairs_have_the_same_bits():
    queries, rows = RNG.normal(size=(30, 33)), RNG.normal(size=(400, 33))
    which, partners = RNG.randint(30, size=1000), RNG.randint(400, size=1000)
    many = squared_of_pairs(queries, which, rows, partners)
    few = [
        squared_of_pairs(queries, which[i : i + 1], rows, partners[i : i + 1]) for i in range(1000)
    ]
    assert np.array_equal(many, np.concatenate(few))


def test_most_rows_are_left_out_at_once():
    points = RNG.uniform(size=(20_000, 2))
    radii = np.full(50, 0.01**2)
    balls = QueryBalls.of(points[:50], radii, points)
    kept = balls.cells.rows_in(points)
    # The balls hold at most 50 π 0.01² = 1.6 % of the square, their cells a little more.
    assert len(kept) < 0.03 * len(points)
