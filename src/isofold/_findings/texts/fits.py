"""Texts of what fits find: about stitched, merged, placed and unfolded maps, and clusters."""

from __future__ import annotations

from isofold._findings.texts.text import CONVERGENCE, DISCONNECTED, INTERRUPTED, Text

__all__ = ["FIT_TEXTS"]

_LOOSE = (
    "true to {before:.2g} (median) in {rank} dimensions, but only to {value:.2g} in the "
    "{dimension} of the map; {discarded:.2g} of the variance is discarded. The graph is too loose, "
    "so that the data crumple into further dimensions; or the data have more than {dimension} "
    "dimensions; or neighbors reach across to another layer."
)

# What an older version of isofold, a solver or another library worded itself.
_GIVEN = {
    "given": Text("{message}", "{advice}"),
    "not_certified": Text("{message}", category=CONVERGENCE),
    "interrupted": Text(
        "The fit was interrupted. The result is the best found until then.",
        "Look at its status and its quality before you rely on it, or fit again.",
        category=INTERRUPTED,
    ),
    "not_certified/components": Text(
        "{n_uncertified} of {n_components} components are not certified. Component {number}: "
        "{message}",
        category=CONVERGENCE,
    ),
}

# Stitched patches (isofold.stitching.diagnosis).
_STITCHING = {
    "components": Text(
        "The data fall into {value:.0f} components of {sizes} points. Each is mapped by itself; "
        "how they lie to each other rests only on straight lines across the gaps.",
        "See {a.bridges_} for these lines; a larger {p.n_neighbors} may join the components.",
    ),
    "projected": Text(
        "For {value:.0%} of the points no tangent of this dimension stands out from the noise: "
        "they were projected as a whole, not unfolded.",
        "Use more points, less noise, or another {p.n_components}.",
    ),
    "unstitched": Text(
        "For {value:.0%} of the points no tangent of this dimension stands out from the noise, or "
        "there are too many patches: they were laid out along shortest paths, not stitched.",
        "Compare the intrinsic dimension with {p.n_components}. Set {p.n_patches} to stitch "
        "anyway.",
    ),
    "noise": Text(
        "{value:.0%} of the points are in patches whose tangent is hidden by noise.",
        "Use more points or fewer {p.n_components}.",
    ),
    "certificate": Text(
        "The stitching is not certified to be optimal (relative gap {value:.2g}): the patches do "
        "not fit well, or the map may have a fold.",
        "Look at the map; {p.n_components} may be too small.",
    ),
    "misfit": Text(
        "Where patches overlap they disagree by {value:.0%} of their extent: the data are not a "
        "sheet of this dimension, or not flat.",
        "Compare the intrinsic dimension with {p.n_components}.",
    ),
    "hinges": Text(
        "The patches form {value:.0f} groups that share too few points with each other, or only "
        "points in a row: the groups can rotate about these points, by {n_motions:#free motion} in "
        "all, or flip.",
        "Use larger or more patches, or fix distances with {p.terms}.",
    ),
    "hinges/flip": Text(
        "The patches form {value:.0f} groups with too few points in common, or only points in a "
        "row: none can rotate, but each may be on the map as its mirror image.",
        "Use larger or more patches, or compare the map with a distance between groups.",
    ),
    "contraction": Text(
        "{value:.1%} of the pairs that are close on the map are far apart in the data: parts of "
        "the map lie on top of each other.",
        "The data may be closed or joined by a bridge. Look at the map, or raise {p.n_components}.",
    ),
    "bending": Text(
        "Patches are large compared with the curvature of the data (β = {value:.2g}): there are "
        "too few points for its folds.",
        "Use more points.",
    ),
    "layers": Text(
        "{value:.0%} of the points are in patches whose distances from the sheet take two or three "
        "values, where noise would spread them: layers of the data are closer to each other than "
        "their points are, and were taken for one sheet.",
        "Use more points, or leave out the feature in which the layers differ.",
    ),
    "error": Text(
        "The coordinates are uncertain by {value:.0%} of their extent: {noise:.1%} from noise, "
        "{scale:.1%} from what patches of twice the size would change.",
        "Use more points or less noise.",
    ),
    "closure": Text(
        "In {needed} dimensions the patches would fit {value:.1f} times better: the data are "
        "closed (like a circle, a cylinder or a sphere) or curved, and were cut or flattened.",
        "{p.n_components:={needed}} keeps the lengths.",
    ),
    "closure/high": Text(
        "In {needed} dimensions the patches would fit {value:.1f} times better: the data are "
        "closed (like a circle, a cylinder or a sphere) or curved, and were cut or flattened.",
        "Measure geodesic distances instead.",
    ),
    "closure/curve": Text(
        "The ends of the curve are only {value:.1f} times as far apart as its longest step: the "
        "data may be a closed curve, which was cut there.",
        "{p.n_components:=2} keeps the lengths of a closed curve.",
    ),
    "curvature": Text(
        "The data have intrinsic curvature, like a sphere: no map in this dimension can "
        "keep all lengths; about {value:.1%} of them is lost.",
        "One more component keeps them; otherwise read distances with that error.",
    ),
    "outliers": Text(
        "{value:.1%} of the points are off the sheet that the others form. They were placed on the "
        "map but not used to fit it.",
        "See {a.outliers_}.",
    ),
    "outliers/between": Text(
        "Outliers ({fraction:.1%} of the points) lie between parts of the data that are far apart "
        "on the map. If they are in the wrong place, the mean error is {value:.0%} of the extent.",
        "See {a.outliers_}, and leave these samples out where it matters.",
    ),
    "seam": Text(
        "Where the map was extended, the older and the newer charts put the same points apart by "
        "{value:.0%} of the distance up to which neighbors are: lengths across the seam are not "
        "true, and the coordinates beyond it are uncertain by {error:.1%} of their extent.",
        "Fit all samples at once.",
    ),
    "placed_outliers": Text("{n:#outlier} {n:?was|were} placed on the map but not used to fit it."),
}

