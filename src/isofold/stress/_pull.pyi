from isofold._typing import FloatArray

def sweep_all(
    places: FloatArray,
    others: FloatArray,
    distances: FloatArray,
    reach: FloatArray,
    others_reach: FloatArray,
    radius: float,
    balance: float,
    tolerance: float,
    first: int,
    last: int,
    moved: FloatArray,
) -> None: ...
