"""Colored MVU beside MVU on wines and digits, with classes as side information.

``python -m experiments.colored_mvu --out FOLDER`` writes the table ``colored_mvu.md``. HSIC is that
of all coordinates of the solution with the labels' kernel, lengths are those before the projection;
the 1-NN error is that of the map.
"""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale

from experiments.harness import FULL, Size, command, fit, write_table
from isofold import MVU, ColoredMVU
from isofold._typing import FloatArray, IntArray
from isofold.datasets import Dataset
from isofold.embedding.mvu.colored import hsic
from isofold.neighbors import Bridged
from isofold.quality import one_nn_error


def _sets() -> tuple[Dataset, ...]:
    wine, digits = load_wine(), load_digits()
    return (
        Dataset("wine", scale(wine.data), labels=wine.target),
        Dataset("digits", digits.data, labels=digits.target),
    )


def labels(out: Path, size: Size = FULL) -> None:
    """Compare the two on classes, in two and three dimensions."""
    rows = []
    for data in map(size.part, _sets()):
        X, y = data.X, data.labels
        for r in (2, 3):
            plain = MVU(n_components=r, graph=Bridged(), random_state=0)
            colored = ColoredMVU(n_components=r, graph=Bridged(), random_state=0)
            for method, model in (("MVU", plain), ("ColoredMVU", colored)):
                outcome = fit(f"{data.name}, {method}, r = {r}", _Labeled(model, y), X)
                rows.append(
                    {
                        "data": data.name,
                        "method": method,
                        "components": r,
                        "status": model.solution_.status.name,
                        "gap": model.solution_.gap,
                        "HSIC": hsic(model.solution_.coordinates, y),
                        "1-NN error": float(one_nn_error(outcome.embedding, y)),
                        "median length error": model.unprojected_length_errors_.median,
                        "seconds": outcome.seconds,
                    }
                )
    write_table(rows, out / "colored_mvu")


class _Labeled:
    """A model with its labels, for a harness that fits points alone."""

    def __init__(self, model: MVU | ColoredMVU, y: IntArray) -> None:
        self.model, self.y = model, y

    def fit_transform(self, X: FloatArray) -> FloatArray:
        """Fit the model to points and labels."""
        return self.model.fit_transform(X, self.y)


EXPERIMENTS = {"labels": labels}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
