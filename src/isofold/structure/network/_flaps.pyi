from isofold._typing import BoolArray, FloatArray, IntArray

class FlapSearch:
    def __init__(
        self,
        places: FloatArray,
        indptr: IntArray,
        indices: IntArray,
        ranges: FloatArray,
        weights: FloatArray,
        is_fixed: BoolArray,
    ) -> None: ...
    def find(
        self, hinges: IntArray, cheap: float, low: float, most: int
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray]: ...
