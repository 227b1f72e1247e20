"""Colors and sizes of chemical elements, as chemists draw them."""

from __future__ import annotations

__all__ = ["colors_of", "element_of", "size_of_element"]

# On light and on dark grounds, and the size relative to carbon.
_ELEMENTS = {
    "H": ("#a9b1bd", "#e8ebf0", 0.6),
    "C": ("#565e69", "#9aa3b0", 1.0),
    "N": ("#2b5fd0", "#6f9bff", 0.95),
    "O": ("#cf2f2b", "#ff6b66", 0.9),
    "S": ("#b98f00", "#f2d13c", 1.2),
    "P": ("#d47000", "#ffa54a", 1.2),
    "F": ("#1f8f3a", "#6fdc86", 0.85),
    "CL": ("#1f8f3a", "#6fdc86", 1.15),
    "BR": ("#8c2f1f", "#d9775f", 1.25),
    "I": ("#6a1fa0", "#bb7af0", 1.4),
    "SE": ("#a86400", "#f0b45c", 1.25),
    "FE": ("#b8501c", "#f08b52", 1.4),
    "ZN": ("#5d6aa8", "#a3aee6", 1.4),
    "MG": ("#287a1e", "#77d168", 1.4),
    "CA": ("#2f7f7a", "#79d6d0", 1.5),
    "NA": ("#7a3fc0", "#be93f5", 1.4),
    "K": ("#7a3fc0", "#be93f5", 1.6),
}
_OTHER = ("#8f2f8a", "#e389de", 1.2)


def element_of(text: str) -> str:
    """Return the symbol of an element as it is written, such as "Cl"; unknown texts stay."""
    symbol = text.strip()
    return symbol.capitalize() if symbol.upper() in _ELEMENTS else symbol


def colors_of(symbols: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the colors of some elements for both themes."""
    known = [_ELEMENTS.get(symbol.upper(), _OTHER) for symbol in symbols]
    return {"light": [each[0] for each in known], "dark": [each[1] for each in known]}


def size_of_element(symbol: str) -> float:
    """Return the size of an element relative to carbon."""
    return _ELEMENTS.get(symbol.upper(), _OTHER)[2]
