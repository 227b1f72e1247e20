"""What every generator and loader returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Points and what is known about them.

    Attributes
    ----------
    name : str
        Name of the generator or of the real data set.
    X : ndarray of shape (n_samples, n_features)
        The points, one per row.
    truth : ndarray of shape (n_samples, n_intrinsic) or None
        True coordinates on the manifold. On the generators listed in
        `isofold.datasets.ISOMETRIC` they are isometric to it. Noise is added to `X` only, so
        `truth` belongs to the clean point.

        On the sets in components (`broken_swiss_roll`, `broken_s_curve`, `rotated_swiss_rolls`,
        `parallel_swiss_rolls`, `four_moons`) it is isometric component by component: nothing is
        true about how the components lie to each other, and on the last three they lie on top of
        each other. Measure errors per label there, as the example of `rotated_swiss_rolls` does.
    labels : ndarray of shape (n_samples,) or None
        Class of each point; on the sets in components, the component.
    image_shape : tuple of int or None
        ``X[i].reshape(image_shape)`` is the upright image of sample i.
    feature_names : tuple of str
        Names of the columns of `X`, empty where they have none.
    target_names : tuple of str
        ``target_names[labels[i]]`` is the name of sample i's class, empty where classes
        have none.
    targets : mapping of str to ndarray
        Further values per sample, such as pose, light or angle.
    """

    name: str
    X: FloatArray
    truth: FloatArray | None = None
    labels: IntArray | None = None
    image_shape: tuple[int, int] | None = None
    feature_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    targets: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        facts = [repr(self.name), f"{self.X.shape[0]} samples", f"{self.X.shape[1]} features"]
        if self.truth is not None:
            n_intrinsic = self.truth.shape[1]
            facts.append(f"{n_intrinsic} true coordinate{'s' if n_intrinsic > 1 else ''}")
        if self.labels is not None:
            facts.append(f"{np.unique(self.labels).size} classes")
        return f"Dataset({', '.join(facts)})"
