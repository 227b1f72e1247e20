"""NumPy and Parquet files that are no tables, claim what they do not hold, or hold pickles."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from support.fuzzed_text import deflated_zeros
from support.valid_files import (
    N_ROWS,
    example,
    npy_bytes,
    npz_bytes,
    parquet_bytes,
    valid_files,
    zip_bytes,
)

Variant = tuple[str, bytes, bool]


class Trap:
    """An object whose unpickling would be noticed: it ends the process."""

    def __reduce__(self):
        return exec, ("import os; os._exit(77)",)


def array_variants() -> Iterator[Variant]:
    for name, content in _arrays().items():
        yield f"{name}.npy", content, True
        yield f"{name}.npz", zip_bytes({"X.npy": content}), True
    yield from _archives()
    yield from _parquet()
    X, labels = example()
    yield "valid-images.npy", npy_bytes(np.arange(60.0).reshape(5, 4, 3)), False
    yield "valid-half.npy", npy_bytes(X.astype(np.float16)), False
    yield "valid-big-endian.npy", npy_bytes(X.astype(">f8")), False
    yield "valid-fortran.npy", npy_bytes(np.asfortranarray(X)), False
    yield "valid-bool.npy", npy_bytes(X > 0), False
    yield "valid-bytes.npz", npz_bytes(X=X, y=labels.astype("S")), False


def header(text: str, version: tuple[int, int] = (1, 0), length: int | None = None) -> bytes:
    """Return the beginning of an array with any words in the place of its description."""
    body = text.encode("latin-1")
    size = len(body) if length is None else length
    packed = struct.pack("<H" if version == (1, 0) else "<I", size)
    return b"\x93NUMPY" + bytes(version) + packed + body


def claim(shape: object, descr: object = "<f8") -> bytes:
    return header(f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}\n")


def _arrays() -> dict[str, bytes]:
    """Return arrays that cannot be features, by name."""
    X, labels = example()
    data = X.tobytes()
    shapes = {
        "terabytes": (10**12, 10), "overflow": (2**32, 2**32), "beyond": (2**70, 2),
        "negative": (-3, 4), "both-negative": (-3, -4), "truth": (True, 4), "fraction": (7.5, 4),
        "words": ("seven", 4), "list": [7, 4], "nested": ((7,), 4), "none": None,
        "one-more": (N_ROWS + 1, 4),
        "many-sides": (1,) * 70, "zero-rows": (0, 4), "zero-columns": (4, 0),
        "zeros-bomb": (0, 2**62),
    }  # fmt: skip
    claims = {f"claims-{name}": claim(shape) + data for name, shape in shapes.items()}
    descriptions = {
        "python": "|O", "unknown": "<q9", "empty": "", "huge-void": "|V2000000000",
        "tuple": ("<f8", 3),
        "subarray": ("<f8", (10**9,)), "align": [("a", "<f8"), ("b", "|O")],
    }  # fmt: skip
    types = {f"type-{name}": claim((N_ROWS, 4), d) + data for name, d in descriptions.items()}
    headers = {
        "no-dict": header("[1, 2, 3]\n"),
        "code": header("__import__('os')._exit(77)\n"),
        "deep": header("(" * 900 + ")" * 900 + "\n"),
        "more-keys": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}\n"),
        "fewer-keys": header("{'descr': '<f8'}\n"),
        "not-closed": header("{'descr': '<f8', 'fortran_order': False, 'shape': (77, 4\n"),
        "longer": header("{}", length=60_000),
        "four-gigabytes": header("{}", (2, 0), length=2**32 - 1),
        "version": header("{}", (9, 9)),
        "magic-only": b"\x93NUMPY",
        "version-only": b"\x93NUMPY\x01\x00",
        "no-magic": b"\x92NUMPY" + data,
        "names": header("{'descr': [('" + "a" * 50_000 + "', '<f8')], 'shape': (1,)}\n"),
    }
    values = {
        "pickle": npy_bytes(np.array([Trap(), Trap()], dtype=object), allow_pickle=True),
        "complex": npy_bytes(X + 1j),
        "dates": npy_bytes(np.arange(9).astype("M8[D]")),
        "durations": npy_bytes(np.arange(9).astype("m8[s]")),
        "text": npy_bytes(labels),
        "bytes": npy_bytes(labels.astype("S")),
        "records": npy_bytes(np.zeros(9, dtype=[("a", "f8"), ("b", "i4")])),
        "number": npy_bytes(np.array(5.0)),
        "one-row": npy_bytes(X[:1]),
        "one-value": npy_bytes(X[0, :1]),
        "missing": npy_bytes(np.full((9, 3), np.nan)),
        "infinite": npy_bytes(np.where(X > 1.5, np.inf, X)),
        "huge": npy_bytes(X * 1e200),
        "extended": npy_bytes(_extended(X)),
        "constant": npy_bytes(np.ones((9, 3), dtype=np.uint8)),
        "gaps": npy_bytes(np.where(np.eye(5), np.nan, 1.0)),
    }
    return {**claims, **types, **{f"header-{n}": h for n, h in headers.items()}, **values}


def _extended(X: np.ndarray) -> np.ndarray:
    """Return numbers beyond float64, without the arbitrary bytes that fill up each of them."""
    numbers = X.astype(np.longdouble) * np.longdouble("1e400")
    numbers.view(np.uint8).reshape(X.size, -1)[:, 10:] = 0
    return numbers


def _archives() -> Iterator[Variant]:
    X, labels = example()
    good = npy_bytes(X)
    archives = {
        "nothing": zip_bytes({}),
        "no-array": zip_bytes({"readme.txt": b"hello"}),
        "nested": zip_bytes({"inner.npz": valid_files()["npz"]}),
        "two-candidates": npz_bytes(train=X, test=X),
        "only-lists": npz_bytes(a=X[:, 0], b=X[:, 1]),
        "labels-only": npz_bytes(y=labels),
        "not-arrays": zip_bytes({"X.npy": b"hello", "y.npy": b"world"}),
        "empty-member": zip_bytes({"X.npy": b""}),
        "folder": zip_bytes({"X.npy/": b""}),
        "many": zip_bytes({f"{i}.txt": b"" for i in range(10_001)}),
        "pickled-labels": zip_bytes({"X.npy": good, "X.npz.npy": b"\x80\x04K\x01."}),
        "wrong-checksum": _patched(zip_bytes({"X.npy": good}), zlib.crc32(good)),
        "bomb": _bomb(8 * 2**30, claim((2**27, 8))),
        "bomb-lie": _bomb(2**30, claim((10**13, 8))),
        "bomb-small-claim": _bomb(8 * 2**30, claim((4, 4)), declared=10**14),
    }
    for name, content in archives.items():
        yield f"archive-{name}.npz", content, True
    with_repeats = io.BytesIO()
    with zipfile.ZipFile(with_repeats, "w") as archive:
        archive.writestr(zipfile.ZipInfo("X.npy"), good)
        archive.NameToInfo.clear()  # so that Python does not notice
        archive.writestr(zipfile.ZipInfo("X.npy"), npy_bytes(X[:5]))
    yield "archive-repeats.npz", with_repeats.getvalue(), True
    locked = bytearray(zip_bytes({"X.npy": good}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + offset] |= 1
    yield "archive-locked.npz", bytes(locked), True
    method = bytearray(zip_bytes({"X.npy": good}))
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        method[method.index(mark) + offset] = 97
    yield "archive-method.npz", bytes(method), True


def _patched(archive: bytes, checksum: int) -> bytes:
    return archive.replace(struct.pack("<I", checksum), struct.pack("<I", checksum ^ 1))


def _bomb(n_bytes: int, beginning: bytes, declared: int | None = None) -> bytes:
    """Return an archive of a few megabytes whose one member unpacks to `n_bytes`."""
    raw = deflated_zeros(n_bytes, wbits=-15, unit=beginning.ljust(2**20, b"\0"))
    size = n_bytes if declared is None else declared
    extra = struct.pack("<HHQQ", 1, 16, size, len(raw))
    sizes = struct.pack("<IIIHH", 0, 2**32 - 1, 2**32 - 1, 5, len(extra))
    local = b"PK\x03\x04" + struct.pack("<HHHHH", 45, 0, 8, 0, 33) + sizes + b"X.npy" + extra + raw
    entry = b"PK\x01\x02" + struct.pack("<HHHHHH", 45, 45, 0, 8, 0, 33) + sizes
    entry += struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"X.npy" + extra
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + b"PK\x05\x06" + end


def _parquet() -> Iterator[Variant]:
    X, labels = example()
    numbers = pa.array(X[:, 0])
    tables = {
        "text": pa.table({"a": labels}),
        "no-rows": pa.table({"a": pa.array([], pa.float64())}),
        "no-columns": pa.table({}),
        "one-row": pa.table({"a": [1.0], "b": [2.0]}),
        "all-null": pa.table({"a": pa.nulls(9), "b": pa.nulls(9, pa.float64())}),
        "repeats": pa.table([numbers, numbers], names=["a", "a"]),
        "binary": pa.table({"a": pa.array([b"\xff\xfe", b"\0", b"x"])}),
        "structures": pa.table({"a": [{"x": 1}, {"x": 2}]}),
        "ragged-lists": pa.table({"a": [[1.0], [1.0, 2.0], []]}),
        "lists-of-lists": pa.table({"a": [[[1.0]], [[2.0]]]}),
        "dates": pa.table({"a": pa.array([1, 2, 3], pa.timestamp("ns"))}),
        "far-dates": pa.table({"a": pa.array([2**62, -(2**62)], pa.timestamp("ms"))}),
        "infinite": pa.table({"a": [1.0, np.inf, 2.0], "b": [1.0, 2.0, 3.0]}),
        "constant": pa.table({"a": [1, 1, 1], "b": [True, True, True]}),
        "names-clash": pa.table({"v": [[1.0], [2.0]], "v[0]": [1.0, 2.0]}),
    }
    for name, data in tables.items():
        yield f"parquet-{name}.parquet", parquet_bytes(data), True
    good = valid_files()["parquet"]
    size = struct.unpack("<I", good[-8:-4])[0]
    footer, body = good[-8 - size : -8], good[: -8 - size]
    for name, rows in (("terarows", 10**12), ("exarows", 2**62), ("negative", -5)):
        changed = footer.replace(b"\x16" + _varint(N_ROWS), b"\x16" + _varint(rows), 1)
        ending = struct.pack("<I", len(changed)) + b"PAR1"
        yield f"parquet-{name}.parquet", body + changed + ending, True
    for name, claimed in (("zero", 0), ("huge", 2**31 - 1), ("negative", 2**32 - 1)):
        content = good[:-8] + struct.pack("<I", claimed) + b"PAR1"
        yield f"parquet-footer-{name}.parquet", content, True
    yield "parquet-marks.parquet", b"PAR1PAR1", True
    yield "parquet-hollow.parquet", b"PAR1" + bytes(1000) + good[-8:], True
    yield "parquet-noise.parquet", b"PAR1" + bytes(range(256)) * 4 + good[-8:], True
    damaged = bytearray(good)
    for place in range(30, len(body), 40):
        damaged[place] ^= 0x55
    yield "parquet-pages.parquet", bytes(damaged), True
    yield "valid-vectors.parquet", parquet_bytes(pa.table({"v": X.tolist()})), False
    yield "valid-decimals.parquet", parquet_bytes(_decimals()), False


def _decimals() -> pa.Table:
    texts = [f"{i}.25" for i in range(9)]
    return pa.table({"a": pa.array(texts).cast(pa.decimal128(10, 2)), "b": pa.array(range(9))})


def _varint(number: int) -> bytes:
    """Return a number as Thrift's compact protocol writes it."""
    rest = ((number << 1) ^ (number >> 63)) & (2**64 - 1)
    result = bytearray()
    while rest > 127:
        result.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*result, rest])
