"""Utility of a release: distributions, associations, counts, learning, aggregates.

Put the two tables side by side with `compare` and give that to the single measures, or ask for all
of them at once with `utility`.
"""

from celosia.assess.utility.aggregates import Aggregates, aggregates, limits_of
from celosia.assess.utility.associations import (
    Association,
    Associations,
    associations,
    cramers_v,
)
from celosia.assess.utility.column_pair import EMPTY, ColumnPair
from celosia.assess.utility.comparison import Combinations, Comparison, compare
from celosia.assess.utility.distributions import (
    Distances,
    Distribution,
    distances,
    distributions,
    equal_distance,
    hellinger,
    kullback_leibler,
    ordered_distance,
)
from celosia.assess.utility.joint import JointDistribution, joint
from celosia.assess.utility.learning import (
    CLASSIFIERS,
    Classifier,
    ClassifierScores,
    GradientBoosting,
    Learning,
    LogisticRegression,
    RandomForest,
    learning,
)
from celosia.assess.utility.queries import QueryErrors, query_errors
from celosia.assess.utility.spread import Spread, SpreadRule
from celosia.assess.utility.statistics import Statistics, statistics
from celosia.assess.utility.summary import AggregateChange, UtilityReport, utility

__all__ = [
    "CLASSIFIERS",
    "EMPTY",
    "AggregateChange",
    "Aggregates",
    "Association",
    "Associations",
    "Classifier",
    "ClassifierScores",
    "ColumnPair",
    "Combinations",
    "Comparison",
    "Distances",
    "Distribution",
    "GradientBoosting",
    "JointDistribution",
    "Learning",
    "LogisticRegression",
    "QueryErrors",
    "RandomForest",
    "Spread",
    "SpreadRule",
    "Statistics",
    "UtilityReport",
    "aggregates",
    "associations",
    "compare",
    "cramers_v",
    "distances",
    "distributions",
    "equal_distance",
    "hellinger",
    "joint",
    "kullback_leibler",
    "learning",
    "limits_of",
    "ordered_distance",
    "query_errors",
    "statistics",
    "utility",
]
