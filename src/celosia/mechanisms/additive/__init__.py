"""Noise that is added to an answer on the whole numbers or on a grid."""

from celosia.mechanisms.additive.discrete_gaussian import GaussianCounts
from celosia.mechanisms.additive.gaussian import Gaussian
from celosia.mechanisms.additive.geometric import Geometric
from celosia.mechanisms.additive.laplace import Laplace, laplace_bound, laplace_failure

__all__ = [
    "Gaussian",
    "GaussianCounts",
    "Geometric",
    "Laplace",
    "laplace_bound",
    "laplace_failure",
]
