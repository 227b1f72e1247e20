"""Kernels and distances of objects that are not rows of numbers."""

from isofold.similarity.latent import LatentKernel
from isofold.similarity.objects import ObjectDistance, ObjectKernel

__all__ = ["LatentKernel", "ObjectDistance", "ObjectKernel"]
