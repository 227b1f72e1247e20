from isofold._typing import FloatArray, IntArray

def blend(
    near: IntArray,
    distances: FloatArray,
    indptr: IntArray,
    patches: IntArray,
    weights: FloatArray,
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
