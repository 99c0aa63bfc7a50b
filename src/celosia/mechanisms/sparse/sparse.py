"""Sparse: AboveThreshold, started again after each positive answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from celosia.accounting.loss import Loss
from celosia.accounting.losses import Approximate, Pure
from celosia.mechanisms.parameters import check_delta, check_epsilon, check_whole
from celosia.mechanisms.sparse.family import SparseMechanism
from celosia.mechanisms.sparse.scales import MOST_POSITIVES, Scales, each


@dataclass(frozen=True, kw_only=True)
class Sparse(SparseMechanism):
    """Says which answers reach the threshold, up to `positives` of them, a new threshold for each.

    Guarantee: epsilon-DP, or (epsilon, delta)-DP, under `neighbours` for any number of questions,
    chosen as the answers come in. With a delta the smaller noise of basic and of advanced
    composition is taken; where basic composition needs no more, the promise stays pure. `Sparse` is
    kept for its delta: without one, `SparseVector` promises the same with less noise.

    Reference: Dwork & Roth 2014, Algorithm 2 and Theorem 3.25.
    """

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

    def _scales(self, epsilon: Fraction, moved: int) -> Scales:
        share, _ = each(epsilon, times=self.positives, delta=self.delta)
        return Scales(2 * moved / share, 4 * moved / share, redraw=True)

    def privacy_loss(self) -> Loss:
        """What the whole stream costs, however many answers are below."""
        epsilon = check_epsilon(self.epsilon)
        _, approximate = each(epsilon, times=self.positives, delta=self.delta)
        return Approximate(epsilon, float(self.delta)) if approximate else Pure(epsilon)
