"""The standard sparse vector: one threshold for all positives, the epsilon split at its best."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from celosia.core.methods import Parameter
from celosia.core.numbers import exact
from celosia.mechanisms.parameters import check_monotone, field_of, whole_number
from celosia.mechanisms.sparse.allocation import optimal_split, shares
from celosia.mechanisms.sparse.base import SparseMechanism
from celosia.mechanisms.sparse.scales import MOST_POSITIVES, Scales

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

    positives: int = field_of(whole_number(most=MOST_POSITIVES), 1)
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
