"""Settings of the whole test run."""

import os

import matplotlib as mpl
import pytest
from hypothesis import settings

# Machines differ in speed, so no example has a deadline. CI must give the same verdict on the same
# commit; everywhere else new examples are drawn in every run.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("everywhere", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "everywhere")

mpl.use("Agg")


@pytest.fixture(autouse=True)
def checks_of_the_array_api(request, monkeypatch):
    # Without this variable scikit-learn skips its check with array API dispatch switched on.
    if "check" in request.fixturenames:
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")
