"""Numbers as text: the same on figures, pages and the screen."""

from __future__ import annotations

import math
from pathlib import Path

__all__ = ["count", "dimensions", "duration", "percent", "significant", "size_of"]


def percent(fraction: float) -> str:
    """Return a fraction in percent, with digits enough not to round a loss away.

    >>> [percent(s) for s in (0.0, 0.0004, 0.031, 0.27, 0.9996, 1.0, 54.5)]
    ['0%', '0.04%', '3.1%', '27%', '99.96%', '100%', '5,450%']
    """
    if not math.isfinite(fraction):
        return "-" if math.isnan(fraction) else "∞"
    value = 100.0 * fraction
    if 0.0 < value < 1.0 or 99.0 < value < 100.0:
        # As many digits as tell it from the end.
        digits = min(6, max(1, -math.floor(math.log10(min(value, 100.0 - value)))))
        text = f"{value:.{digits}f}"
        return f"{value:.0f}%" if float(text) in (0.0, 100.0) else f"{text}%"
    return f"{value:.1f}%" if 0.0 < value < 9.95 else f"{value:,.0f}%"


def significant(value: float, digits: int = 3) -> str:
    """Return a number with some significant digits, without exponent where it can be read.

    >>> [significant(v) for v in (0.031416, 1234567, 0.0, 2.5e-9)]
    ['0.0314', '1,234,567', '0', '2.5e-09']
    """
    if value == 0:
        return "0"
    if 1e3 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def count(number: int, what: str, many: str | None = None) -> str:
    """Return a number with its noun, such as "1 row" or "2,000 rows"."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def dimensions(number: int) -> str:
    """Return a number of dimensions with its noun."""
    return count(number, "dimension")


def duration(seconds: float) -> str:
    """Return a time such as "4.9 s" or "2 min 5 s"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def size_of(path: Path) -> str:
    """Return the size of a file or folder such as "541 kB"."""
    files = (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else (path,)
    return bytes_text(sum(each.stat().st_size for each in files))


def bytes_text(size: float) -> str:
    """Return a number of bytes such as "541 kB"."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
