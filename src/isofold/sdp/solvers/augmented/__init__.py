"""Equalities, soft constraints, any other bounds: multiplier steps with L-BFGS."""
