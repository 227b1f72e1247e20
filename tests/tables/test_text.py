"""Text tables: delimiters, names, encodings, what is missing, and what only looks like numbers."""

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.tables import prepare, read_table


@pytest.fixture
def read(tmp_path):
    def read(text, name="a.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_table(path, **options)

    return read


def values(table):
    return {column.name: column.values.tolist() for column in table.columns}


def test_markers_of_the_missing(read):
    markers = ["", "NA", "NaN", "null", "N/A", "?", "-", " NA ", "None"]
    rows = "".join(f"{m},{m},{i}\n" for i, m in enumerate(markers))
    table = read(f"number,word,i\n1.5,x,9\n{rows}")
    number, word, _ = table.columns
    assert number.kind == "number"
    assert np.isnan(number.values).tolist() == [False] + [True] * len(markers)
    assert word.values.tolist() == ["x"] + [None] * len(markers)


def test_blanks_around_repeated_text_and_numbers(read):
    rows = "".join(f"{word},{number},NA\n" for word, number in [("x ", " 1.5"), (" NA", "NA ")] * 3)
    table = read(f"word,number,nothing\nx,2,\n{rows}")
    word, number, nothing = table.columns
    assert word.values.tolist() == ["x"] + ["x", None] * 3
    np.testing.assert_array_equal(number.values, [2.0] + [1.5, np.nan] * 3)
    assert number.kind == nothing.kind == "number"
    assert nothing.is_empty


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found(read, delimiter):
    text = 'a,b,"c, or; more | here\tthere"\n1,2.5,x\n3,4.5,"y,z"\n'
    head, rest = text.split('"c', 1)
    inner, rest = rest.split('there"', 1)
    text = head.replace(",", delimiter) + '"c' + inner + 'there"'
    text += rest.replace('"y,z"', "@").replace(",", delimiter).replace("@", '"y,z"')
    table = read(text)
    assert table.names == ("a", "b", "c, or; more | here\tthere")
    assert table.columns[1].values.tolist() == [2.5, 4.5]
    assert table.columns[2].values.tolist() == ["x", "y,z"]


def test_delimiter_may_be_given(read):
    assert read("a:b\n1:2\n", delimiter=":").names == ("a", "b")
    with pytest.raises(InvalidInputError, match="must be one character"):
        read("a:b\n1:2\n", delimiter="::")


def test_text_with_line_ends_in_quotes(read):
    table = read('a,"b\nc",d\n1,"x\ny",2\n3,"says ""no""",4\n')
    assert table.names == ("a", "b\nc", "d")
    assert table.columns[1].values.tolist() == ["x\ny", 'says "no"']


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("a,b,c,d", True),
        ("1.5,2.5,3.5,4.5", False),
        ("1.5,NA,,4.5", False),
        ("country,2019,2020,2021", True),
        ("0,1,2,3", True),
        ("1,5,2,7", False),
        ("5.1,3.5,1.4,setosa", True),
    ],
)
def test_first_row_is_names_or_data(read, first, is_header):
    text = f"{first}\n1,2,3,4\n5,6,7,8\n"
    table = read(text)
    assert table.has_names == is_header
    assert table.n_rows == 3 - is_header
    if not is_header:
        assert table.names == ("column1", "column2", "column3", "column4")
        assert any("--header" in note for note in table.notes)
    if first.startswith(("5.1", "0,")):
        assert any("--no-header" in note for note in table.notes)
    assert read(text, header=True).n_rows == 2
    assert read(text, header=False).n_rows == 3


def test_encodings(read):
    text = "name,x\ncafé,1\nnaïve,2\n"
    with pytest.raises(InvalidInputError, match=r"byte 10 \(line 2\) is 0xe9.*--encoding latin-1"):
        read(text.encode("latin-1"))
    with pytest.raises(InvalidInputError, match="--encoding utf-16"):
        read(text.encode("utf-16"))
    for codec in ("utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-32"):
        table = read(text.encode(codec), encoding=codec)
        assert values(table) == {"name": ["café", "naïve"], "x": [1, 2]}
    assert values(read(text.encode("utf-8-sig"))) == {"name": ["café", "naïve"], "x": [1, 2]}
    with pytest.raises(InvalidInputError, match="encoding 'utf-9' is unknown"):
        read(text, encoding="utf-9")
    with pytest.raises(InvalidInputError, match="is unknown"):
        read(text, encoding="zip")
    with pytest.raises(InvalidInputError, match="not encoded as shift_jis at byte"):
        read(b"a,b\n\x80\xff,1\n", encoding="shift-jis")


