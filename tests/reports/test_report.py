"""The page as a file: well-formed, safe, within its budget, and refused where it cannot be made."""

import base64
import gzip
import hashlib
import json
import re
from html import escape
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from sklearn.manifold import TSNE

from isofold import IPA, LocalMDS
from isofold.assessment import PatchGraph, assess
from isofold.assessment.axis import Axis, log_ticks, round_ticks
from isofold.assessment.charts import chart_patches
from isofold.datasets import swiss_roll
from isofold.exceptions import EmbeddingError, InvalidInputError
from isofold.reports import Report, make_report, payload, report
from isofold.reports.packing import Packer, rounded
from isofold.reports.page import fill_template
from isofold.reports.painter import draw_patches
from isofold.reports.text import json_for_script, markup
from isofold.reports.thumbnails import check_images, thumbnails
from support.report_cases import (
    HOSTILE,
    Elements,
    flat_case,
    free_assessment,
    free_page,
    hostile_assessment,
    read_block,
)


@pytest.fixture(scope="module")
def case():
    return flat_case()


def test_the_page_holds_what_was_given(case):
    made = report(case.X, case.Y, labels=case.labels, fields=case.fields, title="A & B")
    elements = Elements(made.html)
    manifest = json.loads(elements.texts["manifest"])
    assert (manifest["n"], manifest["dims"], manifest["hasLabel"]) == (240, 2, True)
    axes = np.column_stack([read_block(elements, axis) for axis in manifest["axes"]])
    placed = axes * manifest["scale"] + manifest["offset"]
    # Half the extent, 15, in single precision.
    np.testing.assert_allclose(placed, case.Y, atol=15 * 2.0**-23)
    label, height, _ = manifest["columns"]
    assert [column["name"] for column in manifest["columns"]] == ["label", "height", "kind"]
    table = np.array(read_block(elements, label["table"]))
    np.testing.assert_array_equal(table[read_block(elements, label["values"])], case.labels)
    np.testing.assert_array_equal(read_block(elements, height["values"]), case.fields["height"])
    indices = read_block(elements, manifest["near"]["indices"]).reshape(240, 12)
    distances = np.linalg.norm(case.X[:, None] - case.X, axis=2)
    np.testing.assert_array_equal(indices, np.argsort(distances, axis=1)[:, 1:13])
    before = read_block(elements, manifest["near"]["before"]) * manifest["scale"]
    np.testing.assert_allclose(before, np.sort(distances)[:, 1:13].ravel(), rtol=2.0**-22)
    assert "<title>A &amp; B</title>" in made.html


