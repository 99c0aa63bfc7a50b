"""The variants: AboveThreshold, Sparse, NumericSparse and the standard sparse vector."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from celosia.core.methods import Parameter
from celosia.core.numbers import exact
from celosia.mechanisms.parameters import check_monotone, field_of, whole_number
from celosia.mechanisms.sparse import scales
from celosia.mechanisms.sparse.base import RestartedSparseMechanism, SparseMechanism


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

    def _scales(self, epsilon: Fraction, moved: int) -> scales.Scales:
        return scales.Scales(2 * moved / epsilon, 4 * moved / epsilon)


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

    def _scales(self, epsilon: Fraction, moved: int) -> scales.Scales:
        share, _ = scales.each(epsilon, times=self.positives, delta=self.delta)
        return scales.Scales(2 * moved / share, 4 * moved / share, redraw=True)

    def _needs_delta(self, epsilon: Fraction) -> bool:
        _, needed = scales.each(epsilon, times=self.positives, delta=self.delta)
        return needed


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

    def _scales(self, epsilon: Fraction, moved: int) -> scales.Scales:
        find, tell, _ = self._shares(epsilon)
        return scales.Scales(2 * moved / find, 4 * moved / find, moved / tell, redraw=True)

    def _shares(self, epsilon: Fraction) -> tuple[Fraction, Fraction, bool]:
        """What each positive may cost to find and to tell, and whether delta is needed for it."""
        find, tell = (part / self.positives for part in scales.numeric_shares(epsilon))
        if self.delta > 0:
            parts = scales.numeric_shares(epsilon, approximate=True)
            halves = [
                scales.each(part, times=self.positives, delta=self.delta / 2) for part in parts
            ]
            (finding, _), (telling, _) = halves
            if finding >= find and telling >= tell and any(needed for _, needed in halves):
                return finding, telling, True
        return find, tell, False

    def _needs_delta(self, epsilon: Fraction) -> bool:
        return self._shares(epsilon)[2]


MOST_UNEVEN = 10**6
"""The largest ratio of a split, either way."""


def _split(split: Any) -> str | Fraction:
    ratio = exact(split)
    if ratio is not None and Fraction(1, MOST_UNEVEN) <= ratio <= MOST_UNEVEN:
        return ratio
    if not isinstance(split, str) or split != "optimal":
        raise ValueError
    return split


NUMERIC = Parameter(kind="exact", least=0, below=1)
SPLIT = Parameter(kind="toml", check=_split, allowed="mechanisms.allowed.split")


@dataclass(frozen=True, kw_only=True)
class SparseVector(SparseMechanism):
    """Says which answers reach their threshold, up to `positives`, with the least noise known.

    The noise of the threshold is drawn once and serves all positives, so it need not grow with
    their number. Prefer it to `Sparse` for questions that come one by one; where all questions are
    known beforehand, the exponential mechanism chooses better.

    Guarantee: epsilon-DP under `neighbours` for any number of questions, chosen as the answers come
    in, of which one neighbour step moves each by at most `sensitivity`; with `monotone`, all of
    them in the same direction, as counts do when one row is added.

    Reference: Lyu, Su & Li 2017, Algorithm 7 and Theorems 4 and 5.

    >>> mechanism = SparseVector(1.0, threshold=50, positives=10, monotone=True)
    >>> round(float(mechanism.scales.threshold), 2), round(float(mechanism.scales.query), 2)
    (5.64, 12.15)
    """

    method_name: ClassVar[str] = "sparse-vector"

    positives: int = field_of(whole_number(most=scales.MOST_POSITIVES), 1)
    monotone: bool = False
    """Whether a neighbour moves all answers in one direction; halves the noise of comparisons."""
    numeric: float = field_of(NUMERIC, 0)
    """The share of epsilon that tells the positive answers as numbers; 0 for `ABOVE` only."""
    split: str | float = field_of(SPLIT, "optimal")
    """The ratio of what comparisons cost to what the threshold costs, or "optimal"."""

    def check(self) -> None:
        """Refuse a claim that cannot hold, and what cannot be placed or drawn."""
        super().check()
        check_monotone(self.monotone, self.neighbours, code="CEL-M107")

    @property
    def limit(self) -> int:
        return self.positives

    def parts(self, epsilon: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """What of an epsilon goes to the threshold, to the comparisons and to the numbers."""
        numbers = epsilon * (exact(self.numeric) or 0)
        ratio = exact(self.split)
        if ratio is None:
            ratio = Fraction(scales.optimal_split(self.positives, monotone=self.monotone))
        first, second = scales.shares(epsilon - numbers, ratio)
        return first, second, numbers

    def _scales(self, epsilon: Fraction, moved: int) -> scales.Scales:
        first, second, numbers = self.parts(epsilon)
        factor = (1 if self.monotone else 2) * self.positives
        return scales.Scales(
            moved / first,
            factor * moved / second,
            self.positives * moved / numbers if numbers else None,
        )
