"""Fit IPA, Isomap and UMAP to a data set; write a picture, the diagnosis and the scorecards."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from experiments import peers
from experiments.harness import FULL, Outcome, Row, Size, fit, say, write_table
from experiments.ipa_real.studies import Study
from experiments.pictures import save, show_map, thumbnails
from isofold import IPA
from isofold._typing import FloatArray
from isofold.datasets import Dataset
from isofold.exceptions import DisconnectedGraphWarning
from isofold.linalg import procrustes
from isofold.quality import Scorecard, scorecard

__all__ = ["linear_fit", "run_study"]

FEW_NEIGHBORS, N_NEIGHBORS = 6, 12
"""Isomap is shown with both: its authors took 6 for their faces."""
SHOWN = (
    "trustworthiness",
    "continuity",
    "neighbor_error",
    "mrre_input",
    "mrre_embedding",
    "length_ratio",
    "length_error_median",
    "length_error_p95",
    "residual_variance",
    "stress",
    "one_nn_error",
)


def run_study(study: Study, folder: Path, size: Size = FULL) -> None:
    """Run one study in each of its dimensions."""
    data = size.part(study.load())
    say(f"{data}")
    rows, words = [], []
    for r in study.dimensions:
        drawn = []
        for outcome in _outcomes(data.X, r):
            card = _score(data, outcome)
            rows.append(_row(data, outcome, card, r))
            drawn.append((outcome, card))
            if isinstance(outcome.model, IPA):
                words.append(f"{study.name}, n_components={r}\n{outcome.model.diagnosis_}\n")
        _draw(data, drawn, r, folder / f"real_{study.name}_{r}.png")
    write_table(rows, folder / f"real_{study.name}")
    (folder / f"real_{study.name}_diagnosis.txt").write_text("\n".join(words), encoding="utf-8")
    say("\n".join(words))


def linear_fit(Y: FloatArray, target: FloatArray) -> float:
    """Return R² of the linear regression of one target on all coordinates of a map."""
    return float(LinearRegression().fit(Y, target).score(Y, target))


def _outcomes(X: FloatArray, r: int) -> Iterator[Outcome]:
    yield fit("IPA", IPA(n_components=r, random_state=0), X)
    yield fit(f"Isomap, k = {FEW_NEIGHBORS}", peers.isomap(FEW_NEIGHBORS, r), X)
    yield fit(f"Isomap, k = {N_NEIGHBORS}", peers.isomap(N_NEIGHBORS, r), X)
    try:
        umap = peers.umap(n_components=r)
    except ImportError:
        say("UMAP is left out: it needs `pip install umap-learn`.")
    else:
        yield fit("UMAP", umap, X)


def _score(data: Dataset, outcome: Outcome) -> Scorecard:
    with warnings.catch_warnings():
        # The diagnosis says that data are disconnected.
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return scorecard(data.X, outcome.embedding, labels=data.labels, random_state=0)


def _doubts(model: IPA) -> str:
    return ", ".join(doubt.code for doubt in model.diagnosis_.raised) or "none"


def _row(data: Dataset, outcome: Outcome, card: Scorecard, r: int) -> Row:
    model = outcome.model
    row: dict[str, Any] = {"r": r, "method": outcome.name, "seconds": outcome.seconds}
    row |= {name: float(card[name]) for name in SHOWN if name in card}
    if "pose" in data.targets:
        pan, tilt, light = *data.targets["pose"].T, data.targets["light"]
        for name, target in (("pan", pan), ("tilt", tilt), ("light", light)):
            row[f"R² {name}"] = linear_fit(outcome.embedding, target)
    if isinstance(model, IPA):
        row["doubts"] = _doubts(model)
        row["estimated error"] = model.estimated_error_
        row["cut off"] = model.discarded_variance_ratio_
    else:
        row |= {"doubts": "", "estimated error": "", "cut off": ""}
    row["warnings"] = " ".join(outcome.warnings) or "none"
    return row


def _draw(data: Dataset, drawn: list[tuple[Outcome, Scorecard]], r: int, path: Path) -> None:
    figure, panels = plt.subplots(2, 2, figsize=(15, 13), layout="constrained")
    color, shades = _colors(data)
    for axes in panels.flat[len(drawn) :]:
        axes.axis("off")
    for axes, (outcome, card) in zip(panels.flat, drawn, strict=False):
        title = (
            f"{outcome.name}, {'first two of ' if r > 2 else ''}{r} components: "
            f"trustworthiness {card['trustworthiness']:.3f}, "
            f"median length error {card['length_error_median']:.2f}, {outcome.seconds:.1f} s"
        )
        if isinstance(outcome.model, IPA):
            title += f"\ndoubts: {_doubts(outcome.model)}"
        Y = outcome.embedding
        if data.truth is not None:
            Y = procrustes(Y, data.truth, scale=True).transform.apply(Y)
        show_map(axes, Y, color, title, s=8)
        if data.image_shape is not None:
            images = data.X.reshape(len(data.X), *data.image_shape)
            # Colors tell classes apart; without them, images tell all there is.
            n_across = 12 if data.labels is None else 7
            thumbnails(axes, Y, images, n_across=n_across, color=color)
    if shades:
        marks = [plt.Line2D([], [], marker="o", ls="", color=shades[name]) for name in shades]
        figure.legend(marks, list(shades), loc="outside lower center", ncols=10)
    save(figure, path)


def _colors(data: Dataset) -> tuple[Any, dict[str, Any]]:
    """Return a color a sample and, for classes, the legend."""
    if data.labels is None:
        values = data.targets["pose"][:, 0] if "pose" in data.targets else np.arange(len(data.X))
        place = np.argsort(np.argsort(values)) / len(values)
        return plt.get_cmap("viridis")(place), {}
    present = np.unique(data.labels)
    shades = plt.get_cmap("tab10")(np.arange(len(present)))
    names = [data.target_names[c] if data.target_names else str(c) for c in present]
    return shades[np.searchsorted(present, data.labels)], dict(zip(names, shades, strict=True))
