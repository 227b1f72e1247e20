"""Measures of maps: every value, interval and per-point form."""

from dataclasses import fields, is_dataclass
from functools import partial

import numpy as np

from contract.freeze import Taken
from isofold import datasets, quality
from isofold.neighbors import build_graph
from support import storage_cases as stored
from support.storage_cases import CLOUD, LABELS, SHEET, SMALL

ROLL = datasets.swiss_roll(340, random_state=0)
TRUTH = ROLL.truth[:300]

# By name: data, map, labels and truth.
MAPS = {
    "roll": lambda: (SHEET, stored.fitted("ipa").embedding_, LABELS, TRUTH),
    "curve": lambda: (SMALL, stored.fitted("mvu").embedding_, np.arange(45) % 2, SMALL[:, :2]),
    "cloud": lambda: (CLOUD, stored.fitted("local mds").embedding_, np.arange(120) % 4, CLOUD),
    "projection": lambda: (SHEET, SHEET[:, :2], LABELS, TRUTH),
}

# Every public measure, of X, Y, labels and truth.
MEASURES = {
    "continuity": lambda X, Y, labels, truth: quality.continuity(X, Y),
    "coranking curve": lambda X, Y, labels, truth: quality.coranking_curve(X, Y),
    "is localized": lambda X, Y, labels, truth: quality.is_localized(
        labels, build_graph(X, n_neighbors=8)
    ),
    "local isometry": lambda X, Y, labels, truth: quality.local_isometry(X, Y),
    "mean relative rank error": lambda X, Y, labels, truth: quality.mean_relative_rank_error(X, Y),
    "mean relative rank error of the map": lambda X, Y, labels, truth: (
        quality.mean_relative_rank_error(X, Y, neighbors_of="embedding")
    ),
    "neighbor error": lambda X, Y, labels, truth: quality.neighbor_error(X, Y),
    "nonlocal clusters": lambda X, Y, labels, truth: quality.nonlocal_clusters(
        labels, build_graph(X, n_neighbors=8)
    ),
    "normalized mutual information": lambda X, Y, labels, truth: (
        quality.normalized_mutual_information(labels, Y[:, 0] > 0)
    ),
    "normalized stress": lambda X, Y, labels, truth: quality.normalized_stress(X, Y),
    "normalized stress scaled": lambda X, Y, labels, truth: quality.normalized_stress(
        X, Y, scale=True
    ),
    "one-nn error": lambda X, Y, labels, truth: quality.one_nn_error(Y, labels),
    "out-of-sample error": lambda X, Y, labels, truth: quality.out_of_sample_error(
        Y, Y[:, ::-1], reference=(Y, Y)
    ),
    "preservation error": lambda X, Y, labels, truth: quality.preservation_error(X, Y),
    "procrustes error": lambda X, Y, labels, truth: quality.procrustes_error(Y, truth),
    "procrustes error scaled": lambda X, Y, labels, truth: quality.procrustes_error(
        Y, truth, scale=True
    ),
    "procrustes measure": lambda X, Y, labels, truth: quality.procrustes_measure(X, Y),
    "purity": lambda X, Y, labels, truth: quality.purity(Y[:, 0] > 0, labels),
    "reconstruction error": lambda X, Y, labels, truth: quality.reconstruction_error(
        X, labels, n_components=1
    ),
    "residual variance": lambda X, Y, labels, truth: quality.residual_variance(X, Y),
    "shepard correlation": lambda X, Y, labels, truth: quality.shepard_correlation(X, Y),
    "shepard correlation pearson": lambda X, Y, labels, truth: quality.shepard_correlation(
        X, Y, method="pearson"
    ),
    "spectrum": lambda X, Y, labels, truth: quality.spectrum(X),
    "stretch": lambda X, Y, labels, truth: quality.stretch(X, Y),
    "trustworthiness": lambda X, Y, labels, truth: quality.trustworthiness(X, Y),
    "trustworthiness sampled": lambda X, Y, labels, truth: quality.trustworthiness(
        X, Y, n_neighbors=5, n_samples=30, random_state=0
    ),
    "variance loss": lambda X, Y, labels, truth: quality.variance_loss(X, 2),
}


def parts(value, where):
    """Return a measure as arrays by name: its value, interval and per-point form, or its parts."""
    if is_dataclass(value):
        found = {}
        for each in fields(value):
            found.update(parts(getattr(value, each.name), f"{where} {each.name}"))
        return found
    found = {where: np.asarray(value)}
    for name in ("interval", "per_point", "rows"):
        if getattr(value, name, None) is not None:
            found[f"{where} {name}"] = np.asarray(getattr(value, name))
    return found


def take_scorecard(make):
    """Return all measures of a scorecard."""
    X, Y, labels, truth = make()
    card = quality.scorecard(X, Y, labels=labels, truth=truth, random_state=0)
    arrays = {"spectrum": card.spectrum}
    for number, (name, score) in enumerate(card.items()):
        arrays.update(parts(score, f"{number}"))
        arrays[f"{number} name"] = np.array(name)
    arrays.update(parts(card.curve, "curve"))
    arrays.update(parts(card.isometry, "isometry"))
    return Taken(arrays, {"printed": str(card)})


def take_measure(measure):
    """Return one measure of all maps."""
    arrays = {}
    for name, make in MAPS.items():
        arrays.update(parts(measure(*make()), name))
    return Taken(arrays)


def cases():
    """Return scorecards and measures by name."""
    cards = {f"scorecard {name}": partial(take_scorecard, make) for name, make in MAPS.items()}
    return cards | {name: partial(take_measure, each) for name, each in MEASURES.items()}
