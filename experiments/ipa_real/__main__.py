"""Command: ``python -m experiments.ipa_real [NAME ...] --out FOLDER``."""

from __future__ import annotations

from functools import partial

from experiments.harness import Experiment, command
from experiments.ipa_real.matrix import every_dimension
from experiments.ipa_real.run import run_study
from experiments.ipa_real.studies import STUDIES

EXPERIMENTS: dict[str, Experiment] = {
    **{study.name: partial(run_study, study) for study in STUDIES},
    "every_dimension": every_dimension,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
