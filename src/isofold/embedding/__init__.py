"""Embeddings: one file per method."""

from isofold.embedding.colored_mvu import ColoredMVU
from isofold.embedding.disjoint_mvu import DisjointMVU
from isofold.embedding.eat import EAT
from isofold.embedding.fast_mvu import FastMVU
from isofold.embedding.ipa import IPA
from isofold.embedding.landmark_mvu import LandmarkMVU
from isofold.embedding.local_mds import LocalMDS
from isofold.embedding.mvu import MVU
from isofold.embedding.out_of_sample import OutOfSample
from isofold.embedding.plml import PLML
from isofold.embedding.tesseramap import TesseraMap
from isofold.embedding.unfold import Unfold

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
