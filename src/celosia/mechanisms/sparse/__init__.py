"""The sparse vector family: which of many answers reach a threshold, paid for by the positives."""

from celosia.mechanisms.sparse.above_threshold import AboveThreshold
from celosia.mechanisms.sparse.allocation import comparison_variance, optimal_split
from celosia.mechanisms.sparse.base import SparseMechanism
from celosia.mechanisms.sparse.numeric_sparse import NumericSparse
from celosia.mechanisms.sparse.replies import ABOVE, BELOW, Reply, ThresholdAnswer
from celosia.mechanisms.sparse.scales import Scales
from celosia.mechanisms.sparse.sparse import Sparse
from celosia.mechanisms.sparse.sparse_vector import SparseVector
from celosia.mechanisms.sparse.stream import SpendableBudget, Stream

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