# Planes merged one by one (isofold.merging.diagnosis).
_MERGING = {
    "components/merged": Text(
        "The samples fall into {n_components} components (the smallest of {smallest}). Each is "
        "unfolded by itself; how they lie to each other rests on {n_bridges:#straight line} across "
        "the gaps (see {a.bridges_}).",
        category=DISCONNECTED,
    ),
    "outliers/merged": Text(
        "{n:#sample} {n:?is|are} in groups of fewer than {least}, too few for a plane. They are "
        "placed by the plane of the nearest other sample (see {a.outliers_}).",
        "More {p.n_neighbors} join groups.",
        category=DISCONNECTED,
    ),
    "degenerate_planes": Text(
        "{n} of {n_cells} cells span fewer than {dimension} dimensions, so that their planes are "
        "arbitrary.",
        "Use fewer {p.n_components} or larger cells.",
    ),
    "thick_cells": Text(
        "Planes leave out {value:.0%} of the variance of their cells (median): the cells are too "
        "large for the curvature, or the data have more than {dimension} dimensions.",
        "Use smaller cells ({p.cell_size}) or more {p.n_components}.",
    ),
    "steep_folds": Text(
        "{n} of {n_folds} pairs of joined planes meet at more than {limit:.0f}°, where the "
        "rotation between them is a guess: the cells may be too small for the noise or too large "
        "for the curvature, or the data have more than {dimension} dimensions.",
        "Try another {p.cell_size} or more {p.n_components}.",
    ),
    "tears": Text(
        "{n_pairs:#pair} of neighbors {n_pairs:?is|are} torn apart at "
        "{n_tears:#place}, for example samples {first} and {second} (see {a.cuts_}).",
        "Closed data cannot be laid flat without a cut. Otherwise neighbors may reach across to "
        "another layer (use fewer {p.n_neighbors}), or more samples or another {p.cell_size} "
        "help.",
    ),
    "tears/everywhere": Text(
        "{n_pairs:#pair} of neighbors {n_pairs:?is|are} torn apart at "
        "{n_tears:#place}, for example samples {first} and {second} (see {a.cuts_}). With a median "
        "error of {value:.2g} in the distances between neighbors, the planes do not fit together.",
    ),
}

# Components placed in one frame (isofold.placement).
_PLACEMENT = {
    "components/placed": Text(
        "The data fall into {n:#component}, joined by {n_bridges:#edge} across the gaps. How the "
        "components lie to each other rests on {n_bridges:?it|them} alone."
    ),
}

# Samples that are not points (isofold.similarity).
_INPUT = {
    "not_euclidean": Text(
        "No points have the given distances: {value:.0%} of their spectrum is negative. The method "
        "needs points and used the nearest ones, so that even a perfect map would have other "
        "distances.",
        "LocalMDS and NeighborMap work with distances of any kind.",
    ),
}

