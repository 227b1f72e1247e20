from isofold._typing import FloatArray, IntArray

LANES: int

def build(
    points: FloatArray,
    values: FloatArray,
    axes: IntArray,
    boxes: FloatArray,
    panels: FloatArray,
    order: IntArray,
) -> None: ...
def search(
    first: int,
    last: int,
    arrays: tuple[FloatArray | IntArray, ...],
    queries: FloatArray,
    distances: FloatArray,
    indices: IntArray,
) -> None: ...
