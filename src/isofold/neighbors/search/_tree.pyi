from isofold._typing import FloatArray, IntArray

LANES: int

def build(
    first: int,
    last: int,
    points: FloatArray,
    values: FloatArray,
    axes: IntArray,
    boxes: FloatArray,
    panels: FloatArray,
    order: IntArray,
    *,
    with_branches: bool = True,
) -> None: ...
def order(
    arrays: tuple[FloatArray | IntArray, ...], queries: FloatArray
) -> tuple[IntArray, IntArray]: ...
def search(
    first: int,
    last: int,
    arrays: tuple[FloatArray | IntArray, ...],
    points: FloatArray,
    rows: IntArray,
    ends: IntArray,
    is_self: bool,
    distances: FloatArray,
    indices: IntArray,
) -> None: ...
