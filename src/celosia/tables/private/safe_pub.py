"""SafePub: truthful records with differential privacy, by random sampling and k-anonymity.

Every record is drawn by itself with a chance b; those drawn are generalised by a scheme that does
not depend on the data, or that was chosen with differential privacy; and records that share their
labels with fewer than k drawn ones are dropped.

One record more or less changes one class, from n - 1 records to n. The number of those drawn is
binomial, and shows only from k on. It is j with a chance that is n (1 - b) / (n - j) times as high
with n records as with n - 1, and at least 1 - b times: so that with b <= 1 - exp(-epsilon) only
more than g n of n can tell more than epsilon, g = 1 - (1 - b) exp(-epsilon), and the chance beyond
epsilon is

    delta = max over n of the sum over j >= k, j > g n of P(n, j) - exp(epsilon) P(n - 1, j).

The papers leave the second term out, and the bound is then larger. For n without end the sum is at
most exp(-n KL(g, b)), which ends the search for the maximum. The choice of a scheme looks at the
whole table, not at the sample: its draws are others, so that the losses add up.

References: Li, Qardaji, Su 2012 (on sampling, anonymization, and differential privacy); Bild, Kuhn,
Prasser 2018 (SafePub).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, exp, expm1, floor, log, prod
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.losses import ApproximateLoss, ComposedLoss, Loss
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exact
from celosia.core.progress import Step
from celosia.frames import pick
from celosia.mechanisms import Exponential
from celosia.tables.hierarchies import ROOT
from celosia.tables.masking.method import MethodResult, Work
from celosia.tables.private.budget import TableBudget, round_down
from celosia.tables.private.declarations import (
    BINS,
    LISTS,
    DomainDeclarations,
    ListedColumn,
    PublicColumn,
    RangedColumn,
)
from celosia.tables.private.method import EPSILON, PrivateMethod
from celosia.tables.synthesis.checks import check_whole_table

Codes = NDArray[np.int64]
Scheme = tuple[int, ...]
"""The level of each column: 0 as declared, the last one `*`."""

MOST_SCHEMES = 2_000
"""Of those to choose from; each is counted once over the table."""
MOST_K = 1_000_000
GRID = 2**32
"""Chances of being drawn are multiples of one over it, so that they are drawn exactly."""
_MARGIN = 1 + 1e-9
"""How far a sum of floats stays on the safe side of its rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SafePub(PrivateMethod):
    """Truthful records: a random sample, generalised, of which small classes are dropped.

    Columns are declared as for other private tables: `domains` of categories, `bounds` of numbers
    that are cut into `bins`. The bins and the listed values are the finest labels. With `choice`
    above 0 that share of epsilon chooses how many bins are merged (by twos) and which columns
    become `*`, by the records in classes large enough and how much they tell. The chance to be
    drawn is the largest that epsilon allows, 1 - exp(-epsilon), unless `rate` is given; k is the
    least with which delta holds.

    Guarantee: (epsilon, delta)-DP when neighbours add or remove one row, while nobody learns who
    was drawn. The declarations must not depend on the data.

    Reference: Bild, Kuhn & Prasser 2018; Li, Qardaji & Su 2012.
    """

    method_name: ClassVar[str] = "safe-pub"
    truthful: ClassVar[bool] = True

    epsilon: float = parameter(like=EPSILON)
    delta: float = parameter(1e-6, above=0, below=1)
    domains: Mapping[str, tuple[Any, ...]] | None = parameter(None, like=LISTS)
    bounds: Mapping[str, tuple[float, ...]] | None = parameter(None, like=LISTS)
    bins: int | Mapping[str, int] = parameter(16, like=BINS)
    choice: float = parameter(0.0, least=0, below=1)
    rate: float | None = parameter(None, above=0, below=1)

    def check(self) -> None:
        """Refuse a rate that epsilon does not allow, and a delta that no class could keep."""
        self._declared()
        if self.rate is not None and self.rate > _largest_rate(self._own_epsilon):
            raise InputError("CEL-Y027.rate", rate=self.rate, most=_largest_rate(self._own_epsilon))
        _ = self.k

    @property
    def budget(self) -> TableBudget:
        return TableBudget(self.epsilon, self.delta)

    @property
    def chance(self) -> float:
        """The chance of each record to be drawn, on the grid."""
        wanted = _largest_rate(self._own_epsilon) if self.rate is None else self.rate
        return floor(wanted * GRID) / GRID

    @property
    def k(self) -> int:
        """The fewest drawn records that a class needs."""
        return smallest_k(self._own_epsilon, self.delta, self.chance)

    def declared_values(self) -> Mapping[str, tuple[Any, ...]]:
        return {**(self.bounds or {}), **(self.domains or {})}

    def privacy_loss(self, columns: Sequence[str]) -> Loss:
        """What the choice costs, and the sample."""
        own = ApproximateLoss(exact(self._own_epsilon) or Fraction(0), self.delta)
        if self.choice == 0:
            return own
        return ComposedLoss((self._chooser(1).privacy_loss(), own))

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (*PrivateMethod.leaves_open(self, columns), Message("masking.gap.secret_sample"))

    @property
    def _own_epsilon(self) -> float:
        """What is left for the sample."""
        whole = exact(self.epsilon) or Fraction(0)
        return round_down(whole * (1 - (exact(self.choice) or Fraction(0))))

    def _chooser(self, sensitivity: int) -> Exponential:
        whole, share = exact(self.epsilon) or Fraction(0), exact(self.choice) or Fraction(0)
        return Exponential(epsilon=round_down(whole * share), sensitivity=sensitivity)

    def _declared(self) -> DomainDeclarations:
        return DomainDeclarations(self.domains or {}, self.bounds or {}, self.bins)

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        public = self._declared().columns(frame.schema, columns)
        heights = [_height(column) for column in public]
        if self.choice and prod(height + 1 for height in heights) > MOST_SCHEMES:
            raise InputError("CEL-Y027.schemes", most=MOST_SCHEMES)
        work.progress(Step(Message("masking.stage.counting_noise"), 0, 2))
        codes = [column.codes(frame[column.name]) for column in public]
        scheme = self._choose(public, codes, heights, work) if self.choice else (0,) * len(public)
        work.progress(Step(Message("masking.stage.counting_noise"), 1, 2))
        limit = np.uint64(floor(self.chance * GRID) << 32)
        drawn = np.flatnonzero(work.rng.words(frame.height) < limit)
        shown = [
            _raise(column, code[drawn], level)
            for column, code, level in zip(public, codes, scheme, strict=True)
        ]
        kept = _large_classes(shown, self.k)
        cells = [
            _labels(column, level).gather(pl.Series(code[kept]))
            for column, code, level in zip(public, shown, scheme, strict=True)
        ]
        released = pick(pl.DataFrame(cells), frame.columns)
        facts = {
            "k": self.k,
            "chance to be drawn": self.chance,
            "levels": dict(zip(columns, scheme, strict=True)),
            "rows": released.height,
            "loss": self.privacy_loss(columns).as_dict(),
        }
        return MethodResult(frame=released, facts=facts, rows=drawn[kept])

    def _choose(
        self,
        public: Sequence[PublicColumn],
        codes: Sequence[Codes],
        heights: Sequence[int],
        work: Work,
    ) -> Scheme:
        """A scheme by the exponential mechanism.

        The score of a scheme is how many records are in classes of at least s, the size from which
        k are expected to be drawn, times how many levels are left below `*`. One record more or
        less moves the first by s at most, if its class reaches s by it, else by 1.
        """
        size = ceil(self.k / self.chance)
        whole = sum(heights)
        scores, schemes = [], list(product(*(range(height + 1) for height in heights)))
        for scheme in schemes:
            classes = [
                _raise(column, code, level)
                for column, code, level in zip(public, codes, scheme, strict=True)
            ]
            counts = np.unique(_names(classes), return_counts=True)[1]
            scores.append(int(counts[counts >= size].sum()) * (whole - sum(scheme)))
        chosen = self._chooser(size * max(1, whole)).release(scores, rng=work.rng)
        return schemes[int(chosen)]


