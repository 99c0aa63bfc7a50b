"""Statistics of the rows of a column: counts, sums, means, spread, quantiles and histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.mechanisms.statistics.contributions import PerUnit, at_most, once_per_key, per_unit
    from celosia.mechanisms.statistics.count import Count
    from celosia.mechanisms.statistics.direct_mean import DirectMean
    from celosia.mechanisms.statistics.exponential_mean import ExponentialMean
    from celosia.mechanisms.statistics.histogram import Histogram
    from celosia.mechanisms.statistics.key_histogram import KeyHistogram
    from celosia.mechanisms.statistics.mean import Mean, NormalisedMean, SumCountMean
    from celosia.mechanisms.statistics.most_frequent import MostFrequent
    from celosia.mechanisms.statistics.quantile import Median, Quantile
    from celosia.mechanisms.statistics.quantiles import Quantiles
    from celosia.mechanisms.statistics.sum import Sum
    from celosia.mechanisms.statistics.variance import StandardDeviation, Variance

__all__ = [
    "Count",
    "DirectMean",
    "ExponentialMean",
    "Histogram",
    "KeyHistogram",
    "Mean",
    "Median",
    "MostFrequent",
    "NormalisedMean",
    "PerUnit",
    "Quantile",
    "Quantiles",
    "StandardDeviation",
    "Sum",
    "SumCountMean",
    "Variance",
    "at_most",
    "once_per_key",
    "per_unit",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "contributions": ("PerUnit", "at_most", "once_per_key", "per_unit"),
        "count": ("Count",),
        "direct_mean": ("DirectMean",),
        "exponential_mean": ("ExponentialMean",),
        "histogram": ("Histogram",),
        "key_histogram": ("KeyHistogram",),
        "mean": ("Mean", "NormalisedMean", "SumCountMean"),
        "most_frequent": ("MostFrequent",),
        "quantile": ("Median", "Quantile"),
        "quantiles": ("Quantiles",),
        "sum": ("Sum",),
        "variance": ("StandardDeviation", "Variance"),
    },
)
