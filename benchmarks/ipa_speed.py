"""IPA's time and memory: end to end beside peers, part by part, and its compiled kernel.

All fits are ``IPA(random_state=0, n_jobs=-1)`` on the clean holed roll, the first call of a fresh
process. k-means of faiss (1,000 centers, 20 rounds, with assignment) is what one pass of a good
clustering costs. The error is taken at the first 10,000 points, so that it costs nothing.

A cover finds its seeds one by one, as each ball tells which points are still uncovered. SciPy's
search, handed the seeds and radii that the compiled one found, could replace it seed by seed only;
how long it takes for many seeds at once is shown all the same.
"""

from __future__ import annotations

import cProfile
import json
import math
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

import isofold
from benchmarks import harness, peers
from benchmarks.harness import Case
from benchmarks.ipa_data import Sheet, roll
from isofold import IPA
from isofold._typing import FloatArray
from isofold.neighbors import GraphBalls, NeighborGraph, build_graph, cover_by_balls

SOURCE = str(Path(isofold.__file__).parent)

OURS, KMEANS = "isofold IPA", "faiss k-means"
SIZES = (100_000, 1_000_000, 5_000_000, 10_000_000)
N_JUDGED = 10_000

BALL_POINTS, BALL_SIZE, BALL_CORE = 30_000, 61, 0.25
"""The graph of the largest sample, and the size at which its balls start to grow."""

SEEDS_AT_ONCE = 100
"""Rows of distances that SciPy returns at once, 24 MB."""

PARTS = {
    "graph": ("build_graph",),
    "cover": ("cover_by_balls", "balls_around"),
    "charts": ("fit_charts",),
    "stitching": ("stitch",),
    "extension": ("map_points",),
    "diagnosis": ("find_doubts",),
}
"""Functions of isofold that make up each part; none of them calls another."""

FIRST_CALL = """
import json, time
from benchmarks.ipa_data import roll
X = roll({n}, 0).X
times = [time.perf_counter()]
from isofold import IPA
times.append(time.perf_counter())
for _ in range(2):
    IPA(random_state=0, n_jobs=-1).fit_transform(X)
    times.append(time.perf_counter())
print(json.dumps([b - a for a, b in zip(times, times[1:])]))
"""


def _task(n: int) -> str:
    return f"holed roll, n = {n:,}"


FIRST_TASK = "first call of a process, n = 100,000"
TRANSFORM_TASK = "transform of 1,000,000 rows in 3 columns"
WIDE_TRANSFORM_TASK = "transform of 1,000,000 rows in 20 columns"
BALLS_TASK = f"graph balls of {BALL_SIZE} nodes, n = {BALL_POINTS:,}"


def _judged_roll(n: int, seed: int = 0) -> Sheet:
    return replace(roll(n, seed), judged=np.arange(n) < N_JUDGED)


def _fit(sheet: Sheet) -> dict[str, Any]:
    Y = IPA(random_state=0, n_jobs=-1).fit_transform(sheet.X)
    return {"input_mb": sheet.X.nbytes / 2**20, "error": sheet.error(Y)}


def _floats(n: int) -> FloatArray:
    return roll(n, 0).X.astype(np.float32)


def _peer(method: Callable[[FloatArray], FloatArray], sheet: Sheet) -> dict[str, Any]:
    return {"error": sheet.error(method(sheet.X))}


def _warm_umap(n: int) -> Sheet:
    """Return the data after UMAP has compiled itself, which takes a minute.

    Up to 4,096 points it would find neighbors in another way.
    """
    peers.umap(roll(5_000, 0).X)
    return _judged_roll(n)


def _first_call(n: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL.format(n=n)],
        capture_output=True,
        text=True,
        check=True,
        cwd=harness.ROOT,
    )
    loading, first, second = json.loads(done.stdout)
    return {"import": loading, "first": first, "second": second, "difference": first - second}


def _fitted(make: Callable[[int, int], Sheet], n: int) -> tuple[IPA, Sheet]:
    """Return IPA fitted to one draw of a sheet, and another draw, of which some rows are judged."""
    fresh = replace(make(n, 1), judged=np.arange(n) < N_JUDGED)
    return IPA(random_state=0, n_jobs=-1).fit(make(n, 0).X), fresh


