"""The picture of patches on the map, and of how well neighbors among them fit."""

from __future__ import annotations

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray, IntArray
from isofold.assessment.findings import PatchGraph
from isofold.reports.svg import HEIGHT, WIDTH
from isofold.reports.text import markup

__all__ = ["patch_svg", "patch_words"]

MARGIN = 22.0
KEY_HEIGHT = 24.0

FAIR, POOR = 0.02, 0.1
"""Errors, relative to the extent of what two patches share, from which a link is marked."""

MOST_LINKS = 6000
"""Links that are drawn; beyond, the worst of them."""

LARGEST_DISC, SMALLEST_DISC = 9.0, 1.8


def patch_words(patches: PatchGraph) -> tuple[str, str]:
    """Return what the picture says and how to read it."""
    n_links = len(patches.links)
    says = f"{len(patches.centers):,} patches with {n_links:,} overlaps."
    errors = patches.link_error[np.isfinite(patches.link_error)]
    if len(errors):
        says += (
            f" In the median overlap patches differ by {percent(float(np.median(errors)))} of its "
            f" extent, in the worst by {percent(float(errors.max()))}."
        )
    reading = (
        "Discs are patches of points, the larger the more points; lines join patches that share "
        "points. Their kind says how far apart two patches put the points they share. Poor links "
        "show where the data are curved, noisy or torn."
    )
    if patches.centers.shape[1] > 2:
        reading += " The first two axes of the map are shown."
    if n_links > MOST_LINKS:
        reading += f" The worst {MOST_LINKS:,} links are drawn."
    return says, reading


def patch_svg(patches: PatchGraph, title: str, description: str) -> str:
    """Return the picture."""
    places = _places(patches.centers)
    worst_last = np.argsort(np.nan_to_num(patches.link_error, nan=np.inf))[-MOST_LINKS:]
    parts = []
    for level in range(3):
        chosen = [i for i in worst_last if _level(patches.link_error[i]) == level]
        if chosen:
            ends = places[np.asarray(patches.links)[chosen]]
            path = "".join(f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}" for a, b in ends)
            parts.append(f'<path class="link e{level}" fill="none" d="{path}"/>')
    sizes = _radii(patches.sizes)
    for place, radius, error in zip(places, sizes, patches.patch_error, strict=True):
        parts.append(
            f'<circle class="disc e{_level(error)}" cx="{place[0]:.1f}" cy="{place[1]:.1f}" '
            f'r="{radius:.1f}"/>'
        )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="patch-title patch-desc">'
        f'<title id="patch-title">{markup(title)}</title>'
        f'<desc id="patch-desc">{markup(description, 1000)}</desc>{"".join(parts)}{_key()}</svg>'
    )


def _level(error: float) -> int:
    """Return how bad an error is: 0, 1 or 2; unknown is bad."""
    if not np.isfinite(error) or error > POOR:
        return 2
    return int(error > FAIR)


def _places(centers: FloatArray) -> FloatArray:
    """Return where the patches lie in the picture, at the same scale on both axes."""
    shown = np.zeros((len(centers), 2))
    width = min(2, centers.shape[1])
    shown[:, :width] = centers[:, :width]
    low, high = shown.min(axis=0), shown.max(axis=0)
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - KEY_HEIGHT - 2 * MARGIN])
    spans = high / 2 - low / 2
    scale = float(np.min(room[spans > 0] / spans[spans > 0])) if (spans > 0).any() else 1.0
    middle = low / 2 + high / 2
    # In halves, since the difference of two large numbers may leave the range.
    places = (shown / 2 - middle / 2) * scale
    places[:, 1] *= -1
    return places + np.array([WIDTH / 2, (HEIGHT - KEY_HEIGHT) / 2])


def _radii(sizes: IntArray) -> FloatArray:
    """Return radii with areas in proportion to sizes, smaller where there are many patches."""
    largest = min(LARGEST_DISC, max(SMALLEST_DISC, 60.0 / np.sqrt(max(1, len(sizes)))))
    share = np.sqrt(np.asarray(sizes, dtype=np.float64) / max(1, int(np.max(sizes))))
    return np.maximum(1.2, largest * share)


def _key() -> str:
    words = (
        f"below {percent(FAIR)}",
        f"{percent(FAIR)} to {percent(POOR)}",
        f"above {percent(POOR)}",
    )
    y = HEIGHT - 10
    parts = [f'<text class="name" x="8" y="{y}">error</text>']
    for level, text in enumerate(words):
        x = 56 + 134 * level
        parts.append(f'<path class="link e{level}" d="M{x} {y - 4}h28"/>')
        parts.append(f'<text x="{x + 35}" y="{y}">{markup(text)}</text>')
    return "".join(parts)
