"""Random programs of equalities in every shape that the dense interior point is for."""

from __future__ import annotations

import numpy as np

from isofold.sdp import GramSDP, square_constraints
from isofold.sdp.posing.compression import compress
from support.sdp_problems import complete_edges, cycle_edges, squared_lengths
from support.sdp_random import soft, sparse_pairs


def tree(rng):
    """Hard distances on a tree: every length can be kept whatever the others do."""
    n = 9
    pairs = sparse_pairs(rng, n, 0)
    return GramSDP.unfolding(n, pairs, rng.uniform(0.5, 2.0, len(pairs)))


def ring(rng):
    """Hard distances on a cycle, with a matrix to maximize that is not the identity."""
    n = 8
    noise = rng.standard_normal((n, n))
    return GramSDP.unfolding(
        n, cycle_edges(n), rng.uniform(0.8, 1.4, n) ** 2, objective=noise @ noise.T
    )


def in_a_basis(rng, *, m=4, is_centered=True):
    """Soft pairs of a bent strip in a basis of few functions."""
    n = 16
    t = np.sort(rng.random(n))
    points = np.column_stack([np.cos(3 * t), np.sin(3 * t), rng.random(n)])
    basis = np.column_stack([np.cos(np.pi * k * t) for k in range(1, m)] + [points[:, 2]])
    if is_centered:
        basis = basis - basis.mean(axis=0)
    pairs = complete_edges(n)
    squared = squared_lengths(points, pairs)
    near = squared < 0.5
    return GramSDP.unfolding(
        n, pairs[near], squared[near], penalty=rng.uniform(0.5, 2.0, near.sum()), basis=basis
    )


def blocks_and_links(rng, *, penalty=3.0):
    """Rigid pieces of one to three axes, pushed apart, with links between points of two pieces.

    Row by row: the axes of a piece, then its place. A link is a difference of two points, which a
    common translation does not change; neither does it change the objective. Links have the lengths
    of pieces that are placed at random in as many dimensions as there are rows.
    """
    ranks = np.array([2, 1, 3, 2])
    first = np.concatenate([[0], np.cumsum(ranks + 1)])
    n_rows = int(first[-1])
    places = first[:-1] + ranks
    rows = []
    for i, j in complete_edges(len(ranks)):
        for _ in range(2):
            row = np.zeros(n_rows)
            for piece, sign in ((i, 1.0), (j, -1.0)):
                row[first[piece] : places[piece]] = sign * rng.standard_normal(ranks[piece])
                row[places[piece]] = sign
            rows.append(row)
    rows = np.array(rows)
    Y = rng.standard_normal((n_rows, n_rows))
    for begin, end in zip(first[:-1], places, strict=True):
        Y[begin:end] = np.linalg.qr(Y[begin:end].T)[0].T
    squared = np.sum((rows @ Y) ** 2, axis=1)
    push = np.zeros((n_rows, n_rows))
    push[np.ix_(places, places)] = len(ranks) * np.eye(len(ranks)) - 1.0
    return GramSDP(
        n_rows,
        push,
        maximize=True,
        constraints=square_constraints(rows, lower=squared, upper=squared, penalty=penalty),
        blocks=np.column_stack([first[:-1], ranks]),
    )


def some_hard_some_soft(rng):
    """Lengths of a tree are kept, those of further pairs only cost."""
    n = 8
    points = rng.standard_normal((n, n - 1)) / np.sqrt(n)
    pairs = sparse_pairs(rng, n, 6)
    penalty = np.where(np.arange(len(pairs)) % 3 == 0, np.inf, rng.uniform(1.0, 10.0, len(pairs)))
    return GramSDP.unfolding(n, pairs, squared_lengths(points, pairs), penalty=penalty)


def signed_sums(rng, *, m=3):
    """Forms that are sums of squares of either sign: what compression leaves of many pairs."""
    return compress(in_a_basis(rng, m=m)).problem


KINDS = {
    "soft pairs": lambda rng: soft(rng, 10).problem,
    "tree": tree,
    "ring": ring,
    "soft in a basis": in_a_basis,
    "soft in a basis with a mean": lambda rng: in_a_basis(rng, is_centered=False),
    "blocks and soft links": blocks_and_links,
    "blocks and hard links": lambda rng: blocks_and_links(rng, penalty=None),
    "hard and soft": some_hard_some_soft,
    "signed sums": signed_sums,
    "many squares": lambda rng: signed_sums(rng, m=5),
}
