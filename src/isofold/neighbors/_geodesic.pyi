from isofold._typing import FloatArray, IntArray

def paths(
    starts: IntArray,
    ends: IntArray,
    weights: FloatArray,
    sources: IntArray,
    limit: float,
    together: bool,
    lengths: FloatArray,
) -> None: ...
