import networkx as nx
import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.tables import read_table
from isofold.tables.objects import kind_of, objects_of_table, read_collection

FASTA = ">one first of them\nACG\nT\n\n>two\nacgtt\n>empty nothing\n>three|x  last\nGG\n"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.fasta", "sequences"), ("a.FA", "sequences"), ("a.smi", "molecules"), ("a.csv", None),
     ("a.graphml", "graphs"), ("a.txt", None), ("folder", None)],
)  # fmt: skip
def test_endings_tell_what_a_file_holds(tmp_path, name, kind):
    assert kind_of(tmp_path / name) == kind


def test_fasta(tmp_path):
    found = read_collection(write(tmp_path / "a.fasta", FASTA), "sequences")
    assert found.objects == ("ACGT", "ACGTT", "GG")
    assert found.names == ("one", "two", "three|x")
    assert (found.rows.tolist(), found.n_rows) == ([0, 1, 3], 4)
    columns = {column.name: column.values.tolist() for column in found.columns}
    assert columns == {"description": ["first of them", None, "last"], "length": [4.0, 5.0, 2.0]}
    assert "1 sequence that could not be read: 'empty'" in found.notes[0]


def test_molecules_with_and_without_names(tmp_path):
    text = "SMILES name\nCCO ethanol\nnonsense( x\nc1ccccc1\tbenzene ring\n\nC\n"
    found = read_collection(write(tmp_path / "a.smi", text), "molecules")
    assert found.names == ("ethanol", "benzene ring", "6")
    assert [len(graph) for graph in found.objects] == [3, 6, 1]
    assert found.rows.tolist() == [0, 2, 3]


def test_lines_of_text_and_of_numbers(tmp_path):
    texts = read_collection(write(tmp_path / "a.txt", "straße\n\n b c \nd\n"), "strings")
    assert texts.objects == ("straße", "b c", "d")
    assert texts.names == ("1", "3", "4")
    series = read_collection(write(tmp_path / "b.txt", "1, 2,3\n4 5\n6;7\nx\nnan\n"), "series")
    assert [one.tolist() for one in series.objects] == [[1, 2, 3], [4, 5], [6, 7]]
    assert "2 series" in series.notes[0]


def graph(kind, n):
    made = nx.path_graph(n)
    nx.set_node_attributes(made, "C", "label")
    made.graph["kind"] = kind
    return made


def test_graphs_of_a_folder_and_of_one_file(tmp_path):
    for name, n in (("b", 3), ("a", 2), ("c", 4)):
        nx.write_graphml(graph(name, n), tmp_path / f"{name}.graphml")
    assert kind_of(tmp_path) == "graphs"
    found = read_collection(tmp_path, "graphs")
    assert found.names == ("a", "b", "c")
    assert [len(one) for one in found.objects] == [2, 3, 4]
    assert found.columns[0].values.tolist() == ["a", "b", "c"]
    assert set(dict(found.objects[0].nodes(data="label")).values()) == {"C"}
    text = (tmp_path / "a.graphml").read_text()
    one = text[text.index("<graph ") : text.index("</graph>") + len("</graph>")]
    several = write(tmp_path / "all.graphml", text.replace(one, 3 * one))
    assert read_collection(several, "graphs").names == ("all 1", "all 2", "all 3")


def test_a_column_of_a_table(tmp_path):
    path = write(tmp_path / "a.csv", "review,stars\ngood book,5\n,2\nbad,1\nso so,3\n")
    assert read_collection(path, "texts") is None
    found = objects_of_table(read_table(path), "texts")
    assert found.objects == ("good book", "bad", "so so")
    assert found.rows.tolist() == [0, 2, 3]
    assert found.columns[0].values.tolist() == [5.0, 1.0, 3.0]
    with pytest.raises(InvalidInputError, match="--columns must name"):
        objects_of_table(read_table(path), "texts", columns=("stars",))


def test_rows_of_a_table_as_series(tmp_path):
    path = write(tmp_path / "a.csv", "k,t1,t2,t3\na,1,2,3\nb,4,5,\nc,6,,7\nd,8,9,1\n")
    found = objects_of_table(read_table(path), "series", label="k")
    assert [one.tolist() for one in found.objects] == [[1, 2, 3], [4, 5], [8, 9, 1]]
    assert found.rows.tolist() == [0, 1, 3]  # a gap within is none at the end
    assert found.columns[0].values.tolist() == ["a", "b", "d"]


@pytest.mark.parametrize(
    ("name", "text", "kind", "message"),
    [
        ("a.fasta", ">x\nA\n", "sequences", "1 sequences to make a map of"),
        ("a.fasta", FASTA, "molecules", "holds sequences, not molecules"),
        ("a.graphml", "<graphml", "graphs", "damaged, or not GraphML"),
        ("a.txt", "", "texts", "0 texts"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, name, text, kind, message):
    with pytest.raises(InvalidInputError, match=message):
        read_collection(write(tmp_path / name, text), kind)


def test_bytes_that_are_no_text_and_folders_without_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InvalidInputError, match="--encoding"):
        read_collection(tmp_path / "a.txt", "texts")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match="has no file"):
        read_collection(tmp_path / "empty", "texts")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_collection(tmp_path / "absent.fasta", "sequences")


def test_numbers_of_graphs_are_numbers(tmp_path):
    for value in (1.5, 2.5, 3.5):
        nx.write_graphml(graph(value, 2), tmp_path / f"{value}.graphml")
    column = read_collection(tmp_path, "graphs").columns[0]
    np.testing.assert_array_equal(column.values, [1.5, 2.5, 3.5])
