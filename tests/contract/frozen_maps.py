"""What fitted models are made of, of all kinds and options: kept to the last bit."""

import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.neighbors import kneighbors_graph

from contract.freeze import Taken
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
    datasets,
)
from isofold.neighbors import Bridged, Enhanced, Lengths, Mutual, Radius
from isofold.sdp import ConicSDP, LowRankSDP, Soft
from support import storage_cases as stored
from support.storage_cases import CLOUD, CURVE, LABELS, NEW_SHEET, NEW_SMALL, SHEET, SMALL

ARRAYS = (
    "embedding_",
    "labels_",
    "distortion_",
    "spectrum_",
    "bridges_",
    "outliers_",
    "estimated_error_",
    "patch_error_",
    "singular_values_",
    "weight_",
    "rho_",
    "nonlocal_clusters_",
    "n_components_",
    "layout_",
)
"""Attributes of fitted models that are recorded where they exist."""

RENAMED = {
    "IPA": {
        "component_": "piece_",
        "node_samples_": "rows_",
        "discarded_variance_ratio_": "cut_off_",
    },
    "DisjointMVU": {"component_": "piece_"},
    "PLML": {"node_samples_": "rows_", "cell_size_": "piece_size_"},
    "LocalMDS": {"core_samples_": "rows_"},
    "Unfold": {"fitted_samples_": "rows_"},
    **{
        name: {"discarded_variance_ratio_": "cut_off_"}
        for name in ("MVU", "LandmarkMVU", "FastMVU", "ColoredMVU", "EAT", "TesseraMap")
    },
}
"""Names under which attributes were first recorded, by class and the name they have now."""

FIGURES = (
    "coordinates",
    "primal",
    "dual",
    "gap",
    "min_dual_eigenvalue",
    "max_violation",
    "rank",
    "n_iter",
)
EVIDENCE = (
    "multipliers",
    "min_eigenvalue",
    "eigenvalue_error",
    "shift",
    "rounding_floor",
    "is_exact",
    "is_shifted",
    "posed_bound",
)
"""Attributes of a solution and of its certificate."""

PATIENT = 1e6
"""Seconds: no fit is ever cut short by them."""

