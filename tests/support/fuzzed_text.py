"""Text tables that are none: encodings, ragged rows, quotes, names, gaps, huge numbers, bombs."""

import gzip
import zlib
from collections.abc import Iterator

from support.valid_files import csv_bytes

Variant = tuple[str, bytes, bool]
ENDINGS = ("csv", "tsv", "txt")
ROWS = [f"{i}.5,{i * i % 7},{'abc'[i % 3]}" for i in range(12)]

# Words that are no UTF-8 in the encoding that is usual where they come from.
WORDS = {
    "latin-1": "café", "cp1252": "naïve “quotes”", "iso8859-2": "žluťoučký", "koi8-r": "привет",
    "cp1251": "привет", "shift-jis": "日本語", "euc-jp": "日本語", "gb18030": "中文",
    "big5": "中文", "euc-kr": "한국어", "cp1253": "καλημέρα", "cp1255": "שלום", "tis-620": "สวัสดี",
}  # fmt: skip


def text_variants() -> Iterator[Variant]:
    for family in (
        _encodings, _empty, _ragged, _quotes, _names, _no_features, _too_large, _few, _separators,
        _bombs, _valid,
    ):  # fmt: skip
        for name, content, must_fail in family():
            has_ending = "." in name
            yield (name if has_ending else f"{name}.csv"), content, must_fail


def table(rows: list[str] = ROWS, header: str = "a,b,c") -> bytes:
    return "\n".join((header, *rows, "")).encode()


def _encodings() -> Iterator[Variant]:
    for codec, word in WORDS.items():
        text = "name,x,y\n" + "".join(f"{word},{i},{i * i}\n" for i in range(9))
        for ending in ENDINGS:
            yield f"{codec}.{ending}", text.encode(codec), True
    plain = table().decode()
    for codec in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "cp500"):
        for ending in ENDINGS:
            yield f"{codec}.{ending}", plain.encode(codec), True
    surrogate = table().replace(b"a\n", b"\xed\xa0\x80\n")
    overlong = table().replace(b"a\n", b"\xc0\xaf\n")
    beyond = table().replace(b"a\n", b"\xf8\x88\x80\x80\x80\n")
    half = table() + "ü".encode()[:1]
    lone = table().replace(b"b\n", b"\x80\n")
    for name, content in (
        ("surrogate", surrogate), ("overlong", overlong), ("beyond", beyond), ("half", half),
        ("continuation", lone),
    ):  # fmt: skip
        yield f"invalid-{name}", content, True
    for place in (0, 1, 7, 20, 40, len(table())):
        yield f"nul-{place}", table()[:place] + b"\0" + table()[place:], True


def _empty() -> Iterator[Variant]:
    contents = {
        "zero-bytes": b"", "newline": b"\n", "newlines": b"\r\n\r\n\n\r", "blanks": b"  \t \n   ",
        "mark": b"\xef\xbb\xbf", "mark-newline": b"\xef\xbb\xbf\n", "header": b"a,b,c\n",
        "header-no-end": b"a,b,c", "delimiters": b",,,\n", "quote": b'"', "comma": b",",
        "semicolons": b";;;\n;;;\n;;;\n", "one-number": b"5",
    }  # fmt: skip
    for name, content in contents.items():
        for ending in ENDINGS:
            yield f"empty-{name}.{ending}", content, True


def _ragged() -> Iterator[Variant]:
    for place in (0, 1, 5, 11):
        for change in ("short", "long", "empty-field", "shorter"):
            rows = list(ROWS)
            rows[place] = {
                "short": "1,2", "long": "1,2,3,4", "empty-field": "1,2,c,", "shorter": "1",
            }[change]  # fmt: skip
            yield f"ragged-{change}-{place}", table(rows), True
    yield "ragged-header-short", table(header="a,b"), True
    yield "ragged-header-long", table(header="a,b,c,d"), True
    yield "ragged-stairs", table(["1", "1,2", "1,2,3", "1,2,3,4"]), True
    yield "ragged-comment", table(["# made by a machine", *ROWS]), True
    wide = ",".join(f"c{i}" for i in range(20_000))
    yield "ragged-20000-columns", f"{wide}\n{wide}\n1,2,3\n".encode(), True


def _quotes() -> Iterator[Variant]:
    for place in (0, 4, 11):
        rows = list(ROWS)
        rows[place] = f'{place},1,"a'
        yield f"quote-open-{place}", table(rows), True
        rows[place] = f'"{place},1,a'
        yield f"quote-early-{place}", table(rows), True
    yield "quote-header", table(header='a,"b,c'), True
    yield "quote-header-only", b'"a,b,c\n1,2,3\n4,5,6\n', True


def _names() -> Iterator[Variant]:
    headers = ("a,a,c", "a,b,a", "a,a,a", "a, a,c", "🌍,🌍,c", '"a","a","c"', f"{'x' * 5000},b,b")
    for number, header in enumerate(headers):
        yield f"names-repeat-{number}", table(header=header), True
    yield "names-repeat.tsv", b"a\ta\n1\t2\n3\t4\n", True
    yield "names-clash", table(header="unnamed: 1,,c"), False


