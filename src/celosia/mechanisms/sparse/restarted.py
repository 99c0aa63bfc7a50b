"""What the mechanisms share that draw a new threshold after each positive answer."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from celosia.accounting.loss import Loss
from celosia.accounting.losses import ApproximateLoss, PureLoss
from celosia.mechanisms.parameters import check_delta, check_epsilon, check_whole
from celosia.mechanisms.sparse.base import SparseMechanism
from celosia.mechanisms.sparse.scales import MOST_POSITIVES


@dataclass(frozen=True, kw_only=True)
class RestartedSparseMechanism(SparseMechanism):
    """AboveThreshold again and again: each positive has a price; a delta may lower their sum."""

    positives: int = 1
    delta: float = 0.0

    def __post_init__(self) -> None:
        check_delta(self.delta, zero=True)
        check_whole(self.positives, name="positives", most=MOST_POSITIVES)
        super().__post_init__()

    @property
    def limit(self) -> int:
        """As many positive answers as were asked for."""
        return self.positives

    @abstractmethod
    def _needs_delta(self, epsilon: Fraction) -> bool:
        """Whether the noise is that of a composition which fails with the chance delta."""

    def privacy_loss(self) -> Loss:
        """What the whole stream costs, however many answers are below."""
        epsilon = check_epsilon(self.epsilon)
        if self._needs_delta(epsilon):
            return ApproximateLoss(epsilon, float(self.delta))
        return PureLoss(epsilon)
