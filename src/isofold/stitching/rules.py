"""The numbers that decide how patches are stitched, each with its evidence."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RULES", "StitchingRules"]


@dataclass(frozen=True)
class StitchingRules:
    """When data count as a sheet, and how much work a stitching is worth."""

    # λ_r over the noise of one direction, and points times λ_r over that of all, below which the
    # tangent of a patch is not to be trusted: it may be rotated by some eight degrees.
    weak_signal: float = 6.0
    weak_certainty: float = 50.0

    # Fraction of points in patches without a trustworthy tangent above which stitching is
    # pointless; and in patches without a sure one, if patches do not fit either.
    hopeless: float = 0.5

    # Fraction of points in patches without a trustworthy tangent from which on noise matters.
    largest_weak: float = 0.1

    # Misfit over variance in the overlaps: rolls have .006 to .055, faces and digits .2 and more.
    largest_misfit: float = 0.1

    # Dimension up to which the factors of the stitching stay sparse; beyond, entries of all motions
    # up to which a step of Newton's method takes no more than a second.
    certified_dimension: int = 3
    most_unknowns: int = 2500

    # Patches that a point of a ball cover keeps: three are too few under noise, all only cost time.
    most_patches: int = 5

    # How many more memberships may be taken to hold a hinge.
    most_growth: float = 2.0

    # Rounds of alternation after which lengths are about right and the layout has not yet folded.
    # Trustworthiness in two dimensions / at the intrinsic dimension after so many rounds:
    #   rounds          10            30            60           300
    #   digits      .895 .998     .887 .998     .874 .997     .83 .99
    #   Olivetti    .814 .977     .794 .969     .795 .966
    #   faces       .810 .999     .814 .998     .821 .998     .80 .998
    n_rounds: int = 15

    # Rounds instead of Newton's method for patches that fit, but are too many for it.
    patient_rounds: int = 200

    # Nodes up to which paths between all are taken, and nodes whose paths place the others.
    most_landmarks: int = 1500
    n_landmarks: int = 500

    # Patches of the cover that is relaxed: the trust region with spare columns takes a second.
    most_relaxed: int = 120

    # β at the 95th percentile up to which charts tell the curvature of the data.
    telling_bending: float = 0.6

    # Standard errors by which the mean curvature must differ from zero.
    curvature_certainty: float = 4.0

    # A pair is contracted if its squared length in the data exceeds 2.25 times that on the map, and
    # 40 noise variances, and four squared median neighbor distances, added up.
    stretch_squared: float = 2.25
    noise_variances: float = 40.0
    spacing_squared: float = 4.0


RULES = StitchingRules()
