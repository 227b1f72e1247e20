"""A row of a product depends on that row and the matrix only, to the last bit."""

import numpy as np
import pytest

from isofold.linalg.rows import row_product

SHAPES = [(1, 1), (3, 2), (7, 5), (33, 4), (300, 9), (1000, 2), (40_000, 3)]
N_ROWS = 23


def tables(m, q):
    rng = np.random.default_rng(m + q)
    return rng.normal(size=(N_ROWS, m)), rng.normal(size=(m, q))


@pytest.mark.parametrize(("m", "q"), SHAPES)
def test_terms_are_added_from_the_first_to_the_last(m, q):
    rows, matrix = tables(m, q)
    expected = np.zeros((N_ROWS, q))
    for term in range(m):
        expected += rows[:, term, None] * matrix[term]
    np.testing.assert_array_equal(row_product(rows, matrix), expected)


@pytest.mark.parametrize(("m", "q"), SHAPES[:-1])
def test_any_number_of_rows_at_any_place_gives_the_same_bytes(m, q):
    rows, matrix = tables(m, q)
    together = row_product(rows, matrix)
    for start in range(N_ROWS):
        for stop in range(start + 1, N_ROWS + 1):
            part = row_product(rows[start:stop], matrix)
            np.testing.assert_array_equal(part, together[start:stop])
    np.testing.assert_array_equal(row_product(rows[::-1], matrix), together[::-1])


def test_layout_does_not_matter():
    rows, matrix = tables(40, 6)
    spread = np.zeros((2 * N_ROWS, 80))
    spread[::2, ::2] = rows
    expected = row_product(rows, matrix)
    for same in (np.asfortranarray(rows), spread[::2, ::2]):
        np.testing.assert_array_equal(row_product(same, np.asfortranarray(matrix)), expected)


def test_single_precision_is_computed_in_double():
    rows, matrix = tables(40, 6)
    single = rows.astype(np.float32)
    np.testing.assert_array_equal(
        row_product(single, matrix), row_product(single.astype(np.float64), matrix)
    )


@pytest.mark.parametrize(("n", "m", "q"), [(0, 3, 2), (3, 0, 2), (3, 2, 0)])
def test_products_of_nothing(n, m, q):
    np.testing.assert_array_equal(row_product(np.ones((n, m)), np.ones((m, q))), np.zeros((n, q)))
