"""The objects, their classes, and how each kind is compared."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
from scipy.spatial.distance import cdist

from experiments.harness import FULL, Size
from experiments.non_vector.archives import read_members
from isofold._typing import FloatArray, IntArray
from isofold.datasets import load_mnist
from isofold.similarity import (
    AlignmentDistance,
    MismatchKernel,
    ObjectDistance,
    ObjectKernel,
    ShapeContextDistance,
    ShapeContextKernel,
    ShortestPathKernel,
    SpectrumKernel,
    TfidfKernel,
    WeisfeilerLehmanKernel,
    image_points,
)

__all__ = [
    "Case",
    "Comparison",
    "Pixels",
    "digits",
    "molecules",
    "proteins",
    "texts",
    "zeros_and_ones",
]

Similarity = ObjectKernel | ObjectDistance

FAMILIES = {
    "Stockholm/pfam8.seed.txt": "cyclin",
    "Stockholm/pfam6.seed.txt": "cytochrome oxidase",
    "Stockholm/pfam5.seed.txt": "permease",
    "Stockholm/pfam4.seed.txt": "steroid dehydrogenase",
    "Stockholm/globins45.ali": "",
}
"""Alignments of families in Biopython's tests; the globins are told apart by their names."""
GLOBINS = {
    "HBA": "hemoglobin alpha",
    "HBB": "hemoglobin beta",
    "HBE": "hemoglobin beta",
    "MYG": "myoglobin",
}
CHALCONE_SYNTHASES = "Clustalw/protein.aln"

MOLECULES = "grakel/tests/data/MUTAG/MUTAG"

MODULES = ("numpy.linalg", "scipy.signal", "scipy.stats", "sklearn.metrics", "networkx")
N_TEXTS, LEAST_LETTERS, LETTERS = 50, 100, 600
"""Texts of a module, and how long they are at least, and at most, when cut off."""

IMAGE, N_POINTS = (28, 28), 50
"""Shape of an image of a digit, and points on the edge of its ink."""


@dataclass(frozen=True)
class Pixels(ObjectDistance):
    """Euclidean distance of images, pixel by pixel."""

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the distance of every image of A to every image of B, or of A to itself."""
        return cdist(np.stack(A), np.stack(A if B is None else B))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Objects as one similarity reads them.

    Attributes
    ----------
    name : str
        A word for the similarity.
    similarity : ObjectKernel or ObjectDistance
        How they are compared.
    objects : tuple
        Strings, graphs, sets of points or images.
    """

    name: str
    similarity: Similarity
    objects: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """Objects with classes.

    Attributes
    ----------
    name : str
        Name of tables and pictures.
    labels : ndarray of int of shape (n_objects,)
        The class of each object.
    classes : tuple of str
        Names of the classes.
    comparisons : tuple of Comparison
        The same objects, as they are compared.
    """

    name: str
    labels: IntArray
    classes: tuple[str, ...]
    comparisons: tuple[Comparison, ...]

    @staticmethod
    def of(name: str, named: Sequence[str], comparisons: Sequence[Comparison], size: Size) -> Case:
        """Return a case of objects with the names of their classes."""
        rows = np.arange(len(named))[size.rows(len(named))]
        kept = [named[row] for row in rows]
        classes = tuple(dict.fromkeys(kept))
        labels = np.array([classes.index(one) for one in kept])
        parts = (replace(c, objects=tuple(c.objects[row] for row in rows)) for c in comparisons)
        return Case(name, labels, classes, tuple(parts))


def proteins(size: Size = FULL) -> Case:
    """Return 190 sequences of eight families, the letters alone."""
    files = read_members("biopython", (*FAMILIES, CHALCONE_SYNTHASES))
    alignments = [_aligned(file) for file in files]
    families = [*FAMILIES.values(), "chalcone synthase"]
    sequences = tuple(row for alignment in alignments for row in alignment.values())
    named = [
        family or GLOBINS[name[:3]]
        for alignment, family in zip(alignments, families, strict=True)
        for name in alignment
    ]
    comparisons = (
        Comparison("mismatch kernel", MismatchKernel(5, 1), sequences),
        Comparison("alignment", AlignmentDistance(), sequences),
    )
    return Case.of("proteins", named, comparisons, size)


