from isofold._typing import FloatArray, IntArray

def shared_subsequences(
    s: IntArray,
    letters: IntArray,
    starts: IntArray,
    length: int,
    decay: float,
    work: FloatArray,
    out: FloatArray,
) -> None: ...
