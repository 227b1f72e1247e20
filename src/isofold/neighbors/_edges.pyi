from isofold._typing import BoolArray, FloatArray, IntArray

def merge(
    n_nodes: int,
    tails: IntArray,
    heads: IntArray,
    lengths: FloatArray,
    edges: IntArray,
    shortest: FloatArray,
    in_both: BoolArray,
) -> int: ...
def symmetric(
    edges: IntArray, values: FloatArray, starts: IntArray, columns: IntArray, both: FloatArray
) -> None: ...
def components(edges: IntArray, labels: IntArray) -> int: ...
