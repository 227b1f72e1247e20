"""The page of a structure as a user meets it: opened from its file, with mouse and keyboard."""

import re
from dataclasses import replace

import numpy as np
import pytest

from isofold.reports import StructureView, structure_report
from isofold.structure import StructureProblem
from support.report_cases import HOSTILE
from support.structure_cases import (
    chain_case,
    hinge_case,
    molecule_case,
    network_case,
    structure_of,
)


def turn_of(opened):
    """Return the rotation that is shown."""
    opened.settle()
    text = opened.page.get_attribute("#overlay", "data-turn")
    return np.array([float(value) for value in text.split()]).reshape(3, 3)


def places_of(opened, structure):
    """Return where points of a structure in space are on the screen while all of it is shown."""
    box = opened.box()
    middle = (structure.coordinates.min(axis=0) + structure.coordinates.max(axis=0)) / 2
    seen = (structure.coordinates - middle) @ turn_of(opened).T
    scale = pixels_per_unit(opened)
    centre = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    return seen[:, :2] * [scale, -scale] + centre, seen[:, 2]


def pixels_per_unit(opened):
    """Return the scale, as the bar tells it."""
    width = opened.page.evaluate("parseFloat(document.getElementById('scale-line').style.width)")
    return width / float(opened.text("#scale-text").split()[0])


def drawn(opened, canvas="overlay"):
    """Return how many pixels of a canvas are not transparent."""
    opened.settle()
    return opened.page.evaluate(
        """(id) => {
          const { width, height } = document.getElementById(id);
          const copy = new OffscreenCanvas(width, height).getContext("2d");
          copy.drawImage(document.getElementById(id), 0, 0);
          const { data } = copy.getImageData(0, 0, width, height);
          let n = 0;
          for (let i = 3; i < data.length; i += 4) n += data[i] > 0;
          return n;
        }""",
        canvas,
    )


@pytest.fixture
def molecule(open_page):
    structure, view = molecule_case()
    opened = open_page(structure_report(structure, view=view, title="A molecule"))
    yield opened
    opened.assert_quiet()


def test_points_are_where_they_must_be_and_tell_about_themselves(molecule):
    structure, _ = molecule_case()
    places, depth = places_of(molecule, structure)
    assert abs(np.linalg.det(turn_of(molecule)) - 1.0) < 1e-5  # seen, not mirrored
    front = int(np.argmax(depth))
    for point in {front, 2, 3, 4}:
        molecule.hover(places[point])
        words = molecule.text("#tooltip")
        assert words.startswith(structure.problem.names[point])
        if point == 4:
            assert re.search(r"element\s+Br", words)
            assert re.search(r"violated most with\s+H1, 0.522 Å too long", words)
    molecule.click(places[4])
    assert "1 violated distance" in molecule.text("#point-body")
    molecule.page.click("#point-body .link")
    assert molecule.page.get_attribute("[data-pair='0']", "aria-pressed") == "true"


def test_drag_rotates_and_reset_goes_back(molecule):
    before = turn_of(molecule)
    box = molecule.box()
    x, y = box["x"] + 40, box["y"] + 40
    molecule.drag([(x, y), (x + 100, y)])
    after = turn_of(molecule)
    np.testing.assert_allclose(after @ after.T, np.eye(3), atol=1e-5)
    # Dragging to the right brings what is in front to the right: about the axis that points up.
    step = after @ before.T
    np.testing.assert_allclose(step[1], [0, 1, 0], atol=1e-5)
    assert step[0, 2] > 0.5
    molecule.drag([(x, y), (x, y + 100)])
    down = turn_of(molecule) @ after.T
    np.testing.assert_allclose(down[0], [1, 0, 0], atol=1e-5)
    assert down[1, 2] < -0.5
    molecule.page.click("#reset")
    np.testing.assert_allclose(turn_of(molecule), before, atol=1e-6)


@pytest.mark.slow
def test_wheel_and_shift_drag_zoom_and_move(molecule):
    box = molecule.box()
    before = pixels_per_unit(molecule)
    molecule.page.mouse.move(box["x"] + 100, box["y"] + 100)
    molecule.page.mouse.wheel(0, -400)
    molecule.settle()
    assert pixels_per_unit(molecule) > 1.5 * before
    turn = turn_of(molecule)
    picture = molecule.pixels()
    molecule.page.keyboard.down("Shift")
    molecule.drag([(box["x"] + 100, box["y"] + 100), (box["x"] + 260, box["y"] + 180)])
    molecule.page.keyboard.up("Shift")
    np.testing.assert_array_equal(turn_of(molecule), turn)
    assert molecule.pixels() != picture


