"""From data to a map, its figures, its page and its model: a rolled sheet with a hole.

Run with ``python examples/first_map.py [OUTPUT_FOLDER]``. The command line does the same with
``isofold demo``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import isofold
from isofold.datasets import holed_swiss_roll
from isofold.quality import scorecard


def main(folder: Path) -> None:
    """Unfold the sheet, say how true the map is, and write all there is to keep."""
    folder.mkdir(parents=True, exist_ok=True)
    roll = holed_swiss_roll(2000, random_state=0)

    unfold = isofold.Unfold(random_state=0, verbose=True).fit(roll.X)
    print(unfold.decision_)

    # Here the true sheet is known, which it never is for real data.
    card = scorecard(roll.X, unfold.embedding_, truth=roll.truth)
    print(f"\n{card}")

    arc = roll.truth[:, 0]
    unfold.plot(roll.X, kind="overview", color=arc).savefig(folder / "overview.png", dpi=130)
    page = isofold.report(roll.X, unfold, labels=arc, title="A rolled sheet with a hole")
    page.save(folder / "page.html", overwrite=True)
    isofold.save(unfold, folder / "model.iso", overwrite=True)

    again = isofold.load(folder / "model.iso")
    is_same = (again.transform(roll.X) == unfold.transform(roll.X)).all()
    print(f"\nThe saved model places points {'as' if is_same else 'NOT as'} before.")
    print(f"Open {folder / 'page.html'} in a browser.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