def test_nothing_is_asked_from_elsewhere_and_only_our_scripts_run(case):
    html = free_page(case.Y, title="x").html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    policy = policy.replace("&#x27;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        for text in re.findall(rf"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy
    assert not re.search(r"https?://|@import|url\(", html)
    for tag, attributes in Elements(html).found:
        assert not {"src", "srcset", "style", "action"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")]
        assert tag != "a" or attributes["href"].startswith("#")


def test_hostile_texts_make_no_elements(case):
    plain = Elements(free_page(case.Y, labels=case.labels).html)
    labels = np.array(HOSTILE, dtype=object)[np.arange(240) % len(HOSTILE)]
    hostile = make_report(
        hostile_assessment(case.Y),
        labels=labels,
        fields=dict.fromkeys(HOSTILE, labels),
        title=HOSTILE[1],
    )
    elements = Elements(hostile.html)
    allowed = {tag for tag, _ in plain.found} | {"details", "summary", "strong", "dl", "dt", "dd"}
    assert {tag for tag, _ in elements.found} <= allowed
    names = [column["name"] for column in json.loads(elements.texts["manifest"])["columns"]]
    assert names == ["label", *(text.strip() for text in HOSTILE)]


def test_escaping():
    text = "<a href='x'>&\"\u2028\u2029\x00</script>"
    assert markup(text) == "&lt;a href=&#x27;x&#x27;&gt;&amp;&quot;   &lt;/script&gt;"
    coded = json_for_script({text: text})
    assert not re.search("[<>&\u2028\u2029]", coded)
    assert json.loads(coded) == {text: text}
    assert len(markup("x" * 10_000)) == 200
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_for_script({"x": float("nan")})


def test_arrays_are_packed_without_loss():
    rng = np.random.default_rng(0)
    packer = Packer()
    arrays = [
        rng.normal(size=100).astype(np.float32),
        np.full(1000, np.nan),
        np.arange(-5, 5000, dtype=np.int32),
        rng.integers(0, 255, 64).astype(np.uint8),
        np.array([], dtype=np.uint16),
    ]
    blocks = [packer.add_array(array) for array in arrays]
    texts = packer.add_texts(HOSTILE)
    elements = Elements(packer.html())
    elements.texts.setdefault(f"block-{blocks[-1]['block']}", "")
    for block, array in zip(blocks, arrays, strict=True):
        np.testing.assert_array_equal(read_block(elements, block), array)
    assert read_block(elements, texts) == list(HOSTILE)
    assert [block["gzip"] for block in blocks] == [False, True, True, False, False]


def test_long_arrays_are_packed_by_the_strategy_that_suits():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=200_000).astype(np.float32)
    # Periods of 999 numbers: repeated, but without runs.
    repeated = np.resize(rng.integers(0, 200, 999).astype(np.uint8), 800_000)
    packer = Packer()
    for array in (noise, repeated):
        block = packer.add_array(array)
        elements = Elements(packer.html())
        np.testing.assert_array_equal(read_block(elements, block), array)
        planes = array.view(np.uint8).reshape(len(array), -1).T.tobytes()
        plain = gzip.compress(planes, 6, mtime=0)
        packed = base64.b64decode(elements.texts[f"block-{block['block']}"])
        assert len(packed) <= len(plain)


def test_rounding_keeps_three_digits():
    values = np.abs(np.random.default_rng(0).normal(size=1000)) * 10.0 ** np.arange(-10, 10).repeat(
        50
    )
    # 12 bits after the leading one, and those of single precision.
    np.testing.assert_allclose(rounded(values), values, rtol=2.0**-13 + 2.0**-24)
    assert np.isnan(rounded(np.array([np.nan]))).all()


def test_beyond_the_budget_rows_are_sampled(case, monkeypatch):
    monkeypatch.setattr(payload, "COLUMN_BYTES", 1500)
    monkeypatch.setattr(payload, "NEIGHBOR_BYTES", 3000)
    monkeypatch.setattr(payload, "IMAGE_BYTES", 50 * 16)
    texts = np.array([f"text number {i}" for i in range(240)])
    images = np.zeros((240, 4, 4))
    made = free_page(case.Y, labels=case.labels, fields={"t": texts}, images=images)
    again = free_page(case.Y, labels=case.labels, fields={"t": texts}, images=images)
    assert made.html == again.html  # same seed, same bytes
    elements = Elements(made.html)
    manifest = json.loads(elements.texts["manifest"])
    label, field = manifest["columns"]
    assert "rows" not in label
    rows = read_block(elements, field["rows"])
    assert 0 < len(rows) < 240
    table = np.array(read_block(elements, field["table"]))
    np.testing.assert_array_equal(table[read_block(elements, field["values"])], texts[rows])
    assert len(read_block(elements, manifest["images"]["rows"])) == 50
    n_near = len(read_block(elements, manifest["near"]["rows"]))
    for text in (
        f"Fields are kept for {len(rows)} of 240",
        "Pictures are kept for 50 of 240",
        f"Neighbors are kept for {n_near} of 240",
    ):
        assert text in made.html


@pytest.mark.parametrize("n_classes", [2, 300, 70_000])
def test_many_classes(n_classes):
    Y = np.random.default_rng(0).normal(size=(n_classes, 2))
    labels = np.array([f"c{i}" for i in range(n_classes)], dtype=object)
    labels[0] = None
    elements = Elements(free_page(Y, labels=labels).html)
    (label,) = json.loads(elements.texts["manifest"])["columns"]
    codes = read_block(elements, label["values"]).astype(int)
    assert codes[0] in (255, 65535, -1)
    assert [read_block(elements, label["table"])[code] for code in codes[1:4]] == list(labels[1:4])


def test_charts_are_well_formed_and_finite(case):
    html = report(case.X, case.Y).html
    pictures = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)
    assert len(pictures) == 5
    for picture in pictures:
        tree = ET.fromstring(picture)  # noqa: S314 - our own text
        assert [child.tag for child in tree][:2] == ["title", "desc"]
        numbers = [
            value
            for e in tree.iter()
            for k, value in e.attrib.items()
            if k in ("x", "y", "width", "height")
        ]
        assert np.isfinite([float(value) for value in numbers]).all()
    assert "nan" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL).lower()


def test_ticks_are_round():
    assert round_ticks(0.0, 1.0) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert round_ticks(-3.0, 1e-12 - 3.0)[0] == pytest.approx(-3.0)
    assert round_ticks(5.0, 5.0) == [5.0]
    assert log_ticks(1.0, 5000.0) == [1, 10, 100, 1000]
    assert log_ticks(2.0, 30.0) == [2, 5, 10, 20]
    assert Axis(0.0, 1.0, "x", is_percent=True).ticks()[1][1] == "20%"
    assert [text for _, text in Axis(0.5, 3.5, "x", is_whole=True).ticks()] == ["1", "2", "3"]


@pytest.mark.parametrize("centers", [np.zeros((1, 1)), np.array([[1e300, 0, 1], [-1e300, 1, 0]])])
def test_patches(centers):
    n = len(centers)
    links = np.array([[0, 1]])[: n - 1]
    errors = np.full(n, np.nan), links, np.array([0.05])[: n - 1]
    chart = chart_patches(PatchGraph("patch", centers, np.full(n, 5), *errors))
    tree = ET.fromstring(draw_patches(chart))  # noqa: S314 - our own text
    centers = [float(c.attrib[k]) for c in tree.iter("circle") for k in ("cx", "cy")]
    assert len(centers) == 2 * n
    assert np.isfinite(centers).all()
    assert ("1 patch with 0 overlaps." if n == 1 else "2 patches with 1 overlap.") in chart.says