def molecules(size: Size = FULL) -> Case:
    """Return the 188 nitro compounds of MUTAG as graphs of atoms; mutagenic or not."""
    parts = ("A", "edge_labels", "graph_indicator", "graph_labels", "node_labels")
    files = read_members("grakel", tuple(f"{MOLECULES}_{part}.txt" for part in parts))
    pairs, bonds, owner, classes, atoms = (_integers(file) for file in files)
    graphs = tuple(nx.Graph() for _ in classes)
    for node, (graph, atom) in enumerate(zip(owner[:, 0], atoms[:, 0], strict=True), start=1):
        graphs[graph - 1].add_node(node, label=int(atom))
    for (one, other), bond in zip(pairs, bonds[:, 0], strict=True):
        graphs[owner[one - 1, 0] - 1].add_edge(int(one), int(other), bond=int(bond))
    named = ["mutagenic" if value > 0 else "not mutagenic" for value in classes[:, 0]]
    labeled = WeisfeilerLehmanKernel(3, edge_label="bond")
    comparisons = (
        Comparison("Weisfeiler-Lehman kernel", labeled, graphs),
        Comparison("shortest-path kernel", ShortestPathKernel(), graphs),
    )
    return Case.of("molecules", named, comparisons, size)


def digits(size: Size = FULL) -> Case:
    """Return 40 of each of the digits 0, 1, 3, 6 and 9 as sets of points, and as pixels."""
    return _digits("digits", (0, 1, 3, 6, 9), 40, size)


def zeros_and_ones(size: Size = FULL) -> Case:
    """Return 50 zeros and 50 ones, as in the figure of the source."""
    return _digits("zeros_and_ones", (0, 1), 50, size)


def texts(size: Size = FULL) -> Case:
    """Return what five modules say of 50 of their functions each; the module is the class."""
    found = {module: _documentation(module)[:N_TEXTS] for module in MODULES}
    own = tuple(text for some in found.values() for text in some)
    named = [module for module, some in found.items() for _ in some]
    comparisons = (
        Comparison("4-spectrum kernel", SpectrumKernel(4), own),
        Comparison("TF-IDF", TfidfKernel.of(own), own),
    )
    return Case.of("texts", named, comparisons, size)


def _digits(name: str, wanted: Sequence[int], n_each: int, size: Size) -> Case:
    """Return the first digits of each kind."""
    data = load_mnist()
    labels = np.asarray(data.labels)
    rows = np.concatenate([np.flatnonzero(labels == digit)[:n_each] for digit in wanted])
    images = tuple(data.X[row].reshape(IMAGE) for row in rows)
    named = [str(labels[row]) for row in rows]
    outlines = tuple(image_points(image, N_POINTS) for image in images)
    comparisons = (
        Comparison("shape context kernel", ShapeContextKernel(), outlines),
        Comparison("shape context distance", ShapeContextDistance(), outlines),
        Comparison("pixels", Pixels(), tuple(image.ravel() for image in images)),
    )
    return Case.of(name, named, comparisons, size)


def _aligned(text: str) -> dict[str, str]:
    """Return the letters of all rows of a Stockholm or ClustalW alignment, without gaps."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        row = re.match(r"(\S+)\s+([A-Za-z.-]+)\s*\d*$", line)
        if row and not line.startswith(("#", "CLUSTAL")):
            letters = re.sub(r"[.-]", "", row[2]).upper()
            found[row[1]] = found.get(row[1], "") + letters
    return found


def _integers(text: str) -> IntArray:
    """Return the numbers of a file, a row for each line."""
    lines = text.split("\n")
    return np.array([[int(part) for part in line.split(",")] for line in lines if line.strip()])


def _documentation(name: str) -> list[str]:
    """Return the beginnings of what is said of a module's public functions, each once."""
    module = importlib.import_module(name)
    found: dict[str, None] = {}
    for key in sorted(getattr(module, "__all__", dir(module))):
        thing = vars(module).get(key)
        if not key.startswith("_") and callable(thing):
            text = " ".join((inspect.getdoc(thing) or "").split())
            if len(text) >= LEAST_LETTERS:
                found.setdefault(text[:LETTERS].lower())
    return list(found)
