"""Texts about what was measured of a finished map (isofold.assessment)."""

from __future__ import annotations

from isofold._findings.texts.text import Text

__all__ = ["ASSESSMENT_TEXTS"]

ASSESSMENT_TEXTS = {
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
        "nearest on the map."
    ),
    "readable_neighborhoods": Text(
        "You can read neighborhoods off this map: it keeps {value:percent} of the nearest "
        "neighbors."
    ),
    "readable_neighborhoods/regions": Text(
        "Read regions off this map, not single neighbors: what is near on it is near in the data, "
        "but it keeps only {value:percent} of the nearest neighbors."
    ),
    "readable_neighborhoods/no": Text(
        "Do not read neighborhoods off this map: it keeps {value:percent} of the nearest "
        "neighbors, and trustworthiness is only {trustworthiness:.2f}."
    ),
    "readable_distances": Text(
        "You can measure distances between neighbors on it: they are off by {value:percent} "
        "(median), and those between points shown side by side by {shown:percent}."
    ),
    "readable_distances/other_unit": Text(
        "Do not measure distances on it as it is: between neighbors they are off by "
        "{value:percent} (median). They are in proportion, though: at the best scale they are off "
        "by {scaled:percent}."
    ),
    "readable_distances/no": Text(
        "Do not measure distances on it: between neighbors they are off by {value:percent} "
        "(median), and those between points shown side by side by {shown:percent}."
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
