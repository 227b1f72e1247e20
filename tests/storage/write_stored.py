"""Write the model files that hold later versions to the promise of loading them.

    PYTHONPATH=tests python tests/storage/write_stored.py

Run it once for a new format, or to add a model. A file that is there is never written again.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from sklearn.manifold import Isomap
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isofold import (
    EAT,
    IPA,
    LDLC,
    MPPCA,
    MVU,
    PLML,
    LocalMDS,
    LocalSubspaceClassifier,
    OutOfSample,
    Unfold,
)
from isofold.storage import save
from isofold.storage.registry import FORMAT_VERSION
from storage_cases import CLOUD, CURVE, NEW_SHEET, SHEET

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
    "classifier": (
        LocalSubspaceClassifier(clusterer=MPPCA(n_clusters=4, random_state=0)),
        SHEET[:150],
        NEW_SHEET,
    ),
}


def main() -> None:
    """Write what is missing."""
    FOLDER.mkdir(exist_ok=True)
    for name, (model, X, X_new) in MODELS.items():
        stem = FOLDER / f"format-{FORMAT_VERSION}-{name}"
        if stem.with_suffix(".iso").exists():
            continue
        labels = np.where(X[:, 0] > 0, "right", "left")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, labels) if name == "classifier" else model.fit(X)
        notes = {"made by": "tests/storage/write_stored.py", "name": name}
        save(model, stem.with_suffix(".iso"), notes=notes)
        method = model.transform if hasattr(model, "transform") else model.predict
        np.save(f"{stem}-rows.npy", X_new)
        np.save(f"{stem}-expected.npy", method(X_new))


if __name__ == "__main__":
    main()
