from isofold._typing import FloatArray, IntArray

def repel(
    points: FloatArray, first: int, last: int, force: FloatArray, potential: FloatArray
) -> None: ...
def step(
    points: FloatArray,
    indptr: IntArray,
    indices: IntArray,
    affinities: FloatArray,
    repulsion: FloatArray,
    attraction: float,
    repelling: float,
    rate: float,
    momentum: float,
    first: int,
    last: int,
    velocity: FloatArray,
    gain: FloatArray,
    moved: FloatArray,
) -> None: ...
