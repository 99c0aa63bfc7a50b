"""NumericSparse: which answers are above the threshold, and what they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from celosia.mechanisms.sparse.allocation import numeric_shares
from celosia.mechanisms.sparse.base import RestartedSparseMechanism
from celosia.mechanisms.sparse.scales import Scales, each


@dataclass(frozen=True, kw_only=True)
class NumericSparse(RestartedSparseMechanism):
    """Like `Sparse`, but answers that reach the threshold are told as numbers.

    The number is the exact answer with fresh noise. To release the noisy number that was compared
    would tell on which side of it the secret threshold lies, and void the promise altogether.

    Guarantee: epsilon-DP, or (epsilon, delta)-DP, under `neighbours` for any number of questions,
    chosen as the answers come in: 8/9 of epsilon find the positives and 1/9 tells them. The form
    with a delta is taken only where neither of its noises is wider; else the promise stays pure.

    Reference: Dwork & Roth 2014, Algorithm 3 and Theorem 3.27.
    """

    method_name: ClassVar[str] = "numeric-sparse"

    def _scales(self, epsilon: Fraction, moved: int) -> Scales:
        find, tell, _ = self._shares(epsilon)
        return Scales(2 * moved / find, 4 * moved / find, moved / tell, redraw=True)

    def _shares(self, epsilon: Fraction) -> tuple[Fraction, Fraction, bool]:
        """What each positive may cost to find and to tell, and whether delta is needed for it."""
        find, tell = (part / self.positives for part in numeric_shares(epsilon))
        if self.delta > 0:
            parts = numeric_shares(epsilon, approximate=True)
            halves = [each(part, times=self.positives, delta=self.delta / 2) for part in parts]
            (finding, _), (telling, _) = halves
            if finding >= find and telling >= tell and any(needed for _, needed in halves):
                return finding, telling, True
        return find, tell, False

    def _needs_delta(self, epsilon: Fraction) -> bool:
        return self._shares(epsilon)[2]