def test_violations_have_their_colors_and_a_limit(molecule):
    assert "2 of 2 violations drawn" in molecule.text("#status")
    with_both = drawn(molecule)
    slider = molecule.page.locator("#limit")
    # 0.45 of 0.522: the slider is a root.
    slider.fill("0.95")
    with_one = drawn(molecule)  # waits for the frame that also writes the status
    assert "1 of 2 violations drawn" in molecule.text("#status")
    molecule.page.click("#layer-violations")
    assert 0 == drawn(molecule) < with_one < with_both


@pytest.mark.slow
def test_layers_change_the_picture(molecule):
    whole = molecule.pixels()
    pressed = molecule.page.locator("#layers [aria-pressed='true']")
    n_pressed = pressed.count()
    for name in ("points", "bonds", "reference"):
        molecule.page.click(f"#layer-{name}")
        molecule.settle()
        assert molecule.pixels() != whole
    assert pressed.count() == n_pressed - 3
    # The ground alone is left.
    assert len(molecule.pixels()) == 1


@pytest.mark.slow
def test_a_row_of_the_table_shows_its_pair(molecule):
    nothing = drawn(molecule)
    button = molecule.page.locator("[data-pair='1']")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert drawn(molecule) > nothing
    assert (
        "F1 and Cl1: 0.45 Å too short, bound ≥ 3" in molecule.page.locator("#live").text_content()
    )
    button.click()
    assert drawn(molecule) == nothing


def test_keyboard_alone(molecule):
    page = molecule.page
    page.focus("#overlay")
    before = turn_of(molecule)
    page.keyboard.press("ArrowRight")
    assert not np.allclose(turn_of(molecule), before)
    page.keyboard.press("0")
    np.testing.assert_allclose(turn_of(molecule), before, atol=1e-6)
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert molecule.text("#tooltip").startswith("H1")
    assert "H1: number 1" in page.locator("#live").text_content()
    page.keyboard.press("Enter")
    assert molecule.text("#point-body").startswith("H1")
    page.keyboard.press("w")
    assert "H1 and Br1: 0.522 Å too long" in page.locator("#live").text_content()
    page.keyboard.press("r")
    assert page.get_attribute("#layer-reference", "aria-pressed") == "false"
    for _ in range(3):
        page.keyboard.press("Escape")
    assert "Click a point" in molecule.text("#point-body")


@pytest.mark.slow
def test_what_moves_is_colored_and_can_be_left_again(open_page):
    opened = open_page(structure_report(hinge_case()))
    page = opened.page
    # A hinge has neither elements nor a reference: what moves comes first.
    assert page.locator("#color-by option:checked").inner_text() == "what moves"
    assert page.locator(".class-count").all_inner_texts() == ["3", "0", "1"]
    page.select_option("#color-by", label="worst violation")
    assert page.get_attribute("#floppy", "aria-pressed") == "false"
    page.click("#floppy")
    assert page.locator("#color-by option:checked").inner_text() == "what moves"
    page.click("#floppy")
    assert page.locator("#color-by option:checked").inner_text() == "worst violation"
    opened.assert_quiet()


@pytest.mark.slow
def test_a_flat_network_moves_and_marks_anchors(open_page):
    structure, view = network_case(80)
    opened = open_page(structure_report(structure, view=view))
    assert opened.page.locator("#mode-rotate").is_hidden()
    places, _ = places_of(opened, structure_of_frame(structure, view))
    opened.hover(places[20])
    words = opened.text("#tooltip")
    assert re.search(r"anchor\s+its place was given", words)
    assert re.search(r"error to the reference\s+0\b", words)
    before = turn_of(opened)
    box = opened.box()
    opened.drag([(box["x"] + 30, box["y"] + 30), (box["x"] + 90, box["y"] + 60)])
    np.testing.assert_array_equal(turn_of(opened), before)
    opened.assert_quiet()