# Maps of neighbors (isofold.embedding.neighbor_map).
_NEIGHBORS = {
    "components/unplaced": Text(
        "The neighbor graph falls into {value:.0f} components of {sizes} samples. How far apart "
        "they lie on the map, and how they are rotated, means nothing.",
        "A larger {p.n_neighbors} may join them.",
        category=DISCONNECTED,
    ),
    "outliers/far": Text(
        "{n:#sample} {n:?is|are} more than {limit:.0f} times as far from {n:?its|their} neighbors "
        "as is usual. Most of the map is empty, and all other samples fill a small part of it.",
        "Leave {n:?it|them} out (samples {numbers}) to see the others.",
    ),
    "kept": Text(
        "The map keeps {value:.0%} of the neighbors of a sample (mean), and the distances to its "
        "nearest ones are off by {error:.0%} (median). Distances between far samples are not kept."
    ),
    "crowded_map": Text(
        "{value:.0%} of the neighbors of a sample are not among its neighbors on the map: a map of "
        "so few dimensions has no room for them.",
        "Do not read single neighbors off it, or use more {p.n_components}.",
    ),
    "untrue_lengths": Text(
        "Distances between neighbors are off by {value:.0%} (median): the map shows who is near "
        "whom, but cannot be measured on.",
        "Raise {p.balance} for truer lengths, or use more {p.n_components}.",
    ),
}

# Semidefinite unfolding (isofold.embedding.mvu) and affine maps (isofold.embedding.affine).
_UNFOLDING = {
    "bridges": Text(
        "The neighbor graph fell into components. {n:#edge} {n:?was|were} added across the gaps "
        "(see {a.bridges_}): how the components lie to each other rests on {n:?it|them} alone.",
        category=DISCONNECTED,
    ),
    "loose_graph": Text(
        "Lengths are " + _LOOSE,
        "Try other {p.n_neighbors} or more {p.n_components}.",
    ),
    "loose_graph/angles": Text(
        "Lengths are " + _LOOSE,
        "Try other {p.n_neighbors}, {p.angles:=True} or more {p.n_components}.",
    ),
    "loose_graph/components": Text(
        "{n_loose} of {n_components} components, component {number} most: lengths are " + _LOOSE,
        "Try other {p.n_neighbors} or more {p.n_components}.",
    ),
    "lost_lengths": Text(
        "Lengths are true only to {value:.2g} (median), whatever the certificate says: with "
        "bounds, soft lengths, landmarks or smooth functions they may shrink. The map shows the "
        "shape at best.",
        "Keep them (MVU with lengths='equal'), or use more landmarks or a larger weight.",
    ),
    "missed_lengths": Text(
        "Length errors reach {value:.2g} of the median length; the tolerance is {tolerance:.2g}."
    ),
    "squashed": Text(
        "Placing the components squashed {n} of {n_components}: lengths of component {number} "
        "shrink to {value:.2g} of what they were in one direction (see {a.singular_values_}).",
        "Use {p.placement:='rigid'}.",
    ),
    "overlapping_components": Text(
        "Components lie on top of each other: {value:.1%} of the samples are nearest to a sample "
        "of another component.",
        "Raise {p.n_components}, or look at the components one by one ({a.component_}).",
    ),
    "targets": Text(
        "The distances to be kept cannot be met: the least root mean square of the relative errors "
        "of their squares is {value:.2g}. Targets contradict each other (for example a triangle "
        "whose sides do not close), or the kernel cannot tell the samples apart. The map keeps "
        "them in the least-squares sense.",
    ),
    "kernel_identity": Text(
        "The kernel is close to the identity: the most similar other sample has a similarity of "
        "only {value:.2g} (median). The training map is free to be anything, and new samples, "
        "similar to none, fall towards its center.",
        "Use a smaller {p.gamma} (a wider kernel).",
    ),
    "kernel_rank": Text(
        "The kernel cannot unfold these data: its rank is {rank} for {n} samples, so that the map "
        "has {freedom} degrees of freedom for {n_kept} kept distances.",
        "Use another kernel ({p.kernel:='rbf'}, a larger {p.gamma}, a higher degree); or keep "
        "fewer pairs, or allow more slack.",
    ),
    "kernel_map": Text(
        "Transforming training samples moves them by up to {value:.1g} of the size of the map: the "
        "values of the kernel are nearly all the same, and rounding hides how they differ.",
        "Use a narrower kernel (a larger {p.gamma}), or subtract the constant from a kernel of "
        "your own.",
    ),
    "bent_tesserae": Text(
        "The {n} tesserae are not flat: {value:.0%} of their squared distances lie beyond "
        "{dimension} dimensions and are lost.",
        "Use more tesserae (for example {p.cover:=Cover.clusters('affinity', 50)}), or more "
        "{p.n_components}.",
    ),
    "torn_tesserae": Text(
        "The tesserae do not fit together: lengths between them are wrong by {value:.0%} of their "
        "squares (root mean square). Some may join parts that are far from each other along the "
        "data.",
        "Use more of them, {p.cover:='ldlc'}, or fewer {p.n_neighbors}.",
    ),
    "discarded_variance": Text(
        "{value:.0%} of the variance of the unfolded data lies beyond the {dimension} dimensions "
        "of the map, which shows a projection.",
        "Use more {p.n_components}, or more tesserae if the data are rolled up.",
    ),
}

