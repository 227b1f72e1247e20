"""Pages to test, and what a user does with them: points are found where they must be on screen."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np

from isofold._findings import Diagnosis, Finding, Severity
from isofold.assessment import (
    Assessment,
    LengthRatios,
    NearPairs,
    Origin,
    Proof,
    ShepardDensity,
    VarianceSpectrum,
    assess,
)
from isofold.reports import make_report

PATIENCE = 600_000.0
"""Milliseconds after which a browser hangs, however busy the machine is."""

PADDING = 0.06  # Of the map on every side, when all of it is shown.

HOSTILE = (
    "<script>window.stolen = 1</script>",
    "</script><script>window.stolen = 2</script>",
    "<img src=x onerror='window.stolen=3'>",
    '" onmouseover="window.stolen=4" \'',
    "javascript:window.stolen=5",
    "=cmd|' /C calc'!A0",
    "emoji 🦊 and line\u2028end\u2029s\u0000\u202eback",
    "{{script}} ${1+1} \\u003c %3Cscript%3E",
    "long " + "<b>" * 3500,
)


TYPES = {"f4": "<f4", "f8": "<f8", "i4": "<i4", "u1": "u1", "u2": "<u2"}


class Elements(HTMLParser):
    """Gathers the elements of a page, as a browser would see them."""

    def __init__(self, html):
        super().__init__()
        self.found, self.texts = [], {}
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, text):
        key = dict(self.found[-1][1]).get("id", self.found[-1][0]) if self.found else ""
        self.texts[key] = self.texts.get(key, "") + text


def read_block(elements, block):
    """Return an array or a list of texts of a page."""
    raw = base64.b64decode(elements.texts[f"block-{block['block']}"])
    raw = gzip.decompress(raw) if block["gzip"] else raw
    if block["type"] == "json":
        return json.loads(raw)
    dtype = np.dtype(TYPES[block["type"]])
    planes = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, -1)
    return np.ascontiguousarray(planes.T).view(dtype).ravel()


def flat_case(n=240):
    """Return points in a plane, a map that errs a little, labels and fields of all kinds."""
    rng = np.random.default_rng(1)
    Y = rng.uniform(size=(n, 2)) * [30.0, 20.0] + [100.0, -50.0]
    X = np.column_stack([Y[:, 0] * 1.3, Y[:, 1], np.sin(Y[:, 0])])
    fields = {
        "height": np.where(np.arange(n) % 10 == 3, np.nan, Y[:, 1]),
        "kind": np.array(["apple", "=pear", "plum"])[np.arange(n) % 3],
    }
    return SimpleNamespace(X=X, Y=Y, labels=np.array(["a", "b"])[np.arange(n) % 2], fields=fields)


def free_assessment(Y, *, distortion=None, **others):
    """Return what is known of any coordinates without measuring them, which is fast."""
    n = len(Y)
    k = min(4, n - 1)
    small = np.random.default_rng(0).normal(size=(12, 2))
    measured = assess(small, small)
    indices = (np.arange(n)[:, None] + np.arange(1, k + 1)) % n
    after = np.linalg.norm(Y[indices] - Y[:, None], axis=2)
    return Assessment(
        embedding=Y,
        card=measured.card,
        distortion=np.linspace(0.0, 0.5, n) if distortion is None else distortion,
        near=NearPairs(indices, 2.0 * after, after),
        shepard=ShepardDensity(np.arange(4.0), np.arange(4.0), np.eye(3, dtype=int), 3, False),
        ratios=LengthRatios(np.arange(5) * 0.5, np.array([0, 1, 2, 3]), 1.1, 0.5),
        curve=measured.curve,
        spectrum=VarianceSpectrum(np.array([0.7, 0.2, 0.1]), 2, "principal axes of the data"),
        patches=None,
        **{"origin": Origin("given coordinates"), **others},
    )


def given(text, severity=Severity.DOUBT):
    """Return a finding with a text of its own."""
    return Finding.of("given", severity, form="given", message=text, advice="")


def hostile_assessment(Y):
    """Return what is known of coordinates, with hostile texts wherever there are texts."""
    return free_assessment(
        Y,
        origin=Origin(
            HOSTILE[0],
            tuple((text, HOSTILE[2]) for text in HOSTILE),
            HOSTILE,
            tuple((text, HOSTILE[1]) for text in HOSTILE),
        ),
        proof=Proof(HOSTILE[1], is_certified=False),
        diagnosis=Diagnosis(
            (*map(given, HOSTILE), *(given(text, Severity.NOTE) for text in HOSTILE))
        ),
        decision=Diagnosis((Finding.of("method", dimension=2, name=HOSTILE[2]),)),
    )


def free_page(Y, **options):
    """Return the page of any coordinates."""
    return make_report(free_assessment(np.asarray(Y)), **options)


class Opened:
    """A page in a browser, with all that it complained about and asked for."""

    def __init__(self, page, path):
        self.page = page
        self.url = path.as_uri()
        self.complaints = []
        self.requests = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(self.url)
        page.wait_for_selector("html[data-ready='yes']")

    def assert_quiet(self):
        assert self.complaints == []
        # The file itself, and the empty icon that keeps browsers from asking for one.
        assert [url for url in self.requests if url not in (self.url, "data:,")] == []

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def box(self):
        surface = self.page.locator("#overlay")
        surface.scroll_into_view_if_needed()
        return surface.bounding_box()

    def where(self, Y):
        """Return where points of the map are on the screen while all of it is shown.

        The same scale on both axes, the middle in the middle.
        """
        box = self.box()
        low, high = Y.min(axis=0), Y.max(axis=0)
        room = (1 - 2 * PADDING) * np.array([box["width"], box["height"]])
        scale = np.min(room / (high - low))
        from_middle = (Y - (low + high) / 2) * scale * [1, -1]
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        return from_middle + middle

    def settle(self):
        """Wait for two frames, of which the first may be under way: all is drawn then."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def ground(self):
        """Return the most frequent color of the map."""
        self.settle()
        counts = self.pixels()
        return max(counts, key=counts.get)

    def hover(self, place):
        self.page.mouse.move(*place)

    def click(self, place):
        self.page.mouse.click(*place)

    def drag(self, path):
        mouse = self.page.mouse
        mouse.move(*path[0])
        mouse.down()
        for place in path[1:]:
            mouse.move(*place, steps=6)
        mouse.up()

    def selected_rows(self):
        """Return the rows of the downloaded table as dictionaries of texts."""
        with self.page.expect_download() as waiting:
            self.page.click("#download")
        with open(waiting.value.path(), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(io.StringIO(file.read())))

    def pixels(self):
        """Return how often each color occurs on the map."""
        counts = self.page.evaluate(
            """() => {
              const { width, height } = document.getElementById("points");
              // A copy, since browsers complain of those who read what they draw.
              const copy = new OffscreenCanvas(width, height).getContext("2d");
              copy.drawImage(document.getElementById("points"), 0, 0);
              const { data } = copy.getImageData(0, 0, width, height);
              const counts = {};
              for (let i = 0; i < data.length; i += 4) {
                const color = [data[i], data[i + 1], data[i + 2]].join(",");
                counts[color] = (counts[color] || 0) + 1;
              }
              return counts;
            }"""
        )
        return {tuple(map(int, color.split(","))): count for color, count in counts.items()}


def inside(path, points):
    """Return which points are inside a polygon: crossings of a ray to the right, counted."""
    crossings = np.zeros(len(points), dtype=int)
    for (x0, y0), (x1, y1) in zip(path, np.roll(path, -1, axis=0), strict=True):
        if y0 == y1:
            continue
        spans = (y0 > points[:, 1]) != (y1 > points[:, 1])
        at = x0 + (points[:, 1] - y0) * (x1 - x0) / (y1 - y0)
        crossings += spans & (points[:, 0] < at)
    return crossings % 2 == 1
