"""Sensor networks: error, time and growth beside SMACOF, a semidefinite programme and the truth."""

from __future__ import annotations

import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save
from isofold._typing import BoolArray, FloatArray
from isofold.linalg import classical_scaling, procrustes
from isofold.structure.network import NetworkLocalizer, SensorNetwork, make_network
from isofold.structure.network.parts import components_of, ranging_of, start_of
from isofold.structure.network.solve import settle

__all__ = ["network", "network_sdp", "network_shapes"]

SIZES = (100, 1000, 5000, 20000)
NOISES = (0.01, 0.05, 0.10)
DEGREES = {2: 10.0, 3: 15.0}
"""Ranges of an inner node; with the border the mean is lower."""
MOST_FOR_SMACOF = 1000
SMACOF_STEPS = 200
SDP_SIZE, SDP_LIMIT = 100, 600.0
"""Nodes of the programme in CVXPY, and seconds after which it is stopped."""
FAR = 0.5
"""Error, in radii, from which on a node is at the wrong place."""
NOTHING = "-"
SHAPES = ("uniform", "grid", "C", "ring", "holes")


@dataclass(frozen=True)
class Case:
    """One network of the table."""

    n: int
    d: int
    noise: float
    seed: int
    shape: Any = "uniform"

    def make(self) -> SensorNetwork:
        """Return the network: 10 anchors of 100 nodes, 5 % of more."""
        anchors = max(10, self.n // 20)
        return make_network(
            self.n,
            self.d,
            degree=DEGREES[self.d],
            noise=self.noise,
            n_anchors=anchors,
            shape=self.shape,
            random_state=self.seed,
        )


def network(folder: Path, size: Size = FULL) -> None:
    """Write the tables of all sizes, and how time grows."""
    cases = [
        Case(n, d, noise, seed)
        for d in (2, 3)
        for n in (SIZES if size.most is None else (size.most // 2, size.most))
        for noise in (NOISES if size.most is None else NOISES[1:2])
        for seed in range(size.repeats(3 if n <= 1000 else 1))
    ]
    rows = _run(cases, size)
    write_table(_averages(rows), folder / "structure_network")
    write_table(_growth(rows), folder / "structure_network_growth")
    _draw(Case(size.points(1000), 2, 0.05, 2), folder / "structure_network.png")


def network_shapes(folder: Path, size: Size = FULL) -> None:
    """Write the table of regions in which shortest paths bend."""
    cases = [
        Case(size.points(1000), d, 0.05, seed, shape)
        for d in (2, 3)
        for shape in SHAPES
        for seed in range(size.repeats(3))
    ]
    write_table(_averages(_run(cases, size)), folder / "structure_network_shapes")


def network_sdp(folder: Path, size: Size = FULL) -> None:
    """Write the rows of a semidefinite programme; a rehearsal has few nodes."""
    n = SDP_SIZE if size.most is None else 30
    rows = [_sdp_row(Case(n, d, 0.05, 0)) for d in (2, 3)]
    write_table(rows, folder / "structure_network_sdp")


def _run(cases: list[Case], size: Size = FULL) -> list[Row]:
    """Return the rows of all cases, each in a process of its own: so its memory is its own."""
    rows: list[Row] = []
    context = multiprocessing.get_context("spawn")
    for case in cases:
        if size.most is None:
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                found = pool.submit(_rows, case).result()
        else:
            found = _rows(case)
        for row in found:
            say(" ".join(f"{key}={value}" for key, value in row.items()))
        rows += found
    return rows


def _rows(case: Case) -> list[Row]:
    """Return the rows of one network: every method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = case.make()
        return [_row(case, given, *found) for found in _methods(case, given)]


Found = tuple[str, FloatArray, float, "BoolArray | None", float]


def _methods(case: Case, given: SensorNetwork) -> Iterator[Found]:
    """Run every method; yield its name, layout, seconds, doubtful nodes and peak of memory."""
    blind = replace(given, radius=None)
    for name, what, repair in (
        ("start", blind, None),
        ("ranges only", blind, False),
        ("with lower bounds", given, False),
        ("with lower bounds, flaps tried", given, True),
    ):
        begin = time.process_time()
        if repair is None:
            Y, doubts = _start_of(what, case.d), None
        else:
            # Without flaps, one descent: further starts would not mend all of them either.
            n_init = NetworkLocalizer().n_init if repair else 1
            model = NetworkLocalizer(case.d, n_init=n_init, repair=repair, random_state=0)
            model.fit(what)
            Y, doubts = model.coordinates_, model.is_ambiguous_ if repair else None
        yield name, Y, time.process_time() - begin, doubts, _peak()
    for name, what in (("truth, ranges only", blind), ("truth, with lower bounds", given)):
        yield name, *_timed(_from_truth, what), None, _peak()
    if case.n <= MOST_FOR_SMACOF:
        yield "SMACOF", *_timed(_smacof, given, case.d), None, _peak()


def _timed(function: Callable[..., FloatArray], *arguments: Any) -> tuple[FloatArray, float]:
    begin = time.process_time()
    with threadpool_limits(1):
        found = function(*arguments)
    return found, time.process_time() - begin


def _peak() -> float:
    """Return the largest memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _start_of(given: SensorNetwork, d: int) -> FloatArray:
    """Return the start of the part that anchors hold; other nodes at zero."""
    parts = components_of(given, d)
    nodes = np.flatnonzero(parts.is_located[parts.labels])
    Y = np.zeros((given.n_nodes, d))
    rng = np.random.RandomState(0)
    Y[nodes] = start_of(given, parts.labels[nodes], nodes, 1.0, d, rng)
    return Y


def _from_truth(given: SensorNetwork) -> FloatArray:
    """Return the minimum that a descent from the true positions ends in."""
    unit = float(np.median(given.ranges))
    ranging = ranging_of(given, np.arange(given.n_nodes), unit, "relative")
    return np.asarray(unit * settle(ranging, _truth(given) / unit)[0])


def _smacof(given: SensorNetwork, d: int) -> FloatArray:
    """Return SMACOF of all shortest paths from classical scaling, moved onto the anchors."""
    n = given.n_nodes
    graph = sp.coo_array((given.ranges, (given.pairs[:, 0], given.pairs[:, 1])), (n, n)).tocsr()
    paths = dijkstra(graph, directed=False)
    paths[np.isinf(paths)] = paths[np.isfinite(paths)].max()
    Y = classical_scaling(paths**2, d).coordinates
    for _ in range(SMACOF_STEPS):
        lengths = cdist(Y, Y)
        ratio = np.divide(paths, lengths, out=np.zeros_like(paths), where=lengths > 0.0)
        Y = (ratio.sum(axis=1)[:, None] * Y - ratio @ Y) / n
    fit = procrustes(Y[given.anchors.points], given.anchors.positions, scale=True)
    return fit.transform.apply(Y)


def _sdp_row(case: Case) -> Row:
    """Return the row of a semidefinite programme, which is stopped after ten minutes."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_sdp, args=(case, sender))
    begin = time.perf_counter()
    process.start()
    found = receiver.recv() if receiver.poll(SDP_LIMIT) else None
    seconds = time.perf_counter() - begin
    if process.is_alive() and found is None:
        process.terminate()
    process.join()
    given = case.make()
    if found is None:
        nowhere = np.full((case.n, case.d), np.nan)
        return _row(case, given, "SDP (CVXPY, Clarabel): stopped", nowhere, seconds, None, np.nan)
    return _row(case, given, f"SDP (CVXPY, Clarabel): {found[1]}", found[0], *found[2:])


def _sdp(case: Case, sender: Any) -> None:
    """Solve the relaxation of Biswas and Ye (2004) with absolute errors of squared distances."""
    import cvxpy as cp

    given = case.make()
    n, d = case.n, case.d
    known = dict(zip(given.anchors.points.tolist(), given.anchors.positions, strict=True))
    free = [node for node in range(n) if node not in known]
    row = {node: d + k for k, node in enumerate(free)}
    begin = time.process_time()
    Z = cp.Variable((d + len(free), d + len(free)), PSD=True)
    terms = []
    for (i, j), length in zip(given.pairs.tolist(), given.ranges, strict=True):
        if i in known and j in known:
            continue
        v = np.zeros(d + len(free))
        for node, sign in ((i, 1.0), (j, -1.0)):
            if node in known:
                v[:d] += sign * known[node]
            else:
                v[row[node]] += sign
        at = np.flatnonzero(v)
        square = cp.sum(cp.multiply(np.outer(v[at], v[at]), Z[at][:, at]))
        terms.append(cp.abs(square - length**2))
    problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))), [Z[:d, :d] == np.eye(d)])
    problem.solve(solver=cp.CLARABEL)
    Y = np.empty((n, d))
    Y[given.anchors.points] = given.anchors.positions
    Y[free] = Z.value[:d, d:].T
    sender.send((Y, problem.status, time.process_time() - begin, None, _peak()))


def _truth(given: SensorNetwork) -> FloatArray:
    """Return where nodes truly are."""
    return np.asarray(given.positions)


def _located(given: SensorNetwork, d: int) -> BoolArray:
    """Return the nodes of parts with enough anchors."""
    parts = components_of(given, d)
    return np.asarray(parts.is_located[parts.labels])


def _row(
    case: Case,
    given: SensorNetwork,
    method: str,
    Y: FloatArray,
    seconds: float,
    doubts: BoolArray | None,
    peak: float,
) -> Row:
    """Return the scores of a layout; errors in radii, over nodes that are to be located."""
    counted = _located(given, case.d)
    counted[given.anchors.points] = False
    errors = np.linalg.norm(Y - _truth(given), axis=1) / (given.radius or np.nan)
    own = errors[counted]
    sure = errors[counted & ~doubts] if doubts is not None else own
    told = doubts is not None
    return {
        "shape": case.shape,
        "n": case.n,
        "d": case.d,
        "degree": 2.0 * len(given.pairs) / case.n,
        "noise": case.noise,
        "anchors": len(given.anchors),
        "method": method,
        "seeds": 1,
        "RMSE": float(np.sqrt(np.mean(own**2))),
        "median": float(np.median(own)),
        "within half": float(np.mean(own < FAR)),
        "doubtful": float(1.0 - len(sure) / len(own)) if told else NOTHING,
        "RMSE of others": float(np.sqrt(np.mean(sure**2))) if told else NOTHING,
        "wrong, no doubt": float(np.mean(sure > FAR)) if told else NOTHING,
        "seconds": seconds,
        "peak MB": peak,
    }


KEYS = ("shape", "n", "d", "noise", "anchors", "method")


def _averages(rows: list[Row]) -> list[Row]:
    """Return the means over seeds."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in KEYS), []).append(row)
    return [
        {
            key: value if key in KEYS or value == NOTHING else _mean(row[key] for row in group)
            for key, value in group[0].items()
        }
        | {"seeds": len(group)}
        for group in groups.values()
    ]


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _growth(rows: list[Row]) -> list[Row]:
    """Return the exponents of seconds over nodes, from 1,000 on (or all sizes there are)."""
    found: list[Row] = []
    for d in (2, 3):
        for method in ("ranges only", "with lower bounds", "with lower bounds, flaps tried"):
            own = [r for r in rows if r["d"] == d and r["method"] == method]
            large = [r for r in own if r["n"] >= SIZES[1]] or own
            sizes = sorted({r["n"] for r in large})
            means = [np.mean([r["seconds"] for r in large if r["n"] == n]) for n in sizes]
            slope = np.polyfit(np.log(sizes), np.log(means), 1)[0] if len(sizes) > 1 else np.nan
            found.append({"d": d, "method": method, "exponent of n": float(slope)})
    return found


def _draw(case: Case, path: Path) -> None:
    """Draw where nodes are found, with lines to where they are, doubtful ones apart."""
    given = case.make()
    truth = _truth(given)
    figure, grid = plt.subplots(1, 2, figsize=(9, 4.7), layout="constrained")
    for axes, repair in zip(grid, (False, True), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = NetworkLocalizer(2, repair=repair, random_state=0).fit(given)
        Y, counted = model.coordinates_, _located(given, 2)
        for i in np.flatnonzero(counted):
            axes.plot(*np.stack([Y[i], truth[i]]).T, color="tab:red", lw=0.8)
        axes.scatter(*Y[counted].T, s=4, color="0.3")
        doubts = counted & model.is_ambiguous_
        axes.scatter(*Y[doubts].T, s=14, color="tab:orange", label="could be elsewhere")
        axes.scatter(
            *given.anchors.positions.T, s=16, marker="^", color="tab:blue", label="anchors"
        )
        axes.set_title("flaps tried both ways" if repair else "as descended", fontsize=10)
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
    handles, labels = grid[1].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=2, frameon=False)
    save(figure, path)
