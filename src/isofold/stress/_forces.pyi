from isofold._typing import FloatArray, IntArray

def repel(
    first: int,
    last: int,
    points: FloatArray,
    force: FloatArray,
    potential: FloatArray,
) -> None: ...
def step(
    first: int,
    last: int,
    points: FloatArray,
    indptr: IntArray,
    indices: IntArray,
    affinities: FloatArray,
    repulsion: FloatArray,
    attraction: float,
    repelling: float,
    rate: float,
    momentum: float,
    velocity: FloatArray,
    gain: FloatArray,
    moved: FloatArray,
) -> None: ...
