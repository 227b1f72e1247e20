"""Bytes of a text file, unpacked within bounds and proven to be UTF-8 before they are parsed."""

from __future__ import annotations

import codecs
import csv
import zlib
from collections.abc import Iterator

from isofold._memory import available_bytes
from isofold.exceptions import InvalidInputError
from isofold.tables.sources import BOMB_BYTES, Source, refuse_bomb, require_room
from isofold.tables.text_safety import quoted, refusal

__all__ = ["load_utf8"]

CHUNK = 4 * 2**20
COST_OF_PARSING = 8
"""Peak bytes for one byte of text: a digit and a comma become a number of eight bytes, twice."""

HARMLESS = 2**28
"""Text of this size may come from however small a file."""

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def load_utf8(source: Source, encoding: str) -> bytes:
    """Return the text of a file as UTF-8 without a byte order mark, or say what is not text."""
    codec = _find_codec(encoding)
    require_room(COST_OF_PARSING * source.size, source.name)
    packed = source.ending.endswith(".gz")
    raw = _unpacked(source) if packed else source.path.read_bytes()
    if codec != "utf-8":
        raw = _converted(raw, codec, source)
    else:
        _refuse_other_encodings(raw, source)
    text = raw.removeprefix(codecs.BOM_UTF8)
    if not text or text.isspace():
        raise refusal(source.name, "the file holds only blanks. Was it saved completely?")
    if text.count(b'"') % 2:
        _refuse_open_quotes(text, source)
    return text


def _find_codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        " ".encode(name)  # fails for codecs of bytes, such as zip
    except (LookupError, TypeError, ValueError):
        msg = (
            f"The encoding {quoted(encoding)} is unknown. Common ones are utf-8, latin-1, cp1252, "
            f"utf-16, shift-jis, gb18030."
        )
        raise InvalidInputError(msg) from None
    return "utf-8" if name in ("utf-8-sig", "ascii") else name


def _unpacked(source: Source) -> bytes:
    """Return what gzip packed, at most as much as the memory can hold."""
    available = available_bytes()
    most = BOMB_BYTES if available is None else available // COST_OF_PARSING
    chunks: list[bytes] = []
    total = 0
    for chunk, n_packed in _chunks(source):
        total += len(chunk)
        refuse_bomb(n_packed, total, source.name, harmless=HARMLESS)
        if total > most:
            require_room(COST_OF_PARSING * total, source.name)
        chunks.append(chunk)
    return b"".join(chunks)


def _chunks(source: Source) -> Iterator[tuple[bytes, int]]:
    """Yield chunks of text, and how many bytes of the file were read so far."""
    import gzip

    with source.path.open("rb") as file, gzip.open(file) as stream:
        while True:
            try:
                chunk = stream.read(CHUNK)
            except (EOFError, OSError, zlib.error):
                problem = (
                    "the compressed file is damaged or cut off (gzip cannot unpack it). "
                    "Copy or download it again."
                )
                raise refusal(source.name, problem) from None
            if not chunk:
                return
            yield chunk, file.tell()


def _converted(raw: bytes, codec: str, source: Source) -> bytes:
    require_room(COST_OF_PARSING * len(raw), source.name)
    try:
        # Python marks bytes that it cannot read by half characters, which UTF-8 refuses as well.
        text = raw.decode(codec).encode("utf-8")
    except (UnicodeError, ValueError) as error:
        position = f" at byte {error.start:,}" if isinstance(error, UnicodeDecodeError) else ""
        problem = f"the text is not encoded as {codec}{position}. Pass another --encoding."
        raise refusal(source.name, problem) from None
    _refuse_nul(text, source)
    return text


def _refuse_other_encodings(raw: bytes, source: Source) -> None:
    for mark, name in BYTE_ORDER_MARKS.items():
        if raw.startswith(mark):
            problem = f"the text is encoded as {name.upper()}, not UTF-8. Pass --encoding {name}."
            raise refusal(source.name, problem)
    _refuse_nul(raw, source)
    if raw.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(raw), CHUNK):
        end = min(len(raw), start + CHUNK)
        kept = len(decoder.getstate()[0])
        try:
            decoder.decode(raw[start:end], final=end == len(raw))
        except UnicodeDecodeError as error:
            position = start - kept + error.start
            raise refusal(source.name, _about_encoding(raw, position, source.name)) from None


def _about_encoding(raw: bytes, position: int, name: str) -> str:
    line = raw.count(b"\n", 0, position) + 1
    return (
        f"byte {position:,} (line {line:,}) is 0x{raw[position]:02x}, which is not UTF-8. The file "
        f"has another encoding: pass --encoding latin-1 (Western Europe), cp1252 (Windows) or "
        f"shift-jis (Japan), or convert it: iconv -f latin1 -t utf-8 {name}"
    )


def _refuse_nul(text: bytes, source: Source) -> None:
    position = text.find(b"\0")
    if position >= 0:
        problem = (
            f"byte {position:,} is 0, which text never contains. The file is binary, or damaged, "
            f"or encoded as UTF-16 (then pass --encoding utf-16)."
        )
        raise refusal(source.name, problem)


def _refuse_open_quotes(text: bytes, source: Source) -> None:
    """Refuse a quote that is never closed: it would swallow all rows after it in silence."""
    lines = text.decode("utf-8").splitlines(keepends=True)
    # The delimiter does not matter for finding the end of quotes, but for where they may begin.
    reader = csv.reader(lines, delimiter=_likely_delimiter(lines[0]), strict=True)
    started = 1
    try:
        for _ in reader:
            started = reader.line_num + 1
    except csv.Error:
        problem = (
            f'line {started:,}: a quote (") is opened here and not closed where the field ends. '
            f'Close it, or double it ("") if it belongs to the text.'
        )
        raise refusal(source.name, problem) from None


def _likely_delimiter(line: str) -> str:
    return max(",;\t|", key=line.count)
