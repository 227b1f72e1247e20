"""Figure 5.5: Isomap's map extended by its own kernel and by methods that know only points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.manifold import SpectralEmbedding

from experiments import peers
from experiments.harness import FULL, Row, Size, say, write_table
from experiments.out_of_sample import paper
from experiments.out_of_sample.cases import (
    GOOSES,
    RIVALS,
    Fit,
    embed,
    move_onto,
    quartiles,
    random_split,
    rms,
    spread,
)
from experiments.out_of_sample.flow import draw_flow
from isofold._typing import FloatArray
from isofold.datasets import swiss_roll
from isofold.extension import fit_nystrom

__all__ = ["SPECTRAL", "Spectral", "bengio", "run_errors"]

N_POINTS, N_TRAIN, N_RUNS = 2000, 1500, 10
NEIGHBORS = 12
PRINTED = {"Bengio": "Bengio", "Yang": "Yang", "GOoSE, thesis": "GOoSE"}
DRAWN = ("Bengio", "Yang", "GOoSE, thesis", "GOoSE, least squares", "barycentric")


@dataclass(frozen=True)
class Spectral:
    """A spectral method with its kernel for Nyström's formula.

    Attributes
    ----------
    make : callable
        Returns the estimator.
    nystrom : callable
        Takes points and their map.
    is_normalized : bool
        Whether its coordinates have a length that does not depend on the number of points.
    """

    make: Callable[[], Any]
    nystrom: Fit
    is_normalized: bool


def laplacian() -> SpectralEmbedding:
    """Return Laplacian eigenmaps; its graph counts a point among its neighbors."""
    return SpectralEmbedding(
        affinity="nearest_neighbors", n_neighbors=NEIGHBORS + 1, random_state=0
    )


SPECTRAL: Mapping[str, Spectral] = {
    "Isomap": Spectral(
        lambda: peers.isomap(NEIGHBORS),
        partial(fit_nystrom, kernel="geodesic", n_neighbors=NEIGHBORS),
        is_normalized=False,
    ),
    "Laplacian eigenmaps": Spectral(
        laplacian,
        partial(fit_nystrom, kernel="laplacian", n_neighbors=NEIGHBORS),
        is_normalized=True,
    ),
}


def bengio(folder: Path, size: Size = FULL) -> None:
    """Place 500 points of the roll on spectral maps of 1,500."""
    rows: list[Row] = []
    for name, method in SPECTRAL.items():
        found = []
        for seed in range(size.repeats(N_RUNS)):
            path = folder / f"bengio_{name.split()[0].lower()}.png" if seed == 0 else None
            found.append(run_errors(method, seed, path, size.points(N_POINTS)))
        say(f"{name}: {len(found)} draws")
        for extension in found[0]:
            printed = paper.FIGURE_5_5.get(PRINTED.get(extension, ""), "")
            errors, shares, fixed = zip(*(run[extension] for run in found), strict=True)
            rows.append(
                {
                    "embedding": name,
                    "extension": extension,
                    "e": quartiles(errors),
                    "thesis": printed if name == "Isomap" else "",
                    "e, % of extent": quartiles(shares),
                    "map of all kept, %": "" if fixed[0] is None else quartiles(fixed),
                }
            )
    write_table(rows, folder / "bengio")


def run_errors(
    method: Spectral, seed: int, path: Path | None, n_points: int = N_POINTS
) -> dict[str, tuple[float, float, float | None]]:
    """Return errors of one draw: in the map's unit, in percent of its extent, on the map of all."""
    X = swiss_roll(n_points, random_state=seed).X
    train, test = random_split(n_points, N_TRAIN * n_points // N_POINTS, seed=seed)
    everything = embed(method.make(), X, unit_covariance=method.is_normalized)
    model = method.make()
    alone = embed(model, X[train], unit_covariance=method.is_normalized)
    expected, extent = everything[test], spread(everything)
    fits: dict[str, Fit] = {"Bengio": method.nystrom, **RIVALS, **GOOSES}
    placed: dict[str, FloatArray] = {}
    fixed: dict[str, float | None] = {"the map's own change": None, "its own transform": None}
    for name, fit in fits.items():
        new = fit(X[train], alone).transform(X[test])
        placed[name] = move_onto(alone, everything[train], new)
        if name != "Bengio":
            kept = fit(X[train], everything[train]).transform(X[test])
            fixed[name] = 100 * rms(kept, expected) / extent
    if hasattr(model, "transform"):
        own = move_onto(alone, everything[train], model.transform(X[test]))
        placed["its own transform"] = own
    if path is not None:
        draw_flow(path, {name: placed[name] for name in DRAWN}, expected, everything[train])
    change = rms(move_onto(alone, everything[train], alone), everything[train])
    errors = {"the map's own change": change}
    errors |= {name: rms(new, expected) for name, new in placed.items()}
    return {name: (e, 100 * e / extent, fixed.get(name)) for name, e in errors.items()}
