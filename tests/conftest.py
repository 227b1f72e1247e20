"""Settings of the whole test run."""

import os
import signal

import matplotlib as mpl
import pytest
from hypothesis import settings

# Machines differ in speed, so no example has a deadline. CI must give the same verdict on the same
# commit; everywhere else new examples are drawn in every run.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("everywhere", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "everywhere")

mpl.use("Agg")

# Under nohup and in the background of a script Ctrl-C is ignored, here and in all processes that
# are started. Tests of it need what a terminal has.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def checks_of_the_array_api(request, monkeypatch):
    # Without this variable scikit-learn skips its check with array API dispatch switched on.
    if "check" in request.fixturenames:
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")
