"""The one table of methods: `isofold`, model files, the shell, proofs and benchmarks read it.

A method that is not entered here fails a test (`tests/embedding/test_catalog.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BY_CLASS", "BY_SHELL_NAME", "CATALOG", "Method"]


@dataclass(frozen=True)
class Method:
    """A method, and what can be known about it without importing it.

    Attributes
    ----------
    name : str
        Name of the class.
    home : str
        Its module, within `isofold.embedding`.
    title : str
        What it is, in a short phrase.
    shell_name : str
        Its name on the command line; empty if it is not there.
    claim : str
        What its certificate proves, if it has one.
    most_rows : int or None
        Rows beyond which a fit would take more than a few minutes.
    sampled : (int, int) or None
        Rows that are fitted first, and at most, of a table that is read block by block; None
        stands for `most_rows`, or for 20,000 and 80,000.
    needs_label : bool
        Whether it requires labels.
    finds_dimension : bool
        Whether it takes ``n_components="auto"``.
    is_public : bool
        Whether it is a name of `isofold`.
    """

    name: str
    home: str
    title: str
    shell_name: str = ""
    claim: str = ""
    most_rows: int | None = None
    sampled: tuple[int, int] | None = None
    needs_label: bool = False
    finds_dimension: bool = False
    is_public: bool = True

    @property
    def first_sample(self) -> int:
        """Rows that are fitted first of a table that is read block by block."""
        return self._sampled[0]

    @property
    def most_sampled(self) -> int:
        """Rows of such a table that are fitted at most."""
        return self._sampled[1]

    @property
    def _sampled(self) -> tuple[int, int]:
        if self.sampled is not None:
            return self.sampled
        return SAMPLED if self.most_rows is None else (self.most_rows, self.most_rows)


SAMPLED = (20_000, 80_000)
"""Rows of a table that are fitted first, and at most, where the method has no other limit: on a
holed roll of 10^6 rows IPA's error is 2e-6 with the first and 1e-7 with the second."""

WIDEST = "no other arrangement with these lengths between neighbors is wider"

CATALOG = (
    Method(
        "Unfold",
        "unfold.unfold",
        "the method that suits the data",
        shell_name="auto",
        finds_dimension=True,
    ),
    Method(
        "IPA",
        "ipa",
        "isometric patch alignment",
        shell_name="ipa",
        claim="no other arrangement of these patches fits better where they overlap",
        finds_dimension=True,
    ),
    Method(
        "LocalMDS",
        "local_mds",
        "local multidimensional scaling",
        shell_name="local-mds",
    ),
    Method(
        "NeighborMap",
        "neighbor_map",
        "neighbor embedding with true lengths",
        shell_name="neighbor-map",
    ),
    Method(
        "MVU",
        "mvu.mvu",
        "maximum variance unfolding",
        shell_name="mvu",
        claim=WIDEST,
        most_rows=2000,
    ),
    Method(
        "LandmarkMVU",
        "mvu.landmark",
        "landmark unfolding",
        shell_name="landmark-mvu",
        claim="no other arrangement that these landmarks can carry is wider",
        most_rows=5000,
    ),
    Method(
        "FastMVU",
        "mvu.fast",
        "fast unfolding",
        shell_name="fast-mvu",
        claim=WIDEST,
        most_rows=20_000,
    ),
    Method(
        "ColoredMVU",
        "mvu.colored",
        "colored unfolding",
        shell_name="colored-mvu",
        claim="no other arrangement with these lengths between neighbors suits the labels more",
        most_rows=600,
        needs_label=True,
    ),
    Method(
        "DisjointMVU",
        "mvu.disjoint",
        "unfolding of separate components",
        shell_name="disjoint-mvu",
        claim=WIDEST,
        most_rows=2000,
    ),
    Method(
        "EAT",
        "affine.eat",
        "embedding by affine transformations",
        shell_name="eat",
        claim="no other map by this kernel with distances as true stretches the given pairs more",
        most_rows=800,
    ),
    Method(
        "TesseraMap",
        "affine.tesseramap",
        "tessera map",
        shell_name="tesseramap",
        claim="no other arrangement of these rigid tesserae with joints as true is wider",
        most_rows=10_000,
    ),
    Method(
        "PLML",
        "plml",
        "piecewise-linear manifold learning",
        shell_name="plml",
        claim="no other arrangement of these cells fits better where they overlap",
    ),
    Method(
        "KernelLaplacianEigenmaps",
        "kernel_eigenmaps",
        "Laplacian eigenmaps of a kernel",
        shell_name="kernel-eigenmaps",
        sampled=(2_000, 2_000),
    ),
    Method(
        "TwinKernelEmbedding",
        "twin_kernel",
        "twin kernel embedding",
        shell_name="twin-kernel",
        sampled=(2_000, 2_000),
    ),
    Method("OutOfSample", "out_of_sample.out_of_sample", "new points for any embedding"),
    Method(
        "Projection",
        "unfold.projection",
        "projection on principal axes",
        is_public=False,
    ),
)

BY_CLASS = {method.name: method for method in CATALOG}
BY_SHELL_NAME = {method.shell_name: method for method in CATALOG if method.shell_name}
