"""Published mechanisms that do not keep what they claim, for audits to catch.

Never use one on data: each names its flaw, its true privacy level and two neighbours that show it.
They draw floats, as they were published.
"""

from celosia.lab.mechanisms.broken.example import BrokenMechanism
from celosia.lab.mechanisms.broken.laplace import (
    BrokenFloatLaplace,
    BrokenHalfScaleLaplace,
    BrokenNoisyMax,
)
from celosia.lab.mechanisms.broken.means import (
    BrokenClampedMean,
    BrokenExactCountMean,
    BrokenNoisyCountMean,
    BrokenResampledMean,
)
from celosia.lab.mechanisms.broken.svt import (
    BrokenSparseChen,
    BrokenSparseLeeClifton,
    BrokenSparseRoth,
    BrokenSparseStoddard,
)

BROKEN: tuple[BrokenMechanism, ...] = (
    BrokenSparseRoth(),
    BrokenSparseLeeClifton(),
    BrokenSparseStoddard(),
    BrokenSparseChen(),
    BrokenNoisyCountMean(),
    BrokenExactCountMean(),
    BrokenResampledMean(),
    BrokenClampedMean(),
    BrokenHalfScaleLaplace(),
    BrokenFloatLaplace(),
    BrokenNoisyMax(),
)
"""One of each, with the parameters at which an audit needs the fewest runs."""

__all__ = [
    "BROKEN",
    "BrokenClampedMean",
    "BrokenExactCountMean",
    "BrokenFloatLaplace",
    "BrokenHalfScaleLaplace",
    "BrokenMechanism",
    "BrokenNoisyCountMean",
    "BrokenNoisyMax",
    "BrokenResampledMean",
    "BrokenSparseChen",
    "BrokenSparseLeeClifton",
    "BrokenSparseRoth",
    "BrokenSparseStoddard",
]
