"""A table of scores: what every scorecard is, printed, exported, and the lines that all share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from isofold._typing import IntArray
from isofold.quality import ranks
from isofold.quality.isometry import LocalIsometry, median_error_of
from isofold.quality.neighborhoods import Neighborhoods
from isofold.quality.score import CONFIDENCE, RowSample, Score
from isofold.quality.summary import MapSummary, scaled_error_score

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Entry:
    """One line of a scorecard.

    Parameters
    ----------
    name : str
        Name of the measure.
    score : Score
        Its value.
    best : str
        The value of a perfect map, empty if there is none.
    meaning : str
        What it says, in brief.
    """

    name: str
    score: Score
    best: str
    meaning: str


@dataclass(frozen=True, eq=False)
class ScoreTable(Mapping[str, Score]):
    """Quality of one embedding; a mapping from the name of a measure to its :class:`Score`.

    Parameters
    ----------
    entries : tuple of Entry
        The measures in order.
    n_points, n_components, n_neighbors : int
        What was scored, and how large neighborhoods were.
    isometry : LocalIsometry
        Distribution of length ratios; ``isometry.per_point`` is the distortion of every point.
    sample : RowSample
        The points at which measures were evaluated.
    near : Neighborhoods
        The nearest in the data, with their lengths before and after.
    """

    entries: tuple[Entry, ...]
    n_points: int
    n_components: int
    n_neighbors: int
    isometry: LocalIsometry = field(repr=False)
    sample: RowSample = field(repr=False)
    near: Neighborhoods = field(repr=False)

    def __getitem__(self, name: str) -> Score:
        for entry in self.entries:
            if entry.name == name:
                return entry.score
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (entry.name for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def title(self) -> str:
        """What was scored, in one line."""
        sampled = len(self.sample.indices)
        how = "all points" if self.sample.exact else f"{sampled:,} sampled points"
        size = f"{self.n_points:,} points in {self.n_components}-D"
        return f"{size}, {self.n_neighbors} neighbors, {how}"

    @property
    def summary(self) -> MapSummary:
        """The short scorecard, see :func:`~isofold.quality.summary`."""
        return MapSummary(
            trustworthiness=float(self["trustworthiness"]),
            continuity=float(self["continuity"]),
            length_error=float(self["length_error_median"]),
            scaled_length_error=float(self["length_error_scaled"]),
            shown_length_error=float(self["shown_length_error_median"]),
            scaled_shown_length_error=float(self["shown_length_error_scaled"]),
            neighbor_error=float(self["neighbor_error"]),
        )

    def __str__(self) -> str:
        cells = [("measure", "value", f"{CONFIDENCE:.0%} interval", "best", "what it says")]
        cells += [
            (entry.name, _number(entry.score), _interval(entry.score), entry.best, entry.meaning)
            for entry in self.entries
        ]
        widths = [max(len(row[column]) for row in cells) for column in range(4)]
        lines = []
        for name, value, interval, best, meaning in cells:
            figures = (
                f"{name:<{widths[0]}}  {value:>{widths[1]}}  {interval:>{widths[2]}}"
                f"  {best:>{widths[3]}}"
            )
            lines.append(f"{figures}  {meaning}")
        rule = "-" * max(len(line) for line in lines)
        return "\n".join([self.title, rule, lines[0], rule, *lines[1:]])

    def to_pandas(self) -> pd.DataFrame:
        """Return the scorecard as a data frame, one row a measure (needs pandas)."""
        from isofold._dependencies import require

        pandas = require("pandas", extra="pandas", purpose="Scorecard.to_pandas")
        rows = [
            {
                "measure": entry.name,
                "value": float(entry.score),
                "low": entry.score.interval[0],
                "high": entry.score.interval[1],
                "exact": entry.score.exact,
                "best": entry.best,
                "meaning": entry.meaning,
            }
            for entry in self.entries
        ]
        return pandas.DataFrame(rows).set_index("measure")

    def to_html(self) -> str:
        """Return the scorecard as an HTML table."""
        header = ("measure", "value", f"{CONFIDENCE:.0%} interval", "best", "what it says")
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>"
            f"<th scope='row'>{escape(entry.name)}</th><td>{_number(entry.score)}</td>"
            f"<td>{_interval(entry.score)}</td><td>{entry.best}</td>"
            f"<td>{escape(entry.meaning)}</td></tr>"
            for entry in self.entries
        )
        return (
            f"<table class='isofold-scorecard'><caption>{escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _repr_html_(self) -> str:
        return self.to_html()


def rank_entries(
    embedded: IntArray, original: IntArray, lost: Score, sample: RowSample
) -> Iterator[Entry]:
    """Yield what displaced ranks say, on the map and in the data, beside the neighbors lost."""
    trust, kept = (ranks.intrusion_score(table, sample) for table in (original, embedded))
    yield Entry("trustworthiness", trust, "1", "near on the map, near in the data")
    yield Entry("continuity", kept, "1", "near in data, near on map")
    yield Entry("neighbor_error", lost, "0", "fraction of neighbors lost")
    true, shown = (ranks.rank_error_score(table, sample) for table in (embedded, original))
    yield Entry("mrre_input", true, "0", "rank error of true neighbors")
    yield Entry("mrre_embedding", shown, "0", "rank error of shown neighbors")


def length_entries(
    isometry: LocalIsometry, near: Neighborhoods, shown: Neighborhoods
) -> Iterator[Entry]:
    """Yield what lengths of neighbor pairs say, in the data and on the map."""
    yield Entry("length_ratio", isometry.ratio, "1", "median embedded/original neighbor length")
    yield Entry(
        "length_error_median", isometry.median, "0", "median |ratio - 1| of neighbors in the data"
    )
    yield Entry("length_error_p95", isometry.p95, "0", "95% of neighbor lengths are better")
    yield Entry("length_error_worst", isometry.worst, "0", "worst neighbor length")
    scaled = scaled_error_score(near.ratio, near.sample)
    yield Entry("length_error_scaled", scaled, "0", "the same median, best scale allowed")
    yield Entry(
        "shown_length_error_median",
        median_error_of(shown),
        "0",
        "median |ratio - 1| of neighbors on the map",
    )
    scaled = scaled_error_score(shown.ratio, shown.sample)
    yield Entry("shown_length_error_scaled", scaled, "0", "the same, best scale allowed")


def _number(value: float) -> str:
    return f"{float(value):.6g}"


def _interval(score: Score) -> str:
    if score.exact:
        return "exact"
    return f"[{score.interval[0]:.6g}, {score.interval[1]:.6g}]"