def sampling_delta(k: int, rate: float, epsilon: float) -> float:
    """The chance beyond epsilon of a sample of which classes with fewer than k are dropped.

    >>> round(sampling_delta(20, 0.5, 1.0), 6) > sampling_delta(40, 0.5, 1.0)
    True
    """
    if rate > _largest_rate(epsilon) * _MARGIN:
        return 1.0
    edge = -expm1(-epsilon) + rate * exp(-epsilon)  # 1 - (1 - rate) exp(-epsilon)
    decay = edge * log(edge / rate) + (1 - edge) * log((1 - edge) / (1 - rate))
    most, records = 0.0, max(1, k)
    while exp(-records * decay) > most:
        most = max(most, _beyond(k, rate, epsilon, records))
        records += 1
    return min(1.0, most * _MARGIN)


def _beyond(k: int, rate: float, epsilon: float, records: int) -> float:
    """The part of the distribution of n records that exceeds exp(epsilon) times that of n - 1."""
    from scipy.stats import binom

    drawn = np.arange(max(1, k), records + 1)
    excess = 1 - exp(epsilon) * (records - drawn) / (records * (1 - rate))
    return float((binom.pmf(drawn, records, rate) * np.maximum(0.0, excess)).sum())


@lru_cache(maxsize=64)
def smallest_k(epsilon: float, delta: float, rate: float) -> int:
    """The least k with which a sample keeps delta.

    Raises:
        InputError: CEL-Y027 none up to a million does.
    """
    high = 2
    while sampling_delta(high, rate, epsilon) > delta:
        high *= 2
        if high > MOST_K:
            raise InputError("CEL-Y027.delta", epsilon=epsilon, delta=delta)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        fits = sampling_delta(middle, rate, epsilon) <= delta
        low, high = (low, middle) if fits else (middle, high)
    return high


