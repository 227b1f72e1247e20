"""From tables to features: which columns, which rows, what is filled and scaled, what is said."""

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError, ModelFileError
from isofold.tables import Column, Preprocessing, Table, prepare, preprocess

N = 20
RNG = np.random.default_rng(3)


def table_of(has_names=True, **columns):
    made = []
    for name, values in columns.items():
        array = np.asarray(values)
        kind = object if array.dtype.kind in "UO" else np.float64
        made.append(Column(name, array.astype(kind)))
    return Table(tuple(made), len(made[0].values), "data.csv", has_names=has_names)


@pytest.fixture
def table():
    return table_of(
        id=np.arange(100, 100 + N),
        a=RNG.normal(size=N),
        b=RNG.normal(size=N),
        word=[f"w{i % 3}" for i in range(N)],
        count=RNG.permutation(N) + 1,
        pixel1=RNG.normal(size=N),
        pixel2=RNG.normal(size=N),
        kind=np.arange(N) % 4,
    )


def test_features_are_the_numbers_that_measure(table):
    prepared = prepare(table, label="kind")
    assert prepared.preprocessing.features == ("a", "b", "pixel1", "pixel2")
    np.testing.assert_array_equal(prepared.X[:, 1], table.columns[2].values)
    assert prepared.labels.tolist() == [i % 4 for i in range(N)]
    assert prepared.labels.dtype == np.int64
    assert set(prepared.fields) == {"id", "word", "count"}
    assert prepared.rows.tolist() == list(range(N))
    said = " ".join(prepared.notes)
    assert "Left out (text or dates): 'word'." in said
    assert "Left out (it only numbers the rows): 'id' and 'count'." in said
    assert set(prepared.feature_fields()) == {"a", "b", "pixel1", "pixel2"}
    assert prepared.feature_fields(most=3) == {}


@pytest.mark.parametrize(
    ("columns", "exclude", "features"),
    [
        (["b", "a"], [], ("b", "a")),
        (["pixel*"], [], ("pixel1", "pixel2")),
        (["a:b"], [], ("a", "b")),
        (["a", "count"], [], ("a", "count")),
        (["pixel[12]", "a"], ["pixel2"], ("pixel1", "a")),
        (None, ["pixel*", "kind"], ("a", "b")),
        (["*"], ["kind"], ("a", "b", "pixel1", "pixel2")),
    ],
)
def test_columns_by_name_pattern_and_range(table, columns, exclude, features):
    assert prepare(table, columns=columns, exclude=exclude).preprocessing.features == features


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"columns": ["pixel3"]},
            r"no column 'pixel3'\. Did you mean 'pixel2' and 'pixel1'\?",
        ),
        ({"columns": ["q*"]}, r"no column 'q\*'.*There are 'id', 'a'"),
        ({"label": "Kind2"}, r"Did you mean 'kind'\?"),
        ({"exclude": ["nope"]}, "no column 'nope'"),
        ({"columns": ["word"]}, r"column 'word' holds text, such as 'w0'"),
        ({"columns": ["kind"], "label": "kind"}, "no column of numbers is left"),
        ({"missing": "guess"}, "'guess' is unknown for missing values"),
        ({"scale": "log"}, "'log' is unknown for scaling"),
    ],
)
def test_what_cannot_be_asked_for(table, options, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        prepare(table, **options)
    assert str(caught.value).isprintable()


def test_counting_columns_need_length_and_company():
    short = table_of(a=[1, 2, 3], b=[2.5, 1, 7])
    assert prepare(short).preprocessing.features == ("a", "b")
    alone = table_of(a=np.arange(50))
    assert prepare(alone).preprocessing.features == ("a",)
    fractions = table_of(index=np.arange(N) + 0.5, b=RNG.normal(size=N))
    assert prepare(fractions).preprocessing.features == ("index", "b")


def with_gaps():
    return table_of(
        a=[1, np.nan, 3, 4, 8],
        b=[1, 2, np.nan, np.nan, np.nan],
        c=[5, 1, 2, 3, 4],
        none=[np.nan] * 5,
    )


def test_rows_with_gaps_are_left_out():
    prepared = prepare(with_gaps(), exclude=["b"])
    assert prepared.X.tolist() == [[1, 5], [3, 2], [4, 3], [8, 4]]
    assert prepared.rows.tolist() == [0, 2, 3, 4]
    said = " ".join(prepared.notes)
    assert "1 row of 5 left out, since values are missing in 'a' (1)." in said
    assert "Left out (without any value): 'none'." in said


def test_gaps_are_filled_by_the_median():
    prepared = prepare(with_gaps(), missing="median")
    assert prepared.X[:, 0].tolist() == [1, 3.5, 3, 4, 8]
    assert prepared.X[:, 1].tolist() == [1, 2, 1.5, 1.5, 1.5]
    assert prepared.preprocessing.fill == (3.5, 1.5, 3.0)
    assert any("More than half" in note and "'b'" in note for note in prepared.notes)


def test_gaps_may_be_refused():
    with pytest.raises(InvalidInputError, match=r"values are missing in 'b' \(3\) and 'a' \(1\)"):
        prepare(with_gaps(), missing="error")
    with pytest.raises(InvalidInputError, match="every value of 'none' is missing"):
        prepare(with_gaps(), columns=["a", "none"])


def test_scaling_gives_mean_0_and_variance_1():
    table = table_of(a=1e6 + RNG.normal(size=N), b=RNG.normal(size=N) * 1e-3, same=np.ones(N))
    prepared = prepare(table, scale="standard")
    # The mean of n numbers of size 1e6 is known to about 1e6 * eps, the deviation is about 1.
    tolerance = 1e6 * N * np.finfo(float).eps
    np.testing.assert_allclose(prepared.X.mean(axis=0), 0, atol=tolerance)
    np.testing.assert_allclose(prepared.X[:, :2].std(axis=0), 1, atol=tolerance)
    assert prepared.X[:, 2].tolist() == [0.0] * N
    assert any("distances do not depend on them: 'same'" in note for note in prepared.notes)
    np.testing.assert_allclose(
        prepared.feature_fields()["a"], table.columns[0].values, rtol=1e-15 * N
    )


def test_one_column_that_rules_all_distances_is_named():
    table = table_of(income=RNG.normal(size=N) * 1e5, age=RNG.normal(size=N))
    assert any("'income' has 100%" in n and "--scale" in n for n in prepare(table).notes)
    assert not any("--scale" in note for note in prepare(table, scale="standard").notes)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200])