def structure_of_frame(structure, view):
    """Return a structure whose middle is that of the picture, which shows the reference, too."""
    both = np.concatenate([structure.coordinates, view.reference])
    middle = (both.min(axis=0) + both.max(axis=0)) / 2
    own = (structure.coordinates.min(axis=0) + structure.coordinates.max(axis=0)) / 2
    moved = np.column_stack([structure.coordinates - middle + own, np.zeros(len(both) // 2)])
    return replace(structure, coordinates=moved)


def test_hostile_names_stay_text(open_page):
    names = (HOSTILE * 2)[:5]
    structure, view = molecule_case(names=tuple(f"{name}{k}" for k, name in enumerate(names)))
    view = replace(view, elements=HOSTILE[:5], unit="</script>")
    opened = open_page(structure_report(structure, view=view, title=HOSTILE[1]))
    page = opened.page
    page.focus("#overlay")
    for _ in range(5):
        page.keyboard.press("n")
        page.keyboard.press("Enter")
    page.keyboard.press("w")
    assert page.evaluate("window.stolen") is None
    assert page.locator("h1").inner_text().startswith("</script><script>")
    opened.assert_quiet()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes_and_narrow_screens(open_page, theme):
    structure, view = molecule_case()
    opened = open_page(structure_report(structure, view=view), theme=theme, width=390, height=800)
    red, green, blue = opened.ground()
    assert (red + green + blue > 600) == (theme == "light")
    # Nothing but tables, which scroll by themselves, is wider than the screen.
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    opened.page.click("#theme")
    assert sum(opened.ground()) != red + green + blue
    opened.page.emulate_media(media="print")
    assert sum(opened.ground()) > 600
    opened.assert_quiet()


def test_controls_have_names(molecule):
    nameless = molecule.page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [role=application]")]
          .filter((e) => !e.ariaLabel && !e.labels?.length && !e.textContent.trim())
          .map((e) => e.outerHTML)"""
    )
    assert nameless == []
    ids = molecule.page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_one_point_and_points_on_each_other(open_page):
    for n in (1, 3):
        structure = structure_of(StructureProblem(n), np.ones((n, 3)))
        opened = open_page(structure_report(structure))
        opened.page.focus("#overlay")
        opened.page.keyboard.press("n")
        assert opened.text("#tooltip").startswith("0")
        opened.assert_quiet()


@pytest.mark.slow
def test_a_touch_screen_rotates_and_pinches(open_page):
    structure, view = molecule_case()
    opened = open_page(structure_report(structure, view=view), has_touch=True)
    box, before = opened.box(), turn_of(opened)
    session = opened.page.context.new_cdp_session(opened.page)

    def touch(kind, *places):
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = box["x"] + 200, box["y"] + 200
    touch("touchStart", (x, y))
    touch("touchMove", (x + 60, y))
    touch("touchMove", (x + 120, y))
    touch("touchEnd")
    after = turn_of(opened)
    assert not np.allclose(after, before)
    scale = pixels_per_unit(opened)
    touch("touchStart", (x, y), (x + 40, y))
    touch("touchMove", (x, y), (x + 120, y))
    touch("touchEnd")
    opened.settle()
    assert pixels_per_unit(opened) > 1.5 * scale
    np.testing.assert_array_equal(turn_of(opened), after)
    opened.assert_quiet()


@pytest.mark.slow
@pytest.mark.parametrize("case", [chain_case, lambda: network_case(20_000)])
def test_large_structures_stay_usable(open_page, case):
    structure, view = case()
    opened = open_page(structure_report(structure, view=view))
    milliseconds = []
    opened.page.focus("#overlay")
    for _ in range(10):
        opened.page.keyboard.press("ArrowRight")
        opened.settle()
        milliseconds.append(float(opened.page.get_attribute("#overlay", "data-milliseconds")))
    # A frame of script takes some 10 ms on an idle core; a busy machine may take ten times that.
    assert np.median(milliseconds) < 150
    opened.assert_quiet()


@pytest.mark.slow
def test_a_reference_that_is_not_known_everywhere(open_page):
    structure, view = chain_case(60, n_bounds=100)
    reference = np.array(view.reference)
    reference[::3] = np.nan
    opened = open_page(structure_report(structure, view=replace(view, reference=reference)))
    opened.page.select_option("#color-by", label="error to the reference")
    assert "20 missing" in opened.text("#legend")
    opened.assert_quiet()


@pytest.mark.slow
def test_a_view_is_optional(open_page):
    structure, _ = molecule_case()
    opened = open_page(structure_report(structure, view=StructureView()))
    assert opened.page.locator("#layer-reference").count() == 0
    assert opened.page.locator("#layer-bonds").count() == 1
    opened.assert_quiet()
