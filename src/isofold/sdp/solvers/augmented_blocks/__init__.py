"""Blocks and constraints together: augmented Lagrangian on the manifold."""