def _no_features() -> Iterator[Variant]:
    words = ["x,y,z", "u,v,w", "p,q,r"]
    gap_names = ("", "NA", "NaN", "null", "N/A", "?", "-", "None", "#N/A", " ")
    yield "all-text", table(words), True
    yield "all-text-quoted", table([f'"{w[0]}","b","c"' for w in words]), True
    yield "all-dates", table(["2020-01-01,2021-05-05,12:30"] * 3), True
    yield "all-mixed", table(["1,x,2", "x,1,y", "2,z,z"]), True
    yield "all-prose.txt", b"Call me Ishmael. Some years ago.\nNever mind.\n" * 3, True
    yield "all-units", table(["1 kg,2 m,3 s", "4 kg,5 m,6 s"]), True
    yield "all-emoji", "😀,😁\n😂,🤣\n😃,😄\n".encode(), True
    for number, gap in enumerate(gap_names):
        yield f"all-missing-{number}", table([f"{gap},{gap},{gap}"] * 5), True
        diagonal = [f"{gap},2,3", f"1,{gap},3", f"1,2,{gap}"]
        yield f"no-row-complete-{number}", table(diagonal), True


def _too_large() -> Iterator[Variant]:
    numbers = (
        "1e400", "-1e400", "inf", "-inf", "Infinity", "1" + "0" * 400, "-" + "9" * 5000, "1e155",
        "1e308", "-1.7976931348623157e308", "9" * 100_000, "1e99999999999999999999",
    )  # fmt: skip
    for index, number in enumerate(numbers):
        for place in (0, 11):
            rows = list(ROWS)
            rows[place] = f"{number},1,a"
            yield f"huge-{index}-{place}", table(rows), True


def _few() -> Iterator[Variant]:
    yield "one-row", table(["1,2,3"]), True
    yield "one-row-no-header", b"1.5,2.5,3.5\n", True
    yield "one-row-complete", table(["1,2,3", "NA,2,3", "1,,3"]), True
    yield "one-value", b"a\n1\n", True
    yield "constant", table(["1,2,x"] * 9), True
    yield "constant-one-column", b"a\n1\n1\n1\n1\n", True
    yield "constant-no-header", b"1.5,2\n1.5,2\n1.5,2\n", True
    yield "constant-complete", table(["1,2,3", "1,2,3", "NA,5,6"]), True


def _separators() -> Iterator[Variant]:
    rows = [f"{i},5;{i},25;a" for i in range(9)]
    yield "decimal-comma", table(rows, header="a;b;c"), True
    yield "decimal-comma.txt", table([r.replace(";", "\t") for r in rows], header="a\tb\tc"), True
    yield "decimal-comma-some", table([*rows[:5], "1;2;b"], header="a;b;c"), True
    quoted = [f'"{i},5","{i},25",a' for i in range(9)]
    yield "decimal-comma-quoted", table(quoted), True
    yield "thousands", table([f'"{i},000","{i},500",a' for i in range(1, 9)]), True
    yield "arabic-digits", "a,b\n\u0661,\u0662\n\u0663,\u0664\n".encode(), True
    yield "spaces", b"a b c\n1 2 3\n4 5 6\n7 8 9\n", True
    yield "colons", b"a:b:c\n1:2:3\n4:5:6\n", True


def deflated_zeros(n_bytes: int, *, wbits: int, unit: bytes = bytes(2**20)) -> bytes:
    """Return billions of equal bytes, deflated, in a moment: the same blocks again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    first = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    repeats = n_bytes // len(unit) - 1
    return first + again * repeats + packer.flush(zlib.Z_FINISH)


def _bombs() -> Iterator[Variant]:
    units = {"zeros": bytes(2**20), "rows": b"0,0\n" * 2**18, "quotes": b'"' * 2**20}
    for name, unit in units.items():
        yield f"bomb-{name}.csv.gz", deflated_zeros(8 * 2**30, wbits=31, unit=unit), True
    yield "not-gz.csv.gz", table(), True
    packed = {name: gzip.compress(text, mtime=0) for name, text in (
        ("table", table()), ("empty", b""), ("latin", "a,café\n1,2\n3,4\n".encode("latin-1"))
    )}  # fmt: skip
    yield "gz-twice.csv.gz", gzip.compress(packed["table"], mtime=0), True
    yield "gz-crc.csv.gz", packed["table"][:-8] + bytes(8), True
    yield "gz-empty.csv.gz", packed["empty"], True
    yield "gz-latin.csv.gz", packed["latin"], True
    yield "long-line", b"a,b\n" + b"1" * 5_000_000 + b",2\n3,4\n", True
    yield "long-name", b"a" * 300_000 + b",b\n1,2\n3,4\n", True
    yield "long-word", b"a,b\n" + b"x" * 5_000_000 + b",y\nz,w\n", True


def _valid() -> Iterator[Variant]:
    """Yield tables that look strange and are not."""
    yield "valid.csv", csv_bytes(), False
    yield "valid.tsv", csv_bytes("\t"), False
    yield "valid-bar.txt", csv_bytes("|"), False
    yield "valid-mark.csv", b"\xef\xbb\xbf" + csv_bytes(), False
    yield "valid-carriage.csv", csv_bytes().replace(b"\n", b"\r"), False
    yield "valid-windows.csv", csv_bytes().replace(b"\n", b"\r\n"), False
    yield "valid-blank-lines.csv", csv_bytes().replace(b"\n", b"\n\n"), False
    yield "valid-emoji.csv", table(header="🌍,b ✓,c\u202e"), False
    yield "valid-formula.csv", table(header="=1+1,@x,-c"), False
    yield "valid-nameless.csv", table(header=",,"), False
    yield "valid-inches.csv", table(['1,2,5" pipe', "3,4,x"]), False
    wide = ",".join(f"c{i}" for i in range(20_000))
    numbers = "\n".join(",".join(str(i % d) for i in range(20_000)) for d in (3, 5))
    yield "valid-20000-columns.csv", f"{wide}\n{numbers}\n".encode(), False
