"""Kernels and distances of objects that are not rows of numbers."""

from isofold.similarity.objects import ObjectDistance, ObjectKernel

__all__ = ["ObjectDistance", "ObjectKernel"]
