"""Texts of what is found about structures: from bounds, of proteins, of networks."""

from __future__ import annotations

from isofold._findings.texts.text import CONVERGENCE, DISCONNECTED, Text

__all__ = ["STRUCTURE_TEXTS"]

# Structures from bounds (isofold.structure.diagnosis).
_BOUNDS = {
    "structure_parts": Text(
        "Nothing that was given joins the {value:.0f} parts of {sizes} points. Each was solved by "
        "itself; they lie side by side, not where they belong.",
        "Add bounds between the parts, or read each by itself.",
        category=DISCONNECTED,
    ),
    "broken_triangles": Text(
        "{value:.0f} of the given distances contradict others in any dimension: {first} and "
        "{second} are at least {excess:.3g} farther apart than a path of upper bounds between them "
        "is long.",
        "Check these bounds. If bounds have noise, pass a larger {p.slack}.",
    ),
    "contradictory_bounds": Text(
        "No structure in any dimension meets all that was given: the weighted sum of squared "
        "violations is at least {value:.3g}. These pairs carry most of it: {named}.",
        "Check them. If bounds have noise in both directions, pass a larger {p.slack}.",
    ),
    "bounds_violated": Text("Given distances are violated by {value:.2g} (root mean square)."),
    "bounds_violated/all": Text(
        "Given distances are violated by {value:.2g} (root mean square; {worst:.2g} at worst, "
        "between {first} and {second}): they contradict each other, or this is a wrong fold.",
        "Pass a larger {p.n_init} and compare energies. If bounds have noise in both directions, "
        "pass a larger {p.slack}.",
    ),
    "bounds_violated/some": Text(
        "{n_large} of {n_given} given distances {n_large:?is|are} violated by more than "
        "{large:.2g}, at worst by {worst:.2g} between {first} and {second}: a part of the "
        "structure is trapped, or these bounds are wrong.",
        "Check these bounds, or pass a larger {p.n_init}.",
    ),
    "hand_unknown": Text(
        "Nothing that was given tells the structure from its mirror image.",
        "Give the hand of a center, a rigid group that fills the space, or more anchors.",
    ),
    "hand_undecided": Text(
        "The data hardly tell the structure from its mirror image: their energies are {energy:.3g} "
        "and {mirror:.3g}, and local centers are undecided (vote {vote:.2f}).",
        "Pass a larger {p.n_init}, or give more bounds. Do not rely on the fold.",
    ),
    "wrong_hands": Text(
        "{n_wrong} of {n_hands} centers {n_wrong:?has|have} the wrong hand, the first at {first}.",
        "Pass a larger {p.n_init}.",
    ),
    "undetermined_motions": Text(
        "Nothing that was given is about {value:.0f} of the {n_free} motions that rigid groups are "
        "free to make: {n_floppy:#point} of {n_points} could be elsewhere.",
        "Do not read their coordinates as measured.",
    ),
    "several_structures": Text(
        "Another start ends with about the same energy ({other:.3g} and {energy:.3g}), but "
        "{value:.2g} away (root mean square): the data do not determine the structure.",
        "See {a.ensemble_}; give more bounds.",
    ),
    "relaxation_gap": Text(
        "The relaxation is not proved to be optimal: its energy may be too large by {value:.2g}, "
        "relative to its size.",
        "This concerns the relaxation only; the structure may be right all the same.",
        category=CONVERGENCE,
    ),
    "relaxation_rank": Text(
        "The relaxation fills {rank} dimensions: {value:.1%} of its variance is beyond the "
        "{dimension} of the structure. What was given leaves it that freedom, and its optimum says "
        "little about structures in {dimension} dimensions.",
        "Give more or tighter bounds.",
    ),
}

