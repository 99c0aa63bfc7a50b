"""OpenDP's vetted samplers, for ordinary answers; they draw from the system's entropy only."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter, sqrt

import numpy as np
from numpy.typing import NDArray


def laplace(scale: Fraction, size: int) -> NDArray[np.int64]:
    """`size` draws of discrete Laplace noise, of the float at or just above the scale.

    OpenDP reads the float as the exact binary number that it is; rounding it up adds noise.
    """
    rounded = float(scale)
    if Fraction(rounded) < scale:
        rounded = nextafter(rounded, inf)
    return _noise("make_laplace", "l1_distance", "i64", rounded, size)


def gaussian(parameter: Fraction, size: int) -> NDArray[np.int64]:
    """`size` draws of discrete Gaussian noise, of the float at or just above sigma."""
    rounded = sqrt(parameter)
    while Fraction(rounded) ** 2 < parameter:
        rounded = nextafter(rounded, inf)
    return _noise("make_gaussian", "l2_distance", "f64", rounded, size)


def _noise(make: str, metric: str, unit: str, scale: float, size: int) -> NDArray[np.int64]:
    # Not opendp.prelude, which loads scikit-learn, pandas and Polars with it: two seconds more.
    from opendp import domains, measurements, metrics, mod  # a tenth of a second

    mod.enable_features("contrib")
    space = domains.vector_domain(domains.atom_domain(T="i64")), getattr(metrics, metric)(T=unit)
    measurement = getattr(measurements, make)(*space, scale=scale)
    return np.array(measurement(np.zeros(size, dtype=np.int64)), dtype=np.int64)
