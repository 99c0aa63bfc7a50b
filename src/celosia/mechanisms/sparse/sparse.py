"""Sparse: AboveThreshold, started again after each positive answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from celosia.mechanisms.sparse.base import RestartedSparseMechanism
from celosia.mechanisms.sparse.scales import Scales, each


@dataclass(frozen=True, kw_only=True)
class Sparse(RestartedSparseMechanism):
    """Says which answers reach the threshold, up to `positives` of them, a new threshold for each.

    Guarantee: epsilon-DP, or (epsilon, delta)-DP, under `neighbours` for any number of questions,
    chosen as the answers come in. With a delta the smaller noise of basic and of advanced
    composition is taken; where basic composition needs no more, the promise stays pure. `Sparse` is
    kept for its delta: without one, `SparseVector` promises the same with less noise.

    Reference: Dwork & Roth 2014, Algorithm 2 and Theorem 3.25.
    """

    method_name: ClassVar[str] = "sparse"

    def _scales(self, epsilon: Fraction, moved: int) -> Scales:
        share, _ = each(epsilon, times=self.positives, delta=self.delta)
        return Scales(2 * moved / share, 4 * moved / share, redraw=True)

    def _needs_delta(self, epsilon: Fraction) -> bool:
        _, needed = each(epsilon, times=self.positives, delta=self.delta)
        return needed
