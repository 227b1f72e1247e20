from isofold._typing import FloatArray, IntArray

def keep(
    products: FloatArray, norms: FloatArray, candidates: IntArray, farthest: FloatArray
) -> None: ...
