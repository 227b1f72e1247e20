"""How often the interval of a sampled scorecard covers the exact value.

Command: ``python -m benchmarks.coverage``. One exact scorecard of 5,000 points, then 100 sampled
ones with seeds 0 to 99; prints and writes the hits of every measure for maps of different faults.
It takes some ten minutes, so it is not part of ``make bench``.
"""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.harness import RESULTS
from isofold.datasets import swiss_roll
from isofold.quality import scorecard

N_POINTS, N_SAMPLES, N_TRIALS = 5_000, 250, 100


def maps() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return data and embeddings whose faults lie everywhere, at a seam, or at a few points."""
    random = np.random.RandomState(1)
    roll = swiss_roll(N_POINTS, random_state=0)
    noise = random.standard_normal(roll.truth.shape)
    misplaced = roll.truth + 1e-3 * noise
    misplaced[:5] = misplaced[5:10] + 40.0
    angle, height = 2 * np.pi * random.rand(N_POINTS), 3 * random.rand(N_POINTS)
    cylinder = np.column_stack([np.cos(angle), np.sin(angle), height])
    circle = cylinder[:, :2] + 1e-4 * random.standard_normal((N_POINTS, 2))
    return {
        "folded (PCA)": (roll.X, PCA(2).fit_transform(roll.X)),
        "sheet with noise": (roll.X, roll.truth + 0.3 * noise),
        "true sheet": (roll.X, roll.truth),
        "5 points misplaced": (roll.X, misplaced),
        "cylinder cut open": (cylinder, np.column_stack([angle, height])),
        "circle cut open": (circle, angle[:, None]),
    }


def hits(X: np.ndarray, Y: np.ndarray) -> dict[str, int]:
    """Count for every measure the trials whose interval holds the exact value."""
    labels = np.arange(len(X)) % 7
    exact = scorecard(X, Y, labels=labels, n_samples=None, n_jobs=-1)
    found = dict.fromkeys(exact, 0)
    for seed in range(N_TRIALS):
        card = scorecard(X, Y, labels=labels, n_samples=N_SAMPLES, random_state=seed, n_jobs=-1)
        for name, score in card.items():
            low, high = score.interval
            found[name] += low <= exact[name] <= high
    return found


def main() -> None:
    """Print and write the table."""
    columns = {name: hits(X, Y) for name, (X, Y) in maps().items()}
    measures = next(iter(columns.values()))
    lines = ["| measure | " + " | ".join(columns) + " |", "|---" * (1 + len(columns)) + "|"]
    lines += [
        f"| {measure} | " + " | ".join(str(found[measure]) for found in columns.values()) + " |"
        for measure in measures
    ]
    title = f"Hits of {N_TRIALS} sampled scorecards ({N_SAMPLES} of {N_POINTS:,} points)\n\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "coverage.md").write_text(title + "\n".join(lines) + "\n", encoding="utf-8")
    print(title + "\n".join(lines))


if __name__ == "__main__":
    main()
