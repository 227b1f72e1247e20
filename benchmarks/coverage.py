"""How often the interval of a sampled scorecard covers the exact value.

Command: ``python -m benchmarks.coverage``. One exact scorecard of 5,000 points, then 100 sampled
ones with seeds 0 to 99; prints and writes the hits of every measure for three maps of different
faults. It takes minutes, so it is not part of ``make bench``.
"""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.harness import RESULTS
from isofold.datasets import swiss_roll
from isofold.quality import scorecard

N_POINTS, N_SAMPLES, N_TRIALS = 5_000, 250, 100


def maps() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the data and three embeddings: folded, noisy, and nearly perfect."""
    roll = swiss_roll(N_POINTS, random_state=0)
    noise = np.random.RandomState(1).standard_normal(roll.truth.shape)
    return {
        "folded (PCA)": (roll.X, PCA(2).fit_transform(roll.X)),
        "true sheet with noise": (roll.X, roll.truth + 0.3 * noise),
        "true sheet": (roll.X, roll.truth),
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
