"""The page as a user meets it: opened from its file, with mouse and keyboard."""

import re

import numpy as np
import pytest

from isofold._findings import Diagnosis
from isofold.assessment import Origin, Proof
from isofold.reports import make_report, payload, report
from support.quick import quick_first
from support.report_cases import (
    HOSTILE,
    PATIENCE,
    free_assessment,
    free_page,
    given,
    hostile_assessment,
    inside,
)

MINUS = "\N{MINUS SIGN}"


def test_hover_tells_the_row(flat, case):
    flat.hover(flat.where(case.Y)[7])
    tooltip = flat.page.locator("#tooltip")
    assert tooltip.is_visible()
    words = tooltip.inner_text()
    assert "Row 7" in words
    for name, value in (("label", "b"), ("kind", "=pear"), ("height", f"{case.Y[7, 1]:.6g}")):
        assert re.search(rf"{name}\s+{re.escape(value.replace('-', MINUS))}", words)
    flat.hover(flat.where(case.Y)[13])
    assert re.search(r"height\s+missing", tooltip.inner_text())
    flat.hover((5, 5))
    assert tooltip.is_hidden()


def test_lasso_exports_exactly_the_rows_inside(flat, case):
    places = flat.where(case.Y)
    box = flat.box()
    corners = np.array([[0.2, 0.2], [0.7, 0.25], [0.6, 0.8], [0.4, 0.5], [0.15, 0.7]])
    path = corners * [box["width"], box["height"]] + [box["x"], box["y"]]
    expected = np.flatnonzero(inside(path, places))
    # No point is so near to the border that a pixel matters.
    assert 20 < len(expected) < 200
    flat.page.keyboard.down("Shift")
    flat.drag([*path, path[0]])
    flat.page.keyboard.up("Shift")
    rows = flat.selected_rows()
    assert [int(row["row"]) for row in rows] == expected.tolist()
    assert flat.text("#selection-count").startswith(f"{len(expected)} of 240 rows")
    for line in rows:
        row = int(line["row"])
        # Seven digits of the extent of the map.
        np.testing.assert_allclose(
            [float(line["map_1"]), float(line["map_2"])], case.Y[row], atol=30e-7
        )
        assert line["label"] == case.labels[row]
        # What a spreadsheet would take for a formula is marked as text.
        assert line["kind"] == str(case.fields["kind"][row]).replace("=", "'=")
        assert line["height"] == "" or float(line["height"]) == case.fields["height"][row]
        assert 0 <= float(line["distortion"]) < 10


def test_rectangle_adds_and_removes(flat, case):
    places = flat.where(case.Y)
    box = flat.box()
    middle = box["x"] + box["width"] / 2
    left, right = box["x"] + 3, box["x"] + box["width"] - 3
    top, bottom = box["y"] + 3, box["y"] + box["height"] - 3
    flat.page.click("#mode-rectangle")
    flat.drag([(left, top), (middle, bottom)])
    n_left = int(np.sum(places[:, 0] < middle))
    assert flat.text("#selection-count").startswith(f"{n_left} of 240")
    flat.page.keyboard.down("Control")
    flat.drag([(middle, top), (right, bottom)])
    flat.page.keyboard.up("Control")
    assert flat.text("#selection-count").startswith("240 of 240")
    flat.page.keyboard.down("Alt")
    flat.drag([(left, top), (middle, bottom)])
    flat.page.keyboard.up("Alt")
    assert flat.text("#selection-count").startswith(f"{240 - n_left} of 240")


def test_color_changes_map_and_legend(flat):
    by_label = flat.pixels()
    assert flat.page.locator(".class-entry").count() == 2
    assert flat.page.locator(".class-entry .class-count").all_inner_texts() == ["120", "120"]
    flat.page.select_option("#color-by", label="height")
    flat.settle()
    by_height = flat.pixels()
    assert len(by_height) > len(by_label)  # a scale has more colors than two classes
    assert "24 missing" in flat.text("#legend")
    flat.page.select_option("#color-by", label="kind")
    assert flat.page.locator(".class-name").all_inner_texts() == ["=pear", "apple", "plum"]


