"""Save and load fitted models.

A model file is a zip of ``model.json`` (versions, notes, the tree of objects, checksums) and of
arrays as NumPy writes them. It holds numbers and text only: loading builds nothing but classes of
isofold (and unfitted ones of scikit-learn, if they were parameters), so that a file cannot
run code.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import numpy as np

from isofold._files import read_path
from isofold.exceptions import InvalidInputError, ModelFileError
from isofold.storage.archive import ModelArchive, open_archive, write_archive
from isofold.storage.registry import FORMAT_VERSION, KINDS, MIGRATIONS, READABLE_FROM, kind_of
from isofold.storage.validation import DAMAGED, Flaw, require

__all__ = ["load", "load_with_notes", "save"]

FORMAT = "isofold model"
VERSION = re.compile(r"[0-9]{1,6}(\.[0-9a-z]{1,12}){1,4}")


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    notes: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Save a fitted model in a file that every later version of isofold loads.

    Parameters
    ----------
    model : estimator
        A fitted estimator of isofold.
    path : str or path-like
        The file, by custom with the ending ``.iso``. It is written as a whole or not at all.
    notes : dict or None, default=None
        Plain JSON to keep with the model: names, units, where the data came from.
    overwrite : bool, default=False
        Whether a file that is there is replaced.

    Raises
    ------
    InvalidInputError
        If the model is not fitted, holds what a file cannot (a function, a fitted estimator of
        another library), or there is such a file already.

    See Also
    --------
    load : Load it.

    Notes
    -----
    The loaded model gives the same bytes: parameters, fitted attributes, `transform`. The same
    model makes the same file. Arrays get the order of bytes of the machine that loads them. Three
    things do not come back: caches; the fitted estimator of another library in an `OutOfSample`,
    which `transform` does not need; and what external estimators among the parameters learned.
    Approximate searches (``search="lists"``, ``"hnsw"``) are built again, which gives the same
    neighbors with the same versions of NumPy and faiss.

    `pickle` and `joblib` keep everything, but loading such files runs code, and another version
    may not read them.

    Examples
    --------
    >>> import tempfile
    >>> import isofold
    >>> from isofold.datasets import s_curve
    >>> X = s_curve(600, random_state=0).X
    >>> ipa = isofold.IPA(random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     isofold.save(ipa, f"{folder}/curve.iso")
    ...     again = isofold.load(f"{folder}/curve.iso")
    >>> bool((again.transform(X) == ipa.transform(X)).all())
    True
    """
    from isofold.storage.encode import Encoder

    target = read_path(path)
    name = _name_of_model(model)
    encoder = Encoder()
    try:
        root = encoder.encode(model, name)["number"]
    except RecursionError as error:
        msg = f"{name} holds lists in lists in lists, too deep for a model file. Flatten them."
        raise InvalidInputError(msg) from error
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "readable_from": READABLE_FROM,
        "isofold": _version(),
        "notes": _checked_notes(notes),
        "model": root,
        "objects": encoder.objects,
    }
    write_archive(target, header, encoder.arrays, overwrite=overwrite)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` has written, by this version of isofold or an earlier one.

    Parameters
    ----------
    path : str or path-like
        The file. It may come from anyone: loading it runs no code.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ModelFileError
        If it is no model file, is damaged, or was written by a newer version of isofold.
    MissingDependencyError
        If the model needs an optional package, such as faiss for an approximate search.

    See Also
    --------
    save : Write such a file.
    """
    return load_with_notes(path)[0]


def load_with_notes(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Load a model and the notes that were saved with it."""
    source = read_path(path)
    try:
        with open_archive(source) as archive:
            return _read(archive)
    except Flaw as flaw:
        reason = str(flaw)
    except MemoryError as error:
        reason = str(error) or "There is not enough memory for it."
    except ImportError:
        raise
    except OSError as error:
        reason = f"It cannot be read: {error.strerror or error}."
    except Exception as error:
        # Inconsistent numbers may raise anything: the file is to blame.
        kind = type(error).__name__
        reason = f"Its contents are inconsistent ({kind}: {str(error)[:200]}). {DAMAGED}"
        msg = f"{str(source)!r} cannot be loaded. {reason}"
        raise ModelFileError(msg) from error
    msg = f"{str(source)!r} cannot be loaded. {reason}"
    raise ModelFileError(msg)


def _read(archive: ModelArchive) -> tuple[Any, dict[str, Any]]:
    from isofold.storage.decode import Decoder, UnknownNameError

    header = _migrated(archive.header)
    notes = header.get("notes")
    require(isinstance(notes, dict), "its notes are not a table")
    decoder = Decoder(archive.arrays())
    try:
        with np.errstate(all="ignore"):
            model = decoder.decode(header.get("objects"), header.get("model"))
    except UnknownNameError as flaw:
        msg = f"{flaw} {_advice(header)}"
        raise Flaw(msg) from flaw
    require(_is_model(model), "it does not hold a model")
    return model, dict(notes or {})


def _migrated(header: dict[str, Any]) -> dict[str, Any]:
    """Return a header as this version writes it, or refuse one that is newer."""
    if header.get("format") != FORMAT:
        msg = "It is a zip file, but not a model file. Pass a file that isofold.save wrote."
        raise Flaw(msg)
    version: Any = header.get("format_version")
    least: Any = header.get("readable_from")
    require(
        type(version) is int and type(least) is int and 1 <= least <= version,
        "it does not say which version it is",
    )
    if least > FORMAT_VERSION:
        msg = (
            f"It has the format {version} of isofold {_written_by(header)}, and isofold "
            f"{_version()} reads formats up to {FORMAT_VERSION}. {_advice(header)}"
        )
        raise Flaw(msg)
    for older in range(version, FORMAT_VERSION):
        header = MIGRATIONS[older](header)
    return header


def _written_by(header: dict[str, Any]) -> str:
    """Return the version that wrote a file, if it can be shown."""
    version = header.get("isofold")
    is_version = isinstance(version, str) and VERSION.fullmatch(version) is not None
    return str(version) if is_version else "of an unknown version"


def _advice(header: dict[str, Any]) -> str:
    """Return what to do about a file that holds what is not known here."""
    version = header.get("isofold")
    if not isinstance(version, str) or VERSION.fullmatch(version) is None:
        return DAMAGED
    if version == _version():
        return f"It says that this version ({version}) has written it, so it is damaged. {DAMAGED}"
    return f'Install the version that wrote it, or a later one: pip install "isofold>={version}"'


def _version() -> str:
    # Importing the package here would count as importing all of its rooms.
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def _is_model(model: Any) -> bool:
    is_ours = kind_of(model) is not None and hasattr(model, "fit")
    return is_ours and any(name.endswith("_") for name in vars(model))


def _name_of_model(model: Any) -> str:
    """Return the name of the class of a model, or refuse what is none."""
    name = type(model).__name__
    if kind_of(model) is None or not hasattr(model, "fit"):
        models = [name for name, kind in KINDS.items() if ".embedding." in kind.home]
        msg = (
            f"{'The class ' + model.__name__ if isinstance(model, type) else 'A ' + name} is not "
            f"an estimator of isofold, such as {', '.join(models[:4])}; only these can be saved. "
            f"Wrap another embedder in OutOfSample, or use joblib.dump."
        )
        raise InvalidInputError(msg)
    if not _is_model(model):
        msg = f"This {name} is not fitted, so there is nothing to save. Call fit first."
        raise InvalidInputError(msg)
    return name


def _checked_notes(notes: Any) -> dict[str, Any]:
    """Return notes that come back as they are."""
    if notes is None:
        return {}
    try:
        is_plain = isinstance(notes, dict) and json.loads(json.dumps(notes)) == notes
        if is_plain:
            json.dumps(notes, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    if not is_plain:
        msg = (
            "notes must be a dict of plain JSON: text, finite numbers, True, False, None, and "
            "lists and dicts (with names for keys) of these."
        )
        raise InvalidInputError(msg)
    return dict(notes)
