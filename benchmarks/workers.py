"""One worker and two: restarts of LDLC, components of DisjointMVU, blocks of TesseraMap.

*digest* is that of the result: workers must not change a byte. *cores* is processor time over
time in this process; what other processes do is not in it. Where processes are used, they have been
started before, as in the second fit of a session; *first* is the time of a fit that starts them.
Then ColoredMVU, whose kernel of classes has low rank.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.harness import Case
from isofold import LDLC, ColoredMVU, DisjointMVU, TesseraMap
from isofold._typing import FloatArray
from isofold.datasets import four_moons, swiss_roll

Data = tuple[FloatArray, float]


def _roll(n: int, width: float = 10.0) -> FloatArray:
    return swiss_roll(n, width=width, random_state=0).X


def _moons(n: int) -> FloatArray:
    return four_moons(n, random_state=0).X


def _started(model: Any, data: Any) -> Data:
    """Return the data and the seconds of a first fit, which starts the processes."""
    X, begin = data(), time.perf_counter()
    _fit(model, (X, 0.0))
    return X, time.perf_counter() - begin


def _fit(model: Any, data: Data) -> dict[str, Any]:
    X, first = data
    begin, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    result = getattr(model, "labels_", None)
    result = np.ascontiguousarray(model.embedding_ if result is None else result)
    cores = (time.process_time() - cpu) / (time.perf_counter() - begin)
    return {"digest": sha256(result.tobytes()).hexdigest()[:8], "cores": cores, "first": first}


def _color(data: tuple[FloatArray, Any]) -> dict[str, Any]:
    model = ColoredMVU(random_state=0)
    with warnings.catch_warnings():
        # Digits have more dimensions than the plane.
        warnings.simplefilter("ignore")
        model.fit(*data)
    solution = model.solution_
    return {
        "status": solution.status.name,
        "gap": solution.gap,
        "value": solution.primal,
        "bound": solution.certificate.posed_bound,
        "hsic": model.hsic_,
        "length_error": model.unprojected_length_errors_.median,
    }


def _digits() -> tuple[FloatArray, Any]:
    return load_digits(return_X_y=True)


def _bands(n: int) -> tuple[FloatArray, Any]:
    X = _roll(n)
    return X, (X[:, 1] // 4).astype(int)


WORK = (
    (
        "LDLC, 60 restarts, n = 2,000",
        LDLC,
        {"n_clusters": 20, "rho": 0.01, "n_init": 60},
        _roll,
        2_000,
    ),
    (
        "LDLC, search for rho, 16 restarts, n = 2,000",
        LDLC,
        {"n_clusters": 20, "n_init": 16},
        _roll,
        2_000,
    ),
    (
        "LDLC, 8 restarts, n = 20,000",
        LDLC,
        {"n_clusters": 50, "rho": 0.01, "n_init": 8},
        _roll,
        20_000,
    ),
    ("DisjointMVU, n = 16,000", DisjointMVU, {}, _moons, 16_000),
    ("TesseraMap, n = 50,000", TesseraMap, {}, partial(_roll, width=21.0), 50_000),
)

CASES = [
    Case(
        task,
        f"isofold, {name}",
        partial(_started, method(random_state=0, n_jobs=n_jobs, **more), partial(data, n)),
        partial(_fit, method(random_state=0, n_jobs=n_jobs, **more)),
    )
    for task, method, more, data, n in WORK
    for name, n_jobs in (("one worker", 1), ("two workers", 2))
]
CASES += [
    Case("classes of 1,797 digits", "isofold ColoredMVU", _digits, _color),
    Case(
        "classes of a roll of 10,000",
        "isofold ColoredMVU, kernel of low rank",
        partial(_bands, 10_000),
        _color,
    ),
]
