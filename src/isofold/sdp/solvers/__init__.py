"""Solvers of the programs, one module or package an algorithm."""
