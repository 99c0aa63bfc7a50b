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
    from celosia.mechanisms.additive import (
        Gaussian,
        GaussianCounts,
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
    from celosia.mechanisms.responses import (
        FrequencyEstimate,
        KaryResponse,
        RandomisedResponse,
        RateEstimate,
    )
    from celosia.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip, TopSelection
    from celosia.mechanisms.sparse import (
        ABOVE,
        BELOW,
        AboveThreshold,
        NumericSparse,
        Sparse,
        SparseVector,
        Stream,
    )
    from celosia.mechanisms.statistics import (
        Count,
        DirectMean,
        ExponentialMean,
        Histogram,
        KeyHistogram,
        Mean,
        Median,
        MostFrequent,
        NormalisedMean,
        PerUnit,
        Quantile,
        Quantiles,
        StandardDeviation,
        Sum,
        SumCountMean,
        Variance,
        at_most,
        once_per_key,
        per_unit,
    )
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

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "sensitivities": (),
        "additive": (
            "Gaussian",
            "GaussianCounts",
            "Geometric",
            "Laplace",
            "laplace_bound",
            "laplace_failure",
        ),
        "calibration": (
            "EpsilonRecommendation",
            "ErrorCurve",
            "Targets",
            "choose_epsilon",
            "error_curve",
        ),
        "grid": ("Grid",),
        "mechanism": ("Measurement", "Mechanism"),
        "noise": ("DiscreteGaussian", "DiscreteLaplace"),
        "noisy_answer": ("NoisyAnswer", "release"),
        "responses": ("FrequencyEstimate", "KaryResponse", "RandomisedResponse", "RateEstimate"),
        "selection": ("Exponential", "NoisyMax", "PermuteAndFlip", "TopSelection"),
        "sparse": (
            "ABOVE",
            "BELOW",
            "AboveThreshold",
            "NumericSparse",
            "Sparse",
            "SparseVector",
            "Stream",
        ),
        "statistics": (
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
        ),
        "table_release": ("release_from_table",),
    },
)
