"""Settings of the whole test run."""

import signal

import matplotlib as mpl
import pytest

from support import hypothesis_profiles  # noqa: F401 - loads the profile, before tests are imported

mpl.use("Agg")


@pytest.fixture(autouse=True)
def checks_of_the_array_api(request, monkeypatch):
    # Without this variable scikit-learn skips its check with array API dispatch switched on.
    if "check" in request.fixturenames:
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.fixture
def ctrl_c():
    """Let Ctrl-C do what it does at a terminal, also in the programs that a test starts.

    In the background of a shell it is ignored, and whoever is started inherits that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def dask_cluster(tmp_path_factory):
    """A client of two worker processes with one thread each, started once for a test process."""
    pytest.importorskip("distributed")
    from support.dask_cluster import local_client

    with local_client(tmp_path_factory.mktemp("dask")) as client:
        yield client
