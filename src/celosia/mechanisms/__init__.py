"""Central differential privacy: mechanisms that randomise one answer and know their own price.

Every mechanism is a small value with `release(x)`, `privacy_loss()`, `sensitivity`,
`accuracy(confidence)` and, the other way round, `with_accuracy(error)`. `release(mechanism, x)`
gives the noisy answer with an interval and a guarantee, paid from a budget;
`release_from_table(table, mechanism)` does so for a column of a table or file, as the command
`celosia release` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours, Relation

if TYPE_CHECKING:
    from celosia.mechanisms import sensitivities
    from celosia.mechanisms.additive.gaussian import Gaussian, GaussianCounts
    from celosia.mechanisms.additive.laplace import (
        Geometric,
        Laplace,
        laplace_bound,
        laplace_failure,
    )
    from celosia.mechanisms.calibration import (
        EpsilonRecommendation,
        ErrorCurve,
        Targets,
        choose_epsilon,
        error_curve,
    )
    from celosia.mechanisms.grid import Grid
    from celosia.mechanisms.mechanism import Measurement, Mechanism
    from celosia.mechanisms.noise import DiscreteGaussian, DiscreteLaplace
    from celosia.mechanisms.noisy_answer import NoisyAnswer, release
    from celosia.mechanisms.responses.kary_response import FrequencyEstimate, KaryResponse
    from celosia.mechanisms.responses.randomised_response import RandomisedResponse, RateEstimate
    from celosia.mechanisms.selection.exponential import Exponential
    from celosia.mechanisms.selection.permute_and_flip import PermuteAndFlip
    from celosia.mechanisms.selection.top_selection import NoisyMax, TopSelection
    from celosia.mechanisms.sparse import (
        ABOVE,
        BELOW,
        AboveThreshold,
        NumericSparse,
        Sparse,
        SparseVector,
        Stream,
    )
    from celosia.mechanisms.statistics.contributions import PerUnit, at_most, once_per_key, per_unit
    from celosia.mechanisms.statistics.exponential_mean import ExponentialMean
    from celosia.mechanisms.statistics.histogram import Histogram
    from celosia.mechanisms.statistics.key_histogram import KeyHistogram
    from celosia.mechanisms.statistics.mean import DirectMean, Mean, NormalisedMean, SumCountMean
    from celosia.mechanisms.statistics.most_frequent import MostFrequent
    from celosia.mechanisms.statistics.quantiles import Median, Quantile, Quantiles
    from celosia.mechanisms.statistics.sums import Count, Sum
    from celosia.mechanisms.statistics.variance import StandardDeviation, Variance
    from celosia.mechanisms.table_release import release_from_table

__all__ = [
    "ABOVE",
    "ADD_REMOVE",
    "BELOW",
    "CHANGE_ONE",
    "AboveThreshold",
    "Count",
    "DirectMean",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "EpsilonRecommendation",
    "ErrorCurve",
    "Exponential",
    "ExponentialMean",
    "FrequencyEstimate",
    "Gaussian",
    "GaussianCounts",
    "Geometric",
    "Grid",
    "Histogram",
    "KaryResponse",
    "KeyHistogram",
    "Laplace",
    "Mean",
    "Measurement",
    "Mechanism",
    "Median",
    "MostFrequent",
    "Neighbours",
    "NoisyAnswer",
    "NoisyMax",
    "NormalisedMean",
    "NumericSparse",
    "PerUnit",
    "PermuteAndFlip",
    "Quantile",
    "Quantiles",
    "RandomisedResponse",
    "RateEstimate",
    "Relation",
    "Sparse",
    "SparseVector",
    "StandardDeviation",
    "Stream",
    "Sum",
    "SumCountMean",
    "Targets",
    "TopSelection",
    "Variance",
    "at_most",
    "choose_epsilon",
    "error_curve",
    "laplace_bound",
    "laplace_failure",
    "once_per_key",
    "per_unit",
    "release",
    "release_from_table",
    "sensitivities",
]

__getattr__, __dir__ = on_first_use(__name__)
