"""Embeddings: one file per method."""

from isofold.embedding.affine.eat import EAT
from isofold.embedding.affine.tesseramap import TesseraMap
from isofold.embedding.ipa import IPA
from isofold.embedding.local_mds import LocalMDS
from isofold.embedding.mvu.colored import ColoredMVU
from isofold.embedding.mvu.disjoint import DisjointMVU
from isofold.embedding.mvu.fast import FastMVU
from isofold.embedding.mvu.landmark import LandmarkMVU
from isofold.embedding.mvu.mvu import MVU
from isofold.embedding.out_of_sample.out_of_sample import OutOfSample
from isofold.embedding.plml import PLML
from isofold.embedding.unfold.unfold import Unfold

__all__ = [
    "EAT",
    "IPA",
    "MVU",
    "PLML",
    "ColoredMVU",
    "DisjointMVU",
    "FastMVU",
    "LandmarkMVU",
    "LocalMDS",
    "OutOfSample",
    "TesseraMap",
    "Unfold",
]
