"""Shapes that no flat map can keep, recognized before any map is made.

The codes of the findings, and the figures that raise them:

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
    Arms that are left when the ball around a point is taken out.
clusters
    Groups that few edges join, none of which is a manifold.
cloud
    Neighborhoods are as round as the data as a whole, which have three directions or more.
mixed_dimensions
    Two groups of nodes whose neighborhoods grow at different rates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from isofold._findings import Finding
from isofold._typing import FloatArray
from isofold._validation import check_points
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph
from isofold.neighbors.near_points import NearPoints
from isofold.survey.branching import Branching, find_branching
from isofold.survey.closure import SEPARATE, Closure, find_closure
from isofold.survey.clumps import Clumps, find_clumps
from isofold.survey.fullness import effective_rank, fullness
from isofold.survey.mixture import Mixture, find_mixture
from isofold.survey.sketch import SketchedComponent, place_landmarks, reduced, sketch

__all__ = ["recognize_shapes"]

MOST_LANDMARKS, LEAST_LANDMARKS = 150, 60
"""Landmarks of a component: by its fraction of the nodes, within these limits."""

LEAST_SLENDERNESS = 16.0
"""Length of a loop over its width from which on it is a curve. A ring as wide as half of its outer
radius has 8, a circle blurred by a twentieth of its radius 70."""

LEAST_PERSISTENCE = 1.6
"""Filled over closed, from which on a hollow is one. Gaps between points make hollows up to 1.4."""

MOST_ARMS = 2
"""A curve has two arms around any of its points."""

LEAST_SHAPELESS = 0.7
"""Fraction of the nodes in groups without a shape from which the data are only clusters."""

LEAST_FULLNESS, LEAST_RANK = 0.72, 2.8
"""Fullness from which data are a cloud, and the fewest directions that these must have."""

LEAST_NODES = 120
"""Nodes of a component from which noise and mixed dimensions can be seen: in smaller ones,
neighborhoods are too large a fraction of it."""

LEAST_DIFFERENCE = 1.3
"""Ratio of the dimensions of two groups from which on they differ."""


@dataclass(frozen=True, eq=False)
class _Look:
    """What was seen of one component of the data."""

    fraction: float
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
        """Return the gap of a closed direction, 0 if there are fewer."""
        return self.closure.directions[number].gap if number < self.n_closed else 0.0

    @property
    def is_hollow(self) -> bool:
        return self.n_closed == 0 and self.closure.void.persistence > LEAST_PERSISTENCE


def recognize_shapes(
    points: FloatArray | None,
    graph: NeighborGraph,
    *,
    near: NearPoints | None = None,
    is_thick: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Finding, ...]:
    """Look for shapes that no flat map can keep, or that are not manifolds.

    Data that are known to be thick, of more dimensions than curves and surfaces have, are only
    looked at for clusters and clouds, which takes a fraction of the time. The nearest others of the
    points are not looked for if they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    >>> ring = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> found = recognize_shapes(ring, build_graph(ring, n_neighbors=6), random_state=0)
    >>> [finding.code for finding in found if finding.is_raised]
    ['closed_curve']
    """
    rng = check_random_state(random_state)
    points = None if points is None else reduced(_checked(points, graph), rng)
    is_thick = is_thick and points is not None
    components = sketch(points, graph, rng, has_layers=not is_thick)
    looks = [_look(component, rng, is_thick=is_thick) for component in components]
    branching = _branching(looks)
    if points is None:
        # Rolled out without coordinates, bands and sheets are too much alike.
        return (_closed_curve(looks), _sphere(looks), branching)
    clusters = _clusters(find_clumps(points, rng, near))
    cloud = _cloud([] if clusters.is_raised else looks)
    shaped = [] if cloud.is_raised else looks
    if is_thick:
        return (clusters, cloud)
    closed = (_closed_curve(shaped), _cylinder(shaped), _torus(shaped), _sphere(shaped))
    # Where arms meet, a branching curve has more directions.
    has_other = clusters.is_raised or cloud.is_raised or branching.is_raised
    mixed = _mixed_dimensions([] if has_other else looks)
    return (*closed, branching, clusters, cloud, mixed)


def _checked(points: FloatArray, graph: NeighborGraph) -> FloatArray:
    """Return the points of the nodes, or refuse those of other nodes."""
    points = check_points(points, name="points", min_samples=1)
    if len(points) != graph.n_nodes:
        msg = (
            f"points has {len(points)} rows, but the graph has {graph.n_nodes} nodes. Pass the "
            f"points of the nodes, points[graph.sample_of_node]."
        )
        raise InvalidInputError(msg)
    return points


def _look(component: SketchedComponent, rng: np.random.RandomState, *, is_thick: bool) -> _Look:
    closure, branching = Closure(), Branching()
    if not is_thick:
        wanted = int(
            np.clip(1.5 * component.fraction * MOST_LANDMARKS, LEAST_LANDMARKS, MOST_LANDMARKS)
        )
        landmarks = place_landmarks(component.graph, wanted)
        closure = find_closure(component, landmarks)
        branching = find_branching(component, landmarks)
    full, rank, mixture = 0.0, 0.0, Mixture()
    if component.points is not None and component.n_nodes >= LEAST_NODES:
        full = fullness(component.points, component.graph, rng)
        rank = effective_rank(component.points)
        mixture = Mixture() if is_thick else find_mixture(component)
    return _Look(
        fraction=component.fraction,
        closure=closure,
        branching=branching,
        mixture=mixture,
        fullness=full,
        rank=rank,
    )


def _absent(code: str, value: float, limit: float) -> Finding:
    return Finding.checked(code, value, limit, is_raised=False)


def _closed_curve(looks: list[_Look]) -> Finding:
    code, limit = "closed_curve", LEAST_SLENDERNESS
    look = max(looks, key=lambda k: k.closure.slenderness, default=None)
    if look is None or not look.is_curve:
        return _absent(code, 0.0 if look is None else look.closure.slenderness, limit)
    return Finding.checked(
        code,
        look.closure.slenderness,
        limit,
        is_raised=True,
        part=look.fraction,
        length=look.closure.length,
    )


def _cylinder(looks: list[_Look]) -> Finding:
    code, limit = "cylinder", SEPARATE
    closed = [k for k in looks if k.n_closed == 1]
    if not closed:
        return _absent(code, 0.0, limit)
    look = max(closed, key=lambda k: k.gap(0))
    length = look.closure.directions[0].length
    return Finding.checked(
        code, look.gap(0), limit, is_raised=True, part=look.fraction, length=length
    )


def _torus(looks: list[_Look]) -> Finding:
    code, limit = "torus", SEPARATE
    closed = [k for k in looks if k.n_closed >= 2]
    if not closed:
        return _absent(code, 0.0, limit)
    look = max(closed, key=lambda k: k.gap(1))
    first, second = (direction.length for direction in look.closure.directions[:2])
    return Finding.checked(
        code, look.gap(1), limit, is_raised=True, part=look.fraction, first=first, second=second
    )


def _sphere(looks: list[_Look]) -> Finding:
    code, limit = "sphere", LEAST_PERSISTENCE
    hollow = [k for k in looks if k.is_hollow]
    if not hollow:
        return _absent(code, 0.0, limit)
    look = max(hollow, key=lambda k: k.closure.void.persistence)
    void = look.closure.void
    return Finding.checked(
        code,
        void.persistence,
        limit,
        is_raised=True,
        part=look.fraction,
        birth=void.birth,
        death=void.death,
    )


def _branching(looks: list[_Look]) -> Finding:
    code, limit = "branching", MOST_ARMS
    look = max(looks, key=lambda k: k.branching.n_arms, default=None)
    n_arms = 0 if look is None else look.branching.n_arms
    if look is None or n_arms <= MOST_ARMS:
        return _absent(code, n_arms, limit)
    return Finding.checked(
        code,
        n_arms,
        limit,
        is_raised=True,
        part=look.fraction,
        fractions=tuple(look.branching.fractions),
    )


def _clusters(clumps: Clumps) -> Finding:
    code, limit, n = "clusters", 1, len(clumps.fractions)
    if n == 1 or clumps.shapeless < LEAST_SHAPELESS:
        return _absent(code, 1, limit)
    return Finding.checked(code, n, limit, is_raised=True, fractions=tuple(clumps.fractions))


def _cloud(looks: list[_Look]) -> Finding:
    code, limit = "cloud", LEAST_FULLNESS
    full = [k for k in looks if k.rank > LEAST_RANK]
    look = max(full, key=lambda k: k.fraction, default=None)
    if look is None or look.fullness <= limit:
        return _absent(code, 0.0 if look is None else look.fullness, limit)
    return Finding.checked(
        code, look.fullness, limit, is_raised=True, part=look.fraction, rank=look.rank
    )


def _mixed_dimensions(looks: list[_Look]) -> Finding:
    code, limit = "mixed_dimensions", LEAST_DIFFERENCE
    look = max(looks, key=lambda k: k.mixture.ratio, default=None)
    value = 1.0 if look is None else look.mixture.ratio
    if look is None or value <= limit:
        return _absent(code, value, limit)
    mixture = look.mixture
    return Finding.checked(
        code,
        value,
        limit,
        is_raised=True,
        part=look.fraction,
        fraction=mixture.fraction,
        lower=mixture.lower,
        upper=mixture.upper,
    )