def test_click_shows_true_neighbors_with_both_distances(flat, case):
    assert "Click a point" in flat.text("#point-body")
    row = 17
    flat.click(flat.where(case.Y)[row])
    before = np.linalg.norm(case.X - case.X[row], axis=1)
    after = np.linalg.norm(case.Y - case.Y[row], axis=1)
    nearest = np.argsort(before, kind="stable")[1:13]
    cells = [line.split("\t") for line in flat.text("table.neighbors tbody").splitlines()]
    assert [int(line[0]) for line in cells] == nearest.tolist()
    for line, other in zip(cells, nearest, strict=True):
        # Tables show four digits, ratios three.
        assert float(line[1]) == pytest.approx(before[other], rel=1e-3)
        assert float(line[2]) == pytest.approx(after[other], rel=1e-3)
        assert float(line[3]) == pytest.approx(after[other] / before[other], rel=1e-2)
        assert int(line[4]) == 1 + np.sum(after < after[other]) - 1
    ratio = after[nearest] / before[nearest]
    key = flat.text(".line-key")
    assert f"{np.sum(abs(ratio - 1) <= 0.1)} true to 10%" in key
    assert f"{np.sum(ratio < 0.9)} too short" in key
    # The lines are there: half-way to a neighbor some pixel of the overlay is not transparent.
    place = flat.where(case.Y)
    box = flat.box()
    middle = (place[row] + place[nearest[-1]]) / 2 - [box["x"], box["y"]]
    drawn = flat.page.evaluate(
        """([x, y]) => {
          const image = document.getElementById("overlay").getContext("2d");
          return image.getImageData(x - 3, y - 3, 7, 7).data.some((value) => value > 0);
        }""",
        [int(value) for value in middle],
    )
    assert drawn
    flat.page.click("#point-clear")
    assert "Click a point" in flat.text("#point-body")


def test_keyboard_alone_inspects_and_selects(flat, case):
    page = flat.page
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "overlay":
            break
    assert page.evaluate("document.activeElement.id") == "overlay"
    page.keyboard.press("n")
    middle = (case.Y.min(axis=0) + case.Y.max(axis=0)) / 2
    first = int(np.argmin(np.linalg.norm(case.Y - middle, axis=1)))
    assert flat.text("#live").startswith(f"Row {first}:")
    assert f"label {case.labels[first]}" in flat.text("#live")
    page.keyboard.press("n")
    others = np.linalg.norm(case.Y - case.Y[first], axis=1)
    second = int(np.argsort(others)[1])
    assert flat.text("#live").startswith(f"Row {second}:")
    page.keyboard.press("p")
    assert flat.text("#live").startswith(f"Row {first}:")
    page.keyboard.press("Enter")
    assert page.locator("table.neighbors tbody tr").count() == 12
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowRight")
    third = int(flat.text("#live").partition(":")[0].removeprefix("Row "))
    assert case.Y[third, 0] > case.Y[first, 0]
    page.keyboard.press("Space")
    assert [int(row["row"]) for row in flat.selected_rows()] == sorted([first, third])
    page.locator("#overlay").focus()
    for _ in range(4):
        page.keyboard.press("Escape")
    assert page.locator("table.neighbors").count() == 0
    assert "Nothing is selected" in flat.text("#selection-body")


def test_zoom_pan_and_reset(flat, case):
    page = flat.page
    start = flat.pixels()
    page.locator("#overlay").focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    flat.settle()
    in_view = int(flat.text("#status").split(" ")[0])
    assert 0 < in_view < 240
    page.click("#select-view")
    assert int(flat.text("#selection-count").split(" ")[0]) == in_view
    page.click("#selection-clear")
    page.hover("#overlay")
    page.mouse.wheel(0, -400)
    flat.drag([(400, 500), (460, 540)])
    page.click("#reset")
    flat.settle()
    assert flat.pixels() == start


def test_scale_bar_is_true(flat, case):
    length = float(flat.text("#scale-text"))
    pixels = flat.page.locator("#scale-line").bounding_box()["width"]
    places = flat.where(case.Y)
    on_screen = np.linalg.norm(places[0] - places[1])
    assert pixels / length == pytest.approx(
        on_screen / np.linalg.norm(case.Y[0] - case.Y[1]), rel=0.01
    )


