"""Utility of masked and synthetic tables of numbers: moments, losses, models.

Put the two tables side by side with `celosia.assess.linkage.align` and give that to the measures.
"""

from celosia.assess.utility.numeric.information_loss import (
    ColumnMoments,
    Loss,
    Marginal,
    Moments,
    NumericUtility,
    PairMoments,
    information_loss,
    kolmogorov_smirnov,
    marginals,
    moments,
    numeric_utility,
)
from celosia.assess.utility.numeric.propensity import Propensity, propensity
from celosia.assess.utility.numeric.regression import (
    Coefficient,
    Regression,
    RegressionOverlap,
    regression_overlap,
)

__all__ = [
    "Coefficient",
    "ColumnMoments",
    "Loss",
    "Marginal",
    "Moments",
    "NumericUtility",
    "PairMoments",
    "Propensity",
    "Regression",
    "RegressionOverlap",
    "information_loss",
    "kolmogorov_smirnov",
    "marginals",
    "moments",
    "numeric_utility",
    "propensity",
    "regression_overlap",
]
