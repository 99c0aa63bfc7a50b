"""How much use a release has lost: one module per metric."""

from celosia.core.methods import by_name
from celosia.tables.metrics.ambiguity import Ambiguity
from celosia.tables.metrics.class_size import AverageClassSize, Discernibility
from celosia.tables.metrics.entropy import Entropy
from celosia.tables.metrics.loss import ArithmeticLoss, Loss, LossScale
from celosia.tables.metrics.metric import Measure, Metric
from celosia.tables.metrics.payoff import PublisherPayoff
from celosia.tables.metrics.precision import Height, Precision

METRICS: dict[str, type[Metric]] = by_name(
    Loss,
    ArithmeticLoss,
    Precision,
    Height,
    Discernibility,
    AverageClassSize,
    Entropy,
    Ambiguity,
    PublisherPayoff,
)
"""Every metric by its name on the command line."""

__all__ = [
    "METRICS",
    "Ambiguity",
    "ArithmeticLoss",
    "AverageClassSize",
    "Discernibility",
    "Entropy",
    "Height",
    "Loss",
    "LossScale",
    "Measure",
    "Metric",
    "Precision",
    "PublisherPayoff",
]
