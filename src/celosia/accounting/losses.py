"""The losses that mechanisms have."""

from celosia.accounting.composed import Composed
from celosia.accounting.concentrated import Concentrated
from celosia.accounting.gaussian_loss import GaussianLoss
from celosia.accounting.laplace_loss import LaplaceLoss
from celosia.accounting.pure import Approximate, BoundedRange, Pure

__all__ = [
    "Approximate",
    "BoundedRange",
    "Composed",
    "Concentrated",
    "GaussianLoss",
    "LaplaceLoss",
    "Pure",
]
