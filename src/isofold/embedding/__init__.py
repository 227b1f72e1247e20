"""Embedding methods, one file each."""

from isofold.embedding.ipa import IPA

__all__ = ["IPA"]