def test_infinite_and_huge_numbers_are_told_by_place(value):
    numbers = RNG.normal(size=N)
    numbers[7] = value
    with pytest.raises(InvalidInputError, match="data row 8, column 'b'"):
        prepare(table_of(a=RNG.normal(size=N), b=numbers))
    # The label is no feature.
    assert prepare(table_of(a=RNG.normal(size=N), b=numbers), label="b").labels[7] == value


def test_facts_do_not_depend_on_blocks(monkeypatch):
    table = table_of(
        a=RNG.normal(size=N) + 1e8, b=np.where(np.arange(N) % 7, RNG.normal(size=N), np.nan)
    )
    whole = prepare(table, missing="median", scale="standard")
    monkeypatch.setattr("isofold.tables.columnwise.block_rows", lambda *args: 3)
    blocks = prepare(table, missing="median", scale="standard")
    # Sums in another order: the first column has size 1e8 and deviation 1.
    np.testing.assert_allclose(blocks.X, whole.X, atol=1e8 * N * np.finfo(float).eps)


def test_labels():
    text = table_of(a=[1, 2, 3], y=np.array(["u", None, "v"], dtype=object))
    assert prepare(text, label="y").labels.tolist() == ["u", "", "v"]
    classes = table_of(a=[1, 2, 3], y=[1, np.nan, 2])
    assert prepare(classes, label="y").labels.tolist() == ["1", "", "2"]
    measured = table_of(a=[1, 2, 3], y=[0.5, np.nan, 2])
    np.testing.assert_array_equal(prepare(measured, label="y").labels, [0.5, np.nan, 2])


