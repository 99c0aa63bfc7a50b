"""The standard sparse vector: one threshold for all positives, the epsilon split at its best."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from celosia.core.errors import InputError
from celosia.core.numbers import exact
from celosia.mechanisms.parameters import check_monotone, check_whole
from celosia.mechanisms.sparse.allocation import optimal_split, shares
from celosia.mechanisms.sparse.base import SparseMechanism
from celosia.mechanisms.sparse.scales import MOST_POSITIVES, Scales

MOST_UNEVEN = 10**6
"""The largest ratio of a split, either way."""


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

    positives: int = 1
    monotone: bool = False
    """Whether a neighbour moves all answers in one direction; halves the noise of comparisons."""
    numeric: float = 0.0
    """The share of epsilon that tells the positive answers as numbers; 0 for `ABOVE` only."""
    split: str | float = "optimal"
    """The ratio of what comparisons cost to what the threshold costs, or "optimal"."""

    def __post_init__(self) -> None:
        check_whole(self.positives, name="positives", most=MOST_POSITIVES)
        share, ratio = exact(self.numeric), exact(self.split)
        if share is None or not 0 <= share < 1:
            raise InputError("CEL-M108.share", numeric=self.numeric)
        if self.split != "optimal" and (
            ratio is None or not Fraction(1, MOST_UNEVEN) <= ratio <= MOST_UNEVEN
        ):
            raise InputError("CEL-M108.split", split=self.split)
        super().__post_init__()
        check_monotone(self.monotone, self.neighbours, code="CEL-M107")

    @property
    def limit(self) -> int:
        """As many positive answers as were asked for."""
        return self.positives

    def parts(self, epsilon: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """What of an epsilon goes to the threshold, to the comparisons and to the numbers."""
        numbers = epsilon * (exact(self.numeric) or 0)
        ratio = exact(self.split)
        if ratio is None:
            ratio = Fraction(optimal_split(self.positives, monotone=self.monotone))
        first, second = shares(epsilon - numbers, ratio)
        return first, second, numbers

    def _scales(self, epsilon: Fraction, moved: int) -> Scales:
        first, second, numbers = self.parts(epsilon)
        factor = (1 if self.monotone else 2) * self.positives
        return Scales(
            moved / first,
            factor * moved / second,
            self.positives * moved / numbers if numbers else None,
        )
