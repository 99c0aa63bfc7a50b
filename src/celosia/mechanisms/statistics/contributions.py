"""Bounding what one person adds, where a person has several rows.

First `at_most` limits the rows of each unit, then `per_unit` makes a mechanism promise for all of
them together what it promised for one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.group_privacy import convert
from celosia.accounting.losses import Loss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE, Neighbours, Relation
from celosia.core.randomness import Source
from celosia.mechanisms import parameters
from celosia.mechanisms.mechanism import Input, Measurement, Mechanism, Output
from celosia.mechanisms.statistics.columns import Rows, key_codes

ROW = Neighbours().unit


def at_most(units: Rows, rows_per_unit: int, *, rng: Source) -> NDArray[np.bool_]:
    """Which rows to keep so that no unit has more than `rows_per_unit`.

    The rows of a unit are chosen uniformly at random, whatever their order, and independently of
    all other units. So with the same coins two tables that differ in one unit keep the same rows of
    everybody else, and differ in at most `rows_per_unit` rows after (twice that if the unit was
    changed); what holds for every outcome of the coins holds for their mixture.

    >>> from celosia.core.randomness import Seeded
    >>> int(at_most(["ann", "bob", "ann", "ann"], 2, rng=Seeded(1)).sum())
    3

    Raises:
        InputError: CEL-I060 not a number of rows; CEL-M080, CEL-M083 not a column of units.
    """
    parameters.check_whole(rows_per_unit, name="rows_per_unit")
    codes = key_codes(units)
    # Sorting a random order by unit, and keeping that order within it, shuffles each unit's rows.
    order = rng.permutation(codes.size)
    order = order[np.argsort(codes[order], kind="stable")]
    ranked = codes[order]
    first = np.searchsorted(ranked, ranked, side="left")
    kept = np.zeros(codes.size, dtype=np.bool_)
    kept[order[np.arange(codes.size) - first < rows_per_unit]] = True
    return kept


def once_per_key(units: Rows, keys: Rows) -> NDArray[np.bool_]:
    """Which rows to keep so that no unit has two of the same key: the first of each.

    >>> once_per_key(["ann", "bob", "ann"], ["x", "x", "x"]).tolist()
    [True, True, False]

    Raises:
        InputError: CEL-M080, CEL-M083 not columns; CEL-M087 not as many keys as units.
    """
    unit_codes, codes = key_codes(units), key_codes(keys)
    if unit_codes.size != codes.size:
        raise InputError("CEL-M087", units=unit_codes.size, rows=codes.size)
    # Both codes are below the number of rows, so the product fits where a table fits in memory.
    pairs = unit_codes * (int(codes.max(initial=0)) + 1) + codes
    kept = np.zeros(codes.size, dtype=np.bool_)
    kept[np.unique(pairs, return_index=True)[1]] = True
    return kept


@dataclass(frozen=True, kw_only=True)
class PerUnit(Mechanism[Input, Output]):
    """A mechanism over rows whose promise is for all rows of one unit together.

    It runs `mechanism` with epsilon divided by the number of row steps that one unit step takes: as
    many as a unit has rows where a unit is added or removed, and twice as many where one is
    changed, for the new unit may have another number of rows.

    Guarantee: the epsilon of `mechanism` under `neighbours`, if no unit has more than
    `rows_per_unit` rows in the table: `at_most` sees to it.

    Reference: Dwork and Roth 2014, Thm 2.2 (group privacy); Dong, Roth and Su 2022, Thm 2.14 for
    the whole curve.
    """

    method_name: ClassVar[str] = "per-unit"

    mechanism: Mechanism[Input, Output]
    """The mechanism for one row, with the epsilon that is meant for a whole unit."""
    rows_per_unit: int = parameters.field_of(parameters.whole_number(most=2**20))
    unit: str = "customer"
    neighbours: Neighbours = field(init=False, default=Neighbours())

    def check(self) -> None:
        """Refuse a mechanism whose price cannot be shared out over rows."""
        given = self.mechanism.neighbours
        object.__setattr__(self, "neighbours", Neighbours(given.relation, self.unit))
        declared = {each.name for each in fields(self.mechanism)}
        if "epsilon" not in declared:
            raise PrivacyError("CEL-M088.no_epsilon")
        if "delta" in declared:
            raise PrivacyError("CEL-M088.delta")
        if given.unit != ROW or self.unit == ROW:
            raise PrivacyError("CEL-M088.not_for_rows")
        _ = self.inner  # refuses a share of epsilon that is too small, now and not when it runs

    @property
    def steps(self) -> int:
        """Rows added or removed by one unit step."""
        # A unit of a rows becomes one of b rows by a removals and b additions, where a, b <= m.
        # Changing rows never reaches a table of another length.
        changed = self.neighbours.relation is Relation.CHANGE_ONE
        return self.rows_per_unit * (2 if changed else 1)

    @cached_property
    def inner(self) -> Mechanism[Input, Output]:
        """The mechanism that runs: for one row more or less, with its share of epsilon."""
        changed: dict[str, Any] = {
            "epsilon": parameters.check_epsilon(getattr(self.mechanism, "epsilon", None))
            / self.steps,
            "neighbours": ADD_REMOVE,
        }
        return replace(self.mechanism, **changed)

    @property
    def sensitivity(self) -> float:
        """The most by which one unit moves the exact answer."""
        return self.inner.sensitivity * self.steps

    def privacy_loss(self) -> Loss:
        """What one release costs a unit.

        Laplace noise of one step becomes Laplace noise of all steps in one, also where the steps
        move different numbers (bins): group privacy iterates the trade-off function f, and 1 - f
        leads from each tail P(Z >= k) to P(Z >= k - shift) and is straight between them.
        """
        return convert(
            self.inner.privacy_loss(), ADD_REMOVE, self.neighbours, rows_per_unit=self.rows_per_unit
        )

    def measure(self, x: Input, *, rng: Source) -> Measurement[Output]:
        """As the mechanism, of rows of which at most `rows_per_unit` are of one unit."""
        return self.inner.measure(x, rng=rng)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """As of the mechanism with its share of epsilon."""
        return self.inner.accuracy(confidence, size=size)

    def interval(
        self, measurement: Measurement[Output], confidence: float = 0.95
    ) -> tuple[Any, Any] | None:
        """As of the mechanism: of the answer for the rows that were kept."""
        return self.inner.interval(measurement, confidence)

    def _with_price(self, price: Fraction) -> Self:
        # Each row's share must be an epsilon itself.
        changed: dict[str, Any] = {
            "epsilon": float(max(price, parameters.LEAST_EPSILON * self.steps))
        }
        return replace(self, mechanism=replace(self.mechanism, **changed))


def per_unit(
    mechanism: Mechanism[Input, Output], rows_per_unit: int, *, unit: str = "customer"
) -> PerUnit[Input, Output]:
    """The same mechanism with its epsilon for all rows of one unit together.

    >>> from celosia.mechanisms.statistics.sums import Count
    >>> counts = per_unit(Count(epsilon=1), 5)
    >>> print(counts.neighbours, counts.inner, counts.privacy_loss().pure)
    add or remove one customer Count(epsilon=0.2) 1.0

    Raises:
        PrivacyError: CEL-M088 the mechanism cannot be charged so.
    """
    return PerUnit(mechanism=mechanism, rows_per_unit=rows_per_unit, unit=unit)