def test_models_tell_their_story(tmp_path):
    roll = swiss_roll(400, width=21.0, uniform=True, random_state=0)
    model = IPA(random_state=0).fit(roll.X)
    path = tmp_path / "page.html"
    made = report(roll.X, model, path, random_state=0)
    assert path.read_text(encoding="utf-8") == made.html
    assert "Map by IPA" in made.html
    assert "400 rows of 3 dimensions, mapped to 2 dimensions: IPA" in made.html
    assert "model = IPA(random_state=0).fit(X)" in made.html
    assert "Patches and how well they fit" in made.html
    assert ">Certified</li>" in made.html
    short = LocalMDS(n_components=1, random_state=0).fit(roll.X[:60])
    assert (
        "60 rows of 3 dimensions, mapped to 1 dimension: LocalMDS"
        in report(roll.X[:60], short).html
    )


def test_maps_of_others_and_of_another_unit(case):
    tsne = TSNE(perplexity=20.0, init="random", metric="cityblock", random_state=0)
    tsne.embedding_ = 5.0 * case.Y
    html = make_report(assess(case.X, tsne), labels=case.labels, label_name="kind").html
    assert "Do not measure distances on it: " in html
    code = "TSNE(init='random', metric='cityblock', perplexity=20.0, random_state=0).fit(X)"
    assert escape(code) in html
    assert "from sklearn.manifold import TSNE\nfrom isofold import report" in html
    assert "≥ " in html
    assert json.loads(Elements(html).texts["manifest"])["columns"][0]["name"] == "kind"
    squeezed = make_report(assess(case.X, 1e-3 * case.X[:, [2, 1]])).html
    assert "Map by given coordinates" in squeezed


def test_the_template_asks_for_nothing_unknown():
    assert fill_template("{{a}} {{b}}", {"a": "{{b}}", "b": "1"}) == "{{b}} 1"
    with pytest.raises(EmbeddingError, match="asks for 'c'"):
        fill_template("{{c}}", {})


def test_components_can_be_shown(case):
    manifest = json.loads(
        Elements(make_report(free_assessment(case.Y), components=np.arange(240) % 2).html).texts[
            "manifest"
        ]
    )
    assert [column["name"] for column in manifest["columns"]] == ["component"]
    assert manifest["hasLabel"] is False


def test_precomputed_distances(case):
    distances = np.linalg.norm(case.X[:, None] - case.X, axis=2)
    html = report(distances, case.Y, metric="precomputed").html
    assert "240 rows, mapped to 2 dimensions" in html


def test_files_are_whole_and_not_replaced(case, tmp_path):
    made = free_page(case.Y)
    path = tmp_path / "page.html"
    made.save(path)
    with pytest.raises(InvalidInputError, match=r"exists and is not.*overwrite=True"):
        made.save(path)
    with pytest.raises(InvalidInputError, match=r"exists and is not.*overwrite=True"):
        report(None, None, path)  # before anything is read
    Report("new").save(str(path), overwrite=True)
    assert path.read_text() == "new"
    with pytest.raises(InvalidInputError, match="no folder"):
        made.save(tmp_path / "absent" / "page.html")
    with pytest.raises(InvalidInputError, match="is a folder"):
        made.save(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def _fail(*_):
    msg = "disk is full"
    raise OSError(msg)


def test_nothing_is_left_of_a_failed_write(case, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", _fail)
    with pytest.raises(InvalidInputError, match="disk is full"):
        free_page(case.Y).save(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_large_pages_are_not_kept_in_notebooks():
    assert "srcdoc" in Report("<p>")._repr_html_()
    large = Report("x" * 26_000_000)
    assert "too large" in large._repr_html_()
    assert repr(large) == "Report of 26.0 MB; save it with .save(path)"


def test_images_are_checked_and_reduced():
    with pytest.raises(InvalidInputError, match=r"images has shape \(2, 3\).*for each of 2 points"):
        check_images(np.zeros((2, 3)), 2)
    order = np.array([1, 0])
    large = np.zeros((2, 100, 60), dtype=np.uint8)
    large[:, :50] = 200
    small = thumbnails(check_images(large, 2), order, max_bytes=10**6)
    assert small.pixels.shape == (2, 33, 20, 1)
    assert (small.pixels[:, :16] == 200).all()
    assert (small.pixels[:, 17:] == 0).all()
    floats = np.array([[[0.0, np.nan], [1.0, 0.5]]])
    pixels = thumbnails(check_images(floats, 1), np.array([0]), max_bytes=10).pixels
    assert pixels.ravel().tolist() == [0, 0, 255, 128]
    assert thumbnails(np.zeros((2, 1, 500, 3)), order, max_bytes=10**6).pixels.shape[1] == 1


def test_wrong_lengths_are_told_before_the_work(case):
    with pytest.raises(InvalidInputError, match="'label' has shape"):
        report(None, case.Y, labels=[1, 2])
    with pytest.raises(InvalidInputError, match="images has shape"):
        report(None, case.Y, images=np.zeros((2, 3, 3)))
