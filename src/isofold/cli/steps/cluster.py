"""Work on a Dask cluster, if the user names one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["working_at"]

ANSWER = 10
"""Seconds within which a scheduler has to answer: one that runs does so within one."""


@contextmanager
def working_at(address: str | None) -> Iterator[None]:
    """Let pure work inside run on the workers of a scheduler; here if there is no address."""
    if address is None:
        yield
        return
    from joblib import parallel_config

    from isofold._dependencies import require
    from isofold.exceptions import ClusterError

    distributed = require("distributed", extra="dask", purpose="--scheduler")
    try:
        client = distributed.Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        msg = (
            f"No Dask scheduler answers at --scheduler {address}: {error} Start one with 'dask "
            f"scheduler', which prints its address, and workers with 'dask worker ADDRESS'."
        )
        raise ClusterError(msg) from error
    with client, parallel_config(backend="dask", client=client):
        yield
