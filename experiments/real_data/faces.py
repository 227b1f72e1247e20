"""Whether pan, tilt and light of the sculpture come out in three dimensions."""

from __future__ import annotations

from pathlib import Path

from experiments.harness import FULL, Size, say, write_table
from experiments.ipa_real.run import linear_fit
from experiments.real_data.methods import available, embed
from experiments.real_data.sets import set_named

__all__ = ["faces"]

SHOWN = ("PCA", "Isomap", "UMAP", "IPA", "LocalMDS", "Unfold")
WANTED = {"pan": 0.99, "tilt": 0.86, "light": 0.93}


def faces(folder: Path, size: Size = FULL) -> None:
    """Regress pan, tilt and light on the coordinates of each map."""
    one = set_named("faces")
    data = one.load(size)
    pan, tilt = data.targets["pose"].T
    known = {"pan": pan, "tilt": tilt, "light": data.targets["light"]}
    rows = []
    for name in available(SHOWN):
        made = embed(name, data.X, one.dimension, label=one.name, folder=folder)
        found = {key: linear_fit(made.Y, value) for key, value in known.items()}
        holds = all(found[key] >= least for key, least in WANTED.items())
        rows.append(
            {
                "method": name,
                **{f"R² {key}": value for key, value in found.items()},
                "all as wanted": "yes" if holds else "no",
            }
        )
    write_table(rows, folder / "real_data_faces")
    say(f"wanted: {', '.join(f'{key} {least}' for key, least in WANTED.items())}")
