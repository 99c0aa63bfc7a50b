"""Geo-indistinguishable noise: the discrete planar Laplace law on a lattice, and remapping."""

from celosia.traces.planar.law import DiscretePlanarLaplace, continuous_quantile, rate_of
from celosia.traces.planar.remapping import OptimalKernel, clamped_kernel, expected_error, remap

__all__ = [
    "DiscretePlanarLaplace",
    "OptimalKernel",
    "clamped_kernel",
    "continuous_quantile",
    "expected_error",
    "rate_of",
    "remap",
]
