"""Proofs: from multipliers to bounds on the optimum that hold, and to proofs of infeasibility."""
