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
        self, sources: IntArray, reach: FloatArray, limits: FloatArray, most: int
    ) -> tuple[IntArray, IntArray, FloatArray]: ...
    def to(
        self, sources: IntArray, groups: IntArray, targets: IntArray, begins: IntArray
    ) -> FloatArray: ...
    def reach(self, limits: FloatArray) -> FloatArray: ...
