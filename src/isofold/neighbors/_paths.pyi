from isofold._typing import FloatArray, IntArray

class PathSearch:
    def __init__(
        self,
        indptr: IntArray,
        indices: IntArray,
        lengths: FloatArray,
        order: IntArray,
        width: float,
    ) -> None: ...
    def within(
        self, source: int, reach: FloatArray, limits: FloatArray
    ) -> tuple[IntArray, FloatArray]: ...
    def to(self, source: int, targets: IntArray) -> FloatArray: ...
    def reach(self, limits: FloatArray) -> FloatArray: ...
