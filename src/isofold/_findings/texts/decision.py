"""Texts about what Unfold decided, and why (isofold.embedding.unfold.decision)."""

from __future__ import annotations

from isofold._findings.texts.text import Text

__all__ = ["DECISION_TEXTS"]

DECISION_TEXTS = {
    "method": Text("The map of {dimension:#dimension} was made by {name}."),
    "partly_fitted": Text(
        "The method was fitted to {n_fitted:,} of {n:,} samples because time was short. The others "
        "were placed by its map."
    ),
    "chosen_dimension": Text(
        "{p.n_components:={dimension}} is the least that keeps distances to {tolerance:percent}."
    ),
    "chosen_dimension/none": Text(
        "No {p.n_components} up to {largest} keeps distances to {tolerance:percent}; {dimension} "
        "was used, as the growth of neighborhoods suggests."
    ),
    "chosen_dimension/late": Text(
        "Time was short: no {p.n_components} up to {largest} keeps distances to "
        "{tolerance:percent}; {dimension} was used, as the growth of neighborhoods suggests."
    ),
    "chosen_dimension/best": Text(
        "No {p.n_components} up to {largest} keeps distances to {tolerance:percent}; {dimension} "
        "was best."
    ),
    "chosen_dimension/interrupted": Text("Interrupted; up to {largest:#dimension} were tried."),
    "same_samples": Text("All samples are the same: there is nothing to unfold."),
    "already_flat": Text("The data lie in {dimension:#dimension}: there is nothing to unfold."),
    "sheet": Text(
        "Patches of the data fit together to {value:.1%}: the data are "
        "{n_parts:?a sheet|sheets} of {dimension:#dimension}, which {n_parts:?was|were} unfolded. "
        "The stitching {is_certified:?is|is not} certified to be optimal; the estimated error of "
        "the coordinates is {error:.1%}."
    ),
    "sheet/one_patch": Text(
        "A single patch holds all of the data: they are {n_parts:?a sheet|sheets} of "
        "{dimension:#dimension}. The estimated error of the coordinates is {error:.1%}."
    ),
    "disagreement": Text("Patches of the data disagree by {value:.0%} where they overlap."),
    "best_method": Text("It did best of all methods on samples that they had not seen."),
    "best_method/far": Text(
        "It did about as well as any method on samples that they had not seen, and keeps far "
        "distances, too."
    ),
    "best_method/seen": Text("It did best of all methods."),
    "more_dimensions": Text(
        "Data of about {dimension:#dimension} cannot keep all distances in "
        "{kept:#dimension}; local distances were favored."
    ),
    "more_dimensions/neighbors": Text(
        "Data of about {dimension:#dimension} cannot keep all distances in "
        "{kept:#dimension}; neighbors came first, then the distances to them."
    ),
    "distances_only": Text("Only distances are known, so no patches could be stitched."),
    "not_a_sheet": Text("The data are not a sheet that lies flat; local distances were favored."),
    "not_a_sheet/neighbors": Text(
        "The data are not a sheet that lies flat; neighbors came first, then the distances to them."
    ),
    "unconfirmed": Text(
        "Stitching could not confirm a sheet of {dimension:#dimension} (doubts: {doubts}). This "
        "map may fold or tear the data."
    ),
    "quality": Text(
        "How true it is: trustworthiness is {trustworthiness:.3f}, continuity {continuity:.3f}, "
        "and distances between neighbors are off by {value:.1%} (median)."
    ),
    "quality/lengths": Text(
        "How true it is: distances between neighbors are off by {value:.1%} (median)."
    ),
    "dial": Text(
        "NeighborMap by itself has a dial: {p.balance:=0.8} would make distances between neighbors "
        "truer and keep fewer neighbors."
    ),
    "sheet_noise": Text("Most of that is noise across the sheet, which the map leaves out."),
    "alternative": Text(
        "{p.n_components:={dimension}} would keep {kept:.0%} of the neighbors, not "
        "{used_kept:.0%}, and their distances to {error:.0%}, not {used_error:.0%} (rehearsed)."
    ),
    "alternative/unseen": Text(
        "{p.n_components:={dimension}} would keep {kept:.0%} of the neighbors of new samples, not "
        "{used_kept:.0%}, and their distances to {error:.0%}, not {used_error:.0%} (rehearsed)."
    ),
    "lost_distances": Text(
        "This map does not keep distances: those between neighbors are off by {value:percent} "
        "(median), more than {limit:percent}."
    ),
}
