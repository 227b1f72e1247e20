"""Small fitted models of every kind, for tests of saving and loading."""

from __future__ import annotations

import warnings
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import MDS, Isomap, SpectralEmbedding
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isofold import (
    EAT,
    IPA,
    LDLC,
    MPPCA,
    MVU,
    PLML,
    VQPCA,
    ColoredMVU,
    Cover,
    DisjointMVU,
    FastMVU,
    GeodesicKMedoids,
    KernelLaplacianEigenmaps,
    LandmarkMVU,
    LocalMDS,
    LocalSubspaceClassifier,
    NeighborMap,
    OutOfSample,
    StitchTerms,
    TesseraMap,
    TwinKernelEmbedding,
    Unfold,
    read_blocks,
)
from isofold.datasets import s_curve, swiss_roll
from isofold.sdp import DenseSDP, LowRankSDP
from isofold.similarity import LatentKernel

ROLL = swiss_roll(340, random_state=0).X
SHEET, NEW_SHEET = ROLL[:300], ROLL[300:]
CURVE = s_curve(100, random_state=0).X
SMALL, NEW_SMALL = CURVE[:45], CURVE[60:]
NOISE = np.random.RandomState(1).normal(size=(340, 17))
CLOUD = np.random.RandomState(2).normal(size=(120, 6))
LABELS = np.arange(300) % 3
TABLE = pd.DataFrame(SHEET, columns=["height", "width", "größe"])


def distances(rows=SMALL):
    return cdist(rows, SMALL)


def kernel_values(rows=SMALL):
    return np.exp(-(distances(rows) ** 2))


def graph():
    return sp.csr_array(kneighbors_graph(SMALL, 8, mode="distance"))


def some_distances():
    near = distances(NEW_SMALL)
    return sp.csr_array(np.where(near < np.median(near), near, 0.0))


def pieces():
    return np.vstack([SMALL, SMALL + np.array([9.0, 0.0, 0.0])])


class Foreign:
    """An embedder that knows nothing of scikit-learn."""

    def fit_transform(self, X):
        return X[:, :2] * 2.0


def landmark_tesserae(X=SHEET):
    with patch("isofold.embedding.affine.tesseramap.MOST_EXACT", 40):
        return TesseraMap(random_state=0).fit(X)


