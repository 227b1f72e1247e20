from isofold._typing import FloatArray, IntArray

def multiply_offsets(
    points: FloatArray,
    used: IntArray,
    queries: FloatArray,
    products: FloatArray,
    along: FloatArray,
) -> None: ...
def decompose(matrices: FloatArray, values: FloatArray, vectors: FloatArray) -> None: ...
