"""Orthonormal blocks and free rows: direct Riemannian Newton."""
