from isofold._typing import FloatArray, IntArray

def forward(
    indptr: IntArray,
    indices: IntArray,
    entries: FloatArray,
    inverse: FloatArray,
    rows: FloatArray,
) -> None: ...
def backward(
    indptr: IntArray, indices: IntArray, entries: FloatArray, rows: FloatArray
) -> None: ...
