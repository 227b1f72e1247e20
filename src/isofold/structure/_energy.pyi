from isofold._typing import BoolArray, FloatArray, IntArray

def add_intervals(
    places: FloatArray,
    pairs: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    weights: FloatArray,
    gradient: FloatArray,
) -> float: ...
def add_stretch(
    places: FloatArray, pairs: IntArray, pulls: FloatArray, scale: float, gradient: FloatArray
) -> float: ...
def add_volumes(
    places: FloatArray,
    corners: IntArray,
    volumes: FloatArray,
    weight: float,
    gradient: FloatArray,
) -> float: ...
def add_areas(
    places: FloatArray,
    corners: IntArray,
    areas: FloatArray,
    weight: float,
    gradient: FloatArray,
) -> float: ...
def add_shapes(
    places: FloatArray,
    begin: IntArray,
    members: IntArray,
    shapes: FloatArray,
    has_hand: BoolArray,
    weight: float,
    gradient: FloatArray,
) -> float: ...
def poses(
    places: FloatArray,
    begin: IntArray,
    members: IntArray,
    shapes: FloatArray,
    has_hand: BoolArray,
    posed: FloatArray,
) -> None: ...
