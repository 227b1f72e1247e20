from isofold._typing import FloatArray, IntArray

def place(
    points: FloatArray,
    near: IntArray,
    distances: FloatArray,
    memberships: tuple[IntArray, IntArray, FloatArray],
    charts: tuple[FloatArray, FloatArray, FloatArray],
    cubics: tuple[IntArray, FloatArray],
    motions: tuple[FloatArray, FloatArray],
    surfaces: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]: ...
def blend(
    near: IntArray,
    distances: FloatArray,
    indptr: IntArray,
    patches: IntArray,
    weights: FloatArray,
    n_patches: int,
) -> tuple[IntArray, IntArray, FloatArray]: ...
def evaluate(
    points: FloatArray,
    row_ends: IntArray,
    chosen: IntArray,
    shares: FloatArray,
    origins: FloatArray,
    axes: FloatArray,
    radii: FloatArray,
    cubics: tuple[IntArray, FloatArray],
    motions: tuple[FloatArray, FloatArray],
) -> FloatArray: ...
def distances_from_charts(
    points: FloatArray,
    row_ends: IntArray,
    chosen: IntArray,
    shares: FloatArray,
    origins: FloatArray,
    axes: FloatArray,
    radii: FloatArray,
    coefficients: FloatArray,
    limits: FloatArray,
) -> tuple[FloatArray, FloatArray]: ...
