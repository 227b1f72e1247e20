"""All sets in the plane: where one map is as good as the best of its peers in every figure.

A map dominates if it keeps about as many neighbors as the best of t-SNE, UMAP and PaCMAP, is as
continuous as t-SNE, and its lengths are much truer than those of all three. t-SNE is openTSNE's,
or scikit-learn's where that is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from scipy.spatial.distance import pdist, squareform

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.real_data.measures import label_agreement, measure
from experiments.real_data.methods import available, embed
from experiments.real_data.sets import CHOOSING, UNSEEN, loaded
from experiments.real_data.tables import claim, summary, verdicts

__all__ = ["LIMITS", "conditions", "dominance", "tsne_of", "vote"]

TSNE = ("openTSNE", "t-SNE")
NEIGHBOR_MAPS = ("UMAP", "PaCMAP")
FURTHER = ("densMAP", "TriMap", "PHATE")
OURS = ("LocalMDS", "NeighborMap", "Unfold")
JUDGED = ("NeighborMap", "Unfold")
GROUPS = {"choosing": CHOOSING, "unseen": UNSEEN}
IN_SUMMARY = {
    "trustworthiness": 3,
    "continuity": 3,
    "lost": 3,
    "scaled_error": 3,
    "precision_error": 3,
}


@dataclass(frozen=True)
class Limit:
    """What one figure of a map is to reach.

    Attributes
    ----------
    figure : str
        One of `Figures`.
    wanted : str
        The limit in words.
    mine_is : str
        "at least" or "at most".
    bound : callable
        Returns the limit from the rows of the peers, t-SNE first.
    """

    figure: str
    wanted: str
    mine_is: str
    bound: Callable[[Sequence[Row]], float]


def _best(figure: str, choose: Callable[..., float], factor: float, allowance: float) -> Callable:
    return lambda peers: factor * choose(peer[figure] for peer in peers) + allowance


LIMITS = (
    Limit(
        "trustworthiness", "≥ best less .002", "at least", _best("trustworthiness", max, 1, -0.002)
    ),
    Limit("lost", "≤ least and .005", "at most", _best("lost", min, 1, 0.005)),
    Limit("continuity", "≥ t-SNE", "at least", lambda peers: peers[0]["continuity"]),
    Limit("scaled_error", "≤ .7 of least", "at most", _best("scaled_error", min, 0.7, 0.0)),
)


def dominance(folder: Path, size: Size = FULL) -> None:
    """Map all sets by all methods, then judge ours."""
    rows: list[Row] = []
    methods = [*tsne_of(), *available((*NEIGHBOR_MAPS, *FURTHER, *OURS))]
    for group, sets in GROUPS.items():
        for one, data in loaded(sets[: size.repeats(len(sets))], size):
            say(f"{one.name} ({group}): {data}")
            distances = squareform(pdist(data.X))
            for name in methods:
                made = embed(name, data.X, 2, label=one.name, folder=folder)
                row = {"set": one.name, "group": group, "r": 2, "method": name}
                row |= asdict(measure(distances, made.Y, metric="precomputed"))
                known = data.labels is not None
                row["same label"] = label_agreement(made.Y, data.labels) if known else ""
                rows.append({**row, "seconds": made.seconds})
    write_table(rows, folder / "real_data_dominance")
    say(f"{' / '.join(IN_SUMMARY)}\n")
    near = {*TSNE, *NEIGHBOR_MAPS, *OURS}
    _write_summary(rows, near, folder / "real_data_dominance_summary")
    _write_summary(rows, {*FURTHER, *JUDGED}, folder / "real_data_dominance_further")
    for ours in JUDGED:
        _judge(rows, ours, folder)


def tsne_of() -> list[str]:
    """Return openTSNE, or scikit-learn's t-SNE where it is not installed."""
    return list(available(TSNE))[:1]


def conditions(rows: Sequence[Row], ours: str) -> Iterator[Row]:
    """Yield the claims of one of our methods against t-SNE, UMAP and PaCMAP, set by set."""
    for of_set in _by_set(rows).values():
        peers = [of_set[name] for name in (*TSNE, *NEIGHBOR_MAPS) if name in of_set]
        if ours not in of_set or peers[0]["method"] not in TSNE:
            continue
        for limit in LIMITS:
            yield claim(
                of_set[ours],
                limit.figure,
                limit.wanted,
                limit.bound(peers),
                mine_is=limit.mine_is,
            )


def vote(claims: Sequence[Row]) -> dict[str, bool]:
    """Return of every set whether all its claims hold."""
    return {
        name: all(one["holds"] == "yes" for one in claims if one["set"] == name)
        for name in dict.fromkeys(one["set"] for one in claims)
    }


def _by_set(rows: Sequence[Row]) -> dict[str, Mapping[str, Row]]:
    names = dict.fromkeys(row["set"] for row in rows)
    return {name: {row["method"]: row for row in rows if row["set"] == name} for name in names}


def _write_summary(rows: Sequence[Row], methods: set[str], path: Path) -> None:
    write_table(summary([row for row in rows if row["method"] in methods], IN_SUMMARY), path)


def _judge(rows: Sequence[Row], ours: str, folder: Path) -> None:
    """Write what holds, and count the sets on which all does."""
    claims = list(conditions(rows, ours))
    if not claims:
        return
    met, group = vote(claims), {row["set"]: row["group"] for row in rows}
    table = [
        {
            "set": line["set"],
            "group": group[line["set"]],
            **line,
            "all": "yes" if met[line["set"]] else "no",
        }
        for line in verdicts(claims)
    ]
    write_table(table, folder / f"real_data_dominance_{ours}")
    for name in GROUPS:
        held = [met[key] for key in met if group[key] == name]
        say(f"{ours}: all conditions on {sum(held)} of {len(held)} {name} sets")
