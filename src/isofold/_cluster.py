"""Pure work on the workers of a Dask client, inside ``joblib.parallel_config(backend="dask")``.

A function and its item are pickled. Large arrays within are sent for themselves, once for all tasks
of a fit, and are read-only where they arrive: a function that writes to what it was given fails,
instead of losing what it wrote. Results come back in the order of the items.

A task whose worker dies runs again on another one. If the only copy of an array dies with it, the
array is sent again. If the scheduler is gone, or no worker is left, there is an error.
"""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain, islice
from threading import Lock, local
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from joblib import parallel_config
from joblib.parallel import get_active_backend

from isofold._findings import Vocabulary, repeat_warnings, speaking, spoken
from isofold.exceptions import ClusterError

__all__ = ["ClusterRules", "client_backend", "is_in_worker", "on_workers", "sharing"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class ClusterRules:
    """When to send what, and when to give up.

    Attributes
    ----------
    batch : int
        Tasks under way for every thread of the workers. More would let results pile up behind a
        slow consumer; fewer would let workers wait for this process.
    least_shared : int
        Bytes from which on what a function holds is sent for itself, once for all tasks. A task of
        its own takes about a kilobyte.
    least_of_item : int
        Bytes from which on arrays of one item are sent for themselves. The scheduler keeps what is
        smaller, and warns of tasks of 10 MB.
    most_losses : int
        How often arrays are sent again because the workers that had them died. Dask gives a task
        as many workers, and calls it the cause if they die.
    look : float
        Seconds after which somebody looks whether there are workers at all.
    patience : float
        Seconds without any worker after which there is an error. Batch systems start workers
        again within a minute, if they do.
    """

    batch: int = 4
    least_shared: int = 2**14
    least_of_item: int = 2**20
    most_losses: int = 3
    look: float = 5.0
    patience: float = 60.0


RULES = ClusterRules()


def client_backend() -> Any | None:
    """Return joblib's Dask backend if it is in force, else None."""
    module = sys.modules.get("joblib._dask")
    if module is None:
        return None
    backend, _ = get_active_backend()
    return backend if isinstance(backend, module.DaskDistributedBackend) else None


def is_in_worker() -> bool:
    """Return whether this thread runs a task of Dask: a task that waits for others may block."""
    utils = sys.modules.get("distributed.utils")
    return utils is not None and hasattr(utils.thread_state, "execution_state")


def on_workers(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    backend: Any,
    rules: ClusterRules = RULES,
) -> Iterator[Result]:
    """Apply a pure function to every item on the workers of a client, and yield in order.

    A single item stays here: to send it would gain nothing. So does what cannot be pickled, such as
    an estimator of the user that holds a lock.
    """
    remaining = iter(items)
    first = list(islice(remaining, 2))
    work = _Work.of(function, backend, rules) if len(first) > 1 else None
    if work is None:
        yield from map(function, chain(first, remaining))
        return
    under_way = deque(map(work.begin, first))
    under_way.extend(map(work.begin, islice(remaining, work.width - 2)))
    while under_way:
        result, told = work.result(under_way)
        under_way.popleft()
        under_way.extend(map(work.begin, islice(remaining, 1)))
        repeat_warnings(told)
        yield result


@dataclass
class _Task:
    """An item on its way; what it holds on the workers is dropped with it."""

    item: Any
    inputs: SharedArrays
    future: Any = None
    n_losses: int = 0


class _Work:
    """One function on the workers of one client."""

    def __init__(self, function: _Pickled, name: str, backend: Any, rules: ClusterRules) -> None:
        self._client, self._backend, self._rules = backend.client, backend, rules
        shared = _SHARED.get()
        if shared is None or shared.client is not self._client:
            shared = SharedArrays(self._client)
        self._shared = shared
        self._function, self._name = function, name
        with self._reporting():
            n_threads = backend.effective_n_jobs(-1)
        self.width = max(2, rules.batch * n_threads)

    @classmethod
    def of(cls, function: Callable[..., Any], backend: Any, rules: ClusterRules) -> _Work | None:
        """Return the work of a function, None if it cannot be pickled."""
        try:
            pickled = _Pickled.of(function, rules.least_shared)
        except (pickle.PicklingError, TypeError, AttributeError):
            return None
        return cls(pickled, _name_of(function), backend, rules)

    def begin(self, item: Any) -> _Task:
        """Send an item to the workers."""
        task = _Task(item, SharedArrays(self._client))
        self._submit(task)
        return task

    def result(self, under_way: deque[_Task]) -> Any:
        """Return what the first task came to, with its warnings."""
        from distributed import KilledWorker

        future = under_way[0].future
        self._wait_for(future)
        try:
            return future.result()
        except KilledWorker as error:
            msg = (
                f"Every worker that ran one of the tasks ({self._name}) died: {error} Most often "
                f"it needs more memory than a worker may take. Give workers more memory or fewer "
                f"threads, or compute outside of parallel_config(backend='dask')."
            )
            raise ClusterError(msg) from error
        except CancelledError:
            if not future.cancelled():
                raise
        if self._client.status != "running":
            raise self._gone()
        # Others are mostly lost with it, and need not wait for their turn.
        for lost in [task for task in under_way if task.future.cancelled()]:
            lost.n_losses += 1
            self._refuse_losses(lost)
            self._submit(lost)
        return self.result(under_way)

    def _submit(self, task: _Task) -> None:
        item = _Pickled.of(task.item, self._rules.least_of_item)
        with self._reporting():
            task.future = self._client.submit(
                _run,
                self._shared.sent(self._function),
                task.inputs.sent(item),
                spoken(),
                key=f"{self._name}-{uuid4().hex}",
                pure=False,
                **self._backend.submit_kwargs,
            )

    def _wait_for(self, future: Any) -> None:
        """Wait until a task is done or canceled, as long as there are workers."""
        from distributed import wait

        last_seen = time.monotonic()
        # Dask calls lost what was found already and is being computed again.
        while future.status in ("pending", "lost"):
            try:
                wait([future], timeout=self._rules.look)
            except TimeoutError:
                last_seen = self._look_for_workers(last_seen)
            except CancelledError:
                return

    def _look_for_workers(self, last_seen: float) -> float:
        """Return when there was a worker for the last time, or refuse to wait any longer."""
        with self._reporting():
            n_threads = sum(self._client.nthreads().values())
        now = time.monotonic()
        if n_threads:
            return now
        if now - last_seen > self._rules.patience:
            msg = (
                f"The Dask cluster at {_address(self._client)} has had no worker for "
                f"{self._rules.patience:g} seconds, and work waits for one. Start workers and "
                f"repeat, or compute outside of parallel_config(backend='dask')."
            )
            raise ClusterError(msg)
        return last_seen

    def _refuse_losses(self, task: _Task) -> None:
        if task.n_losses > self._rules.most_losses:
            msg = (
                f"A task ({self._name}) was lost {task.n_losses} times, with the workers that had "
                f"its input or because somebody canceled it or restarted the cluster. See the "
                f"logs of the workers, and repeat."
            )
            raise ClusterError(msg)

    def _gone(self) -> ClusterError:
        msg = (
            f"The connection to the Dask scheduler at {_address(self._client)} is lost, and with "
            f"it the work on its workers. Nothing was changed here. Start the cluster again, make "
            f"a new Client and repeat, or compute outside of parallel_config(backend='dask')."
        )
        return ClusterError(msg)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Say what is wrong if the scheduler does not answer."""
        try:
            yield
        except Exception as error:
            if self._client.status != "running":
                raise self._gone() from error
            msg = (
                f"The Dask cluster at {_address(self._client)} does not take work: {error} Look "
                f"whether it has workers, or compute outside of parallel_config(backend='dask')."
            )
            raise ClusterError(msg) from error


@dataclass(frozen=True, eq=False)
class _Pickled:
    """An object as bytes, and its large arrays as they are, without a copy."""

    data: bytes
    arrays: tuple[memoryview, ...]
    names: tuple[bytes, ...]

    @classmethod
    def of(cls, given: Any, least: int) -> _Pickled:
        """Pickle an object; arrays of so many bytes stay apart."""
        import cloudpickle

        arrays: list[memoryview] = []

        def is_small(buffer: pickle.PickleBuffer) -> bool:
            view = buffer.raw()
            if view.nbytes >= least:
                arrays.append(view)
            return view.nbytes < least

        data = cloudpickle.dumps(given, protocol=5, buffer_callback=is_small)
        if len(data) >= least:
            data, arrays = b"", [memoryview(data), *arrays]
        return cls(data, tuple(arrays), tuple(blake2b(view).digest() for view in arrays))


class SharedArrays:
    """Arrays on the workers of a client: equal ones are sent once, as long as this object lives."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._sent: dict[bytes, Any] = {}

    def sent(self, pickled: _Pickled) -> tuple[bytes, list[Any]]:
        """Return what a task takes: bytes, and the futures of the arrays."""
        # In one message; arrays that died with a worker are sent again.
        missing = {
            name: np.frombuffer(view, dtype=np.uint8)
            for name, view in zip(pickled.names, pickled.arrays, strict=True)
            if name not in self._sent or self._sent[name].status != "finished"
        }
        if missing:
            futures = self.client.scatter(list(missing.values()), hash=False)
            self._sent.update(zip(missing, futures, strict=True))
        return pickled.data, [self._sent[name] for name in pickled.names]


_SHARED: ContextVar[SharedArrays | None] = ContextVar("isofold_shared_arrays", default=None)


@contextmanager
def sharing() -> Iterator[None]:
    """Keep arrays on the workers until the end of the block, so that none is sent twice."""
    backend = None if _SHARED.get() is not None or is_in_worker() else client_backend()
    if backend is None:
        yield
        return
    token = _SHARED.set(SharedArrays(backend.client))
    try:
        yield
    finally:
        _SHARED.reset(token)


def _run(
    function: tuple[bytes, list[Any]], item: tuple[bytes, list[Any]], vocabulary: Vocabulary
) -> tuple[Any, list[Any]]:
    """Call a function in a worker: in one thread, and keep its warnings."""
    from isofold._parallel import one_blas_thread

    alone = parallel_config(backend="sequential")
    with alone, one_blas_thread(), speaking(vocabulary), _recorder.recording() as told:
        result = _loaded(*function)(_loaded(*item))
    return result, told


def _loaded(data: Any, arrays: list[Any]) -> Any:
    """Return an object whose large arrays are those of the worker, not to be written to."""
    views = [memoryview(_aligned(array)).toreadonly() for array in arrays]
    if not data:
        data, *views = views
    # Whoever can send a task to a worker can run anything there: that is what workers are for.
    return pickle.loads(data, buffers=views)  # noqa: S301


def _aligned(array: Any) -> Any:
    """Return bytes where NumPy would have put them: sums depend on where vectors begin."""
    return array if array.ctypes.data % _ALIGNMENT == 0 else array.copy()


_ALIGNMENT = 16


class _Recorder:
    """The warnings of every thread by themselves; Python keeps one list for all of them."""

    def __init__(self) -> None:
        self._lock, self._n_holders = Lock(), 0
        self._usual: Any = None
        self._own = local()

    @contextmanager
    def recording(self) -> Iterator[list[Any]]:
        """Keep the warnings of this thread."""
        with self._lock:
            if self._n_holders == 0:
                self._usual = warnings.catch_warnings()
                self._usual.__enter__()
                warnings.simplefilter("always")
                warnings.showwarning = self._keep  # type: ignore[assignment]
            self._n_holders += 1
        self._own.told = []
        try:
            yield self._own.told
        finally:
            with self._lock:
                self._n_holders -= 1
                if self._n_holders == 0:
                    self._usual.__exit__(None, None, None)

    def _keep(self, message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        getattr(self._own, "told", []).append((message, category, filename, lineno))


_recorder = _Recorder()


def _name_of(function: Callable[..., Any]) -> str:
    """Return the name under which Dask shows a function."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__).strip("_<>")


def _address(client: Any) -> str:
    return str(getattr(client.scheduler, "address", "an unknown address"))
