"""Shares in words, the same on figures, pages and the screen."""

from __future__ import annotations

import math

__all__ = ["percent"]


def percent(share: float) -> str:
    """Return a share in percent, with digits enough not to round a loss away.

    Parameters
    ----------
    share : float
        The share; an error may be above 1.

    Returns
    -------
    str
        Such as "3.1%".

    Examples
    --------
    >>> from isofold._shares import percent
    >>> [percent(s) for s in (0.0, 0.0004, 0.031, 0.27, 0.9996, 1.0, 54.5)]
    ['0%', '0.04%', '3.1%', '27%', '99.96%', '100%', '5,450%']
    """
    if not math.isfinite(share):
        return "-" if math.isnan(share) else "∞"
    value = 100.0 * share
    if 0.0 < value < 1.0 or 99.0 < value < 100.0:
        # As many digits as tell it from the end.
        digits = min(6, max(1, -math.floor(math.log10(min(value, 100.0 - value)))))
        text = f"{value:.{digits}f}"
        return f"{value:.0f}%" if float(text) in (0.0, 100.0) else f"{text}%"
    return f"{value:.1f}%" if 0.0 < value < 9.95 else f"{value:,.0f}%"
