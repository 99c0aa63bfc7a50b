"""The losses that mechanisms have."""

from celosia.accounting.composed_loss import ComposedLoss
from celosia.accounting.concentrated_loss import ConcentratedLoss
from celosia.accounting.epsilon_losses import ApproximateLoss, BoundedRangeLoss, PureLoss
from celosia.accounting.gaussian_loss import GaussianLoss
from celosia.accounting.laplace_loss import LaplaceLoss

__all__ = [
    "ApproximateLoss",
    "BoundedRangeLoss",
    "ComposedLoss",
    "ConcentratedLoss",
    "GaussianLoss",
    "LaplaceLoss",
    "PureLoss",
]
