from isofold._typing import FloatArray, IntArray

def group_moments(
    rows: FloatArray,
    left: IntArray,
    right: IntArray,
    weights: FloatArray,
    groups: IntArray,
    n_groups: int,
) -> FloatArray: ...
