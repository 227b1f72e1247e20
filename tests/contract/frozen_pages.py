"""Report pages: their numbers to the last bit, and what can be read on them."""

import base64
import gzip
import hashlib
import json
import re
from functools import partial
from html.parser import HTMLParser

import numpy as np

from contract.freeze import Taken
from isofold import ColoredMVU, report
from isofold.datasets import s_curve
from support import storage_cases as stored
from support.storage_cases import CLOUD, LABELS, SHEET, SMALL

TYPES = {"f4": "<f4", "f8": "<f8", "i4": "<i4", "u1": "u1", "u2": "<u2"}
UNSEEN = {"script", "style", "title", "noscript"}
MASKS = (
    (re.compile(r"\b\d+ min \d+ s\b|\b\d+(\.\d+)? s\b|\b\d+(\.\d+)? seconds?\b"), "<time>"),
    (re.compile(r"\b\d+(\.\d+)? ([kKMG]i?B|bytes)\b"), "<size>"),
    (re.compile(r"\bisofold \d+\.\d+\.\w+"), "isofold <version>"),
)

GROUPS = np.array(["oak", "elm", "ash"])
SIDES = np.where(SMALL[:, 0] > 0, "right", "left")

# By name: the page.
PAGES = {
    "ipa roll": lambda: report(
        SHEET, stored.fitted("ipa"), labels=GROUPS[LABELS], fields={"height": SHEET[:, 1]}
    ),
    "mvu": lambda: report(SMALL, stored.fitted("mvu"), title="A curve"),
    "plml": lambda: report(SHEET, stored.fitted("plml refined"), labels=SHEET[:, 1]),
    "colored mvu": lambda: report(
        SMALL, ColoredMVU(random_state=0).fit(SMALL, SIDES), labels=SIDES
    ),
    "local mds cloud": lambda: report(
        CLOUD, stored.fitted("local mds"), labels=GROUPS[np.arange(120) % 3], random_state=3
    ),
    "unfold": lambda: report(
        s_curve(120, random_state=0).X, stored.fitted("unfold"), fields={"row": np.arange(120)}
    ),
}


def masked(text):
    """Return a text without durations, sizes and versions."""
    for pattern, words in MASKS:
        text = pattern.sub(words, text)
    return text


class Reader(HTMLParser):
    """Gathers what can be read on a page, the numbers behind it, and its drawings."""

    def __init__(self):
        super().__init__()
        self.inside, self.words, self.drawings = [], [], []
        self.scripts, self.script, self.is_drawing = {}, None, False

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in UNSEEN:
            self.inside.append(tag)
            self.script = given.get("id") if tag == "script" else None
        if tag == "svg":
            self.drawings.append(hashlib.sha256())
            self.is_drawing = True
        if self.is_drawing:
            self.drawings[-1].update(repr((tag, attrs)).encode())

    def handle_endtag(self, tag):
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()
        if tag == "svg":
            self.is_drawing = False

    def handle_data(self, data):
        if self.inside:
            if self.script:
                self.scripts[self.script] = self.scripts.get(self.script, "") + data
        elif data.strip():
            self.words.append(" ".join(data.split()))


def decoded(entry, scripts):
    """Return the array, or list of texts, of a data block."""
    raw = base64.b64decode(scripts[f"block-{entry['block']}"])
    raw = gzip.decompress(raw) if entry["gzip"] else raw
    if entry["type"] == "json":
        return np.array(json.loads(raw), dtype=str)
    dtype = np.dtype(TYPES[entry["type"]])
    planes = np.frombuffer(raw, dtype=np.uint8).reshape(dtype.itemsize, -1)
    return np.ascontiguousarray(planes.T).view(dtype).ravel()


def flattened(value, where, scripts):
    """Return all numbers and blocks of a manifest by their place in it."""
    if isinstance(value, dict) and "block" in value:
        return {where: decoded(value, scripts)}
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        found = {}
        for key, part in pairs:
            found.update(flattened(part, f"{where} {key}", scripts))
        return found
    return {where: np.asarray(str(value) if value is None else value)}


def read_page(html):
    """Return the payload of a page as arrays, and its visible words and drawings as texts."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    arrays = flattened(json.loads(reader.scripts["manifest"]), "manifest", reader.scripts)
    arrays["drawings"] = np.array(len(reader.drawings))
    drawn = [f"drawing {i}: {each.hexdigest()}" for i, each in enumerate(reader.drawings)]
    words = masked("\n".join(reader.words))
    return Taken(arrays, {"words": words, "drawings": "\n".join(drawn)})


def take(make):
    """Make a page and read it."""
    return read_page(make().html)


def cases():
    """Return all pages by name."""
    return {name: partial(take, make) for name, make in PAGES.items()}