def _wide_roll(n: int, seed: int) -> Sheet:
    """Return a roll in 20 columns; the frame in which it lies is the same for all seeds."""
    sheet = roll(n, seed)
    frame = np.linalg.qr(np.random.RandomState(0).normal(size=(20, sheet.X.shape[1])))[0]
    noise = 0.1 * np.random.RandomState(seed).normal(size=(n, 20))
    return replace(sheet, X=sheet.X @ frame.T + noise, noise=0.1)


def _transform(prepared: tuple[IPA, Sheet]) -> dict[str, Any]:
    ipa, fresh = prepared
    Y = ipa.transform(fresh.X)
    return {"rows": len(Y), "error": fresh.error(Y)}


def _parts(sheet: Sheet) -> dict[str, Any]:
    """Return the seconds of each part, as a profiler sees them from the main thread."""
    profiler = cProfile.Profile()
    begin = time.perf_counter()
    profiler.runcall(IPA(random_state=0, n_jobs=-1).fit_transform, sheet.X)
    seconds = time.perf_counter() - begin
    spent: Counter[str] = Counter()
    for entry in profiler.getstats():
        if getattr(entry.code, "co_filename", "").startswith(SOURCE):
            spent[entry.code.co_name] += entry.totaltime
    parts = {
        part: sum(spent[function] for function in functions) for part, functions in PARTS.items()
    }
    unseen = [part for part, seconds in parts.items() if not seconds]
    if unseen:
        msg = f"No function of {', '.join(unseen)} was called. Have they been renamed?"
        raise RuntimeError(msg)
    return {**parts, "rest": seconds - sum(parts.values())}


@dataclass(frozen=True, eq=False)
class Balls:
    """A graph, and balls that cover it."""

    graph: NeighborGraph
    balls: GraphBalls


def _prepare_balls(n: int = BALL_POINTS) -> Balls:
    graph = build_graph(roll(n, 0).X, n_neighbors=12, kind="mutual")
    return Balls(graph, _cover(graph))


def _cover(graph: NeighborGraph) -> GraphBalls:
    return cover_by_balls(graph, np.full(graph.n_nodes, BALL_SIZE), core=BALL_CORE)


def _our_balls(data: Balls) -> dict[str, Any]:
    balls = _cover(data.graph)
    return {"balls": len(balls.seeds), "members": len(balls.nodes)}


def _scipy_balls(data: Balls, *, at_once: int) -> dict[str, Any]:
    """Search around the seeds that our cover found, up to the radii that it found."""
    adjacency, balls = data.graph.adjacency, data.balls
    members = 0
    for begin in range(0, len(balls.seeds), at_once):
        chosen = slice(begin, begin + at_once)
        radii = balls.radii[chosen]
        distances = dijkstra(adjacency, indices=balls.seeds[chosen], limit=radii.max())
        members += int((distances <= radii[:, None]).sum())
    return {"balls": len(balls.seeds), "members": members}


def _roll_cases(n: int) -> list[Case]:
    repeats = 3 if n <= 1_000_000 else 1
    return [
        Case(_task(n), OURS, partial(_judged_roll, n), _fit, repeats=repeats),
        Case(_task(n), KMEANS, partial(_floats, n), peers.faiss_kmeans, repeats=repeats),
    ]


