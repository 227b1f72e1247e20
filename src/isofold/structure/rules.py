"""Constants that decide how structures are found, with their evidence."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["StructureRules"]


@dataclass(frozen=True)
class StructureRules:
    """Constants of the stages. They were set on four proteins (1VII, 2K39, 1AS5, 2OFG).

    Lengths are in units in which a typical given length is `typical_length`, as it is for the
    atoms of a protein in Å; so the same constants hold for meters.
    """

    typical_length: float = 3.0
    """Median of all given lengths, in these units: 2.6 to 3.2 Å for proteins."""
    extra_columns: int = 3
    """Columns of the relaxation beyond the dimension: from 1 to 7, proteins end the same."""
    certified_columns: int = 10
    """Columns of a relaxation with a proof: its optimum has rank 8 to 10."""
    squeezed_columns: int = 2
    """Columns beyond the dimension while these are squeezed out."""
    landmarks: int = 200
    """Points from which shortest paths are computed."""
    shrink: float = 0.8
    """Factor of the start: shortest paths overestimate distances."""
    jitter: float = 0.5
    """Noise of the start, in all columns."""
    pairs_per_point: int = 10
    """Pairs a point that the stretch pulls apart."""
    group_weight: float = 10.0
    """Weight of distances inside of groups while they are soft, relative to bounds."""
    relaxation_steps: int = 400
    """Iterations of the relaxation."""
    certified_steps: int = 1500
    """Iterations of a relaxation between two looks at its gap."""
    certified_rounds: int = 8
    """Most looks at the gap; of proteins it is below 1e-4 after two to four."""
    squeeze: tuple[tuple[float, float], ...] = (
        (0.001, 1 / 3),
        (0.003, 0.1),
        (0.01, 1 / 30),
        (0.03, 0.01),
        (0.1, 0.0),
        (0.3, 0.0),
    )
    """Weight of the squares of extra columns, and fraction of the stretch, stage by stage."""
    squeeze_steps: int = 200
    """Iterations of a stage of the squeeze. With 100, two of fifteen runs (2OFG, 1AS5, 1EJG) end in
    a trap with ten times the energy; with 200 none does."""
    refinement: tuple[tuple[float, int, int], ...] = (
        (3.0, 100, 2),
        (10.0, 100, 4),
        (100.0, 150, 4),
    )
    """Weight of shapes, iterations and rounds: contacts are listed anew in each round."""
    shake: float = 0.01
    """Noise before the refinement: the stretch leaves what is free straight or flat, where more
    than its true motions seem possible."""
    polish_steps: int = 20
    """Steps of Gauss and Newton at the end: exact data are met to rounding in five to ten."""
    small: int = 200
    """Points up to which a start takes a tenth of a second."""
    most_starts: tuple[int, int] = (16, 4)
    """Most starts for small problems and for others, until one meets what was given."""
    weaker: tuple[float, ...] = (1.0, 0.1, 0.01, 0.0)
    """Fractions of the stretch in turn, start by start, for small problems: the exact realization
    of a double banana or of a hinge with two bars need not be the most stretched one."""
    shake_again: float = 0.25
    """Noise before the refinement of small problems, times the number of the start."""
    exact: float = 1e-12
    """Energy per point at which a small problem counts as solved."""
    contact_reach: float = 1.4
    """Pairs nearer than this times the largest sum of radii are listed as possible contacts."""
    undecided: float = 0.3
    """Vote of the centers below which both mirror images are refined: proteins have .66 to .98."""
    mean_violation: float = 0.05
    """Root mean squared violation, relative to a typical length, from which on it is a doubt. The
    one wrong fold of the design (1VII, eight bounds a residue) has .15, right ones .04 at most."""
    largest_violation: float = 1 / 3
    """Violation of one bound, relative to a typical length, that is worth a doubt: 1 Å."""
    trapped: float = 1 / 6
    """Violation of one bound, relative to a typical length, from which on another start is tried:
    1EJG ended once .44 Å farther off than in other starts, with a violation of .7 Å."""
    mirror_ratio: float = 30.0
    """Energy of the mirror image, relative to that of the structure, below which the hand is not
    decided. With six to eight bounds a residue, right hands have 50 and more (1EJG, 2OFG); with two
    to four, wrong ones have up to 18 (1VII, 1EJG)."""
    undetermined: float = 0.1
    """Fraction of the motions of groups about which nothing was given that is a doubt: with six to
    eight bounds a residue it is .05, with two to four .2 and more, and folds are wrong."""
    elsewhere: float = 0.5
    """Distance of two solutions, relative to a typical length, from which on they differ."""
    certified_gap: float = 1e-4
    """Relative gap up to which the relaxation counts as solved."""
