"""Settings of the whole test run."""

import os

import matplotlib as mpl
from hypothesis import settings

# Machines differ in speed, so no example has a deadline. CI must give the same verdict on the same
# commit; everywhere else new examples are drawn in every run.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("everywhere", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "everywhere")

mpl.use("Agg")
