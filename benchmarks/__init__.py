"""Benchmarks: time and peak memory of isofold beside its peers, each in a process of its own."""