def steps_of_extension(X=SHEET):
    along = np.argsort(np.hypot(X[:, 0], X[:, 2]))
    first, rest = np.split(along, [3 * len(X) // 5])
    # The rest is stitched; two rows that are far from all others wait.
    return X[first], X[rest], X[:2] + 90.0


def extended_ipa(X=SHEET):
    first, *more = steps_of_extension(X)
    model = IPA(random_state=0).fit(first)
    for rows in more:
        model.partial_fit(rows)
    return model


def streamed_ipa(X=SHEET):
    return IPA(random_state=0).fit(read_blocks(X, rows=70), sample_size=len(X) - 50)


def neighbors_in_lists(X=CLOUD):
    with patch("isofold.neighbors.search.build.choose_fast_method", lambda _: "lists"):
        return NeighborMap(random_state=0).fit(X)


def words(X):
    return np.array(["low", "middle", "high"], dtype=object)[(X[:, 1] // 8).astype(int) % 3]


# By name: what makes the fitted model, and new rows for it.
CASES = {
    "ipa": (lambda: IPA(random_state=0).fit(SHEET), NEW_SHEET),
    "ipa float32": (
        lambda: IPA(random_state=0).fit(SHEET.astype(np.float32)),
        NEW_SHEET.astype(np.float32),
    ),
    "ipa threads": (lambda: IPA(random_state=0, n_jobs=2).fit(SHEET), NEW_SHEET),
    "ipa k-means": (
        lambda: IPA(cover="kmeans", n_patches=10, chart="pca", random_state=0).fit(SHEET),
        NEW_SHEET,
    ),
    "ipa clusterer": (
        lambda: IPA(cover=KMeans(9, n_init=1, random_state=0), random_state=0).fit(SHEET),
        NEW_SHEET,
    ),
    "ipa labels": (
        lambda: IPA(cover=Cover.labels((SHEET[:, 0] // 4).astype(int)), random_state=0).fit(SHEET),
        NEW_SHEET,
    ),
    "ipa embedders": (
        lambda: IPA(cover="kmeans", n_patches=4, chart=PLML(), random_state=0).fit(SHEET),
        NEW_SHEET,
    ),
    "ipa terms": (
        lambda: IPA(
            cover="kmeans",
            n_patches=8,
            terms=StitchTerms(variance=0.01, pairs=[[0, 1]], upper=[9.0]),
            solver=LowRankSDP(max_iter=20),
            random_state=np.random.RandomState(3),
        ).fit(SHEET),
        NEW_SHEET,
    ),
    "ipa reduced": (
        lambda: IPA(random_state=0).fit(np.hstack([SHEET, 0.02 * NOISE[:300]])),
        np.hstack([NEW_SHEET, 0.02 * NOISE[300:]]),
    ),
    "ipa extended": (extended_ipa, NEW_SHEET),
    "ipa pieces": (lambda: IPA(random_state=0).fit(pieces()), NEW_SMALL),
    "ipa names": (
        lambda: IPA(random_state=0).set_output(transform="pandas").fit(TABLE),
        TABLE.iloc[:20] + 0.01,
    ),
    "mvu": (lambda: MVU(random_state=0).fit(SMALL), NEW_SMALL),
    "mvu distances": (
        lambda: MVU(metric="precomputed", random_state=0).fit(distances()),
        distances(NEW_SMALL),
    ),
    "mvu graph": (
        lambda: MVU(metric="precomputed", random_state=0).fit(graph()),
        some_distances(),
    ),
    "mvu dense": (lambda: MVU(solver=DenseSDP(), random_state=0).fit(SMALL), NEW_SMALL),
    "landmark mvu": (lambda: LandmarkMVU(random_state=0).fit(SHEET), NEW_SHEET),
    "fast mvu": (lambda: FastMVU(random_state=0).fit(SMALL), NEW_SMALL),
    "colored mvu": (lambda: ColoredMVU(random_state=0).fit(SMALL, SMALL[:, 1]), NEW_SMALL),
    "disjoint mvu": (lambda: DisjointMVU(random_state=0).fit(pieces()), NEW_SMALL),
    "eat": (lambda: EAT(random_state=0).fit(SMALL), NEW_SMALL),
    "eat linear": (lambda: EAT(kernel="linear", random_state=0).fit(SMALL), NEW_SMALL),
    "eat kernel": (
        lambda: EAT(kernel="precomputed", random_state=0).fit(np.exp(-(distances() ** 2))),
        np.exp(-(distances(NEW_SMALL) ** 2)),
    ),
    "tessera map": (lambda: TesseraMap(random_state=0).fit(SHEET), NEW_SHEET),
    "tessera map landmarks": (landmark_tesserae, NEW_SHEET),
    "plml": (lambda: PLML(random_state=0).fit(SHEET), NEW_SHEET),
    "plml refined": (lambda: PLML(refine=True, random_state=0).fit(SHEET), NEW_SHEET),
    "local mds": (lambda: LocalMDS(n_epochs=30, random_state=0).fit(CLOUD), CLOUD[:30] + 0.1),
    "local mds graph": (
        lambda: LocalMDS(n_epochs=30, metric="precomputed").fit(graph()),
        some_distances(),
    ),
    "neighbor map": (lambda: NeighborMap(random_state=0).fit(CLOUD), CLOUD[:30] + 0.1),
    "neighbor map lists": (neighbors_in_lists, CLOUD[:30] + 0.1),
    "neighbor map start": (
        lambda: NeighborMap(init=PCA(2), balance=0.2, random_state=0).fit(CLOUD),
        CLOUD[:30] + 0.1,
    ),
    "neighbor map distances": (
        lambda: NeighborMap(metric="precomputed", random_state=0).fit(distances()),
        distances(NEW_SMALL),
    ),
    "kernel eigenmaps": (lambda: KernelLaplacianEigenmaps().fit(SMALL), NEW_SMALL),
    "kernel eigenmaps pieces": (lambda: KernelLaplacianEigenmaps().fit(pieces()), NEW_SMALL),
    "kernel eigenmaps values": (
        lambda: KernelLaplacianEigenmaps(kernel="precomputed").fit(kernel_values()),
        kernel_values(NEW_SMALL),
    ),
    "twin kernel": (lambda: TwinKernelEmbedding(max_iter=60).fit(SMALL), NEW_SMALL),
    "twin kernel constrained": (
        lambda: TwinKernelEmbedding(
            back_constraint="kernel", latent=LatentKernel(weight_kernel=0.3), max_iter=60
        ).fit(SMALL),
        NEW_SMALL,
    ),
    "out of sample": (
        lambda: OutOfSample(MDS(n_init=1, init="random", random_state=0)).fit(SMALL),
        NEW_SMALL,
    ),
    "out of sample pipeline": (
        lambda: OutOfSample(
            make_pipeline(StandardScaler(), Isomap(n_neighbors=8)), n_neighbors="auto"
        ).fit(SMALL),
        NEW_SMALL,
    ),
    "out of sample weights": (
        lambda: OutOfSample(PCA(2), method="barycentric", search="brute").fit(CLOUD),
        CLOUD[:30] + 0.1,
    ),
    "out of sample ridge": (
        lambda: OutOfSample(SpectralEmbedding(random_state=0), method="kernel_ridge").fit(SMALL),
        NEW_SMALL,
    ),
    "out of sample nystrom": (
        lambda: OutOfSample(Isomap(n_neighbors=8), method="nystrom", n_neighbors=8).fit(SMALL),
        NEW_SMALL,
    ),
    "out of sample hnsw": (
        lambda: OutOfSample(PCA(2), search="hnsw", n_jobs=2).fit(CLOUD),
        CLOUD[:30] + 0.1,
    ),
    "out of sample distances": (
        lambda: OutOfSample(Isomap(n_neighbors=8, metric="precomputed")).fit(distances()),
        distances(NEW_SMALL),
    ),
    "out of sample ours": (lambda: OutOfSample(PLML(random_state=0)).fit(SHEET), NEW_SHEET),
    "out of sample frozen": (
        lambda: OutOfSample(FrozenEstimator(Isomap(n_neighbors=8).fit(SMALL))).fit(SMALL),
        NEW_SMALL,
    ),
    "out of sample embedding": (
        lambda: OutOfSample.from_embedding(SMALL, SMALL[:, :2]),
        NEW_SMALL,
    ),
    "unfold": (lambda: Unfold(random_state=0).fit(s_curve(120, random_state=0).X), NEW_SMALL),
    "unfold cloud": (lambda: Unfold(random_state=0).fit(CLOUD), CLOUD[:30] + 0.1),
    "unfold flat": (lambda: Unfold(random_state=0).fit(SHEET[:, :2]), NEW_SHEET[:, :2]),
    "unfold distances": (
        lambda: Unfold(metric="precomputed", random_state=0).fit(distances()),
        distances(NEW_SMALL),
    ),
    "ldlc": (lambda: LDLC(random_state=0).fit(SHEET), NEW_SHEET),
    "vqpca": (lambda: VQPCA(random_state=0).fit(SHEET), NEW_SHEET),
    "geodesic k-medoids": (lambda: GeodesicKMedoids(random_state=0).fit(SHEET), NEW_SHEET),
    "mppca": (lambda: MPPCA(random_state=0).fit(SHEET), NEW_SHEET),
    "classifier": (
        lambda: LocalSubspaceClassifier(random_state=0).fit(SHEET, LABELS),
        NEW_SHEET,
    ),
    "classifier words": (
        lambda: LocalSubspaceClassifier(clusterer=MPPCA(random_state=0)).fit(SHEET, words(SHEET)),
        NEW_SHEET,
    ),
}

CLUSTERERS = ("ldlc", "vqpca", "geodesic k-medoids", "mppca", "classifier", "classifier words")
EMBEDDERS = tuple(name for name in CASES if name not in CLUSTERERS)


@cache
def fitted_with_warnings(name):
    """Return a fitted model by the name of its case, and the warnings of its fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return CASES[name][0](), caught


def fitted(name):
    """Return a fitted model by the name of its case. It must not be changed."""
    return fitted_with_warnings(name)[0]


def results(model, X):
    """Return all that a model makes of new rows, as arrays."""
    methods = ["transform", "predict", "predict_proba", "distance_to_manifold", "is_outside"]
    if getattr(model, "region_", X) is None:
        methods.remove("is_outside")
    found = {name: np.asarray(getattr(model, name)(X)) for name in methods if hasattr(model, name)}
    charts = getattr(getattr(model, "map_", None), "estimators", ())
    if hasattr(model, "inverse_transform") and not charts:
        found["inverse_transform"] = model.inverse_transform(model.embedding_[:9])
    return found


def same(a, b, where="model"):
    """Return where two values first differ, down to their last bit, or None if nowhere."""
    if type(a) is not type(b):
        return f"{where}: {type(a)} against {type(b)}"
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{where}: {a.dtype}{a.shape} against {b.dtype}{b.shape}"
        equal = a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
        return None if equal else f"{where}: other numbers"
    if sp.issparse(a):
        parts = [(x.data, *x.tocoo().coords, np.array(x.shape)) for x in (a, b)]
        return same(*parts, where)
    if isinstance(a, np.random.RandomState):
        return same(a.get_state(), b.get_state(), where)
    if isinstance(a, dict):
        if list(a) != list(b):
            return f"{where}: {list(a)} against {list(b)}"
        differences = (same(a[key], b[key], f"{where}.{key}") for key in a)
        return next((found for found in differences if found), None)
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return f"{where}: {len(a)} against {len(b)} entries"
        pairs = zip(a, b, strict=True)
        differences = (same(*pair, f"{where}[{i}]") for i, pair in enumerate(pairs))
        return next((found for found in differences if found), None)
    if isinstance(a, np.generic | float):
        return None if np.array(a).tobytes() == np.array(b).tobytes() else f"{where}: {a}, {b}"
    if hasattr(a, "__dict__") and not isinstance(a, Enum | type):
        return same(content(a), content(b), where)
    return None if a == b else f"{where}: {a!r} against {b!r}"


def content(thing):
    """Return what an object consists of, without caches and what is built from the rest."""
    if is_dataclass(thing):
        return {each.name: getattr(thing, each.name) for each in fields(thing)}
    built = {"_tree", "_index", "_faiss"}
    parts = {name: value for name, value in vars(thing).items() if name not in built}
    if isinstance(thing, OutOfSample) and type(thing.estimator_) is not PLML:
        # The fitted estimators of others are not stored.
        del parts["estimator_"]
    if isinstance(thing, FrozenEstimator):
        return {"estimator": thing.estimator.get_params()}
    return parts
