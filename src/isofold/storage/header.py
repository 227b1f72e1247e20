"""The header of a model: JSON whose size in memory is bounded before any of it is built.

Deflated text can stand for a thousand times its bytes, and Python's objects for twenty times that
text. So what a header becomes is bounded by what it takes in the file.
"""

from __future__ import annotations

import json
import re
from typing import Any

from isofold.exceptions import InvalidInputError
from isofold.storage.validation import fail, require

__all__ = ["MOST_MEMBERS", "check_size", "header_text", "most_bytes", "most_values", "read_header"]

MOST_JSON = 64 * 2**20
"""Bytes of the largest header."""

MOST_MEMBERS = 200_000

SPARE_BYTES, BYTES_PER_PACKED = 16 * 2**20, 32
SPARE_VALUES, VALUES_PER_PACKED = 2**20, 8
"""What a header may become, some of it in any case and some for every byte that it takes in the
file. Headers of models have 3 to 4 bytes and a fifth of a value for each of these. What is spare is
for notes such as a long list of zeros, and takes some 100 MiB."""

QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
TEXT = re.compile(QUOTED, re.DOTALL)
STRETCH = re.compile(rf"(?:[^\"]++|{QUOTED}){{1,4096}}+", re.DOTALL)
"""One text, and a stretch of JSON that cuts none in two. At every quote there is one, if need be
an open one: so looking for them takes linear time."""


def most_bytes(n_packed: int) -> int:
    """Return how long a header may be that takes some bytes in the file."""
    return min(MOST_JSON, SPARE_BYTES + BYTES_PER_PACKED * n_packed)


def most_values(n_packed: int) -> int:
    """Return how many values a header may hold that takes some bytes in the file."""
    return SPARE_VALUES + VALUES_PER_PACKED * n_packed


def count_values(text: str, *, enough: int) -> int:
    """Return the number of values within JSON, or a larger one that is no more than enough."""
    found = _count_marks(text)
    if found <= enough:
        return found
    # Marks within text are not values. What is left without text is joined from parts, which take
    # more memory than their letters: so only a stretch at a time.
    return sum(_count_marks(TEXT.sub("", part[0])) for part in STRETCH.finditer(text))


def _count_marks(text: str) -> int:
    """Return how many marks there are, one of which comes before every value but the first."""
    return sum(text.count(mark) for mark in ",[{")


def header_text(header: dict[str, Any]) -> bytes:
    """Return the JSON of a header, or refuse what no model file holds."""
    if len(header["arrays"]) >= MOST_MEMBERS:
        msg = f"This model has {MOST_MEMBERS:,} arrays or more. Use joblib.dump."
        raise InvalidInputError(msg)
    return json.dumps(header, allow_nan=False, separators=(",", ":")).encode("ascii")


def check_size(text: bytes, n_packed: int) -> None:
    """Refuse to save a header that could not be loaded."""
    largest, most = most_bytes(n_packed), most_values(n_packed)
    n_values = count_values(text.decode("ascii"), enough=most)
    if len(text) > largest:
        seen, limit = f"takes {len(text) / 2**20:.0f} MiB", f"{largest / 2**20:.0f}"
    elif n_values > most:
        seen, limit = f"has {n_values:,} values", f"{most:,}"
    else:
        return
    msg = (
        f"What is not an array in this model {seen}, and a model file holds {limit}. Pass long "
        f"lists among the parameters and notes as arrays, or use joblib.dump."
    )
    raise InvalidInputError(msg)


def read_header(content: bytes, n_packed: int) -> dict[str, Any]:
    """Return the table that a header is, or raise a flaw before it takes too much memory."""
    try:
        # isofold writes ASCII; one other character could make a text four times as large.
        text = content.decode("ascii")
        most = most_values(n_packed)
        require(count_values(text, enough=most) <= most, "its header holds too many values")
        header = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        fail("its header is not JSON, or is nested too deeply", error)
    require(isinstance(header, dict), "its header is not a table")
    return dict(header)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    require(len(table) == len(pairs), "its header has the same name twice")
    return table


def _no_constant(name: str) -> None:
    fail(f"its header holds {name}")
