"""The distinct texts of a column, so that what is done to texts is done once to each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._typing import IntArray

__all__ = ["distinct_of"]


def distinct_of(values: npt.NDArray[Any]) -> tuple[list[Any], IntArray]:
    """Return the distinct values of a column of text, and which of them every entry is.

    Where there is anything but text and None, all entries count as different: equal ones (1 and
    true) may have different texts.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.tables.distinct import distinct_of
    >>> texts, codes = distinct_of(np.array(["b", None, "b", "a"], dtype=object))
    >>> texts, codes.tolist()
    (['b', None, 'a'], [0, 1, 0, 2])
    """
    # Of other types `tolist` would make Python's own, whose texts may differ.
    entries = values.tolist() if values.dtype.kind in "OU" else list(values)
    if not set(map(type, entries)) <= {str, type(None)}:
        return entries, np.arange(len(entries))
    code_of = {text: code for code, text in enumerate(dict.fromkeys(entries))}
    codes = np.fromiter(map(code_of.__getitem__, entries), dtype=np.intp, count=len(entries))
    return list(code_of), codes
