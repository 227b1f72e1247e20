from isofold._typing import FloatArray, IntArray

def spread(
    cells: FloatArray,
    order: IntArray,
    first: int,
    last: int,
    low: int,
    high: int,
    grid: FloatArray,
) -> None: ...
def gather(
    cells: FloatArray,
    potential: FloatArray,
    first: int,
    last: int,
    gradient: FloatArray,
    value: FloatArray,
) -> None: ...
