"""Tables of proteins: the thesis's protocol, templates, harder data, sizes, certificates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.structure import protein_pictures
from experiments.structure.classical import refined, scaled, shortest_paths, stress_majorized
from experiments.structure.measures import FAILED, NOTHING, OURS, judged, said, solved, timed
from experiments.structure.molecules import HARDER, PROTEINS, SPARSE, Law, Protein, load
from isofold._typing import FloatArray
from isofold.structure import StructureProblem, free_motions, protein

__all__ = ["Chosen", "certificates", "harder", "sizes", "sparse", "template", "thesis"]

THESIS = Law("thesis")
MDS, REFINED, SMACOF = "classical MDS", "MDS + refinement", "SMACOF"
LARGE = 3000
"""Atoms of proteins that are left out on harder data: a run takes up to a minute."""
FEW_SEEDS = 2
"""Seeds with many starts."""
SMALL = 1300
"""Atoms of the largest protein that is certified, or solved from few bounds: ubiquitin."""
UBIQUITIN = "2K39"


@dataclass(frozen=True)
class Chosen:
    """Which runs are made.

    Attributes
    ----------
    seeds : int
        Number of seeds; the seed of the data is the seed of the start.
    only : tuple of str
        Names of proteins; all if empty.
    """

    seeds: int = 5
    only: tuple[str, ...] = ()

    def proteins(self, size: Size, most: int | None = None) -> Sequence[Protein]:
        """Return the proteins to take, those with so many atoms at most."""
        named = [one for one in size.few(PROTEINS) if not self.only or one.name in self.only]
        return [one for one in named if most is None or load(one).n_atoms <= most]


ALL = Chosen()


def thesis(folder: Path, size: Size = FULL, chosen: Chosen = ALL) -> None:
    """Solve from half of the hydrogens within 6 Å, u = d(1 + 0.1|ε|), and true groups."""
    _of_geometry("structure", "proteins_thesis", folder, size, chosen)


def template(folder: Path, size: Size = FULL, chosen: Chosen = ALL) -> None:
    """Solve the same with groups from ideal residues."""
    _of_geometry("template", "proteins_template", folder, size, chosen)


def harder(folder: Path, size: Size = FULL, chosen: Chosen = ALL) -> None:
    """Solve from fewer, coarser and too short bounds, and look whether the result says so."""
    _of_laws(HARDER, chosen.proteins(size, LARGE), "proteins_harder", folder, size, chosen)


def sparse(folder: Path, size: Size = FULL, chosen: Chosen = ALL) -> None:
    """Solve from bounds that cannot fix a fold, and look whether the result says so."""
    _of_laws(SPARSE, chosen.proteins(size, SMALL), "proteins_sparse", folder, size, chosen)


def sizes(folder: Path, size: Size = FULL, chosen: Chosen = ALL) -> None:
    """Count rows of the Gram matrix with groups and without, and motions that are left."""
    rows: list[Row] = []
    for one in chosen.proteins(size):
        molecule = load(one)
        groups = molecule.groups("structure")
        dimensions = protein.group_dimensions(groups)
        own = {"atoms": molecule.n_atoms, "hydrogens": int(molecule.is_hydrogen.sum())}
        flat = int((dimensions == 2).sum())
        hinges = _hinges([group.points for group in groups])
        reduced = {
            "groups": f"{flat} + {len(groups) - flat}",
            "rows": int(dimensions.sum()),
            "hinges": hinges,
            "rows less hinges": int(dimensions.sum()) - hinges,
        }
        rows.append({"protein": one.name, **own, **reduced, **_motions(molecule)})
        say(_line(rows[-1]))
    write_table(rows, folder / "proteins_sizes")
    rings = list(_indoles([load(one) for one in chosen.proteins(size)]))
    if rings:
        write_table(rings[:1], folder / "proteins_indole")


def certificates(folder: Path, size: Size = FULL, chosen: Chosen = ALL) -> None:
    """Certify relaxations of consistent data and of data that contradict themselves."""
    rows: list[Row] = []
    for one in chosen.proteins(size, SMALL):
        molecule = load(one)
        for law in (THESIS, *(law for law in HARDER if law.name == "two-sided")):
            bounds = molecule.nmr_bounds(**law.options, random_state=0)
            problem = molecule.problem(geometry="structure", bounds=bounds)
            plain = solved(problem, law, 0)[1]
            solver, seconds = solved(problem, law, 0, certify=True)
            proof: Any = solver.certificate_
            values = {"value": proof.value, "bound": proof.bound, "gap": float(proof.gap)}
            rows.append(
                {
                    "protein": one.name,
                    "atoms": molecule.n_atoms,
                    "data": law.name,
                    **values,
                    "least penalty": proof.penalty_bound,
                    "contradiction proved": proof.is_contradiction,
                    "seconds": seconds,
                    "without certificate": plain,
                }
            )
            say(_line(rows[-1]))
    write_table(rows, folder / "proteins_certificates")


def _of_geometry(geometry: Any, name: str, folder: Path, size: Size, chosen: Chosen) -> None:
    """Write the tables of the thesis's protocol by all methods."""
    rows: list[Row] = []
    for one in chosen.proteins(size):
        molecule = load(one)
        for seed in range(size.repeats(chosen.seeds)):
            bounds = molecule.nmr_bounds(random_state=seed)
            problem = molecule.problem(geometry=geometry, bounds=bounds)
            own = _own_row(one, molecule, problem, THESIS, seed)
            rows += [own, *_classical_rows(one, molecule, problem, seed)]
            say("\n".join(_line(row) for row in rows[-4:]))
    write_table(rows, folder / f"{name}_runs")
    groups = _grouped(rows, "protein", "method")
    write_table([_summary(group) for group in groups], folder / name)
    protein_pictures.draw_methods(rows, folder / f"{name}.png")
    if geometry == "structure":
        shown = [one for one in chosen.proteins(size) if one.name == UBIQUITIN]
        for one in shown:
            protein_pictures.draw_traces(load(one), _traces(one), folder / "proteins_ubiquitin.png")