FIRST = {"random_state": 0}
LOOP = datasets.circle(150, random_state=0).X
MOONS = datasets.four_moons(160, random_state=0).X
BLOCK = datasets.rolled_block(300, random_state=0).X
HELIX = datasets.helix_arc(150, random_state=0).X
GLOBE = datasets.half_globe(200, random_state=0).X
PIECES = stored.pieces()
SIDES = np.where(SMALL[:, 0] > 0, "right", "left")
NEAR = np.argwhere(np.triu(kneighbors_graph(SMALL, 8).toarray(), k=1))
FAR = np.argwhere(np.triu(cdist(SMALL, SMALL) > 2.0, k=1))
STRIPS = (SHEET[:, 0] // 4).astype(int)
ALONG = np.argsort(datasets.swiss_roll(340, random_state=0).truth[:300, 0], kind="stable")
BANDS = [np.sort(ALONG[first : first + 60]) for first in range(0, 241, 40)]


def band_table():
    table = np.zeros((len(SHEET), len(BANDS)), dtype=int)
    for column, band in enumerate(BANDS):
        table[band, column] = 1
    return table


def other_side():
    apart = np.triu(SIDES[:, None] != SIDES, k=1)
    apart[tuple(NEAR.T)] = False
    return np.argwhere(apart)


def lengths_of(pairs, factor=1.0):
    values = factor * cdist(SMALL, SMALL)[pairs[:, 0], pairs[:, 1]]
    return sp.csr_array((values, tuple(pairs.T)), shape=(len(SMALL), len(SMALL)))


def laplace(A, B):
    return np.exp(-cdist(A, B) / 2.0)


def agreement(y):
    return (np.asarray(y)[:, None] == np.asarray(y)).astype(float)


# By name: what makes the fitted model, and new rows for it.
EXTRA = {
    "mvu mutual": (lambda: MVU(graph=Mutual(), n_neighbors=14, **FIRST).fit(SMALL), NEW_SMALL),
    "mvu bridged": (lambda: MVU(graph=Bridged(), n_neighbors=6, **FIRST).fit(PIECES), NEW_SMALL),
    "mvu eng": (lambda: MVU(graph=Enhanced(), n_neighbors=6, **FIRST).fit(PIECES), NEW_SMALL),
    "mvu radius": (lambda: MVU(graph=Radius(1.6), **FIRST).fit(SMALL), NEW_SMALL),
    "mvu sparse": (lambda: MVU(graph=Lengths(stored.graph()), **FIRST).fit(SMALL), NEW_SMALL),
    "mvu at most": (lambda: MVU(lengths="at_most", **FIRST).fit(SMALL), NEW_SMALL),
    "mvu soft": (lambda: MVU(lengths=Soft(64.0), **FIRST).fit(SMALL), NEW_SMALL),
    "mvu angles": (lambda: MVU(angles=True, **FIRST).fit(SMALL), NEW_SMALL),
    "mvu line": (lambda: MVU(n_components=1, **FIRST).fit(HELIX[:80]), HELIX[80:]),
    "mvu space": (lambda: MVU(n_components=3, **FIRST).fit(BLOCK[:60]), BLOCK[60:90]),
    "mvu neighbors": (lambda: MVU(n_neighbors=6, **FIRST).fit(CURVE), NEW_SMALL + 0.01),
    "mvu solver": (lambda: MVU(solver=LowRankSDP(max_iter=15), **FIRST).fit(SMALL), NEW_SMALL),
    "mvu copies": (lambda: MVU(**FIRST).fit(np.vstack([SMALL, SMALL[:9]])), NEW_SMALL),
    "landmark mvu k-means": (
        lambda: LandmarkMVU(landmarks="kmeans", n_landmarks=25, **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "landmark mvu given": (
        lambda: LandmarkMVU(landmarks=np.arange(0, 300, 10), n_weights=9, **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "landmark mvu graph": (
        lambda: LandmarkMVU(graph=Bridged(), n_neighbors=8, n_landmarks=20, **FIRST).fit(CURVE),
        NEW_SMALL + 0.01,
    ),
    "fast mvu unrefined": (
        lambda: FastMVU(lengths=Soft(4.0), **FIRST).fit(CURVE),
        NEW_SMALL + 0.01,
    ),
    "fast mvu functions": (lambda: FastMVU(n_functions=6, **FIRST).fit(SMALL), NEW_SMALL),
    "fast mvu distances": (
        lambda: FastMVU(metric="precomputed", lengths=Soft(4.0), **FIRST).fit(stored.distances()),
        stored.distances(NEW_SMALL),
    ),
    "colored mvu words": (lambda: ColoredMVU(**FIRST).fit(SMALL, SIDES), NEW_SMALL),
    "colored mvu linear": (
        lambda: ColoredMVU(label_kernel="linear", **FIRST).fit(SMALL, agreement(SIDES)[:, :2]),
        NEW_SMALL,
    ),
    "colored mvu identity": (
        lambda: ColoredMVU(label_kernel="identity", lengths="at_most", **FIRST).fit(SMALL, SIDES),
        NEW_SMALL,
    ),
    "colored mvu precomputed": (
        lambda: ColoredMVU(label_kernel="precomputed", **FIRST).fit(SMALL, agreement(SIDES)),
        NEW_SMALL,
    ),
    "colored mvu callable": (
        lambda: ColoredMVU(label_kernel=agreement, lengths=Soft(64.0), **FIRST).fit(SMALL, SIDES),
        NEW_SMALL,
    ),
    "disjoint mvu closest": (
        lambda: DisjointMVU(links="closest", n_neighbors=6, **FIRST).fit(MOONS),
        MOONS[:20] + 0.01,
    ),
    "disjoint mvu nearest": (
        lambda: DisjointMVU(links="nearest", n_neighbors=6, **FIRST).fit(MOONS),
        MOONS[:20] + 0.01,
    ),
    "disjoint mvu two links": (
        lambda: DisjointMVU(links="closest", n_links=2, n_neighbors=6, **FIRST).fit(MOONS),
        MOONS[:20] + 0.01,
    ),
    "disjoint mvu farthest": (
        lambda: DisjointMVU(representatives="farthest", n_neighbors=6, **FIRST).fit(PIECES),
        NEW_SMALL,
    ),
    "disjoint mvu hull": (
        lambda: DisjointMVU(representatives="hull", n_neighbors=6, **FIRST).fit(PIECES),
        NEW_SMALL,
    ),
    "disjoint mvu affine": (
        lambda: DisjointMVU(placement="affine", n_neighbors=6, **FIRST).fit(PIECES),
        NEW_SMALL,
    ),
    "eat pairs": (lambda: EAT(**FIRST).fit(SMALL, keep=NEAR, stretch=FAR), NEW_SMALL),
    "eat labels": (
        lambda: EAT(**FIRST).fit(SMALL, keep=NEAR, stretch=other_side()),
        NEW_SMALL,
    ),
    "eat free": (lambda: EAT(**FIRST).fit(SMALL, free=NEAR[::3]), NEW_SMALL),
    "eat sparse": (
        lambda: EAT(**FIRST).fit(SMALL, keep=lengths_of(NEAR), stretch=lengths_of(FAR, 1.5)),
        NEW_SMALL,
    ),
    "eat targets": (lambda: EAT(**FIRST).fit(SMALL, targets=2.0 * stored.distances()), NEW_SMALL),
    "eat poly": (
        lambda: EAT(kernel="poly", kernel_params={"degree": 2, "coef0": 0.5}, **FIRST).fit(SMALL),
        NEW_SMALL,
    ),
    "eat callable": (lambda: EAT(kernel=laplace, **FIRST).fit(SMALL), NEW_SMALL),
    "eat gamma": (lambda: EAT(gamma=0.5, slack=0.0, n_neighbors=5, **FIRST).fit(SMALL), NEW_SMALL),
    "eat low rank": (lambda: EAT(solver=LowRankSDP(), **FIRST).fit(SMALL), NEW_SMALL),
    "tessera map k-means": (
        lambda: TesseraMap(cover=Cover.clusters("kmeans", 12), **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "tessera map ldlc": (lambda: TesseraMap(cover="ldlc", **FIRST).fit(SHEET), NEW_SHEET),
    "tessera map clusterer": (
        lambda: TesseraMap(cover=KMeans(9, n_init=1, random_state=0), **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "tessera map labels": (
        lambda: TesseraMap(cover=Cover.labels(STRIPS), **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "tessera map samples": (lambda: TesseraMap(cover=None, **FIRST).fit(SMALL), NEW_SMALL),
    "tessera map links": (
        lambda: TesseraMap(
            cover=Cover.clusters("kmeans", 8), n_links=4, kernel="poly", **FIRST
        ).fit(CURVE),
        NEW_SMALL + 0.01,
    ),
    "plml size": (lambda: PLML(cell_size=15, **FIRST).fit(SHEET), NEW_SHEET),
    "plml gmm": (lambda: PLML(clustering="gmm", **FIRST).fit(SHEET), NEW_SHEET),
    "plml mst": (lambda: PLML(clustering="mst", cell_size=15, **FIRST).fit(SHEET), NEW_SHEET),
    "plml labels": (lambda: PLML(clustering=Cover.labels(STRIPS), **FIRST).fit(SHEET), NEW_SHEET),
    "plml projections": (
        lambda: PLML(merge="parallel_projections", start=7, **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "plml orthogonal": (lambda: PLML(merge="orthogonal", start=7, **FIRST).fit(SHEET), NEW_SHEET),
    "plml isomap": (lambda: PLML(merge="isomap", **FIRST).fit(SHEET), NEW_SHEET),
    "plml space": (
        lambda: PLML(n_components=3, refine=True, **FIRST).fit(BLOCK),
        BLOCK[:20] + 0.01,
    ),
    "ipa ldlc": (lambda: IPA(cover="ldlc", n_patches=12, **FIRST).fit(SHEET), NEW_SHEET),
    "ipa lists": (lambda: IPA(cover=Cover.patches(BANDS), **FIRST).fit(SHEET), NEW_SHEET),
    "ipa table": (lambda: IPA(cover=Cover.patches(band_table()), **FIRST).fit(SHEET), NEW_SHEET),
    "ipa patches": (lambda: IPA(n_patches=15, n_neighbors=8, **FIRST).fit(SHEET), NEW_SHEET),
    "ipa line": (lambda: IPA(n_components=1, **FIRST).fit(HELIX), HELIX[:20] + 0.01),
    "ipa space": (lambda: IPA(n_components=3, **FIRST).fit(BLOCK), BLOCK[:20] + 0.01),
    "ipa auto": (lambda: IPA(n_components="auto", **FIRST).fit(SHEET), NEW_SHEET),
    "ipa globe": (lambda: IPA(**FIRST).fit(GLOBE), GLOBE[:20] + 0.01),
    "ipa cloud": (lambda: IPA(**FIRST).fit(CLOUD), CLOUD[:30] + 0.1),
    "ipa loop": (lambda: IPA(**FIRST).fit(LOOP), LOOP[:20] + 0.01),
    "ipa known": (
        lambda: IPA(
            cover="kmeans",
            n_patches=8,
            terms=StitchTerms(pairs=[[0, 1], [2, 9]], upper=[9.0, 12.0]),
            **FIRST,
        ).fit(SHEET),
        NEW_SHEET,
    ),
    "local mds balance": (
        lambda: LocalMDS(balance=0.5, radius=0.05, n_epochs=40, **FIRST).fit(CLOUD),
        CLOUD[:30] + 0.1,
    ),
    "local mds space": (
        lambda: LocalMDS(n_components=3, n_neighbors=7, **FIRST).fit(CLOUD),
        CLOUD[:30] + 0.1,
    ),
    "local mds pieces": (lambda: LocalMDS(n_epochs=40, **FIRST).fit(PIECES), NEW_SMALL),
    "neighbor map neighbors": (
        lambda: NeighborMap(balance=0.0, n_neighbors=7, **FIRST).fit(CLOUD),
        CLOUD[:30] + 0.1,
    ),
    "neighbor map space": (
        lambda: NeighborMap(n_components=3, balance=1.0, **FIRST).fit(CLOUD),
        CLOUD[:30] + 0.1,
    ),
    "neighbor map line": (lambda: NeighborMap(n_components=1, **FIRST).fit(HELIX), HELIX[:20]),
    "neighbor map pieces": (lambda: NeighborMap(**FIRST).fit(PIECES), NEW_SMALL),
    "neighbor map graph": (
        lambda: NeighborMap(metric="precomputed", **FIRST).fit(stored.graph()),
        stored.some_distances(),
    ),
    "kernel eigenmaps variance": (
        lambda: KernelLaplacianEigenmaps(scaling="variance", n_components=3).fit(CLOUD),
        CLOUD[:30] + 0.1,
    ),
    "kernel eigenmaps linear": (
        lambda: KernelLaplacianEigenmaps(kernel="linear", normalize=False).fit(SMALL),
        NEW_SMALL,
    ),
    "kernel eigenmaps callable": (
        lambda: KernelLaplacianEigenmaps(kernel=laplace, n_neighbors=6).fit(SMALL),
        NEW_SMALL,
    ),
    "twin kernel kpca": (
        lambda: TwinKernelEmbedding(init="kpca", max_iter=80).fit(SMALL),
        NEW_SMALL,
    ),
    "twin kernel pieces": (lambda: TwinKernelEmbedding(max_iter=80).fit(PIECES), NEW_SMALL),
    "unfold loop": (lambda: Unfold(max_seconds=PATIENT, **FIRST).fit(LOOP), LOOP[:20] + 0.01),
    "unfold pieces": (lambda: Unfold(max_seconds=PATIENT, **FIRST).fit(PIECES), NEW_SMALL),
    "unfold wide cloud": (
        lambda: Unfold(max_seconds=PATIENT, n_neighbors=8, **FIRST).fit(stored.NOISE[:200]),
        stored.NOISE[200:230],
    ),
    "unfold line": (
        lambda: Unfold(n_components=1, max_seconds=PATIENT, **FIRST).fit(HELIX),
        HELIX[:20] + 0.01,
    ),
    "unfold space": (
        lambda: Unfold(n_components=3, max_seconds=PATIENT, **FIRST).fit(BLOCK),
        BLOCK[:20] + 0.01,
    ),
    "unfold auto": (
        lambda: Unfold(n_components="auto", max_seconds=PATIENT, **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "unfold roll": (
        lambda: Unfold(tolerance=0.02, max_seconds=PATIENT, **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "unfold globe": (lambda: Unfold(max_seconds=PATIENT, **FIRST).fit(GLOBE), GLOBE[:20] + 0.01),
    "out of sample scaling": (
        lambda: OutOfSample(PLML(**FIRST), scaling="range", n_neighbors=8).fit(SHEET),
        NEW_SHEET,
    ),
    "ldlc rho": (lambda: LDLC(n_clusters=6, rho=0.01, n_init=2, **FIRST).fit(SHEET), NEW_SHEET),
    "ldlc pieces": (lambda: LDLC(n_clusters=2, n_components=1, **FIRST).fit(MOONS), MOONS[:20]),
    "ldlc given": (
        lambda: LDLC(n_clusters=5, init=[3, 50, 120, 200, 280], n_neighbors=6, **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "vqpca random": (
        lambda: VQPCA(n_clusters=5, n_components=1, init="random", **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "vqpca means": (lambda: VQPCA(n_components=0, n_init=1, **FIRST).fit(SHEET), NEW_SHEET),
    "geodesic k-medoids random": (
        lambda: GeodesicKMedoids(n_clusters=5, init="random", n_neighbors=6, **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "mppca spheres": (
        lambda: MPPCA(n_clusters=4, n_components=0, init="random", **FIRST).fit(SHEET),
        NEW_SHEET,
    ),
    "mppca full": (lambda: MPPCA(n_clusters=3, n_components=3, **FIRST).fit(SHEET), NEW_SHEET),
    "classifier vqpca": (
        lambda: LocalSubspaceClassifier(clusterer=VQPCA(n_clusters=6, random_state=0)).fit(
            SHEET, LABELS
        ),
        NEW_SHEET,
    ),
    "mvu conic": (
        lambda: MVU(solver=ConicSDP(), lengths="at_most", **FIRST).fit(SMALL[:25]),
        NEW_SMALL,
    ),
}


def taken_from(model, new):
    """Return what a fitted model is made of, and what it makes of new rows."""
    arrays = {name: getattr(model, name) for name in ARRAYS if hasattr(model, name)}
    renamed = RENAMED.get(type(model).__name__, {})
    arrays.update({old: getattr(model, new) for new, old in renamed.items()})
    arrays = {name: np.array("None") if a is None else a for name, a in arrays.items()}
    arrays.update(stored.results(model, new))
    texts = {}
    inner = getattr(model, "estimator_", None)
    for owner, holder in (("", model), ("estimator ", inner)):
        solutions = [
            getattr(holder, "solution_", None),
            *(getattr(holder, "solutions_", None) or ()),
        ]
        for number, solution in enumerate(solutions):
            if solution is not None:
                where = f"{owner}solution {number}"
                arrays.update(solution_arrays(solution, where))
                texts[where] = "\n".join([solution.message, *solution.warnings])
    decision, diagnosis = getattr(model, "decision_", None), getattr(model, "diagnosis_", None)
    if decision is not None:
        arrays["decision"] = np.array(decision.method)
        texts["decision"] = "\n".join(decision.reasons)
    if diagnosis is not None:
        # When this was first recorded, only IPA had a diagnosis.
        if isinstance(model, IPA):
            arrays["is sound"] = np.array(diagnosis.is_sound)
        texts["diagnosis"] = str(diagnosis)
    return Taken(arrays, texts)


def solution_arrays(solution, where):
    """Return status, figures and evidence of a solution by name."""
    found = {f"{where} status": np.array(solution.status.name)}
    found.update({f"{where} {name}": getattr(solution, name) for name in FIGURES})
    if solution.certificate is not None:
        for name in EVIDENCE:
            found[f"{where} certificate {name}"] = getattr(solution.certificate, name)
    return found


def take(make, new):
    """Fit a model and return what it is made of, and the warnings as text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        taken = taken_from(make(), new)
    said = [f"{each.category.__name__}: {each.message}" for each in caught]
    return Taken(taken.arrays, {**taken.texts, "warnings": "\n".join(said)})


def cases():
    """Return all maps by name."""
    return {name: partial(take, *case) for name, case in (stored.CASES | EXTRA).items()}