# Maps of kernels (isofold.embedding.kernel_eigenmaps, isofold.embedding.twin_kernel).
_KERNELS = {
    "spectral_axes": Text(
        "The axes are eigenvectors: the map shows which objects are connected. Distances on it are "
        "not those of the kernel, and the lengths of its axes mean nothing."
    ),
    "components/kernel": Text(
        "The objects fall into {value:.0f} components of {sizes} objects that have no neighbors in "
        "each other. Each is mapped by itself, and how they lie to each other means little.",
        "A larger {p.n_neighbors} or another {p.kernel} may join them.",
        category=DISCONNECTED,
    ),
    "components/kernel_singles": Text(
        "The objects fall into {value:.0f} components of {sizes} objects that have no neighbors in "
        "each other; {n_single:#object is|objects are} similar to no other. Each component is "
        "mapped by itself, and how they lie to each other means little.",
        "A larger {p.n_neighbors} or another {p.kernel} may join them.",
        category=DISCONNECTED,
    ),
    "negative_kernel": Text(
        "{value:.1%} of the kernel values are negative. They count as zero: such objects are not "
        "joined."
    ),
    "indefinite_kernel": Text(
        "The kernel is not positive semidefinite: there is no feature space of which it is the "
        "inner product. Only its largest values are used, as similarities."
    ),
    "twin_kernels": Text(
        "The kernel of the map agrees with the largest values of the kernel of the objects to a "
        "cosine of {value:.2f}. Distances beyond neighbors mean nothing."
    ),
    "twin_descent": Text(
        "The objective still fell by {value:.1%} over the last tenth of the steps "
        "({p.max_iter:={max_iter}}).",
        "Raise {p.max_iter}.",
        category=CONVERGENCE,
    ),
    "latent_bound": Text(
        "What was learned of the kernel of the map ran away to its bound (sigma={sigma:.3g}, "
        "amplitude={amplitude:.3g}). It lowers the objective, but tells nothing about the objects.",
        "Fix it: leave it out of LatentKernel(learn=...).",
    ),
}

# Clusters.
_CLUSTERING = {
    "more_clusters": Text(
        "The neighbor graph has {n_components} components, the smallest of {smallest:#point}, but "
        "{p.n_clusters:={asked}}. A connected cluster lies in one component, so {n_components} "
        "clusters are made.",
        "Raise {p.n_neighbors} to join components, or use VQPCA, which needs no graph.",
        category=DISCONNECTED,
    ),
    "mixture": Text(
        "The best start did not converge in {p.max_iter:={max_iter}} steps: its last step still "
        "raised the mean log-likelihood by more than {p.tol:={tol:g}} of its size.",
        "Raise {p.max_iter} or {p.tol}.",
        category=CONVERGENCE,
    ),
}

# Tables that are read block by block (isofold.embedding.streaming).
_STREAMING = {
    "streamed": Text(
        "The table has {n:#row}. The map was fitted to {n_fitted:,} of them, drawn at random; "
        "every row is placed by the fitted map. The figures of the map are those of fitted rows."
    ),
    "held_out": Text(
        "Rows that were not used to fit the map are placed less well: distances to their nearest "
        "fitted rows are off by {value:.1%} (median), those of fitted rows by {fitted:.1%}.",
        "Fit more than {n_fitted:,} rows: in Python, fit(table, sample_size=...).",
    ),
    "joined_rows": Text(
        "{n:#row} lay together far from the first sample, as a component that it had missed. "
        "{n:?It was|They were} fitted, too."
    ),
    "far_rows": Text(
        "{n:#row} of {n_rows:,} {n:?is|are} far from all rows that the map was fitted to. "
        "{n:?It was|They were} placed on the map but not used to fit it.",
        "See {a.stream_} for their numbers.",
    ),
}

FIT_TEXTS = {
    **_GIVEN,
    **_STITCHING,
    **_MERGING,
    **_PLACEMENT,
    **_INPUT,
    **_NEIGHBORS,
    **_UNFOLDING,
    **_KERNELS,
    **_CLUSTERING,
    **_STREAMING,
}