def _of_laws(
    laws: Sequence[Law],
    proteins: Sequence[Protein],
    name: str,
    folder: Path,
    size: Size,
    chosen: Chosen,
) -> None:
    """Write the tables of some laws: runs, protein by protein, and what was flagged."""
    rows: list[Row] = []
    for one in proteins:
        molecule = load(one)
        for law in size.few(laws):
            seeds = size.repeats(chosen.seeds)
            for seed in range(min(seeds, FEW_SEEDS) if law.is_long else seeds):
                bounds = molecule.nmr_bounds(**law.options, random_state=seed)
                problem = molecule.problem(geometry="structure", bounds=bounds)
                rows.append(_own_row(one, molecule, problem, law, seed))
                say(_line(rows[-1]))
    write_table(rows, folder / f"{name}_runs")
    groups = _grouped(rows, "protein", "law")
    write_table([_harder_summary(group) for group in groups], folder / name)
    write_table(list(_counted(rows)), folder / f"{name}_flags")
    protein_pictures.draw_harder(rows, folder / f"{name}.png")


def _own_row(
    one: Protein,
    molecule: protein.Molecule,
    problem: StructureProblem,
    law: Law,
    seed: int,
) -> dict[str, Any]:
    """Return the record of a run of this library."""
    solver, seconds = solved(problem, law, seed)
    named = {"protein": one.name, "role": one.role, "law": law.name, "seed": seed}
    counts = {"method": OURS, "atoms": molecule.n_atoms, "bounds": len(problem.bounds)}
    found = judged(one, molecule, problem, solver.coordinates_)
    return {**named, **counts, **found, **said(solver), "seconds": seconds}


