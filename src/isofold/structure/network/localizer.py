"""Localization of sensor networks: positions from noisy ranges, anchors and the reach of radios.

Positions y_1 … y_n, anchors fixed, minimize

    Σ w (|y_i - y_j| - r_ij)² over ranges  +  Σ w (R - |y_i - y_j|)₊² over pairs without one,

the second sum only where radios are known to reach R. Weights (median / r)² suit errors in
proportion to the range. The start is landmark scaling of shortest paths, fitted to the anchors
[1]_. The descent begins with two more dimensions, which are squeezed out: there a mirrored part
can turn over. Flaps that are still mirrored are found and tried both ways.

References
----------
.. [1] Y. Shang, W. Ruml, Y. Zhang and M. Fromherz, "Localization from mere connectivity", MobiHoc,
   2003.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from isofold._base import one_fit
from isofold._findings import setting
from isofold._progress.stages import stage
from isofold._validation import check_choice, check_count, check_flag, check_seed
from isofold.exceptions import InputTypeError, InvalidInputError
from isofold.structure.base import BaseStructureEstimator
from isofold.structure.network.data import SensorNetwork
from isofold.structure.network.diagnosis import NetworkRules, diagnose_network
from isofold.structure.network.layout import relative_weights
from isofold.structure.network.motions import network_motions
from isofold.structure.network.parts import LocateOptions, components_of, locate_parts
from isofold.structure.result import Structure
from isofold.structure.rules import StructureRules
from isofold.structure.violations import violations_of

__all__ = ["NetworkLocalizer"]


class NetworkLocalizer(BaseStructureEstimator):
    """Positions of the nodes of a sensor network from noisy ranges and anchors.

    Parameters
    ----------
    n_components : {2, 3}, default=2
        Whether nodes are in the plane or in space.
    weights : {"relative", "equal"}, default="relative"
        Whether errors of ranges are in proportion to the range, or of the same size for all.
    n_init : int, default=5
        Most starts. Further ones are made only while more than a thousandth of the ranges miss by
        more than five times the noise; the one with the least errors is kept.
    repair : bool, default=True
        Whether parts that may lie mirrored are looked for and tried both ways. It takes about
        twice the time of the rest, and finds `flaps_`.
    random_state : int, RandomState or None, default=None
        Seed of landmarks and of the first step out of the plane.
    verbose : bool, default=False
        Whether to show progress.

    Attributes
    ----------
    coordinates_ : ndarray of shape (n_nodes, n_components)
        Where the nodes are, anchors at their positions. A part without anchors lies beside the
        others, with a finding.
    standard_errors_ : ndarray of shape (n_nodes,)
        How far noise moves each node (root mean square), to first order. A node that may be on
        the other side of a mirror, or that is on a wrong one, can be much farther off.
    is_ambiguous_ : ndarray of bool of shape (n_nodes,)
        Whether a node could be elsewhere: mirrored with about the same errors, held so loosely
        that its standard error is more than a quarter of the radius, or in a part that its anchors
        do not hold.
    flaps_ : tuple of Flap
        Parts that may lie mirrored, with where their nodes are then.
    noise_ : float
        Estimated standard deviation of the ranges, relative to the median one.
    structure_ : Structure
        The same as a structure: problem, violations, free motions, findings.
    violations_ : Violations
        Errors of the ranges, worst first.
    free_motions_ : FreeMotions
        Motions that ranges and anchors leave.
    diagnosis_ : Diagnosis
        What was found.

    See Also
    --------
    isofold.structure.StructureFromBounds : Bounds, rigid groups and angles, too.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.structure.network import NetworkLocalizer, make_network
    >>> network = make_network(60, degree=24, noise=0.0, n_anchors=6, random_state=0)
    >>> located = NetworkLocalizer(random_state=0).fit(network)
    >>> bool(np.abs(located.coordinates_ - network.positions).max() < 1e-6)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        weights: Literal["relative", "equal"] = "relative",
        n_init: int = 5,
        repair: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.weights = weights
        self.n_init = n_init
        self.repair = repair
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, network: SensorNetwork) -> Self:
        """Locate the nodes of a network.

        Parameters
        ----------
        network : SensorNetwork
            Ranges, anchors, and how far radios reach. Its `positions` are not looked at.

        Returns
        -------
        self
            The fitted estimator.
        """
        with one_fit(self), stage("locate nodes"):
            self._refuse(network)
            options = LocateOptions(
                check_choice(self.weights, ("relative", "equal"), name="weights"),
                check_count(self.n_init, name="n_init"),
                check_flag(self.repair, name="repair"),
            )
            rng = check_seed(self.random_state)
            parts = components_of(network, self.n_components)
            located = locate_parts(network, parts, options, rng)
            Y = located.coordinates
            found = diagnose_network(network, parts, located, NetworkRules())
            median = float(np.median(network.ranges)) if len(network.ranges) else 1.0
            is_relative = options.weights == "relative" and median > 0.0
            weights: Any = relative_weights(network.ranges, median) if is_relative else 1.0
            problem = network.problem(Y, weights=weights)
            motions = network_motions(network, Y)
            structure = Structure(
                problem,
                Y,
                located.energy,
                vote=np.nan,
                mirror_energy=np.nan,
                variance_fraction=np.nan,
                violations=violations_of(problem, Y, StructureRules()),
                free_motions=motions,
                undetermined_motions=motions,
                relaxation=None,
                component=parts.labels,
                ensemble=Y[None],
                energies=np.array([located.energy]),
                diagnosis=found.diagnosis,
            )
            self.standard_errors_, self.is_ambiguous_ = located.errors, found.is_ambiguous
            self.flaps_, self.noise_ = located.flaps, located.noise
            self._record(structure)
        return self

    def _refuse(self, network: SensorNetwork) -> None:
        """Refuse what is no network in this number of dimensions."""
        if not isinstance(network, SensorNetwork):
            msg = (
                f"NetworkLocalizer.fit got {type(network).__name__}, but it takes a SensorNetwork: "
                f"make one by SensorNetwork.of(n_nodes, pairs, ranges, anchors=…)."
            )
            raise InputTypeError(msg)
        d = self.n_components
        if d not in (2, 3) or isinstance(d, bool):
            msg = f"{setting('n_components', d)} must be 2 or 3: nodes are in plane or space."
            raise InvalidInputError(msg)
        if len(network.anchors) and network.anchors.positions.shape[1] != d:
            msg = (
                f"Anchors have {network.anchors.positions.shape[1]} coordinates, but "
                f"{setting('n_components', d)}. Pass as many."
            )
            raise InvalidInputError(msg)
