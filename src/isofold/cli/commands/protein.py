"""Find the structure of a protein from distances: `isofold protein`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isofold._findings import SHELL, speaking
from isofold.cli.command import command, option
from isofold.cli.console import Console, aligned, current_console, put, put_json, watched
from isofold.cli.errors import ExitCode
from isofold.cli.options import file_argument, force_option, output_option, work_options

if TYPE_CHECKING:
    from isofold._findings import Finding
    from isofold.structure import Structure
    from isofold.structure.given import DistanceBounds
    from isofold.structure.protein import Molecule, Superposition

DATA, MODEL = "What is known", "Structure"
MOST_VIOLATIONS = 3
"""Violated bounds that are named."""

VOCABULARY = replace(
    SHELL,
    options=(
        *SHELL.options,
        *((name, f"--{name.replace('_', '-')}") for name in (
            "model", "altloc", "geometry", "cutoff", "keep", "noise", "law", "n_init", "slack",
        )),
    ),
)  # fmt: skip
"""How findings and errors name the options of this command."""


@command(
    "protein",
    "isofold protein 2k39.cif  # bounds made from a structure, and how well they restore it",
    "isofold protein 2k39.cif --law class --cutoff 5 --keep 0.25 -o found.cif",
    "isofold protein --restraints 2mqq.nef -o found.pdb --n-init 8  # from the sequence alone",
    "isofold protein 2mqq.cif --restraints 2mqq.nef -o found.pdb  # and compared with a structure",
)
@file_argument("file", required=False)
@output_option("-o", "--output", metavar="OUT", text="The structure (.pdb or .cif).")
@output_option("--report", metavar="PAGE", text="A page to look at the structure (.html).")
@force_option
@option(
    "--restraints", section=DATA, type=click.Path(path_type=Path), metavar="NEF",
    help="Restraints on distances, NEF or NMR-STAR. Default: bounds are made from FILE.",
)  # fmt: skip
@option(
    "--cutoff", section=DATA, type=click.FloatRange(min=0.0, min_open=True), default=6.0,
    show_default=True, metavar="A", help="Bounds are made between hydrogens nearer than this, in "
    "Angstrom.",
)  # fmt: skip
@option(
    "--keep", section=DATA, type=click.FloatRange(0.0, 1.0, min_open=True), default=0.5,
    show_default=True, metavar="FRACTION", help="Fraction of them that is kept.",
)  # fmt: skip
@option(
    "--noise", section=DATA, type=click.FloatRange(min=0.0), default=0.1, show_default=True,
    metavar="FRACTION", help="Relative error of the bounds.",
)  # fmt: skip
@option(
    "--law", section=DATA, type=click.Choice(["half", "two_sided", "class"]), default="half",
    show_default=True, metavar="LAW", help="Errors of the bounds: half (never too short), "
    "two_sided, or class (2.7, 3.5, 5 or 6 Angstrom).",
)  # fmt: skip
@option(
    "--model", section=DATA, type=click.IntRange(min=1), default=1, show_default=True,
    metavar="N", help="Which model of FILE, counted from 1.",
)  # fmt: skip
@option(
    "--altloc", section=DATA, default="largest", show_default=True, metavar="LETTER",
    help="Which alternate location: a letter, or that with the most atoms of each residue.",
)  # fmt: skip
@option(
    "--geometry", section=MODEL, type=click.Choice(["template", "structure"]), default="template",
    show_default=True, metavar="KIND", help="Bond lengths and angles of ideal residues (template) "
    "or of FILE (structure).",
)  # fmt: skip
@option(
    "--n-init", section=MODEL, type=click.IntRange(min=1), metavar="N",
    help="Starts; the structure of least energy is kept. Default: until bounds are met, at most 4.",
)  # fmt: skip
@option(
    "--slack", section=MODEL, type=click.FloatRange(min=1.0), default=1.0, show_default=True,
    metavar="FACTOR", help="Factor of upper bounds: 1.2 for bounds with 10% noise of both signs.",
)  # fmt: skip
@option(
    "--core", section=MODEL, metavar="RESIDUES", help="Residues that are compared by themselves, "
    "such as 3-72 or A/3-72,B/1-20.",
)  # fmt: skip
@option(
    "--certify", section=MODEL, is_flag=True, help="Prove that the relaxation is optimal, or that "
    "bounds contradict each other. Takes longer.",
)  # fmt: skip
@option("--json", "as_json", section="Output", is_flag=True, help="Write the figures as JSON.")
@work_options
@option("--strict", section="Work", is_flag=True, help="Exit with code 3 if there are doubts.")
def protein_command(file: Path | None, restraints: Path | None, **options: Any) -> int:
    """Find the structure of a protein from bounds on distances.

    FILE is a structure (PDB or mmCIF): bounds between its hydrogens are made as an NMR experiment
    would, the structure is found from these bounds and ideal residues alone, and compared with
    FILE. With --restraints, the bounds are those of an experiment, and FILE is only compared with;
    without FILE, the protein is made from the sequence in the file of restraints. The figures go to
    standard output, in Angstrom.
    """
    from isofold.structure import StructureFromBounds
    from isofold.structure.protein import compare, write

    _check(file, restraints, options)
    console, output = current_console(), options["output"]
    with speaking(VOCABULARY):
        molecule, bounds, findings = _read(file, restraints, options)
        if file is not None and options["core"]:
            # A core that is not there is refused before any work.
            compare(molecule.coordinates, molecule, options["core"])
        _tell(console, findings)
        solver = StructureFromBounds(
            slack=options["slack"],
            n_init=options["n_init"] or "auto",
            certify=options["certify"],
            random_state=options["seed"],
            n_jobs=options["jobs"],
        )
        with watched(console) as seen:
            solver.fit(molecule.problem(geometry=options["geometry"], bounds=bounds))
        found = solver.structure_
        compared = None if file is None else compare(found.coordinates, molecule, options["core"])
        where = found.coordinates if compared is None else compared.coordinates
        if output is not None:
            write(output, molecule, where, overwrite=options["force"])
    _put(found, compared, (*findings, *found.diagnosis.findings), options)
    for text in seen.messages:
        console.note(text)
    _tell(console, found.diagnosis.findings)
    if compared is not None and not compared.has_right_hand:
        console.warn("The structure is nearer to the mirror image of FILE than to FILE.")
    if output is not None:
        console.say(f"Wrote {output}.")
    if options["report"] is not None:
        _write_page(found, molecule, file or restraints, options)
        console.say(f"Wrote {options['report']}. Open it in a browser.")
    if seen.is_interrupted:
        return ExitCode.INTERRUPTED
    is_sound = found.diagnosis.is_sound and not any(finding.is_raised for finding in findings)
    return ExitCode.DOUBTFUL if options["strict"] and not is_sound else ExitCode.DONE


def _check(file: Path | None, restraints: Path | None, options: dict[str, Any]) -> None:
    """Refuse what cannot be done, before any work."""
    from isofold._files import check_path
    from isofold.cli.steps.outputs import Outputs
    from isofold.structure.protein.write import check_suffix

    if file is None and restraints is None:
        msg = "Name a structure, or a file of restraints with --restraints."
        raise click.UsageError(msg, click.get_current_context())
    if file is None and (options["geometry"] == "structure" or options["core"]):
        name = "--core" if options["core"] else "--geometry structure"
        msg = f"{name} needs a structure: name one before the options."
        raise click.UsageError(msg, click.get_current_context())
    output = options["output"]
    inputs = [path for path in (file, restraints) if path is not None]
    if output is not None:
        check_suffix(output)
        check_path(output, overwrite=options["force"], permission="--force")
        if output.resolve() in {path.resolve() for path in inputs}:
            msg = f"{output} is read and written. Name another file to write to."
            raise click.UsageError(msg, click.get_current_context())
    Outputs(page=options["report"], force=options["force"]).check(*inputs)


def _write_page(
    found: Structure, molecule: Molecule, source: Path | None, options: dict[str, Any]
) -> None:
    """Write the page of a structure, beside the file that it is compared with."""
    from isofold.reports import StructureView, structure_report
    from isofold.structure.protein.compare import core_atoms

    backbone = molecule.is_backbone & core_atoms(options["core"], molecule)
    view = StructureView(
        bonds=molecule.bonds,
        elements=molecule.elements,
        reference=molecule.coordinates,
        core=backbone.nonzero()[0] if molecule.coordinates is not None else None,
        traces=molecule.traces,
        unit="Å",
    )
    title = source.name if source is not None else "Structure"
    page = structure_report(found, view=view, title=title)
    page.save(options["report"], overwrite=options["force"])


def _read(
    file: Path | None, restraints: Path | None, options: dict[str, Any]
) -> tuple[Molecule, DistanceBounds, tuple[Finding, ...]]:
    """Return the molecule, the bounds, and what is to be told of both."""
    from isofold.structure.protein import read, read_restraints

    listed = None if restraints is None else read_restraints(restraints)
    if file is not None:
        molecule = read(file, model=options["model"], altloc=options["altloc"])
    elif listed is not None:
        molecule = listed.molecule()
    findings = (*molecule.findings, *molecule.geometry(options["geometry"]).findings)
    if listed is not None:
        matched = listed.bounds(molecule)
        return molecule, matched.bounds, (*findings, *listed.findings, *matched.findings)
    bounds = molecule.nmr_bounds(
        options["cutoff"], options["keep"], options["noise"], options["law"], options["seed"]
    )
    return molecule, bounds, findings


def _unit(name: str) -> str:
    """Return the unit of a figure."""
    return " Å" if "violation" in name or "RMSD" in name else ""


def _tell(console: Console, findings: tuple[Finding, ...]) -> None:
    """Say what was found: doubts as warnings."""
    from isofold._findings import Severity

    for finding in findings:
        if finding.is_raised:
            console.warn(finding.text(VOCABULARY))
        elif finding.severity is Severity.NOTE:
            console.note(finding.text(VOCABULARY))


def _put(
    found: Structure,
    compared: Superposition | None,
    findings: tuple[Finding, ...],
    options: dict[str, Any],
) -> None:
    """Write the figures to standard output."""
    bounds = found.violations.of("bound", "distance")
    figures: dict[str, Any] = {
        "atoms": found.problem.n_points,
        "rigid groups": len(found.problem.groups),
        "bounds": len(bounds),
        "worst violation": bounds.worst,
        "mean violation": bounds.mean,
        "energy": found.energy,
        "vote of the hand": found.vote,
        "free motions of the groups": found.free_motions.n_motions,
        "motions that no bound is about": found.undetermined_motions.n_motions,
    }
    if found.relaxation is not None:
        figures["gap of the relaxation"] = found.relaxation.gap
    if compared is not None:
        figures |= {
            "RMSD of the backbone": compared.backbone,
            **({"RMSD of the core": compared.core} if options["core"] else {}),
            "RMSD of all atoms": compared.all_atoms,
            "RMSD of the mirror image": compared.mirror,
        }
    if options["as_json"]:
        told = [
            {"code": f.code, "severity": f.severity.value, "message": f.text(VOCABULARY)}
            for f in findings
        ]
        put_json({**{k.replace(" ", "_"): v for k, v in figures.items()}, "findings": told})
        return
    rows = [
        (name, f"{value:,}" if isinstance(value, int) else f"{value:.3g}{_unit(name)}")
        for name, value in figures.items()
    ]
    put(aligned(rows, right=(1,)))
    worst = [k for k in range(min(MOST_VIOLATIONS, len(bounds))) if bounds.excess[k] != 0.0]
    put(["", "Largest violations:"] if worst else [])
    for k in worst:
        one, other = found.named(bounds.pairs[k])
        allowed = f"{bounds.lower[k]:.2f} to {bounds.upper[k]:.2f}"
        put([f"  {one} and {other}: {bounds.found[k]:.2f}, allowed {allowed}"])
