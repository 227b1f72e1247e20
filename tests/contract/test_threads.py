"""Same seed, same bytes, however many threads BLAS has; after a fit it has as many as before."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from isofold._parallel import one_blas_thread
from support.embedders import LinearEmbedder, points
from support.quick import quick_first

# Folders of the libraries that wheels of NumPy and SciPy bring.
OURS = ("numpy.libs", "scipy.libs")

# Large enough that OpenBLAS shares out the work: without the limit most lines differ.
FITS = """
import hashlib, warnings
import numpy as np
from sklearn.manifold import Isomap
from isofold import EAT, MVU, PLML, FastMVU, KernelLaplacianEigenmaps, NeighborMap, OutOfSample
from isofold import TesseraMap, TwinKernelEmbedding

warnings.simplefilter("ignore")

def sheet(n, d):
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(size=(2, n))
    axes = rng.normal(size=(3, d))
    # No product of matrices: the data must not depend on threads themselves.
    flat = (np.cos(3 * angle), np.sin(3 * angle), height)
    return sum(np.multiply.outer(f, a) for f, a in zip(flat, axes))

def digest(table):
    return hashlib.sha256(np.ascontiguousarray(table).tobytes()).hexdigest()[:12]

X, wide = sheet(150, 60), sheet(40, 1000)
ridge = OutOfSample(Isomap(), method="kernel_ridge")
for name, model, data in (
    ("EAT", EAT(random_state=0), X),
    ("EAT(poly)", EAT(kernel="poly", random_state=0), X),
    ("TesseraMap", TesseraMap(random_state=0), X),
    ("FastMVU", FastMVU(random_state=0), X),
    ("kernel ridge", ridge, X),
    ("MVU", MVU(random_state=0), wide),
    ("PLML", PLML(random_state=0), wide),
    ("NeighborMap", NeighborMap(random_state=0, n_jobs=2), X),
    ("KernelLaplacianEigenmaps", KernelLaplacianEigenmaps(), X),
    ("TwinKernelEmbedding", TwinKernelEmbedding(max_iter=40), X),
    ("back-constrained", TwinKernelEmbedding(back_constraint="kernel", max_iter=40), X),
    ("NeighborMap of a line", NeighborMap(n_components=1, random_state=0), wide),
):
    if WANTED and name not in WANTED:
        continue
    model.fit(data)
    print(name, digest(model.embedding_), digest(model.transform(data + 1e-3)))
"""


# One method of each kind of map; the others compute with the same functions.
QUICK = ("EAT(poly)", "kernel ridge", "MVU", "PLML", "NeighborMap", "KernelLaplacianEigenmaps")


def fits_with(n_threads, names):
    """Return one line a method, with digests of its map and of new points on it."""
    wanted = f"WANTED = {names!r}\n"
    variables = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
    run = subprocess.run(  # noqa: S603 - the tests' own code
        [sys.executable, "-c", wanted + FITS],
        env={**os.environ, **dict.fromkeys(variables, str(n_threads)), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return run.stdout.splitlines()


@pytest.mark.parametrize(
    ("names", "n_methods"), quick_first([(QUICK, 6), ((), 12)]), ids=["few", "all"]
)
def test_maps_do_not_depend_on_the_threads_of_blas(names, n_methods):
    one, two = fits_with(1, names), fits_with(2, names)
    assert len(one) == n_methods
    assert one == two


def blas_threads():
    """Return the threads of the libraries of NumPy and SciPy; other packages bring their own."""
    return [
        each["num_threads"]
        for each in threadpool_info()
        if each["user_api"] == "blas" and Path(each["filepath"]).parent.name in OURS
    ]


def test_both_libraries_are_seen():
    assert 1 <= len(blas_threads()) <= len(OURS)


class Counting(LinearEmbedder):
    """Notes how many threads BLAS has."""

    def _fit(self, X, y):
        self.seen_in_fit_ = blas_threads()
        return super()._fit(X, y)

    def _transform(self, X):
        self.seen_ = blas_threads()
        return super()._transform(X)


def test_blas_has_one_thread_inside_and_as_many_as_before_outside():
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        embedder = Counting(random_state=0).fit(points())
        embedder.transform(points())
        assert embedder.seen_in_fit_ == embedder.seen_ == [1] * len(before)
        assert blas_threads() == before


def test_an_error_restores_the_threads():
    def fail():
        with one_blas_thread():
            raise KeyError

    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(KeyError):
            fail()
        assert blas_threads() == before


def test_fits_that_overlap_do_not_disturb_each_other():
    # The first ends while the second goes on; the limit stays until both have ended.
    first_ended, both_began = Barrier(2), Barrier(2)

    def first():
        with one_blas_thread():
            both_began.wait(timeout=60)
        first_ended.wait(timeout=60)

    def second():
        with one_blas_thread():
            both_began.wait(timeout=60)
            first_ended.wait(timeout=60)
            return blas_threads()

    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(work) for work in (first, second)]
            assert running[1].result() == [1] * len(before)
        np.testing.assert_array_equal(blas_threads(), before)
