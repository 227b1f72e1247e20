"""How good is a map? Measures with bounded memory, intervals and per-point values.

Most measures compare the points before (`X`) with the points after (`Y`) and return a
:class:`Score`: a float that also carries its interval and its per-point form.
"""

from isofold.quality.block_scorecard import BlockScorecard, block_scorecard
from isofold.quality.coranking import CoRankingCurve, coranking_curve
from isofold.quality.global_ import normalized_stress, residual_variance, shepard_correlation
from isofold.quality.groups import (
    normalized_mutual_information,
    one_nn_error,
    purity,
    reconstruction_error,
)
from isofold.quality.isometry import (
    LocalIsometry,
    local_isometry,
    preservation_error,
    procrustes_measure,
    stretch,
)
from isofold.quality.locality import is_localized, nonlocal_clusters
from isofold.quality.ranks import (
    continuity,
    mean_relative_rank_error,
    neighbor_error,
    trustworthiness,
)
from isofold.quality.score import Score
from isofold.quality.score_table import Entry, ScoreTable
from isofold.quality.scorecard import Scorecard, scorecard
from isofold.quality.summary import MapSummary, best_scale_error, summary
from isofold.quality.triplets import triplet_accuracy
from isofold.quality.truth import out_of_sample_error, procrustes_error, spectrum, variance_loss

__all__ = [
    "BlockScorecard",
    "CoRankingCurve",
    "Entry",
    "LocalIsometry",
    "MapSummary",
    "Score",
    "ScoreTable",
    "Scorecard",
    "best_scale_error",
    "block_scorecard",
    "continuity",
    "coranking_curve",
    "is_localized",
    "local_isometry",
    "mean_relative_rank_error",
    "neighbor_error",
    "nonlocal_clusters",
    "normalized_mutual_information",
    "normalized_stress",
    "one_nn_error",
    "out_of_sample_error",
    "preservation_error",
    "procrustes_error",
    "procrustes_measure",
    "purity",
    "reconstruction_error",
    "residual_variance",
    "scorecard",
    "shepard_correlation",
    "spectrum",
    "stretch",
    "summary",
    "triplet_accuracy",
    "trustworthiness",
    "variance_loss",
]
