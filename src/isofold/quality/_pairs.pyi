import numpy as np
import numpy.typing as npt

from isofold._typing import FloatArray, IntArray

def lengths(
    first: int,
    last: int,
    points: FloatArray,
    rows: IntArray,
    partners: IntArray,
    order: IntArray,
    out: FloatArray,
) -> None: ...
def neighborhood_products(
    before: FloatArray,
    after: FloatArray,
    rows: IntArray,
    partners: IntArray,
    sizes: FloatArray,
    products: FloatArray,
) -> None: ...
def pack(values: FloatArray, own: IntArray, keys: npt.NDArray[np.uint64]) -> None: ...
def settle(values: FloatArray, keys: npt.NDArray[np.uint64]) -> None: ...
def compare_ranks(
    before: FloatArray,
    order_before: IntArray,
    order_after: IntArray,
    own: IntArray,
    stands_for: FloatArray,
    weight: FloatArray,
    original: IntArray,
    embedded: IntArray,
    kept: IntArray,
    areas: FloatArray,
    histogram: FloatArray,
) -> None: ...
def ratio_sums(before: FloatArray, after: FloatArray, out: FloatArray) -> None: ...
def moments(before: FloatArray, after: FloatArray, own: IntArray, out: FloatArray) -> None: ...
def count_bins(
    squared: FloatArray, unit: float, weights: FloatArray, counts: FloatArray
) -> None: ...
def rank_moments(
    before: FloatArray,
    after: FloatArray,
    own: IntArray,
    units: FloatArray,
    mean_ranks: FloatArray,
    out: FloatArray,
) -> None: ...
def kept_order(
    before: FloatArray,
    after: FloatArray,
    order_before: IntArray,
    order_after: IntArray,
    out: FloatArray,
) -> None: ...
