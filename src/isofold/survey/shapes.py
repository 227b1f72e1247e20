"""Shapes that no flat map can keep, recognized before any map is made.

The flags, and the figures that they are raised by:

closed_curve
    A loop that nothing fills, with nearly all nodes close to it: its length over the distance of
    the nodes from it.
cylinder, torus
    Loops that go around the data: rolled out in the plane, their ends do not meet, as they would
    around a hole (`isofold.survey.development`). One such direction makes a cylinder or another
    closed band, two independent ones make a torus.
sphere
    A hollow that lasts while the landmarks' complex grows.
branching
    Arms that are left when the ball around a place is taken out.
clusters
    Groups that few edges join, none of which is a manifold.
noise
    Neighborhoods are as round as the data as a whole, which have three directions or more.
mixed_dimensions
    Two groups of nodes whose neighborhoods grow at different rates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from isofold._findings import Flag
from isofold._typing import FloatArray
from isofold._validation import check_points
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph
from isofold.survey.branching import Branching, find_branching
from isofold.survey.closure import SEPARATE, Closure, find_closure
from isofold.survey.clumps import Clumps, find_clumps
from isofold.survey.fullness import effective_rank, fullness
from isofold.survey.mixture import Mixture, find_mixture
from isofold.survey.sketch import Part, place_landmarks, reduced, sketch

__all__ = ["recognize_shapes"]

MOST_LANDMARKS, LEAST_LANDMARKS = 150, 60
"""Landmarks of a part: by its share of the nodes, within these limits."""

LEAST_SLENDERNESS = 16.0
"""Length of a loop over its width from which on it is a curve. A ring as wide as half of its outer
radius has 8, a circle blurred by a twentieth of its radius 70."""

LEAST_PERSISTENCE = 1.6
"""Filled over closed, from which on a hollow is one. Gaps between points make hollows up to 1.4."""

MOST_ARMS = 2
"""A curve has two arms around any of its places."""

LEAST_SHAPELESS = 0.7
"""Share of the nodes in groups without a shape from which on there are but clusters."""

LEAST_FULLNESS, LEAST_RANK = 0.72, 2.8
"""Fullness from which on nothing but a cloud is seen, in data of so many directions at least."""

LEAST_NODES = 120
"""Nodes of a part from which on noise and mixed dimensions can be told: in fewer, neighborhoods are
too large a share of it."""

LEAST_DIFFERENCE = 1.3
"""Ratio of the dimensions of two groups from which on they differ."""


@dataclass(frozen=True, eq=False)
class _Look:
    """What was seen of one part of the data."""

    share: float
    closure: Closure
    branching: Branching
    mixture: Mixture
    fullness: float
    rank: float

    @property
    def is_curve(self) -> bool:
        return self.closure.slenderness > LEAST_SLENDERNESS

    @property
    def n_closed(self) -> int:
        """Directions around the data, 0 for a curve."""
        return 0 if self.is_curve else len(self.closure.directions)

    def gap(self, number: int) -> float:
        """Return the gap of a closed direction, 0 if there are not so many."""
        return self.closure.directions[number].gap if number < self.n_closed else 0.0

    @property
    def is_hollow(self) -> bool:
        return self.n_closed == 0 and self.closure.void.persistence > LEAST_PERSISTENCE


def recognize_shapes(
    points: FloatArray | None,
    graph: NeighborGraph,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Flag, ...]:
    """Look for shapes that no flat map can keep, or that are no manifold.

    Parameters
    ----------
    points : ndarray of shape (n_nodes, d) or None
        Places of the nodes. Without them only the flags are returned that a graph can tell well:
        closed_curve, sphere and branching.
    graph : NeighborGraph
        The neighbor graph, connected or not. Every part that holds at least a twentieth of the
        nodes is looked at by itself.
    random_state : int, RandomState or None, default=None
        Draws samples.

    Returns
    -------
    tuple of Flag
        closed_curve, cylinder, torus, sphere, branching, clusters, noise, mixed_dimensions, raised
        or not. A torus does not raise the flag of a cylinder, clusters do not raise that of noise,
        noise raises none of a closed shape, and none of clusters, noise and branching raises that
        of mixed dimensions.

    Raises
    ------
    InvalidInputError
        If points and graph do not belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    >>> ring = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> flags = recognize_shapes(ring, build_graph(ring, n_neighbors=6), random_state=0)
    >>> [flag.name for flag in flags if flag.is_raised]
    ['closed_curve']
    """
    rng = check_random_state(random_state)
    places = None if points is None else reduced(_check_places(points, graph), rng)
    parts = sketch(places, graph, rng)
    looks = [_look(part, rng) for part in parts]
    branching = _branching(looks)
    if places is None:
        # Rolled out without places, bands and sheets are too much alike.
        return (_closed_curve(looks), _sphere(looks), branching)
    clusters = _clusters(find_clumps(places, rng))
    noise = _noise([] if clusters.is_raised else looks)
    shaped = [] if noise.is_raised else looks
    closed = (_closed_curve(shaped), _cylinder(shaped), _torus(shaped), _sphere(shaped))
    # Where arms meet, a branching curve has more directions.
    has_other = clusters.is_raised or noise.is_raised or branching.is_raised
    mixed = _mixed_dimensions([] if has_other else looks)
    return (*closed, branching, clusters, noise, mixed)


def _check_places(points: FloatArray, graph: NeighborGraph) -> FloatArray:
    places = check_points(points, name="points", min_samples=1)
    if len(places) != graph.n_nodes:
        msg = (
            f"points has {len(places)} rows, but the graph has {graph.n_nodes} nodes. Pass the "
            f"places of the nodes, points[graph.sample_of_node]."
        )
        raise InvalidInputError(msg)
    return places


def _look(part: Part, rng: np.random.RandomState) -> _Look:
    wanted = int(np.clip(1.5 * part.share * MOST_LANDMARKS, LEAST_LANDMARKS, MOST_LANDMARKS))
    landmarks = place_landmarks(part.graph, wanted)
    full, rank, mixture = 0.0, 0.0, Mixture()
    if part.points is not None and part.n_nodes >= LEAST_NODES:
        full = fullness(part.points, part.graph, rng)
        rank = effective_rank(part.points)
        mixture = find_mixture(part)
    return _Look(
        share=part.share,
        closure=find_closure(part, landmarks),
        branching=find_branching(part, landmarks),
        mixture=mixture,
        fullness=full,
        rank=rank,
    )


def _of(look: _Look) -> str:
    """Return which part of the data is meant, in words."""
    return "the data" if look.share > 0.95 else f"a part with {look.share:.0%} of the points"


def _silent(name: str, value: float, threshold: float, message: str) -> Flag:
    return Flag(name, value, threshold, is_raised=False, message=message, advice="")


def _raised(name: str, value: float, threshold: float, message: str, advice: str) -> Flag:
    return Flag(name, value, threshold, is_raised=True, message=message, advice=advice)


def _closed_curve(looks: list[_Look]) -> Flag:
    name, threshold = "closed_curve", LEAST_SLENDERNESS
    look = max(looks, key=lambda k: k.closure.slenderness, default=None)
    if look is None or not look.is_curve:
        value = 0.0 if look is None else look.closure.slenderness
        return _silent(name, value, threshold, "No closed curve was seen.")
    return _raised(
        name,
        look.closure.slenderness,
        threshold,
        f"A closed curve was seen: the points of {_of(look)} lie along a ring of length "
        f"{look.closure.length:.3g}, {look.closure.slenderness:.0f} times its width.",
        "One coordinate cannot keep a ring: use two, or an angle.",
    )


def _cylinder(looks: list[_Look]) -> Flag:
    name, threshold = "cylinder", SEPARATE
    closed = [k for k in looks if k.n_closed == 1]
    if not closed:
        return _silent(name, 0.0, threshold, "No direction of a sheet is closed.")
    look = max(closed, key=lambda k: k.gap(0))
    length = look.closure.directions[0].length
    return _raised(
        name,
        look.gap(0),
        threshold,
        f"A closed band was seen, such as a cylinder: a way of length {length:.3g} around "
        f"{_of(look)} comes back, though rolled out flat its ends are {look.gap(0):.0%} of "
        f"that apart.",
        "Two coordinates must cut or flatten it: use three, or an angle and a height.",
    )


def _torus(looks: list[_Look]) -> Flag:
    name, threshold = "torus", SEPARATE
    closed = [k for k in looks if k.n_closed >= 2]
    if not closed:
        return _silent(name, 0.0, threshold, "No two directions are closed.")
    look = max(closed, key=lambda k: k.gap(1))
    lengths = " and ".join(f"{d.length:.3g}" for d in look.closure.directions[:2])
    return _raised(
        name,
        look.gap(1),
        threshold,
        f"A torus or the like was seen: {_of(look)} can be gone around in two ways, of lengths "
        f"{lengths}.",
        "No flat map keeps it: use four coordinates, or two angles.",
    )


def _sphere(looks: list[_Look]) -> Flag:
    name, threshold = "sphere", LEAST_PERSISTENCE
    hollow = [k for k in looks if k.is_hollow]
    if not hollow:
        return _silent(name, 0.0, threshold, "No hollow was seen.")
    look = max(hollow, key=lambda k: k.closure.void.persistence)
    void = look.closure.void
    return _raised(
        name,
        void.persistence,
        threshold,
        f"A closed surface was seen, such as a sphere: {_of(look)} enclose a hollow that appears "
        f"when points up to {void.birth:.3g} apart are joined, and is filled at {void.death:.3g} "
        f"only.",
        "Two coordinates must tear or flatten it: use three, or longitude and latitude.",
    )


def _branching(looks: list[_Look]) -> Flag:
    name, threshold = "branching", MOST_ARMS
    look = max(looks, key=lambda k: k.branching.n_arms, default=None)
    n_arms = 0 if look is None else look.branching.n_arms
    if look is None or n_arms <= MOST_ARMS:
        return _silent(name, n_arms, threshold, "No branching was seen.")
    shares = ", ".join(f"{share:.0%}" for share in look.branching.shares[:5])
    return _raised(
        name,
        n_arms,
        threshold,
        f"A branching was seen: without the points around one place, {_of(look)} fall into "
        f"{n_arms} arms with {shares} of the points.",
        "One coordinate cannot keep it; in two, read distances along the arms.",
    )


def _clusters(clumps: Clumps) -> Flag:
    name, threshold, n = "clusters", 1, len(clumps.shares)
    if n == 1 or clumps.shapeless < LEAST_SHAPELESS:
        return _silent(name, 1, threshold, "No clusters without a shape were seen.")
    shares = ", ".join(f"{share:.0%}" for share in clumps.shares[:5])
    more = ", …" if n > 5 else ""
    return _raised(
        name,
        n,
        threshold,
        f"Clusters were seen: {n} groups with {shares}{more} of the points, which few neighbors "
        f"join and which have no thinner shape.",
        "Use a method for clusters; how far apart groups lie on a map means little.",
    )


def _noise(looks: list[_Look]) -> Flag:
    name, threshold = "noise", LEAST_FULLNESS
    full = [k for k in looks if k.rank > LEAST_RANK]
    look = max(full, key=lambda k: k.share, default=None)
    if look is None or look.fullness <= threshold:
        value = 0.0 if look is None else look.fullness
        return _silent(name, value, threshold, "Neighborhoods are thinner than the data.")
    return _raised(
        name,
        look.fullness,
        threshold,
        f"Only a cloud was seen: neighborhoods in {_of(look)} have {look.fullness:.0%} of the "
        f"variance beyond their main directions that the whole has, and it extends in about "
        f"{look.rank:.0f} directions.",
        "There is no thinner shape to unfold: any map of fewer dimensions loses most distances.",
    )


def _mixed_dimensions(looks: list[_Look]) -> Flag:
    name, threshold = "mixed_dimensions", LEAST_DIFFERENCE
    look = max(looks, key=lambda k: k.mixture.ratio, default=None)
    value = 1.0 if look is None else look.mixture.ratio
    if look is None or value <= threshold:
        return _silent(name, value, threshold, "All points have like neighborhoods.")
    mixture = look.mixture
    return _raised(
        name,
        value,
        threshold,
        f"Mixed dimensions were seen: neighborhoods of {mixture.share:.0%} of the points of "
        f"{_of(look)} look {mixture.lower:.1f}-dimensional, those of the others "
        f"{mixture.upper:.1f}-dimensional.",
        "One number of components does not suit both; map the parts by themselves.",
    )
