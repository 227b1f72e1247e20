"""The interval of a sampled score holds the exact value: 100 seeded trials at 5,000 points.

A sampled row has the same values as in the exact computation (tested elsewhere), so one exact
pass serves all trials. ``python -m benchmarks.coverage`` repeats this with whole scorecards.
"""

import numpy as np
import pytest

from isofold import datasets
from isofold.quality import ranks
from isofold.quality.distances import compare
from isofold.quality.global_ import pair_moments, stress_of
from isofold.quality.neighborhoods import (
    evidence_of_loss,
    neighborhoods_of,
    shown_neighborhoods_of,
)
from isofold.quality.score import RowSample, draw_rows
from support.quick import quick_first

N_POINTS, N_SAMPLES, N_TRIALS, MIN_HITS, K = 5000, 250, 100, 93, 12


def noisy_sheet():
    roll = datasets.swiss_roll(N_POINTS, random_state=0)
    return roll.X, roll.truth + 0.3 * np.random.RandomState(1).standard_normal(roll.truth.shape)


def misplaced_points():
    roll = datasets.swiss_roll(N_POINTS, random_state=0)
    Y = roll.truth + 1e-3 * np.random.RandomState(1).standard_normal(roll.truth.shape)
    Y[:5] = Y[5:10] + 40.0
    return roll.X, Y


def cut_cylinder():
    random = np.random.RandomState(1)
    angle, height = 2 * np.pi * random.rand(N_POINTS), 3 * random.rand(N_POINTS)
    return np.column_stack([np.cos(angle), np.sin(angle), height]), np.column_stack([angle, height])


@pytest.mark.parametrize("make", quick_first([misplaced_points, noisy_sheet, cut_cylinder]))
def test_interval_covers_the_exact_value(make):
    everywhere = compare(*make(), n_jobs=2)
    evidence = evidence_of_loss(
        neighborhoods_of(everywhere, K), shown_neighborhoods_of(everywhere, K)
    )
    shown, true = ranks.input_ranks(everywhere, K), ranks.embedded_ranks(everywhere, K)
    measures = {
        "trustworthiness": (ranks.intrusion_score, shown),
        "continuity": (ranks.intrusion_score, true),
        "neighbor error": (ranks.loss_score, true),
        "MRRE_X": (ranks.rank_error_score, true),
        "MRRE_Y": (ranks.rank_error_score, shown),
        "stress": (stress_of, pair_moments(everywhere)),
    }
    all_rows = RowSample(np.arange(N_POINTS), N_POINTS)
    exact = {name: measure(table, all_rows) for name, (measure, table) in measures.items()}
    hits = dict.fromkeys(measures, 0)
    for seed in range(N_TRIALS):
        sample = draw_rows(N_POINTS, N_SAMPLES, seed, evidence=evidence)
        for name, (measure, table) in measures.items():
            low, high = measure(table[sample.indices], sample).interval
            hits[name] += low <= exact[name] <= high
    assert min(hits.values()) >= MIN_HITS, hits
