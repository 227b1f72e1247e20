"""Passes as graphs of tasks on Dask: one task for every part, and a tree of merges.

The whole graph is sent at once, so that summaries are merged, and forgotten, while other parts are
read. Tasks are pure functions of their part: one that is run again, because its worker was lost,
gives the same bytes. A client of `dask.distributed` is used if there is one, else the scheduler
that Dask is set to, which is one of threads if nothing is said.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar
from uuid import uuid4

from isofold._dependencies import require
from isofold._findings import Value, worded
from isofold._progress.stages import Stage
from isofold.exceptions import ClusterError

__all__ = ["Task", "current_client", "explained", "gathered", "merged", "merged_and_kept", "sent"]

S = TypeVar("S")

Work = Callable[[Any, str, int | None], S]
"""What is done to a part, with its name and the number of its first row."""

MERGED_AT_ONCE = 8
"""Summaries that one task merges."""

RETRIES = 2
"""How often a task that failed is run again; one whose worker died is always."""

START_AGAIN = Value(
    "Connect to a running scheduler with a new Client, and start again.", "Start a scheduler again."
)

LARGE_GRAPH = "1 TB"
"""Size of a graph from which on Dask advises to send data apart. The model in it goes once to the
scheduler and once to every worker, which is the advice."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be done to one part.

    Attributes
    ----------
    source : Delayed or TablePart
        What makes the part, or the part itself.
    name : str
        Where it comes from.
    start : int or None
        Number of its first row, if it is known.
    """

    source: Any
    name: str
    start: int | None = None

    def call(self, work: Any) -> tuple[Any, ...]:
        """Return the task of a graph: work, given by its key or future, done to this part."""
        if not _is_lazy(self.source):
            return (partial(_call_on, self.source, self.name, self.start), work)
        made = self.source.dask[self.source.key]
        if callable(made) and not getattr(made, "dependencies", True):
            # Made and used by one task: rows are not moved to another worker in between.
            return (partial(_call_made, made, self.name, self.start), work)
        return (partial(_call, self.name, self.start), work, self.source.key)


def gathered(tasks: Sequence[Task], work: Work[Any]) -> list[Any]:
    """Return what the work makes of every part, here: for results that are small."""
    graph = _Graph(tasks, work)
    return list(_computed(graph, graph.leaves)) if tasks else []


def merged(
    tasks: Sequence[Task],
    work: Work[S],
    merge: Callable[[Sequence[S]], S],
    steps: Stage,
) -> S:
    """Return the value at the root of the tree; everything below stays on the workers."""
    graph = _Graph(tasks, work)
    root = graph.tree(graph.leaves, merge)
    (value,) = _computed(graph, [root], followed=graph.leaves, steps=steps)
    return value


def merged_and_kept(
    tasks: Sequence[Task],
    work: Work[tuple[S, Any]],
    merge: Callable[[Sequence[S]], S],
    steps: Stage,
) -> tuple[S, list[Any]]:
    """Return the merged first halves of what the work returns, and where the second ones are kept.

    These are futures of a client, whose values stay on the workers as long as somebody holds them,
    or, without one, the values themselves.
    """
    graph = _Graph(tasks, work)
    summaries = graph.picked(graph.leaves, 0, "summary")
    kept = graph.picked(graph.leaves, 1, "images")
    root = graph.tree(summaries, merge)
    value, *values = _computed(graph, [root], followed=summaries, steps=steps, kept=kept)
    return value, values


class _Graph:
    """A graph that grows; its keys are new every time."""

    def __init__(self, tasks: Sequence[Task], work: Work[Any]) -> None:
        import cloudpickle

        self._token = uuid4().hex
        self._sources = {id(t.source.dask): t.source for t in tasks if _is_lazy(t.source)}
        model = self._key("model")
        self.tasks: dict[Any, Any] = {model: (partial(cloudpickle.loads, cloudpickle.dumps(work)),)}
        self.leaves = self._add("block", (task.call(model) for task in tasks))

    def picked(self, keys: Sequence[str], position: int, name: str) -> list[str]:
        """Add tasks that take one of the values that others return; return their keys."""
        return self._add(name, ((itemgetter(position), key) for key in keys))

    def tree(self, keys: Sequence[str], merge: Callable[[Sequence[Any]], Any]) -> str:
        """Add tasks that merge the values of others, and return the key of the last one."""
        level = list(keys)
        while len(level) > 1:
            groups = (level[i : i + MERGED_AT_ONCE] for i in range(0, len(level), MERGED_AT_ONCE))
            level = self._add("merge", ((merge, group) for group in groups))
        return level[0]

    def delayed(self, keys: Sequence[str]) -> list[Any]:
        """Return the values of some tasks, to be computed."""
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph

        layer = self._key("pass")
        sources = list(self._sources.values())
        graph = HighLevelGraph.from_collections(layer, self.tasks, dependencies=sources)
        return [Delayed(key, graph, layer=layer) for key in keys]

    def _add(self, name: str, tasks: Iterator[Any]) -> list[str]:
        new = {self._key(name, len(self.tasks) + i): task for i, task in enumerate(tasks)}
        self.tasks.update(new)
        return list(new)

    def _key(self, name: str, number: int = 0) -> str:
        # Dask learns how long tasks of one name take, which ends at the first number. Of those
        # that are known to be short none is moved to another worker together with its input.
        return f"isofold-{name}-{number}-{self._token}"


def _computed(
    graph: _Graph,
    keys: Sequence[str],
    *,
    followed: Sequence[str] = (),
    kept: Sequence[str] = (),
    steps: Stage | None = None,
) -> list[Any]:
    """Return the values of some tasks, and where others are kept; progress follows a third kind."""
    with explained():
        client = running_client()
        if client is None:
            dask = require("dask", extra="dask", purpose="Working on Dask collections")
            return list(dask.compute(*graph.delayed([*keys, *kept])))
        with _any_size():
            wanted = graph.delayed([*keys, *kept, *followed])
            futures = client.compute(wanted, retries=RETRIES)
        n = len(keys)
        asked, held = futures[:n], futures[n : n + len(kept)]
        try:
            _follow(futures[n + len(kept) :], steps, futures)
            return [*client.gather(asked), *held]
        except BaseException:
            if client.status == "running":
                client.cancel([*asked, *held])
            raise


def _follow(futures: list[Any], steps: Stage | None, others: list[Any]) -> None:
    """Advance with every task that ends; values that nobody needs any more are forgotten."""
    from distributed import as_completed

    ended = as_completed(futures, raise_errors=False)
    futures.clear()
    others.clear()
    for future in ended:
        if future.status in ("error", "cancelled"):
            future.result()
        if steps is not None:
            steps.advance()


def _call(name: str, start: int | None, work: Work[S], value: Any) -> S:
    return work(value, name, start)


def _call_made(made: Callable[[], Any], name: str, start: int | None, work: Work[S]) -> S:
    return work(made(), name, start)


def _call_on(value: Any, name: str, start: int | None, work: Work[S]) -> S:
    return work(value, name, start)


def current_client() -> Any:
    """Return the client of `dask.distributed` that Dask computes with here, or None.

    A task that computes has none: Dask lets it step aside, so that its worker takes other tasks.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None or hasattr(distributed.utils.thread_state, "execution_state"):
        return None
    from dask import config

    if config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        return distributed.get_client(timeout=0)
    except ValueError:
        return None