def test_preprocessing_does_the_same_to_new_rows(table):
    table.columns[1].values[3] = np.nan
    prepared = prepare(table, label="kind", missing="median", scale="standard")
    again = Preprocessing.from_json(prepared.preprocessing.to_json())
    assert again == prepared.preprocessing
    order = [5, 1, 3, 2]
    shuffled = Table(
        tuple(Column(c.name, c.values[order]) for c in reversed(table.columns)), 4, "new.csv"
    )
    new = preprocess(shuffled, again)
    np.testing.assert_array_equal(new.X, prepared.X[order])
    assert new.labels.tolist() == prepared.labels[order].tolist()
    without_label = Table(table.columns[:-1], N, "new.csv")
    assert preprocess(without_label, again).labels is None
    one = Table(tuple(Column(c.name, c.values[:1]) for c in table.columns), 1, "one.csv")
    np.testing.assert_array_equal(preprocess(one, again).X, prepared.X[:1])


def test_preprocessing_refuses_other_tables(table):
    preprocessing = prepare(table, label="kind").preprocessing
    with pytest.raises(InvalidInputError, match=r"1 of the 4 features .* not in this table: 'b'"):
        preprocess(
            Table(tuple(c for c in table.columns if c.name != "b"), N, "new.csv"), preprocessing
        )
    words = table_of(a=["x"] * N, **{n: RNG.normal(size=N) for n in ("b", "pixel1", "pixel2")})
    with pytest.raises(InvalidInputError, match="are text in this table: 'a'"):
        preprocess(words, preprocessing)


def test_preprocessing_of_data_without_names():
    block = RNG.normal(size=(N, 3)).astype(np.float32)
    table = Table((), N, "a.npy", has_names=False, block=block)
    preprocessing = prepare(table).preprocessing
    assert preprocessing.features == 3
    assert preprocessing.columns == ("column1", "column2", "column3")
    headerless = table_of(has_names=False, column1=[1, 2], column2=[3, 4], column3=[5, 6])
    assert preprocess(headerless, preprocessing).X.tolist() == [[1, 3, 5], [2, 4, 6]]
    with pytest.raises(InvalidInputError, match=r"3 columns without names, but .* 2 columns"):
        preprocess(Table((), N, "b.npy", has_names=False, block=block[:, :2]), preprocessing)
    some = prepare(table, columns=["1", "3"], label="column2")
    assert some.preprocessing.features == ("column1", "column3")
    np.testing.assert_array_equal(some.X, block[:, [0, 2]])
    np.testing.assert_array_equal(some.labels, block[:, 1])


GOOD = Preprocessing(("a", "b"), "y", "median", (1.0, 2.0), (0.0, 0.0), (1.0, 1.0)).to_json()


@pytest.mark.parametrize(
    "value",
    [
        None, [], "recipe", {}, {**GOOD, "more": 1}, {**GOOD, "version": 2},
        {**GOOD, "version": "1"},
        {**GOOD, "version": True}, {**GOOD, "features": []}, {**GOOD, "features": ["a", "a"]},
        {**GOOD, "features": ["a", 5]}, {**GOOD, "features": -2}, {**GOOD, "features": 10**30},
        {**GOOD, "features": True}, {**GOOD, "features": {"a": 1}}, {**GOOD, "features": 3},
        {**GOOD, "label": 5}, {**GOOD, "missing": "exec"}, {**GOOD, "missing": ["drop"]},
        {**GOOD, "missing": "drop"}, {**GOOD, "fill": None}, {**GOOD, "fill": [1.0]},
        {**GOOD, "fill": [1.0, "x"]}, {**GOOD, "fill": [1.0, float("nan")]},
        {**GOOD, "fill": [1.0, 10**400]}, {**GOOD, "fill": [1.0, True]}, {**GOOD, "fill": {"a": 1}},
        {**GOOD, "scale": [1.0, 0.0]}, {**GOOD, "scale": [1.0, -1.0]}, {**GOOD, "scale": None},
        {**GOOD, "center": None}, {**GOOD, "center": [float("inf"), 0.0]}, {**GOOD, "key": 5},
    ],
)  # fmt: skip
def test_hostile_preprocessing(value):
    assert Preprocessing.from_json(GOOD).n_features == 2
    with pytest.raises(
        ModelFileError, match="preprocessing in the model file cannot be used"
    ) as caught:
        Preprocessing.from_json(value)
    assert "\n" not in str(caught.value)
