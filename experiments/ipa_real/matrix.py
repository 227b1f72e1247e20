"""Every dimension from 1 to 12, few and many points, few and many features: always a diagnosis.

Data of four kinds, each in as many features as requested:

- *cloud*: independent normal numbers in all features (no manifold at all);
- *groups*: five such clouds, eight deviations apart;
- *bent*: a five-dimensional cube behind a random sine, with a little noise;
- *flat*: a three-dimensional cloud turned into the features, with a little noise.

A fit is in order if it ends without an exception, all coordinates and figures are finite, and
either nothing is doubted or a warning says what is.
"""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

from experiments.harness import FULL, Row, Size, say, write_table
from isofold import IPA
from isofold._typing import FloatArray
from isofold.exceptions import DoubtfulMapWarning
from isofold.quality import trustworthiness

__all__ = ["KINDS", "every_dimension", "row_of"]

SIZES = (70, 150, 500, 1500, 5000)
FEATURES = (12, 100, 1000)
DIMENSIONS = range(1, 13)
NOISE = 0.02
N_MEASURED = 300
Rng = np.random.RandomState


def _cloud(n: int, d: int, rng: Rng) -> FloatArray:
    return rng.normal(size=(n, d))


def _groups(n: int, d: int, rng: Rng) -> FloatArray:
    centers = rng.normal(size=(5, d))
    centers *= 8.0 / np.linalg.norm(centers, axis=1, keepdims=True)
    return centers[rng.randint(5, size=n)] + rng.normal(size=(n, d))


def _bent(n: int, d: int, rng: Rng) -> FloatArray:
    phase = 2.0 * rng.uniform(size=(n, 5)) @ rng.normal(size=(5, d))
    return np.sin(phase) + NOISE * rng.normal(size=(n, d))


def _flat(n: int, d: int, rng: Rng) -> FloatArray:
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + NOISE * rng.normal(size=(n, d))


KINDS: dict[str, Callable[[int, int, Rng], FloatArray]] = {
    "cloud": _cloud,
    "groups": _groups,
    "bent": _bent,
    "flat": _flat,
}


def every_dimension(folder: Path, size: Size = FULL) -> None:
    """Fit IPA to all of them; write the failures, if any, and what was doubted."""
    rows = []
    for kind, n, d, r in _cases(size):
        X = KINDS[kind](n, d, np.random.RandomState([n, d]))
        rows.append(row_of(kind, X, r))
        say(" | ".join(str(value) for value in rows[-1].values()))
    write_table(rows, folder / "real_every_dimension")
    wrong = [row for row in rows if row["in order"] != "yes"]
    seconds = np.array([row["seconds"] for row in rows])
    say(
        f"{len(rows)} fits, {len(wrong)} not in order. Seconds: median {np.median(seconds):.2g}, "
        f"largest {seconds.max():.3g}."
    )


def row_of(kind: str, X: FloatArray, r: int) -> Row:
    """Return what IPA makes of data in r dimensions."""
    ipa = IPA(n_components=r, random_state=0, n_jobs=1)
    begin = time.process_time()
    row = {"kind": kind, "n": X.shape[0], "d": X.shape[1], "r": r}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Y = ipa.fit_transform(X)
    except Exception:
        last = traceback.format_exc().splitlines()[-1]
        text = {"in order": "NO", "doubts": last, "trustworthiness": np.nan}
        return {**row, **text, "seconds": time.process_time() - begin}
    seconds = time.process_time() - begin
    raised = [doubt.code for doubt in ipa.diagnosis_.raised]
    has_warned = any(issubclass(w.category, DoubtfulMapWarning) for w in caught)
    checked = [finding for finding in ipa.diagnosis_ if not np.isnan(finding.limit)]
    figures = [*(finding.value for finding in checked), ipa.estimated_error_]
    is_finite = bool(np.isfinite(Y).all() and np.isfinite(figures).all())
    trust = trustworthiness(X, Y, n_samples=min(len(X), N_MEASURED), random_state=0)
    return {
        **row,
        "in order": "yes" if is_finite and has_warned == bool(raised) else "NO",
        "doubts": ", ".join(raised) or "none",
        "trustworthiness": float(trust),
        "seconds": seconds,
    }


def _cases(size: Size) -> Iterator[tuple[str, int, int, int]]:
    sizes = dict.fromkeys(size.points(n) for n in size.few(SIZES))
    for kind, n, d in product(size.few(list(KINDS)), sizes, size.few(FEATURES)):
        # The largest are fitted in half of the dimensions, to save an hour.
        for r in size.few(DIMENSIONS if n * d <= 500_000 else DIMENSIONS[1::2]):
            yield kind, n, d, r
