"""A Dask cluster of real processes on this machine, one for all tests of a process."""

from __future__ import annotations

import logging
import subprocess
import sys
import warnings
from contextlib import contextmanager

import dask
from distributed import Client, LocalCluster

WORKERS = 2

# No file is spilled and no port is fixed: several test runs may go on beside each other.
SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "10MB",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
}


@contextmanager
def local_client(folder, n_workers=WORKERS):
    """Yield a client of some worker processes with one thread each, and close everything."""
    with dask.config.set(SETTINGS):
        cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            scheduler_port=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            memory_limit=0,
            local_directory=str(folder),
        )
        client = Client(cluster)
        try:
            yield client
        finally:
            # What the event loop of Dask has to say at its end is not about a test.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                client.close()
                cluster.close()


# A scheduler and its only worker in a process that a test may end; the parent's end ends it, too.
LONELY = """
import sys
from distributed import LocalCluster
cluster = LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1",
    scheduler_port=0, dashboard_address="127.0.0.1:0", memory_limit=0,
)
print(cluster.scheduler_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def lonely_scheduler():
    """Yield a client and the process of its scheduler, which may be killed."""
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", LONELY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        client = Client(process.stdout.readline().strip(), timeout=1, set_as_default=False)
        try:
            yield client, process
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                client.close()
    finally:
        process.kill()
        process.communicate()
