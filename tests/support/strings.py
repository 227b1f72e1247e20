"""Families of mutated strings, and a kernel that counts what they share."""

import numpy as np

ALPHABET = np.array(list("ACGT"))


def families(n_each=25, length=40, rate=0.1, seed=0):
    """Return strings of three families, and the family of each."""
    rng = np.random.RandomState(seed)
    strings = []
    for _ in range(3):
        parent = rng.choice(ALPHABET, length)
        for _ in range(n_each):
            changed = np.where(rng.rand(length) < rate, rng.choice(ALPHABET, length), parent)
            strings.append("".join(changed))
    return strings, np.repeat(np.arange(3), n_each)


def mutated(strings, rate=0.1, seed=1):
    """Return strings with some more letters changed."""
    rng = np.random.RandomState(seed)
    return [
        "".join(rng.choice(ALPHABET) if rng.rand() < rate else letter for letter in string)
        for string in strings
    ]


def shared_triples(A, B):
    """Return the inner products of counts of all three letters in a row."""
    every = sorted({s[i : i + 3] for s in (*A, *B) for i in range(len(s) - 2)})
    number = {triple: column for column, triple in enumerate(every)}

    def counts(strings):
        table = np.zeros((len(strings), len(every)))
        for row, s in enumerate(strings):
            for i in range(len(s) - 2):
                table[row, number[s[i : i + 3]]] += 1
        return table

    return counts(A) @ counts(B).T


def nearest_error(Y, labels, new=None, new_labels=None):
    """Return the error of the nearest neighbor on a map."""
    alone = new is None
    new, new_labels = (Y, labels) if alone else (new, new_labels)
    squares = ((new[:, None] - Y) ** 2).sum(axis=2)
    if alone:
        np.fill_diagonal(squares, np.inf)
    return float(np.mean(labels[squares.argmin(axis=1)] != new_labels))
