"""Differentially private tables: synthetic rows, means, histograms, contingency tables, samples.

Each method states its epsilon (and delta), which tables count as neighbours, and what must be
declared beforehand. Noise is exact and on whole numbers, by `celosia.mechanisms`.
"""

from celosia.tables.masking.method import MaskingMethod
from celosia.tables.private.adaptive import AdaptiveMarginals
from celosia.tables.private.budget import TableBudget
from celosia.tables.private.contingency import Contingency
from celosia.tables.private.histogram import NoisyHistogram
from celosia.tables.private.marginals import Marginals
from celosia.tables.private.method import PrivateMethod
from celosia.tables.private.microaggregation import PrivateMicroaggregation
from celosia.tables.private.safe_pub import SafePub

METHODS: tuple[type[MaskingMethod], ...] = (
    AdaptiveMarginals,
    Contingency,
    Marginals,
    NoisyHistogram,
    PrivateMicroaggregation,
    SafePub,
)
"""The methods of this package, for recipes."""

__all__ = [
    "METHODS",
    "AdaptiveMarginals",
    "Contingency",
    "Marginals",
    "NoisyHistogram",
    "PrivateMethod",
    "PrivateMicroaggregation",
    "SafePub",
    "TableBudget",
]
