"""The sparse vector family: which of many answers reach a threshold, paid for by the positives."""

from celosia.mechanisms.sparse.base import SparseMechanism
from celosia.mechanisms.sparse.scales import Scales, comparison_variance, optimal_split
from celosia.mechanisms.sparse.stream import (
    ABOVE,
    BELOW,
    Reply,
    SpendableBudget,
    Stream,
    ThresholdAnswer,
)
from celosia.mechanisms.sparse.variants import AboveThreshold, NumericSparse, Sparse, SparseVector

__all__ = [
    "ABOVE",
    "BELOW",
    "AboveThreshold",
    "NumericSparse",
    "Reply",
    "Scales",
    "Sparse",
    "SparseMechanism",
    "SparseVector",
    "SpendableBudget",
    "Stream",
    "ThresholdAnswer",
    "comparison_variance",
    "optimal_split",
]