def test_legend_highlights_a_class_that_can_be_selected(flat, case):
    page = flat.page
    assert page.locator("#select-class").is_disabled()
    page.locator(".class-entry").nth(1).click()
    assert page.locator(".class-entry").nth(1).get_attribute("aria-pressed") == "true"
    page.click("#select-class")
    rows = [int(row["row"]) for row in flat.selected_rows()]
    assert rows == np.flatnonzero(case.labels == "b").tolist()
    # Classes that are not highlighted are out of reach of the mouse, too.
    nobody = int(np.flatnonzero(case.labels == "a")[0])
    flat.hover(flat.where(case.Y)[nobody])
    assert f"Row {nobody}\n" not in flat.text("#tooltip")


def test_rows_are_copied(open_page, flat_report):
    opened = open_page(flat_report, permissions=["clipboard-read", "clipboard-write"])
    opened.page.click("#select-view")
    opened.page.click("#copy-rows")
    opened.page.get_by_text("Row numbers are copied.").first.wait_for()
    copied = opened.page.evaluate("navigator.clipboard.readText()")
    assert copied.split() == [str(row) for row in range(240)]


def luminance(color):
    values = np.array([float(v) for v in re.findall(r"[\d.]+", color)[:3]]) / 255
    linear = np.where(values <= 0.03928, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(opened, selector):
    """Return the contrast of a text with the first ground below it that is not transparent."""
    colors = opened.page.evaluate(
        """(selector) => {
          let element = document.querySelector(selector);
          const ink = getComputedStyle(element).color;
          for (; element; element = element.parentElement) {
            const ground = getComputedStyle(element).backgroundColor;
            if (!/, 0\\)$/.test(ground)) return [ink, ground];
          }
        }""",
        selector,
    )
    light, dark = sorted((luminance(color) for color in colors), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TEXTS = (
    "h1",
    ".subject",
    ".verdict",
    ".badge",
    "#doubts li",
    "#status",
    ".class-count",
    ".empty",
    ".says",
    ".chart figcaption",
    ".score td",
    ".score caption",
    "pre",
    "footer p",
    "#mode-pan",
)


def test_light_and_dark(open_page, case):
    known = free_assessment(
        case.Y,
        origin=Origin("IPA"),
        proof=Proof("Proved.", is_certified=True),
        diagnosis=Diagnosis((given("Beware."),)),
    )
    made = make_report(known, labels=case.labels)
    grounds = {}
    for theme in ("light", "dark"):
        opened = open_page(made, theme=theme)
        grounds[theme] = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert {
            text: contrast(opened, text) for text in TEXTS if contrast(opened, text) < 4.5
        } == {}
        ground = opened.ground()
        chosen = {"light": "dark", "dark": "light"}[theme]
        opened.page.click("#theme")
        # A busy browser may still have the click before it when it is asked.
        opened.page.wait_for_selector(f"html[data-theme='{chosen}']")
        other = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
        grounds[f"not {theme}"] = other
        assert opened.ground() != ground
        # Remembered when the page is opened again. What is stored reaches a new page of a busy
        # browser a moment later, so it is asked for the theme when it has it.
        again = opened.page.context.new_page()
        again.goto(opened.page.url)
        stored = "(theme) => localStorage.getItem('isofold-theme') === theme"
        again.wait_for_function(stored, arg=chosen)
        again.reload()
        again.wait_for_selector("html[data-ready='yes']")
        assert again.evaluate("getComputedStyle(document.body).backgroundColor") == other
        opened.assert_quiet()
    assert luminance(grounds["light"]) > 0.8 > 0.1 > luminance(grounds["dark"])
    assert (grounds["not light"], grounds["not dark"]) == (grounds["dark"], grounds["light"])


def test_hostile_texts_stay_texts(open_page, case):
    n = len(case.Y)
    labels = np.array(HOSTILE, dtype=object)[np.arange(n) % len(HOSTILE)]
    fields = dict.fromkeys(HOSTILE[:3], labels) | {"": labels, HOSTILE[-1]: np.arange(n)}
    known = hostile_assessment(case.Y)
    made = make_report(known, labels=labels, fields=fields, title=HOSTILE[1])
    opened = open_page(made)
    page = opened.page
    assert page.inner_text("h1") == HOSTILE[1]
    assert page.title() == HOSTILE[1]
    for row in range(len(HOSTILE)):
        opened.hover(opened.where(case.Y)[row])
        shown = page.locator("#tooltip dd").first.inner_text()
        start = HOSTILE[row].split("\u2028")[0][:60]
        assert shown.startswith(start)
    opened.click(opened.where(case.Y)[0])
    page.click("#select-view")
    rows = opened.selected_rows()
    assert len(rows) == n
    # The whole text is exported; what a spreadsheet would run is marked.
    expected = [("'" if text[0] in "=+-@" else "") + text for text in HOSTILE]
    assert [row["label"] for row in rows[: len(HOSTILE)]] == expected
    for option in range(page.locator("#color-by option").count()):
        page.select_option("#color-by", index=option)
    assert page.evaluate("window.stolen") is None
    assert page.locator("img, iframe, object").count() == 0
    # Two of our own, the manifest and what is left of the data; no text became an element.
    assert page.locator("script:not([type])").count() == 2
    assert page.locator("main b, header b, main [onmouseover]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    opened.assert_quiet()


def test_narrow_screens_do_not_scroll_sideways(open_page, flat_report, case):
    opened = open_page(flat_report, width=360, height=700, has_touch=True)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 360
    assert opened.box()["width"] > 300
    opened.page.touchscreen.tap(*opened.where(case.Y)[30])
    assert "Row " in opened.text("#point-body strong")
    opened.page.click("#select-view")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 360
    opened.assert_quiet()


def test_density_first_points_on_zoom(open_page, many_report):
    opened = open_page(many_report)
    page = opened.page
    surface = page.locator("#overlay")
    assert surface.get_attribute("data-mode") == "density"
    assert "drawn as density" in opened.text("#status")
    density = opened.pixels()
    page.locator(".class-entry").first.click()
    opened.settle()
    assert opened.pixels() != density
    surface.focus()
    for _ in range(3):
        page.keyboard.press("+")
    opened.settle()
    assert surface.get_attribute("data-mode") == "points"
    page.select_option("#color-by", label="distortion")
    page.click("#select-view")
    assert int(opened.text("#selection-count").split(" ")[0].replace(",", "")) < 30_000
    opened.assert_quiet()


def test_where_neighbors_are_kept_for_some_rows(open_page, case, monkeypatch):
    # Room for the neighbors of about a quarter of the rows.
    monkeypatch.setattr(payload, "NEIGHBOR_BYTES", 8 * 4 / 3 * 12 * 60)
    monkeypatch.setattr(payload, "COLUMN_BYTES", 800)
    made = report(case.X, case.Y, labels=case.labels, fields=case.fields)
    opened = open_page(made)
    assert "Neighbors are kept for 60 of 240 rows" in opened.text(".notes")
    assert "Fields are kept for" in opened.text(".notes")
    opened.click(opened.where(case.Y)[0])
    row = int(opened.text("#point-body strong").removeprefix("Row "))
    before = np.linalg.norm(case.X - case.X[row], axis=1)
    first = int(opened.page.locator("table.neighbors tbody th").first.inner_text())
    assert first == np.argsort(before, kind="stable")[1]
    opened.page.select_option("#color-by", label="kind")
    assert "missing" in opened.text("#legend")
    opened.assert_quiet()


@pytest.mark.slow
def test_long_names_of_classes_are_not_cut(open_page, case):
    names = ["CD4+/CD45RA+/CD25- Naive T", "CD4+/CD45RO+ Memory", "B"]
    labels = np.array(names)[np.arange(len(case.Y)) % 3]
    opened = open_page(report(case.X, case.Y, labels=labels), width=390)
    entries = opened.page.locator(".class-name")
    assert entries.all_inner_texts() == sorted(names)
    cut = "all => all.some(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight)"
    assert not entries.evaluate_all(cut)
    opened.assert_quiet()


def test_pictures(open_page, case):
    n = len(case.Y)
    images = np.zeros((n, 4, 6))
    images[np.arange(n), np.arange(n) % 4, np.arange(n) % 6] = 3.0
    opened = open_page(free_page(case.Y, images=images))
    opened.hover(opened.where(case.Y)[9])
    seen = opened.page.evaluate(
        """() => {
          const canvas = document.querySelector("#tooltip canvas");
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          return [canvas.height, canvas.width, ...data.filter((_, i) => i % 4 === 0)];
        }"""
    )
    height, width, *gray = seen
    np.testing.assert_array_equal(np.reshape(gray, (height, width)), images[9] * 85)
    opened.assert_quiet()


def test_one_dimension(open_page):
    line = np.sort(np.random.default_rng(0).normal(size=80))[:, None]
    opened = open_page(free_page(line, labels=np.where(line[:, 0] > 0, "up", "down")))
    box = opened.box()
    scale = (1 - 2 * 0.06) * box["width"] / np.ptp(line)
    x = box["x"] + box["width"] / 2 + (line[0, 0] - (line.min() + line.max()) / 2) * scale
    opened.hover((x, box["y"] + round(0.72 * box["height"])))
    assert "Row 0" in opened.text("#tooltip")
    opened.page.locator("#overlay").focus()
    opened.page.keyboard.press("Enter")
    assert opened.page.locator("table.neighbors tbody tr").count() == 4
    assert len(opened.pixels()) >= 3
    opened.assert_quiet()


def test_three_dimensions_are_shown_by_twos(open_page):
    cloud = np.random.default_rng(0).normal(size=(60, 3))
    opened = open_page(free_page(cloud))
    assert "projections" in opened.text(".notes")
    opened.hover(opened.where(cloud[:, :2])[5])
    assert "Row 5" in opened.text("#tooltip")
    opened.page.select_option("#axis-y", label="axis 3")
    opened.settle()
    opened.hover(opened.where(cloud[:, [0, 2]])[5])
    assert "Row 5" in opened.text("#tooltip")
    # A quarter turn to the right brings the hidden axis to where the first was.
    box = opened.box()
    opened.page.click("#mode-rotate")
    start = (box["x"] + 300, box["y"] + 200)
    opened.drag([start, (start[0] + round(np.pi / 2 / 0.008), start[1])])
    opened.settle()
    flat_view = opened.where(cloud[:, [0, 2]])
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    centered = cloud - (cloud.min(axis=0) + cloud.max(axis=0)) / 2
    scale = np.linalg.norm(flat_view[0] - flat_view[1]) / np.linalg.norm(
        (cloud[0] - cloud[1])[[0, 2]]
    )
    near = int(np.argmin(np.linalg.norm(centered[:, [1, 2]], axis=1)))
    opened.hover(centered[near, [1, 2]] * [scale, -scale] + middle)
    assert f"Row {near}\n" in opened.text("#tooltip")
    opened.page.click("#reset")
    opened.settle()
    # Distances are of all three dimensions.
    opened.click(opened.where(cloud[:, [0, 2]])[5])
    cells = opened.text("table.neighbors tbody").splitlines()[0].split("\t")
    expected = np.linalg.norm(cloud[6] - cloud[5])
    assert float(cells[2]) == pytest.approx(expected, rel=1e-3)
    opened.assert_quiet()


@pytest.mark.parametrize(
    "Y",
    quick_first(
        [np.zeros((3, 2)), np.full((5, 1), 1e300), np.array([[0, 0], [1e-300, 0], [0, 1e-300]])]
    ),
)
def test_odd_maps(open_page, Y):
    opened = open_page(free_page(Y, fields={"none": [None] * len(Y), "same": np.ones(len(Y))}))
    opened.page.locator("#overlay").focus()
    opened.page.keyboard.press("n")
    assert opened.text("#live").startswith("Row ")
    opened.page.keyboard.press("Enter")
    for option in range(opened.page.locator("#color-by option").count()):
        opened.page.select_option("#color-by", index=option)
    assert "NaN" not in opened.text("main")
    opened.assert_quiet()


def test_in_the_frame_of_a_notebook(browser, flat_report):
    # A sandboxed frame has no storage: the page must do without.
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.set_content(flat_report._repr_html_())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready='yes']").wait_for()
    frame.locator("#theme").click()
    frame.locator("#select-view").click()
    assert frame.locator("#selection-count").inner_text().startswith("240 of 240")
    assert complaints == []
    page.close()


@pytest.mark.slow
def test_print_is_light(open_page, case):
    opened = open_page(free_page(case.Y), theme="dark")
    opened.page.emulate_media(media="print")
    assert min(opened.ground()) > 240
    assert opened.page.locator(".tools").is_hidden()
