"""The page of a structure: what it says, what it keeps and what it refuses."""

import re
from dataclasses import replace

import numpy as np
import pytest

from isofold._findings import Diagnosis
from isofold.exceptions import InvalidInputError
from isofold.reports import StructureView, structure_report
from isofold.reports.structure.payload import MOST_PAIRS
from isofold.reports.structure.superposition import superimpose
from isofold.reports.structure.view import read_view
from isofold.structure import FreeMotions, RelaxationBound, StructureProblem
from support.report_cases import given
from support.structure_cases import (
    chain_case,
    hinge_case,
    molecule_case,
    network_case,
    structure_of,
)


def text_of(page):
    """Return what a reader sees, without markup."""
    body = page.html.partition("<body")[2].partition('<script type="application/json"')[0]
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def test_figures_are_those_of_the_structure():
    structure, view = molecule_case()
    text = text_of(structure_report(structure, view=view, title="A molecule"))
    worst = structure.violations.worst
    assert (
        f"worst of 12 given distances is off by {worst:.3g} Å; 2 are off by more than 0.07" in text
    )
    assert "energy 0.25 Å²" in text
    assert "vote for the hand 1.00" in text
    assert "relative gap of 3.3e-05" in text
    # What is not proved is said beside what is.
    assert "Not proved: that this is the only structure" in text
    assert "Not determined" not in text
    assert "H1 &ndash; Br1 bound ≤ 2" in text


def test_what_is_not_determined_stands_at_the_top():
    text = text_of(structure_report(hinge_case()))
    head = text.partition("Skip to the structure")[2].partition("Structure Rotate")[0]
    assert "Not determined" in head
    assert "Where 1 of 4 points are: nothing that was given is about 1 motion." in head
    assert "The mirror image meets all that was given just as well" in head
    assert "Hand not determined" in head


def test_components_lie_at_no_known_place():
    problem = StructureProblem(4).with_distances([[0, 1], [2, 3]], 1.0)
    places = [[0.0, 0, 0], [1.0, 0, 0], [5.0, 0, 0], [5.0, 1, 0]]
    structure = structure_of(problem, places, component=np.array([0, 0, 1, 1]))
    # Each component is superimposed by itself: moved apart, they fit all the same.
    reference = np.array([[9.0, 9, 9], [9.0, 9, 10], [0.0, 0, 0], [0.0, 1, 0]])
    page = structure_report(structure, view=StructureView(reference=reference))
    assert "nothing joins them" in text_of(page)
    assert "distance from the reference 0 Root" in text_of(page)


def test_findings_are_shown_with_their_texts():
    doubt = given("The <b>hand</b> is doubtful.")
    structure = replace(hinge_case(), diagnosis=Diagnosis((doubt,)))
    page = structure_report(structure)
    assert "Before you rely on this structure" in page.html
    assert "The &lt;b&gt;hand&lt;/b&gt; is doubtful." in page.html


def test_a_contradiction_is_said_first():
    bound = RelaxationBound(value=2.0, bound=1.5, penalty_bound=1.5)
    structure = replace(hinge_case(), relaxation=bound)
    text = text_of(structure_report(structure))
    assert "What was given contradicts itself" in text
    assert "at least 1.5 in any dimension" in text


def test_the_reference_is_rotated_but_not_mirrored():
    structure, view = molecule_case()
    moved = superimpose(structure, read_view(view, structure))
    np.testing.assert_allclose(moved.positions, structure.coordinates, atol=1e-12)
    assert not moved.is_mirrored
    mirrored = replace(view, reference=np.asarray(view.reference) * [1, 1, -1])
    seen = superimpose(structure, read_view(mirrored, structure))
    # The hand is known, so that the mirror image does not fit, and the page says why.
    assert seen.rms > 0.3
    assert seen.is_mirrored
    assert "the structure has the wrong hand" in text_of(structure_report(structure, view=mirrored))


def test_nothing_tells_the_hand_of_distances_alone():
    structure = hinge_case()
    view = StructureView(reference=structure.coordinates * [1, 1, -1] + 3.0)
    seen = superimpose(structure, read_view(view, structure))
    np.testing.assert_allclose(seen.positions, structure.coordinates, atol=1e-12)