def _largest_rate(epsilon: float) -> float:
    """The largest chance to be drawn with which absence tells no more than epsilon."""
    return -expm1(-epsilon)


def _height(column: PublicColumn) -> int:
    """How many levels a column can be raised: bins by twos, listed values to `*` at once."""
    return (column.size - 2).bit_length() + 1 if isinstance(column, RangedColumn) else 1


def _raise(column: PublicColumn, codes: Codes, level: int) -> Codes:
    """Codes at a level; a cell that is none of the declared values stays so below `*`."""
    if level == _height(column):
        return np.zeros(codes.size, dtype=np.int64)
    last = column.size - 1
    return np.where(codes == last, last, codes >> level)


def _labels(column: PublicColumn, level: int) -> pl.Series:
    """What each code stands for at a level."""
    if level == _height(column):
        return pl.Series(column.name, [ROOT])
    if isinstance(column, ListedColumn) or level == 0:
        return column.labels().cast(pl.String)
    assert isinstance(column, RangedColumn)
    starts = column.edges[: -1 : 2**level]
    merged = RangedColumn(column.name, (*starts, column.edges[-1]), column.integer).labels()
    labels = pl.Series(column.name, [None] * column.size, dtype=pl.String)
    return labels.scatter(list(range(len(starts))), merged[: len(starts)])


def _names(columns: Sequence[Codes]) -> Codes:
    """A number for each row, the same for rows that are equal."""
    names = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        pairs = names * (int(column.max(initial=0)) + 1) + column
        names = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return names


def _large_classes(shown: Sequence[Codes], k: int) -> Codes:
    """The drawn rows of classes of at least k, in an order that tells nothing but their labels."""
    names = _names(shown)
    kept = np.flatnonzero(np.bincount(names, minlength=1)[names] >= k)
    return kept[np.argsort(names[kept], kind="stable")]
