"""Where tables come from: which format a path names, and what must not even be opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from isofold._files import is_store
from isofold._memory import require_memory
from isofold.exceptions import InvalidInputError
from isofold.tables.text_safety import one_line, quoted, refusal

__all__ = ["READABLE", "Source", "find_source", "refuse_bomb", "require_room"]

FORMATS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".h5ad": "h5ad",
    ".zarr": "zarr",
    ".zarr.zip": "zarr",
    ".csv.gz": "text",
    ".tsv.gz": "text",
    ".txt.gz": "text",
}
READABLE = ".csv, .tsv, .txt (also .gz), .parquet, .npy, .npz, .h5ad, .zarr"

# How files of some kinds begin, and what to say when one of them has another kind's ending.
BEGINNINGS = {
    b"PAR1": ("parquet", "a Parquet file"),
    b"\x93NUMPY": ("npy", "a NumPy array"),
    b"PK\x03\x04": ("zip", "a zip archive (as .npz, .xlsx and zipped .zarr are)"),
    b"\x89HDF\r\n\x1a\n": ("h5ad", "an HDF5 file (as .h5ad is)"),
    b"\x1f\x8b": ("gz", "compressed by gzip"),
    b"\x89PNG": ("picture", "a picture (PNG)"),
    b"\xff\xd8\xff": ("picture", "a picture (JPEG)"),
    b"GIF8": ("picture", "a picture (GIF)"),
    b"%PDF": ("pdf", "a PDF document"),
    b"BZh": ("bzip2", "compressed by bzip2"),
    b"\xfd7zXZ": ("xz", "compressed by xz"),
    b"\x28\xb5\x2f\xfd": ("zstd", "compressed by zstd"),
    b"\x7fELF": ("program", "a program"),
    b"\xd0\xcf\x11\xe0": ("office", "an old Office document (as .xls is)"),
    b"ARROW1": ("arrow", "an Arrow file"),
    b"SQLite": ("sqlite", "an SQLite database"),
}
ZIPPED = ("npz", "zarr")

BOMB_RATIO = 250
BOMB_BYTES = 2**30
"""Numbers and text shrink to a tenth, seldom to a hundredth; deflate can pack a thousand zeros
into one byte. What stays below a gigabyte does no harm."""


class Source:
    """A file or folder that may be opened.

    Attributes
    ----------
    path : Path
        Where it is.
    name : str
        Its name, ready for the screen.
    format : str
        One of "text", "parquet", "npy", "npz", "h5ad", "zarr".
    ending : str
        The ending of its name that decided.
    size : int
        Bytes of a file; 0 for a folder.
    """

    def __init__(self, path: Path, ending: str, size: int) -> None:
        self.path = path
        self.name = quoted(path.name)[1:-1]
        self.format = FORMATS[ending]
        self.ending = ending
        self.size = size


def find_source(path: str | os.PathLike[str]) -> Source:
    """Return what a path names, or say why it cannot be read."""
    name = os.fspath(path)
    if not name:
        msg = "The name of the input file is empty. Pass the path of a file."
        raise InvalidInputError(msg)
    if name == "-":
        msg = (
            "Tables are not read from a pipe, because they are read more than once. "
            "Save the stream as a file and pass its path."
        )
        raise InvalidInputError(msg)
    location = Path(name)
    shown = quoted(name, longest=120)[1:-1]
    status = _status(location, shown)
    is_folder = stat.S_ISDIR(status.st_mode)
    if is_folder and is_store(location):
        return Source(location, ".zarr", 0)
    if is_folder:
        problem = "this is a folder, but not a Zarr store. Pass the path of a file."
        raise refusal(shown, problem)
    if not stat.S_ISREG(status.st_mode):
        problem = (
            "this is a device or a pipe, not a file. Save its contents as a file and pass its path."
        )
        raise refusal(shown, problem)
    source = Source(location, _ending(location, shown), status.st_size)
    _refuse_other_format(source, _beginning(location, shown))
    return source


def _status(location: Path, shown: str) -> os.stat_result:
    try:
        return location.stat()
    except FileNotFoundError:
        problem = "there is no such file."
        if location.is_symlink():
            problem = "this is a link to a file that does not exist."
        elif location.parent.is_dir():
            problem += _similar_files(location)
        raise refusal(shown, problem) from None
    except (OSError, ValueError) as error:
        # A name with a NUL, one that is too long, a circle of links, a folder one may not enter.
        reason = getattr(error, "strerror", None) or error
        raise refusal(shown, f"this path cannot be opened: {one_line(reason)}.") from None


def _similar_files(location: Path) -> str:
    import difflib

    try:
        with os.scandir(location.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(5000), strict=False)]
    except OSError:
        return ""
    close = difflib.get_close_matches(location.name, names, n=1)
    return f" Did you mean {quoted(close[0])}?" if close else ""


def _ending(location: Path, shown: str) -> str:
    name = location.name.lower()
    fitting = [ending for ending in FORMATS if name.endswith(ending)]
    if not fitting:
        problem = (
            f"a file whose name ends in {quoted(location.suffix)} is not a table that isofold "
            f"reads. Convert it to one of {READABLE}."
        )
        if not location.suffix:
            problem = f"the name has no ending, so the format is unknown. Rename it to {READABLE}."
        raise refusal(shown, problem)
    return max(fitting, key=len)


def _beginning(location: Path, shown: str) -> bytes:
    try:
        with location.open("rb") as file:
            return file.read(16)
    except OSError as error:
        problem = f"the file cannot be read: {one_line(error.strerror)}."
        raise refusal(shown, problem) from None


def _refuse_other_format(source: Source, beginning: bytes) -> None:
    if not beginning:
        raise refusal(source.name, "the file is empty (0 bytes). Was it saved completely?")
    for start, (kind, contents) in BEGINNINGS.items():
        if beginning.startswith(start) and not _fits(source, kind):
            problem = f"the name ends in {source.ending}, but the contents are {contents}."
            raise refusal(source.name, f"{problem} Rename or convert the file.")


def _fits(source: Source, kind: str) -> bool:
    if kind == "gz":
        return source.ending.endswith(".gz")
    return kind == source.format or (kind == "zip" and source.format in ZIPPED)


def require_room(needed: int, source: str) -> None:
    """Refuse to read what would not fit into memory."""
    require_memory(
        needed,
        what=f"{source}: reading it",
        instead="Take fewer rows or columns, or a machine with more memory.",
    )


def refuse_bomb(packed: int, unpacked: int, source: str, *, harmless: int = BOMB_BYTES) -> None:
    """Refuse a small file that claims to hold far more than data ever shrink to."""
    if unpacked > harmless and unpacked > BOMB_RATIO * packed:
        problem = (
            f"{packed:,} bytes would unpack to {unpacked / 2**30:.1f} GiB or more. No measured "
            f"data shrink so much: the file is damaged, or made to fill the memory. If it is "
            f"neither, save it without compression."
        )
        raise refusal(source, problem)