def running_client() -> Any:
    """Return the client, or None; refuse one whose scheduler is gone, for it would wait for it."""
    client = current_client()
    if client is not None and client.status != "running":
        raise ClusterError(_lost(client))
    return client


def sent(function: Callable[..., Any]) -> Any:
    """Return a function, with the model in it, as one value that all tasks of lazy tables share.

    On a client it is a task of its own: a worker that is lost with it can make it again, and the
    graphs of tasks stay small.
    """
    import cloudpickle

    dask = require("dask", extra="dask", purpose="Working on Dask collections")
    packed = cloudpickle.dumps(function)
    with explained():
        client = running_client()
        if client is None:
            return dask.delayed(partial(cloudpickle.loads, packed), pure=False)()
        with _any_size():
            return client.submit(cloudpickle.loads, packed, pure=False)


@contextmanager
def _any_size() -> Iterator[None]:
    from dask import config

    with config.set({"distributed.admin.large-graph-warning-threshold": LARGE_GRAPH}):
        yield


@contextmanager
def explained() -> Iterator[None]:
    """Turn the loss of a scheduler or of all workers into an error of isofold."""
    client = current_client()
    if client is None:
        yield
        return
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        yield
    except ClusterError:
        raise
    except KilledWorker as error:
        msg = (
            f"Dask gave up on a block, because several workers died while they worked on it: "
            f"{error}. They may lack memory. Use smaller partitions, or workers with more memory."
        )
        raise ClusterError(msg) from error
    except (CancelledError, OSError) as error:
        if client.status != "running":
            raise ClusterError(_lost(client)) from error
        if isinstance(error, OSError):
            raise
        msg = (
            f"Somebody canceled the work, or restarted the cluster: {error} Nothing was changed "
            f"here. Start again."
        )
        raise ClusterError(msg) from error


def _lost(client: Any) -> str:
    address = getattr(client.scheduler, "address", "an unknown address")
    return (
        f"The connection to the Dask scheduler at {address} was lost, and the work of its tasks "
        f"with it. Nothing was changed here. {worded(START_AGAIN)}"
    )


def _is_lazy(source: Any) -> bool:
    return hasattr(source, "__dask_graph__")