CASES = [
    *(case for n in SIZES for case in _roll_cases(n)),
    Case(_task(50_000), OURS, partial(_judged_roll, 50_000), _fit, repeats=3),
    Case(
        _task(50_000),
        "LTSA",
        partial(_judged_roll, 50_000),
        partial(_peer, peers.ltsa),
    ),
    Case(_task(200_000), OURS, partial(_judged_roll, 200_000), _fit, repeats=3),
    Case(
        _task(200_000),
        "umap-learn",
        partial(_warm_umap, 200_000),
        partial(_peer, peers.umap),
        is_slow=True,
    ),
    Case(FIRST_TASK, OURS, lambda: 100_000, _first_call, repeats=3),
    Case(TRANSFORM_TASK, OURS, partial(_fitted, roll, 1_000_000), _transform, repeats=3),
    Case(WIDE_TRANSFORM_TASK, OURS, partial(_fitted, _wide_roll, 1_000_000), _transform, repeats=3),
    *(
        Case(f"seconds by part, n = {n:,}", OURS, partial(_judged_roll, n), _parts)
        for n in (10_000, 100_000, 1_000_000)
    ),
    Case(BALLS_TASK, "isofold, compiled", _prepare_balls, _our_balls, repeats=3),
    Case(BALLS_TASK, "SciPy, seed by seed", _prepare_balls, partial(_scipy_balls, at_once=1)),
    Case(
        BALLS_TASK,
        f"SciPy, {SEEDS_AT_ONCE} seeds at once",
        _prepare_balls,
        partial(_scipy_balls, at_once=SEEDS_AT_ONCE),
    ),
]


def markdown(records: list[dict[str, Any]]) -> str:
    """Return the table of cases, and that of the limits as far as their cases were run."""
    lines = [
        harness.markdown(records),
        "| claim | measured | limit | verdict |",
        "|---|---|---|---|",
    ]
    known = {(r["task"], r["method"]): r for r in records if r["status"] == "ok"}
    for claim in CLAIMS:
        chosen = [known.get(key) for key in claim.cases]
        if all(chosen):
            value = claim.measure(*chosen)
            is_met = value >= claim.limit if claim.at_least else value <= claim.limit
            bound = f"{'≥' if claim.at_least else '≤'} {claim.limit:g}"
            verdict = "met" if is_met else "MISSED"
            lines.append(f"| {claim.words} | {value:.3g} | {bound} | {verdict} |")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Claim:
    """A figure from the records of some cases, and its limit."""

    words: str
    cases: tuple[tuple[str, str], ...]
    measure: Callable[..., float]
    limit: float
    at_least: bool = False


def _seconds(record: dict[str, Any]) -> float:
    return float(record["seconds"])


def _ratio(first: dict[str, Any], second: dict[str, Any]) -> float:
    return _seconds(first) / _seconds(second)


def _exponent(small: dict[str, Any], large: dict[str, Any]) -> float:
    return math.log(_ratio(large, small)) / math.log(100.0)


def _difference(record: dict[str, Any]) -> float:
    return float(record["figures"]["difference"])


def _times_input(record: dict[str, Any]) -> float:
    return float(record["peak_mb"] / record["figures"]["input_mb"])


def _rows_a_second(record: dict[str, Any]) -> float:
    return float(record["figures"]["rows"]) / _seconds(record)


_SMALL, _MILLION, _FIVE_MILLION, _LARGE = ((_task(n), OURS) for n in SIZES)

CLAIMS = (
    Claim("seconds at 1,000,000", (_MILLION,), _seconds, 1.5),
    Claim("in times of k-means", (_MILLION, (_MILLION[0], KMEANS)), _ratio, 1.5),
    Claim("exponent of growth, 100,000 to 10,000,000", (_SMALL, _LARGE), _exponent, 1.05),
    Claim(
        "times faster than LTSA at 50,000",
        ((_task(50_000), "LTSA"), (_task(50_000), OURS)),
        _ratio,
        20.0,
        at_least=True,
    ),
    Claim(
        "times faster than UMAP at 200,000",
        ((_task(200_000), "umap-learn"), (_task(200_000), OURS)),
        _ratio,
        100.0,
        at_least=True,
    ),
    Claim("seconds that a first call is slower", ((FIRST_TASK, OURS),), _difference, 1.0),
    Claim("peak memory at 5,000,000, in times of the input", (_FIVE_MILLION,), _times_input, 8.0),
    Claim(
        "rows a second of transform in 3 columns",
        ((TRANSFORM_TASK, OURS),),
        _rows_a_second,
        3e6,
        at_least=True,
    ),
    Claim(
        "rows a second of transform in 20 columns",
        ((WIDE_TRANSFORM_TASK, OURS),),
        _rows_a_second,
        1e6,
        at_least=True,
    ),
)
