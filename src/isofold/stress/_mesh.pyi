from isofold._typing import FloatArray, IntArray

def spread(
    low: int,
    high: int,
    cells: FloatArray,
    order: IntArray,
    starts: IntArray,
    grid: FloatArray,
) -> None: ...
def gather(
    first: int,
    last: int,
    cells: FloatArray,
    potential: FloatArray,
    gradient: FloatArray,
    value: FloatArray,
) -> None: ...