def test_anchors_fix_the_frame():
    structure, view = network_case(60)
    shifted = StructureView(reference=np.asarray(view.reference) + 0.5)
    seen = superimpose(structure, read_view(shifted, structure))
    assert not seen.is_moved
    np.testing.assert_array_equal(seen.positions, shifted.reference)


def test_components_without_anchors_have_no_place():
    structure, view = network_case(60)
    # The last sensor is apart, and drawn anywhere.
    places = structure.coordinates.copy()
    places[-1] += 7.0
    apart = replace(structure, coordinates=places, component=(np.arange(60) == 59).astype(int))
    seen = superimpose(apart, read_view(view, apart))
    assert seen.errors[-1] == 0.0
    np.testing.assert_array_equal(seen.positions[:-1], view.reference[:-1])


def test_points_that_the_reference_does_not_know():
    structure, view = molecule_case()
    known = np.array(view.reference)
    known[3] = np.nan
    seen = superimpose(structure, read_view(replace(view, reference=known), structure))
    assert np.flatnonzero(np.isnan(seen.errors)).tolist() == [3]
    assert seen.rms < 1e-12


def test_the_core_decides_where_the_reference_lies():
    structure, view = chain_case(400)
    read = read_view(view, structure)
    with_core = superimpose(structure, read)
    without = superimpose(structure, replace(read, core=None))
    # Least squares over the core: nothing else fits it better.
    core = with_core.core
    assert with_core.core_rms < np.sqrt(np.mean(without.errors[core] ** 2))
    assert with_core.rms > without.rms


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"bonds": [[0, 9]]}, "point 9"),
        ({"bonds": [0, 1, 2]}, "pairs"),
        ({"elements": ["C"]}, "elements"),
        ({"labels": ["a", "b"]}, "labels"),
        ({"reference": np.zeros((4, 2))}, "shape"),
        ({"traces": [[0.5, 1.5]]}, "whole numbers"),
        ({"core": [-1]}, "point -1"),
    ],
)
def test_views_of_another_structure_are_refused(wrong, word):
    with pytest.raises(InvalidInputError, match=word):
        structure_report(hinge_case(), view=StructureView(**wrong))


def test_four_dimensions_are_refused():
    structure = replace(hinge_case(), coordinates=np.eye(4))
    with pytest.raises(InvalidInputError, match="4 dimensions"):
        structure_report(structure)


def test_a_file_that_is_there_is_not_replaced(tmp_path):
    path = tmp_path / "page.html"
    structure_report(hinge_case(), path)
    with pytest.raises(InvalidInputError):
        structure_report(hinge_case(), path)
    structure_report(hinge_case()).save(path, overwrite=True)


def test_same_structure_same_bytes_and_no_address():
    structure, view = chain_case(300)
    first, second = (structure_report(structure, view=view).html for _ in range(2))
    assert first == second
    assert "http:" not in first
    assert "https:" not in first


def test_many_violations_are_cut_with_a_note():
    n = MOST_PAIRS + 10
    pairs = np.column_stack([np.zeros(n, dtype=int), np.arange(1, n + 1)])
    places = np.random.default_rng(0).normal(size=(n + 1, 2))
    structure = structure_of(StructureProblem(n + 1).with_distances(pairs, 9.0), places)
    assert f"The 20,000 worst of {n:,} violations are kept." in structure_report(structure).html


def test_a_spread_is_no_error_bar():
    structure, view = molecule_case()
    apart = np.stack([structure.coordinates, structure.coordinates + np.array([0.5, 0.0, 0.0])])
    several = replace(structure, ensemble=apart, energies=np.array([0.25, 0.75]))
    text = text_of(structure_report(several, view=view))
    assert "energies of 2 starts 0.25 to 0.75" in text
    assert "spread over starts 0.25 Å" in text
    assert "It is no error bar" in text


def test_one_point_alone():
    structure = structure_of(
        StructureProblem(1),
        np.zeros((1, 3)),
        free_motions=FreeMotions(0, np.zeros(1, dtype=int)),
    )
    assert "Nothing that was given is violated." in text_of(structure_report(structure))
