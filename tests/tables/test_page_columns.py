"""Labels and fields of all kinds become numbers, times or classes; nothing is lost or doubled."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isofold.exceptions import InvalidInputError
from isofold.tables.page_columns import read_column, read_columns

NAN = float("nan")


def words(column):
    return [None if code < 0 else column.table[code] for code in column.values]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([3, 1, 2]), [3, 1, 2]),
        (np.array([1.5, NAN, np.inf]), [1.5, NAN, NAN]),
        ([1, None, 2.5], [1, NAN, 2.5]),
        ([Decimal("0.5"), 2, None], [0.5, 2, NAN]),
        (pd.Series([1, None, 3], dtype="Int64"), [1, NAN, 3]),
        (np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]), [1, NAN, 3]),
        (np.array([[1.0], [2.0], [3.0]]), [1, 2, 3]),
    ],
)
def test_numbers(values, expected):
    column = read_column(values, 3, name="x")
    assert column.kind == "number"
    np.testing.assert_array_equal(column.values, expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "a", None], ["b", "a", None]),
        (["10", "9", ""], ["10", "9", None]),
        (np.array([True, False, True]), ["true", "false", "true"]),
        ([True, None, np.bool_(False)], ["true", None, "false"]),
        ([b"raw\xff", 1, "x"], ["raw\N{REPLACEMENT CHARACTER}", "1", "x"]),
        (["\ud800", "a", "b"], ["?", "a", "b"]),
        (pd.Categorical(["y", "x", None]), ["y", "x", None]),
        (pd.Series(["y", "x", None], dtype="category"), ["y", "x", None]),
        (pd.Series(["y", pd.NA, "z"], dtype="string"), ["y", None, "z"]),
        ([None, NAN, pd.NaT], [None, None, None]),
        (["1", 1, True], ["1", "1", "True"]),
        (np.array(["b", "", "b"]), ["b", None, "b"]),
        (np.array([True, True, True]), ["true", "true", "true"]),
    ],
)
def test_classes(values, expected):
    column = read_column(values, 3, name="x")
    assert column.kind == "class"
    assert words(column) == expected


def test_classes_are_those_that_occur():
    assert read_column(np.array([True, True]), 2, name="x").table == ("true",)
    texts = np.array(["b", None, "a", "b", "\ud800", "?"] * 50, dtype=object)
    column = read_column(texts, 300, name="x")
    assert column.table == ("?", "a", "b")
    assert words(column) == ["b", None, "a", "b", "?", "?"] * 50


def test_classes_are_ordered_as_people_order_them():
    column = read_column(["10", "9", "b", "1e1", "a"], 5, name="x")
    assert column.table == ("9", "10", "1e1", "a", "b")
    given = pd.Series(["low", "high", "mid"], dtype=pd.CategoricalDtype(["low", "mid", "high"]))
    assert read_column(given, 3, name="x").table == ("low", "mid", "high")


def test_times():
    times = np.array(["2024-02-29T12:00", "NaT", "1969-12-31"], dtype="datetime64[s]")
    column = read_column(times, 3, name="x")
    noon = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
    assert column.kind == "time"
    np.testing.assert_array_equal(column.values, [noon.timestamp() * 1e3, NAN, -86400e3])
    berlin = dt.timezone(dt.timedelta(hours=1))
    moments = [dt.date(1970, 1, 2), None, dt.datetime(1970, 1, 1, 1, tzinfo=berlin)]
    moments.append(dt.datetime(1970, 1, 1, 0, 0, 2))
    column = read_column(moments, 4, name="x")
    assert column.kind == "time"
    np.testing.assert_array_equal(column.values, [86400e3, NAN, 0.0, 2e3])
    lengths = read_column(np.array([90, 30], dtype="timedelta64[m]"), 2, name="x")
    assert (lengths.name, lengths.kind) == ("x (seconds)", "number")
    np.testing.assert_array_equal(lengths.values, [5400, 1800])


def test_labels_that_are_few_whole_numbers_are_classes():
    labels = np.array([2.0, 10.0, NAN, 2.0])
    column = read_column(labels, 4, name="label", is_label=True)
    assert (column.kind, words(column)) == ("class", ["2", "10", None, "2"])
    assert read_column(labels + 0.5, 4, name="label", is_label=True).kind == "number"
    assert read_column(np.arange(31), 31, name="label", is_label=True).kind == "number"
    assert read_column(labels, 4, name="field").kind == "number"


def test_names_are_unique_and_never_empty():
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=["a", "a", "", " "])
    names = [column.name for column in read_columns(frame, 1, taken=["a"])]
    assert names == ["a (2)", "a (3)", "column 3", "column 4"]
    assert [c.name for c in read_columns({7: [1], None: [2]}, 1)] == ["7", "None"]
    assert [c.values[0] for c in read_columns(pl.DataFrame({"p": [5], "q": ["r"]}), 1)] == [5, 0]
    assert read_columns(None, 1) == []


def test_errors_tell_what_to_do():
    with pytest.raises(InvalidInputError, match=r"'x' has shape \(2,\), but the map has 3 points"):
        read_column([1, 2], 3, name="x")
    with pytest.raises(InvalidInputError, match=r"shape \(3, 2\).*one value for every point"):
        read_column(np.zeros((3, 2)), 3, name="x")
    with pytest.raises(InvalidInputError, match="fields is a list, but names are needed"):
        read_columns([[1, 2, 3]], 3)
