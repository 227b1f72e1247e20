"""Write the model files that hold later versions to the promise of loading them.

    PYTHONPATH=tests python tests/storage/write_stored.py

Run it once for a new format, or to add a model. A file that is there is never written again.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, SpectralEmbedding
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
)
from isofold.sdp import DenseSDP, LowRankSDP
from isofold.storage import save
from isofold.storage.registry import FORMAT_VERSION
from support.storage_cases import (
    CLOUD,
    CURVE,
    NEW_SHEET,
    NOISE,
    SHEET,
    distances,
    extended_ipa,
    landmark_tesserae,
    pieces,
    streamed_ipa,
)

FOLDER = Path(__file__).parent / "data"

MODELS = {
    "ipa": (IPA(random_state=0), SHEET[:200], NEW_SHEET),
    "unfold": (Unfold(random_state=0), CURVE, SHEET[:20] / 10),
    "eat": (EAT(random_state=0), CURVE[:30], CURVE[60:]),
    "mvu": (MVU(random_state=0), CURVE[:40], CURVE[60:]),
    "local-mds": (LocalMDS(random_state=0), CLOUD[:60], CLOUD[60:]),
    "plml": (PLML(random_state=0), SHEET, NEW_SHEET),
    "out-of-sample": (
        OutOfSample(make_pipeline(StandardScaler(), Isomap(n_neighbors=8))),
        CURVE[:60],
        CURVE[60:],
    ),
    "ldlc": (LDLC(random_state=0), SHEET[:150], NEW_SHEET),
    "ipa-distances": (IPA(metric="precomputed", random_state=0), distances(), distances(CURVE)),
    "classifier": (
        LocalSubspaceClassifier(clusterer=MPPCA(n_clusters=4, random_state=0)),
        SHEET[:150],
        NEW_SHEET,
    ),
    "landmark-mvu": (LandmarkMVU(n_landmarks=20, random_state=0), CURVE[:60], CURVE[60:]),
    "fast-mvu": (FastMVU(random_state=0), CURVE[:40], CURVE[60:]),
    "colored-mvu": (ColoredMVU(random_state=0), CURVE[:40], CURVE[60:]),
    "disjoint-mvu": (DisjointMVU(random_state=0), pieces(), CURVE[60:]),
    "tessera-map": (
        TesseraMap(cover=Cover.clusters("kmeans", 8), random_state=0),
        SHEET[:80],
        NEW_SHEET,
    ),
    "vqpca": (VQPCA(n_clusters=4, random_state=0), SHEET[:60], NEW_SHEET),
    "geodesic-k-medoids": (GeodesicKMedoids(n_clusters=4, random_state=0), SHEET[:60], NEW_SHEET),
    "mppca": (MPPCA(n_clusters=3, random_state=0), SHEET[:60], NEW_SHEET),
    "distances": (MVU(metric="precomputed", random_state=0), distances(), distances(CURVE[60:])),
    "ipa-charts": (
        IPA(
            chart=PLML(random_state=0),
            cover=KMeans(4, n_init=1, random_state=0),
            terms=StitchTerms(variance=0.01),
            solver=LowRankSDP(max_iter=20),
            random_state=0,
        ),
        SHEET[:120],
        NEW_SHEET,
    ),
    "ipa-reduced": (
        IPA(random_state=0),
        np.hstack([SHEET, 0.02 * NOISE[:300]]),
        np.hstack([NEW_SHEET, 0.02 * NOISE[300:]]),
    ),
    "ipa-extended": (extended_ipa, SHEET[:200], NEW_SHEET),
    "ipa-streamed": (streamed_ipa, SHEET[:200], NEW_SHEET),
    "mvu-dense": (MVU(solver=DenseSDP(), random_state=0), CURVE[:20], CURVE[60:]),
    "tessera-landmarks": (landmark_tesserae, SHEET[:90], NEW_SHEET),
    "barycentric": (
        OutOfSample(PCA(2), method="barycentric", search="brute"),
        CLOUD[:60],
        CLOUD[60:],
    ),
    "kernel-ridge": (
        OutOfSample(SpectralEmbedding(random_state=0), method="kernel_ridge"),
        CURVE[:40],
        CURVE[60:],
    ),
    "nystrom": (
        OutOfSample(Isomap(n_neighbors=8), method="nystrom", n_neighbors=8),
        CURVE[:40],
        CURVE[60:],
    ),
    "projection": (Unfold(random_state=0), SHEET[:60, :2], NEW_SHEET[:, :2]),
    "kernel-eigenmaps": (KernelLaplacianEigenmaps(), CURVE[:40], CURVE[60:]),
    "twin-kernel": (TwinKernelEmbedding(max_iter=60), CURVE[:40], CURVE[60:]),
    "back-constrained": (
        TwinKernelEmbedding(back_constraint="kernel", max_iter=60),
        CURVE[:40],
        CURVE[60:],
    ),
    "neighbor-map": (NeighborMap(random_state=0), CLOUD[:60], CLOUD[60:]),
    "findings": (Unfold(random_state=0), SHEET[:60, :2], NEW_SHEET[:, :2]),
}

LABELED = ("classifier", "colored-mvu")


def main() -> None:
    """Write what is missing."""
    FOLDER.mkdir(exist_ok=True)
    for name, (made, X, X_new) in MODELS.items():
        stem = FOLDER / f"format-{FORMAT_VERSION}-{name}"
        if stem.with_suffix(".iso").exists():
            continue
        labels = np.where(X[:, 0] > 0, "right", "left")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if callable(made):
                model = made(X)
            else:
                model = made.fit(X, labels) if name in LABELED else made.fit(X)
        notes = {"made by": "tests/storage/write_stored.py", "name": name}
        save(model, stem.with_suffix(".iso"), notes=notes)
        method = model.transform if hasattr(model, "transform") else model.predict
        np.save(f"{stem}-rows.npy", X_new)
        np.save(f"{stem}-expected.npy", method(X_new))


if __name__ == "__main__":
    main()
