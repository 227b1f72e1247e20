"""Unfold a swiss roll with a hole, score the map, and write a picture and its scorecard.

Run with ``make demo``, or ``python examples/demo.py [OUTPUT_FOLDER]``.
"""

from __future__ import annotations

import html
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from isofold import IPA
from isofold.datasets import Dataset, holed_swiss_roll
from isofold.linalg import procrustes
from isofold.quality import Scorecard, scorecard

N_POINTS = 2000
N_NEIGHBORS = 12


def draw(roll: Dataset, card: Scorecard, aligned, path: Path) -> None:
    """Draw the data, the map on top of the truth, and where the map is wrong."""
    figure = plt.figure(figsize=(13, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(2, 3))
    arc = roll.truth[:, 0]
    data = figure.add_subplot(grid[:, 0], projection="3d")
    data.scatter(*roll.X.T, c=arc, s=5, cmap="viridis")
    data.view_init(elev=12, azim=-75)
    data.set_title(f"the data: {len(roll.X):,} points in 3-D")
    unfolded = figure.add_subplot(grid[0, 1], aspect="equal")
    unfolded.scatter(*roll.truth.T, c="0.8", s=14, label="true sheet")
    points = unfolded.scatter(*aligned.T, c=arc, s=3, cmap="viridis", label="IPA")
    figure.colorbar(points, ax=unfolded, label="true arc length")
    unfolded.set_title(f"the map on the truth: error {card['procrustes_error']:.3%}")
    unfolded.legend(
        loc="upper left", bbox_to_anchor=(0, -0.12), ncols=2, markerscale=3, frameon=False
    )
    wrong = figure.add_subplot(grid[1, 1], aspect="equal")
    points = wrong.scatter(*aligned.T, c=card.isometry.per_point, s=5, cmap="magma_r", vmin=0)
    figure.colorbar(points, ax=wrong, label="length error")
    wrong.set_title(
        f"mean length error of each point's neighbors (median {card['length_error_median']:.2%})"
    )
    figure.savefig(path, dpi=130)


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>isofold demonstration</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }}
img {{ max-width: 100% }}
table {{ border-collapse: collapse }}
caption {{ text-align: left; padding: 0.5em 0; font-weight: bold }}
td, th {{ padding: 0.2em 0.8em; border-bottom: 1px solid #ccc; text-align: left }}
td:nth-child(-n + 4) {{ text-align: right; font-variant-numeric: tabular-nums }}
</style>
<h1>A swiss roll with a hole, unfolded by isometric patch alignment</h1>
<img src="map.png" alt="The data, the map on the true sheet, and its length errors">
<p>{certificate}</p>
<h2>Diagnosis</h2>
<p>{summary} Estimated error of the coordinates: {error:.2%}.</p>
<pre>{diagnosis}</pre>
<h2>Quality</h2>
{table}
</html>
"""


def main(folder: Path) -> None:
    """Run the demonstration."""
    folder.mkdir(parents=True, exist_ok=True)
    roll = holed_swiss_roll(N_POINTS, random_state=0)
    ipa = IPA(random_state=0)
    embedding = ipa.fit_transform(roll.X)
    card = scorecard(roll.X, embedding, truth=roll.truth, n_neighbors=N_NEIGHBORS, n_jobs=-1)
    aligned = procrustes(embedding, roll.truth).transform.apply(embedding)
    picture, table, page = (folder / name for name in ("map.png", "scores.csv", "scores.html"))
    draw(roll, card, aligned, picture)
    card.to_pandas().to_csv(table)
    page.write_text(
        PAGE.format(
            certificate=html.escape(ipa.solution_.message),
            summary=html.escape(ipa.diagnosis_.summary()),
            error=ipa.estimated_error_,
            diagnosis=html.escape(str(ipa.diagnosis_)),
            table=card.to_html(),
        ),
        encoding="utf-8",
    )
    print(card)
    print(f"\n{ipa.solution_.message}\n\n{ipa.diagnosis_}\n{ipa.diagnosis_.summary()}")
    print(f"estimated error of the coordinates: {ipa.estimated_error_:.2%}")
    print(f"\npicture: {picture}\ntable:   {table}\npage:    {page}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
