"""Isometric patch alignment of rigid groups, with distances, bounds and angles: the thesis's form.

Group i has dimension r_i and coordinates P_i (n_i × r_i); its points lie at P_i R_i + t_i with
R_i R_iᵀ = I. The misfit of shared points is a quadratic form of all frames, Tr(AK) with A = RRᵀ,
K = L_X - Z L_G† Zᵀ, and every squared distance is linear in A:

    minimize  Tr(AK) / (number of overlaps) - λ · variance     over A ⪰ 0 with unit diagonal blocks
    subject to  l² ≤ (f_a - f_b) A (f_a - f_b)ᵀ ≤ u²           for distances, bounds and angles.

A has Σ r_i rows instead of one for every point [1]_, section 5.2.3. Translations are unknowns here,
one more row for every group: without bounds, minimizing over them gives K, and with bounds they may
give way, too, where the thesis keeps those of the least misfit. The dual bound certifies the
relaxation. Its points may fill more dimensions than the structure has; then they are squeezed into
these, as those of `StructureFromBounds` are.

References
----------
.. [1] P. Khajehpour Tadavani, "Nonlinear Dimensionality Reduction by Manifold Unfolding", PhD
   thesis, University of Waterloo, 2013.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from isofold._findings import Finding, Severity
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_fraction, check_positive, check_seed
from isofold.exceptions import InvalidInputError
from isofold.linalg.body_velocities import nullity
from isofold.patches import Memberships, PatchCover
from isofold.sdp import ConicSDP, DenseSDP, LowRankSDP, Status
from isofold.stitching.overlaps import joint_matrix, measure_overlaps
from isofold.stitching.stitch import Alignment, place, stitch
from isofold.stitching.terms import NodeTerms
from isofold.structure.base import BaseStructureSolver
from isofold.structure.describe import describe
from isofold.structure.energy import Stretch
from isofold.structure.frames import principal
from isofold.structure.groups import RigidGroup
from isofold.structure.problem import StructureProblem
from isofold.structure.result import RelaxationBound, Structure
from isofold.structure.rules import StructureRules
from isofold.structure.stages import better_hand, finish
from isofold.structure.start import onto_anchors, parts_of
from isofold.structure.terms import Terms, natural_unit

__all__ = ["GramRows", "GroupStitching", "gram_rows"]

FITTED = 1e-9
"""Mean misfit, in units of a typical group, up to which all groups fit and only rounding is left.
Nothing has less than none."""

RELAXATION_TOL = 1e-4
"""Relative gap that is asked of the solver where there are bounds."""

SAME_LENGTH = 1e-8
"""Relative squared difference of the shared points of two groups up to which they are the same."""

WIDE = 1e-3
"""Fraction of the variance beyond the dimension of the structure from which on it is reported."""


class GroupStitching(BaseStructureSolver):
    """Structures of small molecules by isometric patch alignment of their rigid groups.

    Parameters
    ----------
    n_components : {2, 3}, default=3
        Dimension of the structure.
    variance : float, default=3e-3
        Pull that spreads the points, as a fraction of that which would tear groups apart. Among
        all structures that meet the bounds it makes the widest the solution; 0 for any of them.
    penalty : float or None, default=None
        Weight of the squared violation of the squared distances, times the weights of the problem;
        None if distances, bounds and angles must be met.
    solver : LowRankSDP, DenseSDP, ConicSDP or None, default=None
        Solver of the relaxation. None: ``DenseSDP()`` where all distances are known,
        ``LowRankSDP(tol=1e-4)`` where there are bounds. ``ConicSDP(tol=1e-4)`` (extra ``conic``)
        also certifies bounds that are all met with equality, where the latter may not.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : bool, default=False
        Whether to show progress.

    Attributes
    ----------
    structure_ : Structure
        What was found, all in one.
    coordinates_ : ndarray of shape (n_points, n_components)
        Where the points are.
    violations_ : Violations
        How far the structure is from what was given, worst first.
    free_motions_ : FreeMotions
        Motions that rigid groups and known distances leave.
    certificate_ : RelaxationBound
        What is proved of the relaxation: mean misfit less the pull of the variance.
    diagnosis_ : Diagnosis
        What was found, in plain words.

    See Also
    --------
    StructureFromBounds : The same problems of any size, with contacts and several starts.

    Notes
    -----
    For up to some hundred groups. Contacts only count while the relaxation is brought into the
    dimension of the structure. Mirror images of single groups are alike to the relaxation, which
    measures distances; the hand of the whole is that for which most centers vote.

    Examples
    --------
    Two triangles hinged at an edge, and the distance between their far corners:

    >>> from isofold.structure import GroupStitching, RigidGroup, StructureProblem
    >>> triangle = [[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]]
    >>> problem = (
    ...     StructureProblem(4)
    ...     .with_groups([RigidGroup.of([0, 1, 2], triangle), RigidGroup.of([0, 1, 3], triangle)])
    ...     .with_distances([[2, 3]], [1.2])
    ... )
    >>> found = GroupStitching(random_state=0).fit(problem)
    >>> found.violations_.worst < 1e-9, found.free_motions_.n_motions
    (True, 0)
    """

    def __init__(
        self,
        n_components: int = 3,
        *,
        variance: float = 3e-3,
        penalty: float | None = None,
        solver: LowRankSDP | DenseSDP | ConicSDP | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.variance = variance
        self.penalty = penalty
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose

    def _solve(self, problem: StructureProblem) -> Structure:
        """Return the structure: stitch groups, bring them into the dimension, choose the hand."""
        rules = StructureRules()
        self._refuse_parts(problem)
        unit = natural_unit(problem, rules)
        frames = GroupFrames.of(problem)
        with stage("stitch groups"):
            alignment = self._aligned(problem, frames)
        placed = place(frames.memberships, frames.coordinates, alignment.motions) / unit
        terms = Terms.of(problem, self.n_components, unit=unit, slack=1.0, rules=rules)
        placed = np.pad(placed, ((0, 0), (0, max(0, self.n_components - placed.shape[1]))))
        if len(terms.anchors):
            placed = onto_anchors(placed, terms.anchors, terms.positions)
        relaxed, variances = principal(placed, terms.positions)
        fraction = float(
            variances[: self.n_components].sum() / max(variances.sum(), np.finfo(float).tiny)
        )
        still = Stretch(np.empty((0, 2), dtype=np.intp), np.empty(0))
        shake = np.zeros((problem.n_points, self.n_components))
        ended = partial(finish, pull=still, shake=shake, rules=rules)
        solution = better_hand(terms, relaxed, fraction, ended, rules)
        return describe(
            problem,
            solution,
            unit * solution.coordinates[None],
            np.array([solution.energy * unit**2]),
            unit=unit,
            component=np.zeros(problem.n_points, dtype=np.intp),
            relaxation=_proof(alignment),
            rules=rules,
            further=_find_rank(fraction, self.n_components, alignment),
        )

    def _refuse_parts(self, problem: StructureProblem) -> None:
        """Refuse what does not hang together, and problems without groups."""
        sizes = np.bincount(parts_of(problem))
        if len(sizes) > 1:
            msg = (
                f"Nothing that was given joins the {len(sizes)} parts of "
                f"{', '.join(map(str, sizes))} points. Add bounds between them, stitch each by "
                f"itself, or use StructureFromBounds."
            )
            raise InvalidInputError(msg)
        if not problem.groups:
            msg = (
                "There are no rigid groups to stitch. Use StructureFromBounds for distances and "
                "bounds between single points."
            )
            raise InvalidInputError(msg)

    def _solver(self, *, is_known: bool) -> LowRankSDP | DenseSDP | ConicSDP:
        """Return the solver: an interior point for equalities, if nobody chose one."""
        solver: Any = DenseSDP() if is_known else LowRankSDP(tol=RELAXATION_TOL)
        if self.solver is not None:
            solver = self.solver
        if not isinstance(solver, LowRankSDP | DenseSDP | ConicSDP):
            msg = f"solver={solver!r} must be a LowRankSDP, DenseSDP, ConicSDP or None."
            raise InvalidInputError(msg)
        own: LowRankSDP | DenseSDP | ConicSDP = clone(solver)
        if isinstance(own, LowRankSDP) and own.random_state is None:
            own.random_state = check_seed(self.random_state).randint(2**31 - 1)
        return own

    def _aligned(self, problem: StructureProblem, frames: GroupFrames) -> Alignment:
        """Return the frames of all groups in as many dimensions as the relaxation takes."""
        variance = check_fraction(self.variance, name="variance", is_closed=True)
        penalty: Any = self.penalty
        given = problem.bounds.joined(problem.angles)
        is_known = len(given) > 0 and bool((given.lower == given.upper).all())
        if penalty is not None:
            penalty = check_positive(penalty, name="penalty") * given.weights
        terms = NodeTerms(
            variance * frames.largest_pull(), given.pairs, given.lower**2, given.upper**2, penalty
        )
        aligned = stitch(
            frames.cover,
            frames.memberships,
            frames.coordinates,
            solver=self._solver(is_known=is_known),
            dimensions=frames.dimensions,
            terms=terms if frames.cover.n_patches > 1 else None,
            keep_small=True,
        )
        if aligned.solution is not None and aligned.solution.status is Status.INFEASIBLE:
            msg = (
                f"No structure in any dimension meets all that was given. "
                f"{aligned.solution.message} Here: pass penalty=1.0, or use StructureFromBounds, "
                f"which names the pairs."
            )
            raise InvalidInputError(msg)
        return aligned


@dataclass(frozen=True, eq=False)
class GroupFrames:
    """Rigid groups as the patches of a stitching; points in no group are patches of their own.

    Attributes
    ----------
    cover : PatchCover
        The groups; anchors are one more of them.
    memberships : Memberships
        The groups of every point.
    coordinates : ndarray of shape (n_entries, r)
        The geometry of the groups in principal axes, with zeros beyond their dimensions.
    dimensions : ndarray of int of shape (n_groups,)
        The dimensions r_i.
    """

    cover: PatchCover
    memberships: Memberships
    coordinates: FloatArray
    dimensions: IntArray

    @classmethod
    def of(cls, problem: StructureProblem) -> GroupFrames:
        """Return the frames of the groups of a problem."""
        groups = list(problem.groups)
        anchors = problem.anchors
        if len(anchors) > 1:
            groups.append(RigidGroup.of(anchors.points, anchors.positions))
        held = np.concatenate([*(group.points for group in groups), np.empty(0, dtype=np.intp)])
        single = np.setdiff1d(np.arange(problem.n_points), held)
        dimensions = np.array([*(group.dimension for group in groups), *(0 for _ in single)])
        width = max(1, int(dimensions.max()))
        sizes = np.array([*(len(group) for group in groups), *(1 for _ in single)])
        # Axes of each group first, zeros beyond them.
        charts = [
            np.pad(group.in_axes(r), ((0, 0), (0, width - r)))
            for group, r in zip(groups, dimensions, strict=False)
        ]
        members = np.concatenate([held, single])
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        cover = PatchCover(
            n_points=problem.n_points,
            indptr=indptr,
            members=members,
            offsets=np.zeros(len(members)),
            seeds=members[indptr[:-1]],
            radii=np.ones(len(sizes)),
            by_overlap=True,
        )
        coordinates = np.concatenate([*charts, np.zeros((len(single), width))])
        return cls(cover, Memberships.strongest(cover, None), coordinates, dimensions)

    def largest_pull(self) -> float:
        """Return about the weight of the variance from which on it tears groups apart."""
        c = self.cover.n_patches
        overlaps = measure_overlaps(self.cover, self.memberships, self.coordinates, keep_small=True)
        if not len(overlaps.pairs):
            return 1.0
        i, j = overlaps.pairs.T
        links = sp.csr_array((overlaps.weights, (i, j)), shape=(c, c))
        links = (links + links.T).toarray() / overlaps.weights.sum()
        rates = np.linalg.eigvalsh(np.diag(links.sum(axis=1)) - links)
        # The softest way to draw groups apart; those that only bounds join are held by these.
        return float(c * rates[rates > 1e-9 * rates[-1]].min())


@dataclass(frozen=True)
class GramRows:
    """Rows of the unknown Gram matrix of a structure, posed in three ways.

    Attributes
    ----------
    points : int
        One for every point.
    groups : int
        One for every dimension of every rigid group, Σ r_i; points in no group have one each.
    shared : int
        The same if groups share the directions that their common points have: a bond that two
        groups share is one row less.
    """

    points: int
    groups: int
    shared: int


def gram_rows(problem: StructureProblem) -> GramRows:
    """Count the rows of the Gram matrix with rigid groups and without.

    Parameters
    ----------
    problem : StructureProblem
        What is known of a structure.

    Returns
    -------
    GramRows
        The rows of one matrix entry for every point, of groups with frames of their own, and of
        groups that share what they have in common.

    Examples
    --------
    A hexagon in the plane, and one more atom that is bonded to it:

    >>> import numpy as np
    >>> from isofold.structure import RigidGroup, StructureProblem, gram_rows
    >>> angles = np.arange(6) * np.pi / 3
    >>> ring = RigidGroup.of(range(6), np.column_stack([np.cos(angles), np.sin(angles)]))
    >>> gram_rows(StructureProblem(6).with_groups([ring]))
    GramRows(points=6, groups=2, shared=2)
    """
    frames = GroupFrames.of(problem)
    is_single = frames.cover.sizes == 1
    groups = int(frames.dimensions.sum() + is_single.sum())
    unit = float(np.sqrt(np.mean(frames.coordinates**2))) or 1.0
    overlaps = measure_overlaps(
        frames.cover, frames.memberships, frames.coordinates / unit, keep_small=True
    )
    # Directions and translations that shared points leave, less one translation of the whole.
    free = nullity(sp.csc_array(joint_matrix(overlaps, frames.dimensions)), SAME_LENGTH)[0]
    return GramRows(problem.n_points, groups, max(1, free - 1))


def _proof(alignment: Alignment) -> RelaxationBound:
    """Return what is proved of the relaxation, in given units."""
    solution = alignment.solution
    if solution is None or abs(solution.primal) <= FITTED:
        return RelaxationBound(0.0, 0.0)
    return RelaxationBound(solution.primal * alignment.unit**2, solution.dual * alignment.unit**2)


def _find_rank(fraction: float, dimension: int, alignment: Alignment) -> Iterator[Finding]:
    """Find out whether the relaxation fills more dimensions than the structure has."""
    beyond = 1.0 - fraction
    if alignment.solution is not None and beyond > WIDE:
        yield Finding.of(
            "relaxation_rank",
            Severity.NOTE,
            value=beyond,
            rank=alignment.solution.rank,
            dimension=dimension,
        )
