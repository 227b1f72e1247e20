"""Methods of kernels keep scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest

from isofold import KernelLaplacianEigenmaps, TwinKernelEmbedding
from support.estimator_checks import checks_of_forms


# Some of the checks' data fall into clusters, or have fewer samples than neighbors.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@checks_of_forms(
    KernelLaplacianEigenmaps(),
    # A check takes a constant off the kernel, which leaves it without norms to divide by.
    KernelLaplacianEigenmaps(n_components=1, n_neighbors=3, kernel="precomputed", normalize=False),
    TwinKernelEmbedding(random_state=0),
    TwinKernelEmbedding(n_components=1, kernel="linear", back_constraint="kernel", random_state=0),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