def _classical_rows(
    one: Protein, molecule: protein.Molecule, problem: StructureProblem, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the records of the classical methods; each has the seconds of all its steps."""
    for method, (coordinates, seconds) in _classical(problem).items():
        named = {"protein": one.name, "role": one.role, "law": THESIS.name, "seed": seed}
        counts = {"method": method, "atoms": molecule.n_atoms, "bounds": len(problem.bounds)}
        unsaid = ("findings", "energy", "vote", "mirror energy", "variance", "starts")
        silent = dict.fromkeys(unsaid, NOTHING)
        found = judged(one, molecule, problem, coordinates)
        yield {**named, **counts, **found, **silent, "seconds": seconds}


def _classical(problem: StructureProblem) -> dict[str, tuple[FloatArray, float]]:
    """Return structures by classical methods, with their seconds."""
    paths, for_paths = timed(lambda: shortest_paths(problem))
    start, for_start = timed(lambda: scaled(problem, paths))
    better, for_better = timed(lambda: refined(problem, start))
    major, for_major = timed(lambda: stress_majorized(problem, paths, start))
    begun = for_paths + for_start
    return {
        MDS: (start, begun),
        REFINED: (better, begun + for_better),
        SMACOF: (major, begun + for_major),
    }


def _traces(one: Protein) -> dict[str, FloatArray]:
    """Return structures of a protein by three methods, on the reference, from the first seed."""
    molecule = load(one)
    problem = molecule.problem(geometry="structure", bounds=molecule.nmr_bounds(random_state=0))
    classical = _classical(problem)
    found = {
        OURS: solved(problem, THESIS, 0)[0].coordinates_,
        REFINED: classical[REFINED][0],
        MDS: classical[MDS][0],
    }
    return {
        name: protein.compare(where, molecule, one.core).coordinates
        for name, where in found.items()
    }


def _grouped(rows: Sequence[Row], *keys: str) -> list[list[Row]]:
    """Return rows with the same values of some columns together."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return list(groups.values())


def _mean(group: Sequence[Row], column: str) -> float:
    return float(np.mean([row[column] for row in group]))


def _spread(group: Sequence[Row], column: str) -> str:
    """Return mean and largest value as words."""
    values = [row[column] for row in group]
    return f"{np.mean(values):.2f} ({np.max(values):.2f})"


def _summary(group: Sequence[Row]) -> Row:
    """Return one line of the runs of a method on a protein."""
    codes = sorted({code for row in group for code in row["findings"].split() if code != NOTHING})
    return {
        "protein": group[0]["protein"],
        "atoms": group[0]["atoms"],
        "bounds": round(_mean(group, "bounds")),
        "method": group[0]["method"],
        "backbone": _spread(group, "backbone"),
        "core": _spread(group, "core"),
        "all atoms": _spread(group, "all atoms"),
        "hand": f"{sum(row['right hand'] for row in group)}/{len(group)}",
        "centers": f"{100 * _mean(group, 'centers'):.1f} %",
        "mean violation": f"{_mean(group, 'mean violation'):.4f}",
        "worst violation": f"{max(row['worst violation'] for row in group):.2f}",
        "findings": " ".join(codes) or NOTHING,
        "seconds": f"{_mean(group, 'seconds'):.1f}",
    }


def _harder_summary(group: Sequence[Row]) -> Row:
    """Return one line of the runs on a protein under a law."""
    flagged = [row for row in group if row["findings"] != NOTHING]
    failed = [row for row in group if _has_failed(row)]
    line = {key: value for key, value in _summary(group).items() if key != "method"}
    return {
        "protein": line.pop("protein"),
        "law": group[0]["law"],
        **line,
        "failed": f"{len(failed)}/{len(group)}",
        "flagged": f"{len(flagged)}/{len(group)}",
    }


def _has_failed(row: Row) -> bool:
    return not row["right hand"] or row["core"] > FAILED


def _counted(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield how many runs of each law failed or not, and were flagged or not."""
    for group in [*_grouped(rows, "law"), list(rows)]:
        is_flagged = np.array([row["findings"] != NOTHING for row in group])
        is_failed = np.array([_has_failed(row) for row in group])
        is_mirrored = np.array([not row["right hand"] for row in group])
        yield {
            "law": group[0]["law"] if len(group) < len(rows) else "all",
            "runs": len(group),
            "failed and flagged": int((is_failed & is_flagged).sum()),
            "failed and silent": int((is_failed & ~is_flagged).sum()),
            "of these, wrong hand": int((is_mirrored & ~is_flagged).sum()),
            "right and flagged": int((~is_failed & is_flagged).sum()),
            "right and silent": int((~is_failed & ~is_flagged).sum()),
        }


def _motions(molecule: protein.Molecule) -> dict[str, int]:
    """Return motions of groups alone, and of all with bounds taken as known distances."""
    where = molecule.need_coordinates("its motions")
    plain = molecule.problem(geometry="structure")
    sparse = molecule.nmr_bounds(cutoff=5.0, keep=0.1, law="class", random_state=0)
    given = {
        "undetermined, thesis": molecule.nmr_bounds(random_state=0),
        "undetermined, class10": sparse,
    }
    found = {"free motions": free_motions(plain, where).n_motions}
    for name, bounds in given.items():
        problem = molecule.problem(geometry="structure", bounds=bounds)
        found[name] = free_motions(problem, where, with_bounds=True).n_motions
    return found


def _hinges(groups: Sequence[Any]) -> int:
    """Count pairs of points that groups share, once for every group after the first."""
    seen: dict[tuple[int, int], int] = {}
    for points in groups:
        inside = np.sort(points)
        for first, second in zip(*np.triu_indices(len(inside), 1), strict=True):
            pair = int(inside[first]), int(inside[second])
            seen[pair] = seen.get(pair, 0) + 1
    return sum(count - 1 for count in seen.values())


def _indoles(molecules: Sequence[protein.Molecule]) -> Iterator[Row]:
    """Yield the ring systems of tryptophans: their atoms and their rows."""
    for molecule in molecules:
        groups = molecule.groups("structure")
        for group, dimension in zip(groups, protein.group_dimensions(groups), strict=True):
            residue = molecule.residues[molecule.residue_of[group.points[0]]]
            names = {molecule.atom_names[point] for point in group.points}
            if residue.name == "TRP" and {"CE2", "CD1"} <= names:
                own = {"group": f"indole of {residue}", "rows without groups": len(group)}
                rows = int(dimension)
                yield {**own, "rows": rows, "rows less its hinge": rows - 1}


def _line(row: Row) -> str:
    """Return a record as one line."""
    cells = (f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values())
    return "  ".join(cells)
