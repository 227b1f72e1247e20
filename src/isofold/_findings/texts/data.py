"""Texts of what data look like, of what `Unfold` decided, and of what measures of a map say."""

from __future__ import annotations

from isofold._findings.texts.text import Text

__all__ = ["DATA_TEXTS"]

# What data look like (isofold.survey).
_SURVEY = {
    "data": Text("The data have {n:#sample} with {n_features:#feature}."),
    "data/rank": Text("The data have {n:#sample} with {n_features:#feature} (of rank {rank})."),
    "data/distances": Text("The data have {n:#sample}, given by their distances."),
    "sampled": Text("{n:,} of them, drawn at random, were examined."),
    "copies": Text("{n:,} {n:?is a copy|are copies} of others."),
    "far_samples": Text("{n:,} {n:?is an outlier|are outliers}."),
    "separate": Text(
        "They fall into {n} components of {sizes} samples if only mutual neighbors are joined: how "
        "components lie to each other means little."
    ),
    "dimension": Text("They look about {value:.1f}-dimensional."),
    "dimension/parts": Text("They look about {value:.1f}-dimensional (by component: {parts:.1f})."),
    "spectral_gap": Text(
        "Beyond {gap} dimensions neighborhoods extend {noise:.0%} as far, which may be noise."
    ),
    "closed_curve": Text(
        "The data contain a closed curve: the points of {part:part} lie along a ring of length "
        "{length:.3g}, {value:.0f} times its width.",
        "One coordinate cannot keep a ring: use two, or an angle.",
    ),
    "cylinder": Text(
        "The data contain a closed band, such as a cylinder: a path of length {length:.3g} around "
        "{part:part} closes, although its ends are {value:.0%} of that apart when it is unrolled.",
        "Two coordinates must cut or flatten it: use three, or an angle and a height.",
    ),
    "torus": Text(
        "The data contain a torus or the like: there are two independent loops around {part:part}, "
        "of lengths {first:.3g} and {second:.3g}.",
        "No flat map keeps it: use four coordinates, or two angles.",
    ),
    "sphere": Text(
        "The data contain a closed surface, such as a sphere: {part:part} enclose a void that "
        "appears when points up to {birth:.3g} apart are joined, and is filled only at "
        "{death:.3g}.",
        "Two coordinates must tear or flatten it: use three, or longitude and latitude.",
    ),
    "branching": Text(
        "The data branch: without the points around one center, {part:part} fall into {value:.0f} "
        "arms with {fractions:.0%} of the points.",
        "One coordinate cannot keep it; in two, read distances along the arms.",
    ),
    "clusters": Text(
        "The data form clusters: {value:.0f} groups with {fractions:.0%} of the points, which few "
        "neighbors join and which have no thinner shape.",
        "Use a method for clusters; how far apart groups lie on a map means little.",
    ),
    "cloud": Text(
        "The data are a cloud: neighborhoods in {part:part} have {value:.0%} of the variance "
        "beyond their main directions that the whole has, and it extends in about {rank:.0f} "
        "directions.",
        "There is no thinner shape to unfold: any map of fewer dimensions loses most distances.",
    ),
    "mixed_dimensions": Text(
        "The data have mixed dimensions: neighborhoods of {fraction:.0%} of the points of "
        "{part:part} look {lower:.1f}-dimensional, those of the others {upper:.1f}-dimensional.",
        "One number of components does not suit both; map the parts separately.",
    ),
}

# What Unfold decided (isofold.embedding.unfold.decision).
_DECISION = {
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
    "best_method/seen": Text("It did best of all methods."),
    "more_dimensions": Text(
        "Data of about {dimension:#dimension} cannot keep all distances in {kept}; local distances "
        "were favored."
    ),
    "distances_only": Text("Only distances are known, so no patches could be stitched."),
    "not_a_sheet": Text("The data are not a sheet that lies flat; local distances were favored."),
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
        "(median), more than {limit:percent}.",
        "Read it as a picture of who is near whom.",
    ),
}

# What the measures of a map say (isofold.assessment.findings).
_ASSESSMENT = {
    "separate_points": Text(
        "The {n_neighbors:#nearest neighbor} of every point {n_neighbors:?joins|join} the data "
        "into {n:#component}, the largest of {largest:,} of {n_points:,} points. Neighbors do not "
        "determine how components lie to each other on the map."
    ),
    "no_lengths": Text(
        "Most points lie on top of their neighbors.", "Do not read lengths off this map."
    ),
    "other_unit": Text(
        "Lengths on the map are not those of the data: between neighbors they are {value:.3g} "
        "times as long (median).",
        "Do not read distances off this map.",
    ),
    "poor_lengths": Text(
        "Half of the distances between neighbors are wrong by more than {value:percent}; "
        "{within:percent} of them are true to 10%."
    ),
    "torn_lengths": Text(
        "One in twenty distances between neighbors is wrong by more than {value:percent}, although "
        "{within:percent} are true to 10%: the map is torn or squeezed at some points.",
        "Color it by distortion to see where.",
    ),
    "lost_neighbors": Text(
        "{value:percent} of the nearest neighbors of a point are not among its {n_neighbors} "
        "nearest on the map.",
        "Do not read neighborhoods off this map.",
    ),
    "distorted": Text(
        "Around half of the samples, distances to neighbors are wrong by more than {value:percent} "
        "on average."
    ),
    "doubtful_charts": Text(
        "{n} of {n_patches} patches {n:?has a chart|have charts} to inspect. Patch {number}: "
        "{message}"
    ),
    "unproved": Text("The solution is not proved to be the best one: {reason}."),
}

DATA_TEXTS = {**_SURVEY, **_DECISION, **_ASSESSMENT}
