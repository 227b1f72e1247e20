"""Pages of maps on which some rows of the data are missing, in a browser."""

import numpy as np

from isofold import assess
from isofold.reports import make_report


def test_rows_have_the_numbers_that_they_have_in_the_data(open_page, case):
    numbers = 3 * np.arange(len(case.Y)) + 5
    labels = np.where(np.arange(len(case.Y)) % 2, "-1", "=1+1")
    made = make_report(assess(case.X, case.Y), labels=labels, row_numbers=numbers)
    opened = open_page(made)
    opened.page.click("#select-view")
    rows = opened.selected_rows()
    assert [int(row["row"]) for row in rows] == numbers.tolist()
    # A number is no formula, whatever its sign.
    assert {row["label"] for row in rows} == {"-1", "'=1+1"}
    opened.page.focus("#overlay")
    opened.page.keyboard.press("n")
    opened.page.keyboard.press("Enter")
    shown = opened.text("#point-body strong").removeprefix("Row ")
    assert int(shown) in numbers
    joined = opened.page.locator("#point-body tbody th").all_inner_texts()
    assert joined
    assert {int(text) for text in joined} <= set(numbers.tolist())
    opened.assert_quiet()
