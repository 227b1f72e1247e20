from isofold._typing import FloatArray, IntArray

def products(
    pairs: IntArray, Y: FloatArray, D: FloatArray, mixed: FloatArray, squared: FloatArray
) -> None: ...
