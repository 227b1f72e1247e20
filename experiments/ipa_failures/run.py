"""Fit every draw and write what came out, one row a draw; draws that are there are not repeated."""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

from experiments.draw_tables import append_row, noise_floor, numbers_in
from experiments.harness import FULL, Size
from experiments.ipa_failures.draws import SIZES, SURFACES, Draw, make_draw
from isofold import IPA
from isofold.quality import procrustes_error

__all__ = ["N_DRAWS", "SEED", "draws", "main", "results_in", "run_draw"]

SEED, N_DRAWS = 3, 500
"""Of the report, `docs/ipa-failures.md`."""

CODES = (
    "components",
    "projected",
    "unstitched",
    "noise",
    "certificate",
    "misfit",
    "hinges",
    "contraction",
    "bending",
    "layers",
    "error",
    "closure",
    "curvature",
    "outliers",
)
COLUMNS = (
    "seed",
    "number",
    "surface",
    "n_samples",
    "n_features",
    "n_components",
    "noise",
    "options",
    "random_state",
    "has_truth",
    "floor",
    "error",
    "estimated_error",
    "status",
    "gap",
    "n_patches",
    "seconds",
    "exception",
    *(f"figure_{name}" for name in CODES),
    *(f"raised_{name}" for name in CODES),
)


def draws(folder: Path, size: Size = FULL) -> None:
    """Run the draws of the report."""
    numbers = range(size.repeats(N_DRAWS))
    _run(results_in(folder), SEED, numbers, largest=size.points(SIZES[1]))


def results_in(folder: Path) -> Path:
    """Return the file of the report's draws."""
    return folder / "ipa_failures.csv"


def main() -> None:
    """Run the draws that the file does not hold yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=N_DRAWS, help="number of draws")
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws")
    parser.add_argument("--largest", type=int, default=SIZES[1], help="largest number of points")
    parser.add_argument("--out", type=Path, required=True, help="file of comma-separated values")
    wanted = parser.parse_args()
    numbers = range(wanted.first, wanted.first + wanted.draws)
    _run(wanted.out, wanted.seed, numbers, largest=wanted.largest)


def run_draw(draw: Draw) -> dict[str, Any]:
    """Fit a draw and return its row.

    Parameters
    ----------
    draw : Draw
        The draw.

    Returns
    -------
    dict
        The values of the columns. What was raised is in the column "exception", if anything was.
    """
    data = draw.dataset()
    row = {
        **vars(draw),
        "has_truth": SURFACES[draw.surface].has_truth,
        "floor": noise_floor(data.truth, draw.noise),
    }
    ipa = IPA(n_components=draw.n_components, random_state=0, n_jobs=1)
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            embedding = ipa.fit_transform(data.X)
    except Exception as exception:  # the study goes on, and reports it
        row["exception"] = f"{type(exception).__name__}: {exception}"
        return {**row, "seconds": time.process_time() - begin}
    row["seconds"] = time.process_time() - begin
    solution = ipa.solution_
    row |= {
        "error": float(procrustes_error(embedding, data.truth)),
        "estimated_error": ipa.estimated_error_,
        "status": "" if solution is None else solution.status.name,
        "gap": "" if solution is None else solution.gap,
        "n_patches": ipa.cover_.n_patches,
    }
    for code in CODES:
        finding = ipa.diagnosis_[code]
        row[f"figure_{code}"] = finding.value
        row[f"raised_{code}"] = finding.is_raised
    return row


def _run(path: Path, seed: int, numbers: range, *, largest: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    done = numbers_in(path, seed)
    for number in numbers:
        if number not in done:
            draw = make_draw(seed, number, largest=largest)
            append_row(path, {"seed": seed, **run_draw(draw)}, COLUMNS)


if __name__ == "__main__":
    main()
