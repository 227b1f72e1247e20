"""One engine for semidefinite programs over Gram matrices, with certificates of optimality.

problem        GramSDP: the program as it is posed, checked
forms          the matrices A_e of its constraints; envelope: the functions of their values
program        the same as a minimum in an orthonormal basis, with its dual
reduction      before and after every solver: problem → program, iterate → solution
preflight/     what is seen before any iteration: unbounded, contradictory, not strictly feasible
solvers/       low_rank (the loop around the inner solvers), dense, conic
    protocol            options, phases and iterates; what an inner solver is
    synchronization/    orthonormal blocks alone
    upper_bounds/       upper bounds alone
    augmented/          equalities, soft constraints, any other bounds
    augmented_blocks/   blocks and constraints together
    central_path/       the interior point of `dense`
dual/          bounds on the optimum and their proofs
    probe               is a slack positive semidefinite?
    spectrum            its lowest eigenvectors, and a proved bound on its lowest eigenvalue
    repairs             multipliers that are not quite feasible become so: raise, scale, trace
    local_repair        the same where the slack is negative; dense_repair: by all eigenvalues
    blocks              the bound of orthonormal blocks alone
    farkas              proofs that constraints contradict each other
    certify             the only maker of certificates
certificate, solution   what a solver returns
posing/        programs made small and well scaled before they are solved
sparse_less_squares     costs A − FFᵀ of a sparse matrix and few columns, and their inertia
stiefel, joint_matrix   the manifold of orthonormal blocks, and a sparse cost on it
rules          the numbers by which the engine decides
"""

from isofold.sdp.certificate import Certificate
from isofold.sdp.posing.soft import Soft
from isofold.sdp.problem import Constraints, GramSDP, square_constraints
from isofold.sdp.solution import SDPSolution, Status
from isofold.sdp.solvers.conic import ConicSDP
from isofold.sdp.solvers.dense import DenseSDP
from isofold.sdp.solvers.low_rank import LowRankSDP
from isofold.sdp.solvers.protocol import Phase

__all__ = [
    "Certificate",
    "ConicSDP",
    "Constraints",
    "DenseSDP",
    "GramSDP",
    "LowRankSDP",
    "Phase",
    "SDPSolution",
    "Soft",
    "Status",
    "square_constraints",
]
