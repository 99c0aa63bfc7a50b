"""The losses that mechanisms have."""

from celosia.accounting.composed_loss import Composed
from celosia.accounting.concentrated_loss import Concentrated
from celosia.accounting.epsilon_losses import Approximate, BoundedRange, Pure
from celosia.accounting.gaussian_loss import GaussianLoss
from celosia.accounting.laplace_loss import LaplaceLoss

__all__ = [
    "Approximate",
    "BoundedRange",
    "Composed",
    "Concentrated",
    "GaussianLoss",
    "LaplaceLoss",
    "Pure",
]
