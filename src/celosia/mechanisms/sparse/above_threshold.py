"""AboveThreshold: the first answer above a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from celosia.mechanisms.sparse.base import SparseMechanism
from celosia.mechanisms.sparse.scales import Scales


@dataclass(frozen=True, kw_only=True)
class AboveThreshold(SparseMechanism):
    """Says `BELOW` until the first answer that reaches the threshold, then `ABOVE`, and halts.

    Guarantee: epsilon-DP under `neighbours` for any number of questions, chosen as the answers
    come in, of which one neighbour step moves each by at most `sensitivity`. The noise is discrete
    Laplace of scale 2/epsilon on the threshold and 4/epsilon on every answer, times the steps that
    an answer moves.

    Reference: Dwork & Roth 2014, Algorithm 1 and Theorem 3.23.

    >>> from celosia.core.randomness import Seeded
    >>> replies = AboveThreshold(1.0, threshold=100).release([3, 9, 500, 4], rng=Seeded(1))
    >>> [str(reply) for reply in replies]
    ['below', 'below', 'above']
    """

    method_name: ClassVar[str] = "above-threshold"

    @property
    def limit(self) -> int:
        """One positive answer."""
        return 1

    def _scales(self, epsilon: Fraction, moved: int) -> Scales:
        return Scales(2 * moved / epsilon, 4 * moved / epsilon)
