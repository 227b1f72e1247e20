"""The numbers that decide how cells are cut and merged, each with its evidence."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RULES", "MergingRules"]


@dataclass(frozen=True)
class MergingRules:
    """How large cells are, how they are cut, and when their planes are in doubt."""

    # Points on which sizes of cells are tried; a fraction of a second for each size.
    sample_size: int = 20_000

    # Ratio of sizes that are tried, and the fewest cells that still show a shape.
    growth: float = 1.5
    fewest_cells: int = 12

    # The quantile of angles that counts: one plane gone astray spoils all that hangs on it.
    tail: float = 0.99

    # Sizes in a row that are worse than the best before the search ends.
    patience: int = 3

    # Gaussians of "gmm", as in the paper.
    most_gaussians: int = 32

    # Principal axes in which points are clustered: the rest is mostly noise, and takes time.
    most_axes: int = 32

    # Folds that lead away from a cell, and the nearest means among which they are chosen.
    n_folds: int = 6
    n_candidates: int = 18

    # Degrees from which planes are so far from parallel that the rotation between them is a guess.
    steep: float = 80.0

    # Fraction of the variance of most cells off their planes above which these say little.
    thick: float = 0.2

    # Median distortion above which a map that is torn is not merely cut somewhere.
    torn_everywhere: float = 0.1


RULES = MergingRules()