# Files and restraints of proteins (isofold.structure.protein).
_PROTEIN = {
    "other_models": Text("The file has {n:#model}; model {model} is used."),
    "alternate_locations": Text(
        "{n:#residue} {n:?has|have} alternate locations; the one in parentheses is used: {which}."
    ),
    "double_residues": Text(
        "{n:#residue} {n:?has|have} the number of the residue before and {n:?is|are} left out: "
        "{which}."
    ),
    "double_atoms": Text("{n:#atom} {n:?is|are} listed twice; the first is used: {which}."),
    "single_ions": Text("{n:#ion} of one atom {n:?is|are} left out: {which}."),
    "waters": Text("{n:#molecule} of water {n:?is|are} left out."),
    "elements_repaired": Text(
        "The elements of {n:#atom} are missing or wrong in the file and were taken from the names."
    ),
    "no_hydrogens": Text(
        "The file has no hydrogens, so that no bounds between hydrogens can be made of it.",
        "Add hydrogens with a program such as reduce or PDB2PQR, or use a structure from NMR.",
    ),
    "unknown_residues": Text(
        "{n:#residue} {n:?is|are} not in the Chemical Component Dictionary; bonds and geometry "
        "{n:?is|are} taken from the coordinates: {which}."
    ),
    "nucleotides": Text(
        "{n:#residue} {n:?is a nucleotide|are nucleotides}; the geometry of links between them is "
        "taken from the coordinates: {which}."
    ),
    "ligands": Text(
        "{n:#residue} {n:?is no amino acid|are no amino acids} and {n:?is|are} kept: {which}."
    ),
    "lone_atoms": Text(
        "{n:#atom} {n:?has|have} no bonds: {which}.",
        "They are held by bounds only. Check their names and coordinates.",
    ),
    "strange_bonds": Text(
        "{n:#bond} {n:?is|are} much too short or too long: {which}.",
        "Check names and coordinates of these atoms; the file may be damaged.",
    ),
    "chain_breaks": Text(
        "Chains are broken in {n:#place}, where residues are missing: between {which}.",
        "Only bounds hold the parts together.",
    ),
    "missing_atoms": Text("{n:#heavy atom} {n:?is|are} missing in the file: {which}."),
    "cis_peptides": Text("{n:#peptide bond} {n:?is|are} cis in the file and kept so: {which}."),
    "no_template": Text(
        "The ideal geometry of {n:#rigid group} is not known; it is taken from the coordinates: "
        "{which}."
    ),
    "other_hand": Text(
        "{n:#center} {n:?has|have} the other hand than the residue of that name: {which}.",
        "The hand of the file is kept. Check for swapped names or a residue of the other hand.",
    ),
    "torsions_unused": Text("{n:#restraint} on torsions {n:?is|are} not used."),
    "couplings_unused": Text("{n:#residual dipolar coupling} {n:?is|are} not used."),
    "restraints_unbounded": Text(
        "{n:#restraint} {n:?has|have} neither a lower nor an upper bound and {n:?is|are} left out: "
        "{which}."
    ),
    "restraints_carried": Text(
        "{n} of {total} bounds are about methyls, pairs or unassigned hydrogens: they were put on "
        "the atoms that carry these, and loosened by the distance between."
    ),
    "restraints_ambiguous": Text(
        "{n} of {total} restraints {n:?is|are} ambiguous and {n:?is|are} left out: a bound cannot "
        "say that one of several pairs is near. They are {which}."
    ),
    "restraints_unknown": Text(
        "{n} of {total} restraints {n:?names|name} atoms that the molecule does not have and "
        "{n:?is|are} left out: {which}.",
        "Check that the restraints belong to this molecule, and names of atoms.",
    ),
    "restraints_trivial": Text(
        "{n} of {total} restraints {n:?is|are} between atoms that one atom carries and "
        "{n:?is|are} left out: {which}."
    ),
    "residues_unmatched": Text(
        "{n:#residue} of the restraints {n:?is|are} not in the molecule: {which}."
    ),
}

# Sensor networks (isofold.structure.network).
_NETWORK = {
    "no_anchors": Text(
        "There are no anchors: positions are known up to a rigid motion, which may mirror them."
    ),
    "no_anchors/parts": Text(
        "There are no anchors, and no ranges join the {value:.0f} parts of the network. Each is "
        "known up to a rigid motion; they lie side by side, not where they belong.",
        "Read each part by itself, or add anchors.",
        category=DISCONNECTED,
    ),
    "not_located": Text(
        "{n:#node} in {n_parts:#part} {n:?is|are} not located: a part needs {least} anchors that "
        "its ranges join, and {n_parts:?this one has|these have} fewer. They have coordinates, but "
        "the part may be anywhere, rotated and mirrored, as far as its anchors let it.",
        "Leave these nodes out, or add anchors or ranges.",
        category=DISCONNECTED,
    ),
    "flat_anchors": Text(
        "All anchors of {n:#node} lie on one {kind}: these nodes may be mirrored at it.",
        "Add an anchor off the {kind}.",
    ),
    "few_ranges": Text(
        "{n:#node} {n:?has|have} fewer than {least} ranges: by these alone there are several "
        "positions."
    ),
    "flaps": Text(
        "{n:#node} may be elsewhere, in {n_flaps:#part} tied to the rest so narrowly "
        "that the mirror image fits the ranges about as well.",
        "See {a.flaps_} for the other positions, and {a.is_ambiguous_}. More ranges or anchors "
        "there would decide.",
    ),
    "loose_nodes": Text(
        "{n:#node} {n:?is|are} held loosely: noise moves {n:?it|them} by more than {limit_:.2g}, "
        "and up to {worst:.2g}.",
        "See {a.standard_errors_}.",
    ),
    "ranges_misfit": Text(
        "{n:#range} {n:?misses|miss} the distance by more than {limit_:.0%}, which is five times "
        "the noise; the worst is that of nodes {first} and {second}, by {worst:.0%}. They are "
        "wrong, or the layout is folded there.",
        "Check these ranges, or pass a larger {p.n_init}.",
    ),
    "anchors_misfit": Text(
        "{n:#range} between anchors {n:?contradicts|contradict} their positions by more than "
        "{limit_:.0%}, at worst by {worst:.0%} between {first} and {second}.",
        "Check the positions of these anchors.",
    ),
    "radius_too_short": Text(
        "{n:#range} {n:?is|are} longer than radios are said to reach: up to {longest:.3g}, but the "
        "radius is {radius:.3g}.",
        "Pass the true radius, or None if it is not known.",
    ),
    "ranges_missing": Text(
        "{n:#pair} of nodes nearer than {near:.3g} {n:?has|have} no range ({value:.0%} of all such "
        "pairs), although radios are said to reach farther. Links are missing, or the layout is "
        "folded.",
        "If not every pair within the radius has a range, pass None as the radius.",
    ),
}

STRUCTURE_TEXTS = {**_BOUNDS, **_PROTEIN, **_NETWORK}
