"""Exact noise on the whole numbers, behind one interface."""

from celosia.mechanisms.noise.law import Law
from celosia.mechanisms.noise.laws import DiscreteGaussian, DiscreteLaplace

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Law"]
