"""Texts about data before any map is made (isofold.survey)."""

from __future__ import annotations

from isofold._findings.texts.text import Text

__all__ = ["DATA_TEXTS"]

DATA_TEXTS = {
    "data": Text("The data have {n:#sample} with {n_features:#feature}."),
    "data/rank": Text("The data have {n:#sample} with {n_features:#feature} (of rank {rank})."),
    "data/distances": Text("The data have {n:#sample}, given by their distances."),
    "sampled": Text("{n:,} of them, drawn at random, were examined."),
    "copies": Text("{n:,} {n:?is a copy|are copies} of others."),
    "far_samples": Text("{n:,} {n:?is an outlier|are outliers}."),
    "separate": Text(
        "They fall into {n} components of {sizes} samples if only mutual neighbors are joined. "
        "Distances between components mean little."
    ),
    "dimension": Text("They look about {value:.1f}-dimensional."),
    "dimension/parts": Text("They look about {value:.1f}-dimensional (by component: {parts:.1f})."),
    "spectral_gap": Text(
        "Beyond {gap} dimensions neighborhoods are only {noise:.0%} as wide, which may be noise."
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
        "The data form clusters: {value:.0f} groups with {fractions:.0%} of the points, with few "
        "neighbors between them and no thinner shape.",
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
