from isofold._typing import FloatArray, IntArray

def stranger_lengths(
    first: int,
    last: int,
    near: IntArray,
    indptr: IntArray,
    indices: IntArray,
    axes: FloatArray,
    reach: FloatArray,
    cap: float,
    wanted: FloatArray,
) -> None: ...
def relax(
    first: int,
    last: int,
    points: FloatArray,
    indptr: IntArray,
    indices: IntArray,
    lengths: FloatArray,
    near: IntArray,
    wanted: FloatArray,
    reach: FloatArray,
    strangers: float,
    tolerance: float,
    hold: float,
    far: float,
    step: float,
    momentum: float,
    stride: float,
    velocity: FloatArray,
    moved: FloatArray,
) -> None: ...
def start_new(
    images: FloatArray, indices: IntArray, spacing: FloatArray, chosen: IntArray
) -> None: ...
def settle_new(
    images: FloatArray,
    indices: IntArray,
    lengths: FloatArray,
    near: IntArray,
    wanted: FloatArray,
    strangers: float,
    tolerance: float,
    hold: float,
    far: float,
    step: float,
    n_sweeps: int,
    places: FloatArray,
) -> None: ...
