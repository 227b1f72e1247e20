"""Made-up files in place of the real data sets, of the same shapes and kinds.

All are sines of a few hidden variables, so that neighbors exist, with noise: more dimensions than a
map has, as in real images. Classes differ in their hidden variables.
"""

import io
import tarfile
from pathlib import Path

import numpy as np

from support.peptide import PEPTIDE

N_HIDDEN = 6
REPEATED = 16
"""Pixels that are alike: sines of 70,000 images would take long."""


def write_stand_ins(folder: Path) -> None:
    """Write a file for every loader of `isofold.datasets` that reads one."""
    rng = np.random.RandomState(0)
    faces = rng.uniform(-1, 1, size=(698, N_HIDDEN))
    arrays = {
        "frey_faces": {"X": _images(rng, rng.uniform(-1, 1, size=(1965, N_HIDDEN)), 560)},
        "isomap_faces_32": {
            "X": (_images(rng, faces, 1024) / 255).astype(np.float32),
            "pose": faces[:, :2],
            "light": faces[:, 2:3],
        },
        "coil20": _turning(rng),
        "olivetti": _classes(rng, 400, 4096, np.repeat(np.arange(40), 10)),
        "mnist": _classes(rng, 70_000, 784, np.arange(70_000) % 10),
        "olive_oil": {
            "X": rng.normal(size=(572, 8)) + 3.0 * (np.arange(572) % 9)[:, None],
            "y": np.arange(572) % 9,
            "region": np.arange(572) % 3,
            "area_names": np.array([f"area {i}" for i in range(9)]),
            "region_names": np.array([f"region {i}" for i in range(3)]),
            "feature_names": np.array([f"acid {i}" for i in range(8)]),
        },
        "wine_quality_red": {
            "X": rng.normal(size=(1599, 11)),
            "y": 3 + np.arange(1599) % 6,
            "feature_names": np.array([f"measurement {i}" for i in range(11)]),
        },
    }
    for name, content in arrays.items():
        np.savez(folder / f"{name}.npz", **content)
    structures = {"Tests/PDB/1AS5.cif": PEPTIDE}
    _write_archive(folder / "biopython-0.tar.gz", {**_families(rng), **structures})
    structures = {"MDAnalysisTests/data/cobrotoxin_dry_neutral_0.pdb": PEPTIDE}
    _write_archive(folder / "mdanalysistests-0.tar.gz", structures)
    _write_archive(folder / "grakel-0.tar.gz", _rings(rng))


def _write_archive(path: Path, files: dict[str, str]) -> None:
    """Write a source archive with some files."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{path.name.removesuffix('.tar.gz')}/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


def _families(rng: np.random.RandomState) -> dict[str, str]:
    """Return alignments of sequences that differ in a few letters, in the forms of Biopython."""
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
    files = {f"Tests/Stockholm/pfam{i}.seed.txt": "x" for i in (4, 5, 6, 8)}
    files |= {"Tests/Stockholm/globins45.ali": "HBA_", "Tests/Clustalw/protein.aln": "y"}
    for name, word in files.items():
        parent = rng.choice(letters, 40)
        rows = [np.where(rng.rand(40) < 0.2, rng.choice(letters, 40), parent) for _ in range(18)]
        files[name] = "".join(f"{word}{i} {''.join(row)}\n" for i, row in enumerate(rows))
    return files


def _rings(rng: np.random.RandomState) -> dict[str, str]:
    """Return rings of atoms in the form of MUTAG: those of one class have another atom."""
    edges, owner, atoms, kinds = [], [], [], []
    for graph in range(90):
        n, first = rng.randint(5, 9), len(owner) + 1
        edges += [(first + i, first + (i + 1) % n) for i in range(n)]
        owner += [graph + 1] * n
        atoms += [*rng.randint(2, size=n - 1), 2 * (graph % 2)]
        kinds.append(2 * (graph % 2) - 1)
    columns = {"graph_indicator": owner, "node_labels": atoms, "graph_labels": kinds}
    columns["edge_labels"] = [i % 2 for i, _ in edges]
    files = {name: "".join(f"{value}\n" for value in own) for name, own in columns.items()}
    files["A"] = "".join(f"{one}, {other}\n" for one, other in edges)
    return {f"grakel/tests/data/MUTAG/MUTAG_{name}.txt": text for name, text in files.items()}


def _images(rng: np.random.RandomState, hidden: np.ndarray, n_pixels: int) -> np.ndarray:
    """Return gray levels from 0 to 255 as sines of hidden variables, with noise."""
    n_distinct = n_pixels // REPEATED
    waves = np.sin(1.5 * hidden @ rng.normal(size=(hidden.shape[1], n_distinct)))
    noisy = waves + 0.1 * rng.normal(size=waves.shape)
    gray = np.clip(127.5 + 90.0 * noisy, 0, 255).astype(np.uint8)
    return np.repeat(gray, REPEATED, axis=1)


def _classes(
    rng: np.random.RandomState, n_samples: int, n_pixels: int, labels: np.ndarray
) -> dict[str, np.ndarray]:
    centers = rng.uniform(-2, 2, size=(labels.max() + 1, N_HIDDEN))
    hidden = centers[labels] + rng.uniform(-1, 1, size=(n_samples, N_HIDDEN))
    return {"X": _images(rng, hidden, n_pixels), "y": labels.astype(np.uint8)}


def _turning(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    """Return 20 objects, each a closed curve of 72 images."""
    labels, step = np.divmod(np.arange(1440), 72)
    angle = np.radians(5.0 * step)
    shape = 0.3 * rng.normal(size=(20, N_HIDDEN))[labels]
    hidden = np.column_stack((np.cos(angle), np.sin(angle), shape))
    return {
        "X": _images(rng, hidden, 16384),
        "y": (1 + labels).astype(np.uint8),
        "angle": (5 * step).astype(np.uint16),
    }