def test_position_of_a_bad_byte_far_into_the_file(read):
    start = b"a,b\n" + b"12345,67890\n" * 500_000
    with pytest.raises(InvalidInputError, match=rf"byte {len(start):,} \(line 500,002\)"):
        read(start + b"\xff,1\n")


def test_rows_longer_than_a_block_are_read(read, monkeypatch):
    monkeypatch.setattr("isofold.tables.text.BLOCK", 4096)
    text = "".join(f"{i},word\n" for i in range(3000))
    table = read(f"a,b\n{text}7,{'x' * 50_000}\n{text}")
    number, word = table.columns
    assert number.values.tolist() == [*range(3000), 7, *range(3000)]
    assert [len(value) for value in word.values[2999:3002]] == [4, 50_000, 4]


@pytest.mark.parametrize("late", ["1.5", "NA", "true", "2020-02-02", "word", '"a\nb"'])
@pytest.mark.parametrize("early", ["1", "NA", "true", "2020-01-01", "word", '" 1"'])
def test_blocks_do_not_matter(read, monkeypatch, early, late):
    text = "a,b\n" + f"{early},2\n" * 500 + f"{late},3\n" * 500
    whole = read(text)
    monkeypatch.setattr("isofold.tables.text.BLOCK", 1024)
    parts = read(text)
    for column, same in zip(parts.columns, whole.columns, strict=True):
        assert column.values.dtype == same.values.dtype
        np.testing.assert_array_equal(column.values, same.values)


@pytest.mark.parametrize("block", ["BLOCK", "LARGEST_BLOCK"])
def test_types_that_change_late_in_a_large_file(read, monkeypatch, block):
    monkeypatch.setattr(f"isofold.tables.text.{block}", 4096)
    rows = "".join(f"{i},{i},{i}\n" for i in range(3000))
    table = read(f"a,b,c\n{rows}1.5,word,NA\n")
    assert [column.kind for column in table.columns] == ["number", "text", "number"]
    assert table.columns[0].values[-1] == 1.5
    assert table.columns[1].values[-2:].tolist() == ["2999", "word"]
    assert np.isnan(table.columns[2].values[-1])


def test_ragged_rows_are_told_by_number(read):
    with pytest.raises(InvalidInputError, match=r"row 3 .* has 3 field\(s\), but 2 .*'3,4,5'"):
        read("a,b\n1,2\n3,4,5\n6,7\n")


def test_open_quotes_do_not_swallow_rows(read):
    with pytest.raises(InvalidInputError, match="line 3: a quote"):
        read('a,b\n1,x\n2,"y\n3,z\n4,w\n')
    # A quote inside a field is no quote.
    assert read('a,b\n1,5" pipe\n2,x\n').columns[1].values.tolist() == ['5" pipe', "x"]


def test_decimal_commas_and_thousands(read):
    with pytest.raises(InvalidInputError, match=r"column 'a' .* decimal comma, such as '1,5'"):
        read("a;b\n1,5;x\n2,25;y\n")
    table = read('a,b\n"1,234",1\n"5,678",2\n')
    assert table.columns[0].kind == "text"
    assert any("'1,234'" in note and "thousands" in note for note in table.notes)
    with pytest.raises(InvalidInputError, match="thousands"):
        prepare(read('a\n"1,234"\n"5,678"\n'))


def test_dates_are_text_and_truth_values_are_numbers(read):
    table = read("day,flag\n2020-01-01,True\n2020-01-02,false\n")
    assert values(table) == {"day": ["2020-01-01", "2020-01-02"], "flag": [1.0, 0.0]}


def test_large_integers_are_noted(read):
    table = read(f"id2,b\n{2**60},1\n{2**60 + 1},2\n")
    assert any("2**53" in note and "'id2'" in note for note in table.notes)


def test_nothing_in_a_message_reaches_the_terminal(read):
    with pytest.raises(InvalidInputError) as caught:
        read("a,b\n\x1b[31mred\x07,\u202ereversed,3\n")
    message = str(caught.value)
    assert message.isprintable()
    assert r"\x1b[31mred\x07" in message
    assert len(message) < 500
