"""New points on a map that is there: GOoSE beside openTSNE's own ``transform``.

10,000 digits of MNIST make a t-SNE map; 100,000 are placed on it: the other 60,000 images, and
40,000 of these again with Gaussian noise of 0.02 of the grey scale. The input is 50 principal
components or raw pixels. *Agreement*: how often the nearest image of the map has the label of a new
one, among the 60,000. *Fit* and *place* are seconds of the two steps, *cpu* those of all
processors, which other work on the machine hardly changes; openTSNE keeps the index of its map,
which was built before. Then GOoSE alone, by the number of new points and of dimensions.

The map is made once by openTSNE (``pip install openTSNE``) and kept in the folder for temporary
files; without openTSNE all cases fail but those on the Swiss roll.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.harness import Case
from isofold._typing import FloatArray, IntArray
from isofold.datasets import load_mnist, swiss_roll
from isofold.extension import fit_barycentric, fit_goose
from isofold.linalg import principal_coordinates

N_MAP, N_NEW, N_AGAIN = 10_000, 60_000, 40_000
NOISE = 0.02
N_AXES = 50
N_JOBS = 2
PERPLEXITY = 30
CACHE = Path(tempfile.gettempdir()) / "isofold-benchmarks"


@dataclass(frozen=True, eq=False)
class Digits:
    """A map of digits and new ones.

    Attributes
    ----------
    points, new : ndarray
        Images of the map and images to place.
    images : ndarray of shape (N_MAP, 2)
        The map.
    labels, new_labels : ndarray of int
        Digits of the map, and of the first new images.
    """

    points: FloatArray
    new: FloatArray
    images: FloatArray
    labels: IntArray
    new_labels: IntArray

    def agreement(self, placed: FloatArray) -> float:
        """Return how often the next image on the map has the right label."""
        nearest = cKDTree(self.images).query(placed[: len(self.new_labels)])[1]
        return float(np.mean(self.labels[nearest] == self.new_labels))


def digits(n_axes: int | None, n_new: int = N_NEW + N_AGAIN) -> Digits:
    """Return digits as principal components or, with None, as pixels, with a map of t-SNE."""
    mnist = load_mnist()
    rng = np.random.RandomState(0)
    order = rng.permutation(len(mnist.X))
    X, labels = mnist.X[order] / np.float32(255), mnist.labels[order]
    points, fresh = X[:N_MAP], X[N_MAP:]
    again = fresh[:N_AGAIN] + rng.normal(0, NOISE, (N_AGAIN, X.shape[1])).astype(np.float32)
    new = np.concatenate((fresh, again))[:n_new]
    if n_axes is not None:
        principal = principal_coordinates(points, n_axes)
        new = (new - principal.mean) @ principal.axes.astype(np.float32)
        points = principal.coordinates
    name = f"tsne-mnist-{N_MAP}-{n_axes or 'pixels'}.npy"
    images = _kept(name, partial(_make_map, points))
    return Digits(points, new.astype(np.float32), images, labels[:N_MAP], labels[N_MAP:][:n_new])


def sheet(n_new: int) -> Digits:
    """Return points of the Swiss roll, with its true sheet as map; labels are its checkerboard."""
    roll = swiss_roll(N_MAP + n_new, random_state=0)
    return Digits(
        roll.X[:N_MAP], roll.X[N_MAP:], roll.truth[:N_MAP], roll.labels[:N_MAP], roll.labels[N_MAP:]
    )


def place_goose(data: Digits, **options: Any) -> dict[str, Any]:
    """Place by GOoSE."""
    return _place(partial(fit_goose, n_jobs=N_JOBS, **options), data)


def place_barycentric(data: Digits) -> dict[str, Any]:
    """Place by barycentric weights."""
    return _place(partial(fit_barycentric, n_jobs=N_JOBS), data)


def tsne_with_map(n_axes: int | None) -> tuple[Digits, Any]:
    """Return the digits and openTSNE's embedding, ready to place new ones."""
    from openTSNE.affinity import PerplexityBasedNN

    data = digits(n_axes)
    affinities = PerplexityBasedNN(
        data.points, perplexity=PERPLEXITY, n_jobs=N_JOBS, random_state=0
    )
    # It warns that the map is large for a start, but nothing is optimized except new points.
    return data, _tsne().prepare_initial(affinities=affinities, initialization=data.images)


def place_tsne(prepared: tuple[Digits, Any]) -> dict[str, Any]:
    """Place by openTSNE with its defaults."""
    data, embedding = prepared
    clocks = _clocks()
    placed = np.asarray(embedding.transform(data.new))
    place, cpu = _clocks() - clocks
    return {"place": place, "cpu": cpu, "agreement": data.agreement(placed)}


def _place(fit: Callable[[FloatArray, FloatArray], Any], data: Digits) -> dict[str, Any]:
    begin = _clocks()
    extension = fit(data.points, data.images)
    middle = _clocks()
    placed = extension.transform(data.new)
    end = _clocks()
    return {
        "fit": (middle - begin)[0],
        "place": (end - middle)[0],
        "cpu": (end - begin)[1],
        "agreement": data.agreement(placed),
    }


def _clocks() -> FloatArray:
    """Return seconds by the clock and of all processors."""
    return np.array([time.perf_counter(), time.process_time()])


def _make_map(points: FloatArray) -> FloatArray:
    return np.asarray(_tsne().fit(points), dtype=np.float64)


def _tsne() -> Any:
    """Return openTSNE's estimator."""
    try:
        from openTSNE import TSNE
    except ImportError as error:
        msg = "The t-SNE map needs openTSNE: pip install openTSNE"
        raise ImportError(msg) from error
    return TSNE(perplexity=PERPLEXITY, n_jobs=N_JOBS, random_state=0)


def _kept(name: str, make: Callable[[], FloatArray]) -> FloatArray:
    """Return an array that was made once, also by an earlier case."""
    path = CACHE / name
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        np.save(path, make())
    return np.asarray(np.load(path))


INPUTS = {"50 components": N_AXES, "pixels": None}
CASES = []
for words, n_axes in INPUTS.items():
    task = f"{N_NEW + N_AGAIN:,} new on t-SNE of {N_MAP:,}, {words}"
    prepare = partial(digits, n_axes)
    CASES += [
        Case(task, "isofold GOoSE", prepare, place_goose, is_slow=n_axes is None),
        Case(task, "isofold GOoSE, HNSW", prepare, partial(place_goose, search="hnsw")),
        Case(task, "isofold barycentric", prepare, place_barycentric, is_slow=n_axes is None),
        Case(task, "openTSNE transform", partial(tsne_with_map, n_axes), place_tsne, is_slow=True),
    ]
for n_new in (10_000, 30_000, 100_000, 300_000):
    CASES.append(
        Case(
            "growth, 3 dimensions",
            f"isofold GOoSE, {n_new:,} new",
            partial(sheet, n_new),
            place_goose,
        )
    )
for n_new in (10_000, 30_000):
    for words, n_axes in INPUTS.items():
        CASES.append(
            Case(
                f"growth, {words}",
                f"isofold GOoSE, {n_new:,} new",
                partial(digits, n_axes, n_new),
                place_goose,
            )
        )
