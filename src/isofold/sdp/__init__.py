"""One engine for semidefinite programs over Gram matrices, with certificates of optimality.

A `GramSDP` (`problem`) becomes a minimum (`program`) of forms of the coordinates (`operators`,
`envelope`). `preflight` looks at it before any iteration; `lowrank` is the one loop around the
solvers of the four shapes `stitching`, `strings`, `multipliers` and `mixed`; `certificates` holds
the proofs, which rest on the inertia of sparse factors (`factorization`); `report` turns the last
iterate into an `SDPSolution`. `dense` follows the central path of small programs of equalities
(`interior`), and `conic` hands the same problem to general solvers.
"""

from isofold.sdp.certificate import Certificate
from isofold.sdp.posing.soft import Soft
from isofold.sdp.problem import Constraints, GramSDP, square_constraints
from isofold.sdp.solution import SDPSolution, Status
from isofold.sdp.solvers.conic import ConicSDP
from isofold.sdp.solvers.dense import DenseSDP
from isofold.sdp.solvers.low_rank import LowRankSDP

__all__ = [
    "Certificate",
    "ConicSDP",
    "Constraints",
    "DenseSDP",
    "GramSDP",
    "LowRankSDP",
    "SDPSolution",
    "Soft",
    "Status",
    "square_constraints",
]
