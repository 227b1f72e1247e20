"""IPA without tuning: error against the truth, beside its limit, its own estimate and its doubts.

The error is that of `procrustes_error`: no scale is fitted. Each row is the median over seeds of
``IPA(random_state=seed).fit_transform(X)``. Noise within the sheet makes an error of
F = σ√r / rms|y - ȳ| inevitable; where there is noise, limits are in units of F.

A certificate holds if the gap is at most 1e-6 plus what rounding may cause.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import ipa_data as data
from benchmarks import peers
from benchmarks.harness import Case
from isofold import IPA
from isofold._typing import FloatArray
from isofold.exceptions import DoubtfulMapWarning
from isofold.sdp import Status

N_SEEDS = 5
LARGEST_GAP = 1e-6

LARGEST_ERROR, LARGEST_FLOORS = 0.1, 3.0
"""A map is wrong if its error exceeds one of them; that must never pass without a doubt."""

CLEAN_LIMITS = {2_000: 2e-4, 10_000: 1e-5, 50_000: None, 100_000: 3e-6, 1_000_000: 3e-6}
NOISES = (0.05, 0.1, 0.2, 0.4)
NOISE_SIZES = (2_000, 20_000, 200_000)
NOISE_LIMIT = 1.1
IMBALANCE, IMBALANCE_LIMIT, NOISY_IMBALANCE_LIMIT = 0.9, 5e-4, 1.4

OUR_METHOD, BEST_PEER = "isofold IPA", "LTSA and metric fit"
METHODS: dict[str, Callable[[FloatArray], FloatArray]] = {
    BEST_PEER: peers.ltsa_with_metric_fit,
    "Isomap": peers.isomap,
}

COLUMNS = (
    "task",
    "method",
    "error",
    "in F",
    "limit",
    "verdict",
    "estimate",
    "doubts",
    "certified",
    "gap",
    "rounding",
    "fit s",
    "warnings",
)


@dataclass(frozen=True)
class Trial:
    """What one seed gave."""

    error: float
    floor: float
    seconds: float
    estimate: float
    doubts: tuple[str, ...]
    status: str
    gap: float
    rounding: float
    warnings: tuple[str, ...]

    @property
    def is_certified(self) -> bool:
        """Whether the gap is closed up to rounding; a single patch has none."""
        is_closed = self.gap <= LARGEST_GAP + self.rounding
        return self.status == "ONE_PATCH" or (self.status == Status.CERTIFIED.name and is_closed)

    @property
    def is_silent_failure(self) -> bool:
        """Whether the map is wrong and nothing was said."""
        beyond_noise = self.floor > 0.0 and self.error > LARGEST_FLOORS * self.floor
        return (self.error > LARGEST_ERROR or beyond_noise) and not self.doubts


def _fit(sheet: data.Sheet, seed: int) -> Trial:
    ipa = IPA(n_components=sheet.truth.shape[1], random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        Y = ipa.fit_transform(sheet.X)
        seconds = time.perf_counter() - start
    # Doubts have a column of their own; other kinds of warnings are listed.
    others = {w.category.__name__ for w in caught if w.category is not DoubtfulMapWarning}
    solution = ipa.solution_
    return Trial(
        error=sheet.error(Y),
        floor=sheet.floor,
        seconds=seconds,
        estimate=ipa.estimated_error_,
        doubts=tuple(doubt.code for doubt in ipa.diagnosis_.raised),
        status=_unstitched(ipa) if solution is None else solution.status.name,
        gap=0.0 if solution is None else solution.gap,
        rounding=0.0 if solution is None else _relative_rounding(solution),
        warnings=tuple(sorted(others)),
    )


def _unstitched(ipa: IPA) -> str:
    """Return why there is no solution: a single patch needs none, data that are no sheet have none.

    The latter are projected, or laid out along shortest paths.
    """
    is_stitched = ipa.diagnosis_.codes.isdisjoint({"projected", "unstitched"})
    return "NOT_STITCHED" if not is_stitched else "ONE_PATCH"


def _relative_rounding(solution: Any) -> float:
    return float(solution.certificate.rounding_floor / max(abs(solution.primal), 1e-300))


def _ours(sheets: list[data.Sheet], *, limit: float | None) -> dict[str, Any]:
    trials = [_fit(sheet, seed) for seed, sheet in enumerate(sheets)]
    worst = max(trials, key=lambda trial: trial.gap - trial.rounding)
    statuses = Counter(trial.status for trial in trials if not trial.is_certified)
    return {
        **_errors([t.error for t in trials], [t.floor for t in trials], limit),
        "silent failures": sum(trial.is_silent_failure for trial in trials),
        "estimate": _median([trial.estimate for trial in trials]),
        "doubts": _counted(Counter(doubt for trial in trials for doubt in trial.doubts)),
        "certified": f"{sum(trial.is_certified for trial in trials)} of {len(trials)}",
        "uncertified": _counted(statuses),
        "gap": worst.gap,
        "rounding": worst.rounding,
        "fit s": _median([trial.seconds for trial in trials]),
        "warnings": _counted(Counter(name for trial in trials for name in trial.warnings)),
    }


def _theirs(sheets: list[data.Sheet], *, method: str) -> dict[str, Any]:
    errors, seconds = [], []
    for sheet in sheets:
        start = time.perf_counter()
        Y = METHODS[method](sheet.X)
        seconds.append(time.perf_counter() - start)
        errors.append(sheet.error(Y))
    floors = [sheet.floor for sheet in sheets]
    return {**_errors(errors, floors, None), "fit s": _median(seconds)}


def _errors(errors: list[float], floors: list[float], limit: float | None) -> dict[str, Any]:
    """Return the median error, in units of the floor too if there is one, and the verdict."""
    figures: dict[str, Any] = {
        "error": _median(errors),
        "worst error": max(errors),
        "seeds": len(errors),
    }
    is_noisy = min(floors) > 0.0
    if is_noisy:
        figures["in F"] = _median([e / f for e, f in zip(errors, floors, strict=True)])
    if limit is not None:
        figures["limit"] = f"{limit:g} F" if is_noisy else f"{limit:g}"
        figures["verdict"] = (
            "met" if figures["in F" if is_noisy else "error"] <= limit else "MISSED"
        )
    return figures


def _median(values: list[float]) -> float:
    return float(np.median(values))


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def _prepare(make: Callable[[int], data.Sheet], n_seeds: int) -> list[data.Sheet]:
    return [make(seed) for seed in range(n_seeds)]


def _case(
    task: str,
    make: Callable[[int], data.Sheet],
    *,
    limit: float | None = None,
    method: str = OUR_METHOD,
    n_seeds: int = N_SEEDS,
    is_slow: bool = False,
) -> Case:
    """Return a case whose data `make` draws from a seed."""
    run = partial(_ours, limit=limit) if method == OUR_METHOD else partial(_theirs, method=method)
    return Case(task, method, partial(_prepare, make, n_seeds), run, is_slow=is_slow)


def _clean_roll_cases() -> list[Case]:
    cases = []
    for n, limit in CLEAN_LIMITS.items():
        task, make = f"clean holed roll, n = {n:,}", partial(data.roll, n)
        n_seeds = N_SEEDS if n < 1_000_000 else 2
        cases.append(_case(task, make, limit=limit, n_seeds=n_seeds))
        if n <= 10_000:
            cases.append(_case(task, make, method=BEST_PEER))
        if n == 50_000:
            cases.append(_case(task, make, method=BEST_PEER, n_seeds=1, is_slow=True))
        if n == 2_000:
            cases.append(_case(task, make, method="Isomap"))
    return cases


def _noisy_roll_cases() -> list[Case]:
    return [
        _case(
            f"noisy holed roll, noise {noise:g}, n = {n:,}",
            partial(data.roll, n, noise=noise),
            limit=NOISE_LIMIT,
            n_seeds=N_SEEDS if n < 200_000 else 2,
        )
        for n in NOISE_SIZES
        for noise in NOISES
    ]


def _imbalanced_roll_cases() -> list[Case]:
    return [
        _case(
            f"holed roll, 90 % in one half, noise {noise:g}, n = 2,000",
            partial(data.roll, 2_000, noise=noise, imbalance=IMBALANCE),
            limit=NOISY_IMBALANCE_LIMIT if noise else IMBALANCE_LIMIT,
        )
        for noise in (0.0, *NOISES)
    ]


def _lifted_cases() -> list[Case]:
    return [
        _case(
            f"holed roll lifted into {d}-D, {words}, n = {n:,}",
            partial(data.lifted_roll, n, d, noise=noise),
        )
        for n in (2_000, 20_000)
        for d in (20, 100)
        for noise, words in ((0.1, "noise 0.1"), (None, "noise 0.02 to 0.2 by axis"))
    ]


def _surface_cases() -> list[Case]:
    sheets = ("s_curve", "flat_torus", "cone", "corrugated_sheet")
    others = {"spiral": 2_000, "helix_arc": 2_000, "rolled_block": 10_000}
    sized = [(name, n) for name in sheets for n in (2_000, 20_000)] + list(others.items())
    return [
        _case(
            f"surface {name}, noise {noise:g}, n = {n:,}",
            partial(data.surface, name, n, noise=noise),
        )
        for name, n in sized
        for noise in (0.0, 0.02)
    ]


def _odd_input_cases() -> list[Case]:
    """Return units, outliers and duplicates, on which errors should be those of the clean roll."""
    n = 2_000
    limit = CLEAN_LIMITS[n]
    return [
        *(
            _case(
                f"odd input, numbers {unit:g} times as large, n = {n:,}",
                lambda seed, u=unit: data.in_units(data.roll(n, seed), u),
                limit=limit,
            )
            for unit in (1e-6, 1e6)
        ),
        *(
            _case(
                f"odd input, 1 % outliers, noise {noise:g}, n = {n:,}",
                lambda seed, s=noise: data.with_outliers(data.roll(n, seed, noise=s), 0.01, seed),
            )
            for noise in (0.0, 0.1)
        ),
        _case(
            f"odd input, every row three times, n = {3 * n:,}",
            lambda seed: data.repeated(data.roll(n, seed), 3),
            limit=limit,
        ),
    ]


CASES = [
    *_clean_roll_cases(),
    *_noisy_roll_cases(),
    *_imbalanced_roll_cases(),
    *_lifted_cases(),
    *_surface_cases(),
    *_odd_input_cases(),
]


def markdown(records: list[dict[str, Any]]) -> str:
    """Return a table with one line a case, and what it says about the limits."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for record in records:
        named = {"task": record["task"], "method": record["method"]}
        if record["status"] == "ok":
            cells = {**record["figures"], **named}
            if cells.get("uncertified"):
                cells["certified"] += f" ({cells['uncertified']})"
            if cells.get("silent failures"):
                cells["doubts"] = f"SILENT FAILURES {cells['silent failures']}; {cells['doubts']}"
        else:
            cells = {**named, "verdict": record["status"]}
        lines.append("| " + " | ".join(_cell(cells.get(name, "")) for name in COLUMNS) + " |")
    return "\n".join([*lines, "", *_summary(records)]) + "\n"


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


def _summary(records: list[dict[str, Any]]) -> list[str]:
    figures = {(r["task"], r["method"]): r["figures"] for r in records if r["status"] == "ok"}
    ours = {task: f for (task, method), f in figures.items() if method == OUR_METHOD}
    verdicts = Counter(f["verdict"] for f in ours.values() if "verdict" in f)
    silent = sum(f["silent failures"] for f in ours.values())
    met = f"Limits met: {verdicts['met']} of {verdicts.total()}."
    lines = [f"{met} Wrong maps without a doubt: {silent}."]
    for task, own in ours.items():
        peer = figures.get((task, BEST_PEER))
        if peer:
            ratio = peer["error"] / own["error"]
            lines.append(f"{task}: the error of {BEST_PEER} is {ratio:.3g} times that of IPA.")
    return lines
