"""Colors of all figures, on paper and on screen, that color-blind people can tell apart.

Classes on light backgrounds: six colors of Okabe and Ito, their black, and for their yellow, which
does not show there, the indigo of Paul Tol; a brown and a violet that differ most from these under
all kinds of color blindness. On dark backgrounds: ten colors that differ as much. More classes
repeat the colors with other marks. Numbers: cividis, whose lightness rises evenly and which
people with red-green blindness see as others do.
"""

from __future__ import annotations

__all__ = [
    "ACCENT",
    "BAD",
    "CLASSES_DARK",
    "CLASSES_LIGHT",
    "MARKS",
    "OTHERS",
    "SEQUENTIAL",
    "class_color",
    "sequential_color",
]

CLASSES_LIGHT = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#d55e00",
    "#56b4e9",
    "#332288",
    "#222222",
    "#603000",
    "#9000fc",
)
"""Colors of classes on light backgrounds."""

CLASSES_DARK = (
    "#1a77ff",
    "#db7b00",
    "#09d692",
    "#a26e87",
    "#e24145",
    "#a69ce0",
    "#ffd519",
    "#f5f5f5",
    "#a8f078",
    "#6c60b4",
)
"""Colors of classes on dark backgrounds."""

OTHERS = "#999999"
"""Classes beyond those that have a color of their own."""

ACCENT, BAD = "#0072b2", "#d55e00"
"""What is shown, and what is wrong with it."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Marks of matplotlib: with more classes than colors, the next ones take the next mark."""

_CIVIDIS = (
    "00224e00234f00245100255300255400265600275800285900285b00295d002a5f002a61002b62002c64"
    "002c66002d68002e6a002e6c002f6d00306f0030700031700031710132710533710833700c34700f3570"
    "12357014367016377018376f1a386f1c396f1e3a6f203a6f213b6e233c6e243c6e263d6e273e6e293f6e"
    "2a3f6d2b406d2d416d2e416d2f426d31436d32436d33446d34456c35456c36466c38476c39486c3a486c"
    "3b496c3c4a6c3d4a6c3e4b6c3f4c6c404c6c414d6c424e6c434e6c444f6c45506c46516c47516c48526c"
    "49536c4a536c4b546c4c556c4d556c4e566c4f576c50576c51586d52596d535a6d545a6d555b6d555c6d"
    "565c6d575d6d585e6d595e6e5a5f6e5b606e5c616e5d616e5e626e5e636f5f636f60646f61656f62656f"
    "636670646770656870656870666970676a71686a71696b716a6c716b6d726c6d726c6e726d6f726e6f73"
    "6f70737071737172747272747273747374757474757575757676767777767777777878777979777a7a78"
    "7b7a787c7b787d7c787e7c787e7d787f7e78807f78817f78828079838179848279858279868379878478"
    "8885788985788a86788b87788c88788d88788e89788f8a78908b78918b78928c78928d78938e78948e77"
    "958f779690779791779892779992779a93769b94769c95769d95769e96769f9775a09875a19975a29975"
    "a39a74a49b74a59c74a69c74a79d73a89e73a99f73aaa073aba072aca172ada272aea371afa471b0a571"
    "b1a570b3a670b4a76fb5a86fb6a96fb7a96eb8aa6eb9ab6dbaac6dbbad6dbcae6cbdae6cbeaf6bbfb06b"
    "c0b16ac1b26ac2b369c3b369c4b468c5b568c6b667c7b767c8b866c9b965cbb965ccba64cdbb63cebc63"
    "cfbd62d0be62d1bf61d2c060d3c05fd4c15fd5c25ed6c35dd7c45cd9c55cdac65bdbc75adcc859ddc858"
    "dec958dfca57e0cb56e1cc55e2cd54e4ce53e5cf52e6d051e7d150e8d24fe9d34eead34cebd44bedd54a"
    "eed649efd748f0d846f1d945f2da44f3db42f5dc41f6dd3ff7de3ef8df3cf9e03afbe138fce236fde334"
    "fee434fee535fee636fee838"
)

SEQUENTIAL = tuple(f"#{_CIVIDIS[start : start + 6]}" for start in range(0, len(_CIVIDIS), 6))
"""Cividis (Nuñez, Anderton and Renslow, 2018) in 256 steps, dark to light."""


def class_color(number: int, *, dark: bool = False) -> str:
    """Return the color of a class, counted from zero; colors repeat after ten."""
    colors = CLASSES_DARK if dark else CLASSES_LIGHT
    return colors[number % len(colors)]


def sequential_color(fraction: float) -> str:
    """Return the color of a number, given as a fraction of the range from 0 to 1."""
    last = len(SEQUENTIAL) - 1
    return SEQUENTIAL[min(last, max(0, round(fraction * last)))]
