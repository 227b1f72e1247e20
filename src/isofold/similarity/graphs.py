"""Kernels of graphs with labeled nodes: NetworkX graphs, and molecules read by RDKit.

The Weisfeiler-Lehman subtree kernel (Shervashidze et al. 2011) counts the labels of nodes, then
those of nodes with their neighbors, and so on. The shortest-path kernel (Borgwardt and Kriegel
2005) counts pairs of nodes by their labels and by the length of the shortest path between them.
Both are inner products of counts. GraKeL has them, too, but not for all versions of Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from isofold._dependencies import require
from isofold._validation import check_count, check_flag
from isofold.exceptions import InputTypeError, InvalidInputError
from isofold.similarity.counts import CountKernel, count_table
from isofold.similarity.objects import read_objects

__all__ = ["ShortestPathKernel", "WeisfeilerLehmanKernel", "molecule_graphs"]


@dataclass(frozen=True)
class WeisfeilerLehmanKernel(CountKernel):
    """Neighborhoods that two graphs share, by rounds of relabeling nodes with their neighbors.

    Parameters
    ----------
    n_iter : int, default=3
        Rounds. Labels after round h tell all that is seen within h edges of a node.
    node_label : str, default="label"
        Attribute of nodes. Nodes without it all have the same label.
    edge_label : str or None, default=None
        Attribute of edges that neighbors are told apart by, such as the "bond" of a molecule.
    normalize : bool, default=True
        Divide by the lengths of both vectors of counts, which leaves the cosine.

    Notes
    -----
    Neighbors of a node of a directed graph are its successors. Graphs that the test of Weisfeiler
    and Lehman cannot tell apart, such as two triangles and a ring of six, count as copies.

    Examples
    --------
    >>> import networkx as nx
    >>> from isofold.similarity import WeisfeilerLehmanKernel
    >>> WeisfeilerLehmanKernel(1, normalize=False)([nx.path_graph(3), nx.path_graph(2)])
    array([[14., 10.],
           [10.,  8.]])
    """

    n_iter: int = 3
    node_label: str = "label"
    edge_label: str | None = None
    normalize: bool = True

    def __post_init__(self) -> None:
        check_count(self.n_iter, name="n_iter", minimum=0)
        check_flag(self.normalize, name="normalize")

    def _terms(self, objects: Sequence[Any]) -> Iterator[tuple[float, sp.csr_array]]:
        labels = [_node_labels(graph, self.node_label) for graph in objects]
        owners = np.repeat(np.arange(len(objects)), [len(held) for held in labels])
        adjacent = [self._neighbors(graph) for graph in objects]
        for done in range(self.n_iter + 1):
            codes: dict[Any, int] = {}
            labels = [
                {node: codes.setdefault(label, len(codes)) for node, label in held.items()}
                for held in labels
            ]
            found = [code for held in labels for code in held.values()]
            yield 1.0, count_table(owners, np.array(found, dtype=np.int64), len(objects))
            if done < self.n_iter:
                labels = [
                    {
                        node: (code, tuple(sorted((bond, held[v]) for v, bond in near[node])))
                        for node, code in held.items()
                    }
                    for held, near in zip(labels, adjacent, strict=True)
                ]

    def _neighbors(self, graph: Any) -> dict[Any, list[tuple[Any, str]]]:
        """Return the neighbors of each node with the labels of edges as text, to be sorted."""
        key, adjacency = self.edge_label, graph.adj
        return {
            node: [(v, "" if key is None else repr(edge.get(key))) for v, edge in near.items()]
            for node, near in adjacency.items()
        }


@dataclass(frozen=True)
class ShortestPathKernel(CountKernel):
    """Pairs of nodes that two graphs share: both labels, and the length of the shortest path.

    Pairs have an order: from one node to the other, and back.

    Parameters
    ----------
    node_label : str, default="label"
        Attribute of nodes. Nodes without it all have the same label.
    weight : str or None, default=None
        Attribute of edges that is their length; None: every edge has the length 1. Lengths count
        as the same if they are equal to nine digits.
    normalize : bool, default=True
        Divide by the lengths of both vectors of counts, which leaves the cosine.

    Notes
    -----
    Pairs without a path do not count. A graph without edges is a zero vector: its kernel with
    every graph is 0.

    Examples
    --------
    >>> import networkx as nx
    >>> from isofold.similarity import ShortestPathKernel
    >>> ShortestPathKernel(normalize=False)([nx.path_graph(3), nx.path_graph(2)])
    array([[20.,  8.],
           [ 8.,  4.]])
    """

    node_label: str = "label"
    weight: str | None = None
    normalize: bool = True

    def __post_init__(self) -> None:
        check_flag(self.normalize, name="normalize")

    def _terms(self, objects: Sequence[Any]) -> Iterator[tuple[float, sp.csr_array]]:
        codes: dict[Any, int] = {}
        labels: dict[Any, int] = {}
        owners: list[int] = []
        features: list[int] = []
        for owner, graph in enumerate(objects):
            held = _node_labels(graph, self.node_label)
            kinds = np.array([labels.setdefault(x, len(labels)) for x in held.values()], dtype=int)
            lengths = shortest_path(self._lengths(graph, list(held)))
            np.fill_diagonal(lengths, np.inf)
            start, end = np.nonzero(np.isfinite(lengths))
            spans = [f"{length:.9g}" for length in lengths[start, end].tolist()]
            pairs = zip(kinds[start].tolist(), kinds[end].tolist(), spans, strict=True)
            features += [codes.setdefault(pair, len(codes)) for pair in pairs]
            owners += [owner] * len(spans)
        yield 1.0, count_table(np.array(owners, int), np.array(features, int), len(objects))

    def _lengths(self, graph: Any, nodes: list[Any]) -> sp.csr_array:
        """Return the lengths of edges, which must be positive."""
        position = {node: index for index, node in enumerate(nodes)}
        edges = [
            (position[u], position[v], 1.0 if self.weight is None else edge.get(self.weight))
            for u, near in graph.adj.items()
            for v, edge in near.items()
        ]
        if any(
            not isinstance(length, int | float) or not 0 < length < np.inf for *_, length in edges
        ):
            msg = (
                f"A graph has an edge whose {self.weight!r} is not a positive number, so that it "
                f"has no length. Set it on all edges, or pass weight=None."
            )
            raise InvalidInputError(msg)
        rows, columns, lengths = zip(*edges, strict=True) if edges else ((), (), ())
        shape = (len(nodes), len(nodes))
        return sp.csr_array((np.array(lengths, dtype=float), (rows, columns)), shape=shape)


def molecule_graphs(smiles: Sequence[str]) -> list[Any]:
    """Return molecules as graphs: nodes are heavy atoms, edges are bonds.

    Read by RDKit into NetworkX graphs (``pip install "isofold[objects]"``). Nodes have the
    attribute "label", the symbol of the element, and edges "bond": SINGLE, DOUBLE, TRIPLE or
    AROMATIC.

    Parameters
    ----------
    smiles : sequence of str
        One SMILES text for each molecule.

    Returns
    -------
    graphs : list of networkx.Graph
        One for each molecule.

    Examples
    --------
    >>> from isofold.similarity import molecule_graphs
    >>> ethanol = molecule_graphs(["CCO"])[0]
    >>> dict(ethanol.nodes(data="label"))
    {0: 'C', 1: 'C', 2: 'O'}
    """
    networkx = require("networkx", extra="objects", purpose="molecule_graphs")
    chemistry = require("rdkit.Chem", extra="objects", purpose="molecule_graphs")
    log = require("rdkit.rdBase", extra="objects", purpose="molecule_graphs")
    graphs = []
    with log.BlockLogs():  # What is wrong is said below.
        for index, text in enumerate(read_objects(smiles, name="smiles")):
            molecule = chemistry.MolFromSmiles(text)
            if molecule is None:
                msg = (
                    f"smiles[{index}] is {text!r}, which RDKit cannot read as a molecule. Correct "
                    f"it, or leave it out."
                )
                raise InvalidInputError(msg)
            graph = networkx.Graph()
            graph.add_nodes_from(
                (a.GetIdx(), {"label": a.GetSymbol()}) for a in molecule.GetAtoms()
            )
            graph.add_edges_from(
                (b.GetBeginAtomIdx(), b.GetEndAtomIdx(), {"bond": str(b.GetBondType())})
                for b in molecule.GetBonds()
            )
            graphs.append(graph)
    return graphs


def _node_labels(graph: Any, key: str) -> dict[Any, Any]:
    """Return the label of each node, None where it has none."""
    if not all(hasattr(graph, name) for name in ("nodes", "adj", "is_directed", "is_multigraph")):
        msg = f"A graph of NetworkX is needed, but a {type(graph).__name__} came."
        raise InputTypeError(msg)
    if graph.is_multigraph():
        msg = (
            "A graph has several edges between the same nodes, which are not compared. Convert it, "
            "for example with networkx.Graph(graph)."
        )
        raise InvalidInputError(msg)
    return dict(graph.nodes(data=key))
