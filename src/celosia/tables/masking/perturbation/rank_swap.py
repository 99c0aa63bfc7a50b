"""Rank swapping: values change places with values that lie near them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import exact
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.tables.masking.columns import cells, check_columns
from celosia.tables.masking.method import Method, MethodResult
from celosia.tables.masking.parameters import (
    exactly_one,
    listed,
    names,
    number,
    put,
    whole_number,
    wrong,
)
from celosia.tables.masking.perturbation.cells import check_varied, ordered_cells

Ranks = NDArray[np.int64]

SPARE = 64
"""Words beyond one for each pair; a word is passed over with a chance below 2**-32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSwap(Method):
    """Each value is exchanged with a random one of nearby rank, each value at most once.

    The values of a column stay exactly the same as a whole: only who has which changes. Several
    columns are swapped independently of each other. Equal values have ranks in the order of their
    rows. Empty cells stay empty. Exactly one of the first three parameters is given.

    Args:
        window: how many ranks a value may move at most.
        percent: the same as a percentage of the filled cells, rounded down.
        range_percent: how far the two values may differ, as a percentage of the range of the
            column; for numbers only.
        value_range: with `range_percent`, the least and greatest value that could occur; by default
            those of the column.
        order: the values from least to greatest, for a column of texts.

    Guarantee: none. Neither kind of distance bounds the chance of linkage (for that use
    `ProbabilisticK`); the first and last values of a column change with few others.

    Reference: Moore 1996; Hundepool et al. 2012, section 3.6.4.

    >>> from celosia.core.randomness import Seeded
    >>> ages = pl.DataFrame({"age": [29, 48, 21, 36, 45, 58, 72, 22, 25, 43]})
    >>> RankSwap(window=1).apply(ages, ["age"], rng=Seeded(7)).frame["age"].to_list()
    [25, 45, 22, 43, 48, 72, 58, 21, 29, 36]
    """

    kind = "rank-swap"
    summary = "exchanges values with others of nearby rank or value"
    randomised = True
    truthful = False

    window: int | None = None
    percent: float | None = None
    range_percent: float | None = None
    value_range: tuple[float, float] | None = None
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        share = Message("tables.must_be.number_above_to", low=0, most=100)
        given = exactly_one(
            self.kind,
            {
                "window": self.window,
                "percent": self.percent,
                "range_percent": self.range_percent,
            },
        )
        if given == "window":
            put(self, window=whole_number(self.kind, given, self.window, least=1))
        else:
            value = number(self.kind, given, getattr(self, given), lambda x: 0 < x <= 100, share)
            put(self, **{given: value})
        put(self, order=names(self.kind, "order", self.order))
        if self.value_range is not None:
            put(self, value_range=self._ends(self.value_range))
            if given != "range_percent":
                raise InputError(
                    "CEL-V201.ranks_only", method=self.kind, first="value_range", second=given
                )
        if self.order and given == "range_percent":
            raise InputError(
                "CEL-V201.no_differences", method=self.kind, first="order", second=given
            )

    def apply(  # noqa: D102 - as in Method
        self,
        frame: pl.DataFrame,
        columns: Sequence[str],
        *,
        rng: Source,
        progress: Progress = silent,
    ) -> MethodResult:
        check_columns(frame, columns, self.kind)
        ready = []
        for name in columns:  # all are checked before anything is drawn
            rows, keys = ordered_cells(frame, name, self.order, self.kind)
            check_varied(keys, name, self.kind)
            by_rank = np.argsort(keys, kind="stable")
            ready.append((name, rows, keys[by_rank], by_rank))
        reaches = [self._last(frame, name, placed) for name, _, placed, _ in ready]
        swapped, facts = [], {}
        for done, ((name, rows, placed, by_rank), last) in enumerate(
            zip(ready, reaches, strict=True)
        ):
            progress(Step(Message("masking.stage.rank_swapping"), done, len(columns)))
            partner = swap_partners(last, rng)
            source = np.arange(frame.height)
            source[rows[by_rank]] = rows[by_rank[partner]]
            swapped.append(cells(frame, name).gather(source).alias(name))
            facts[name] = _facts(placed, partner)
        return MethodResult(frame=frame.with_columns(swapped), facts=facts)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:  # noqa: D102
        return (
            Message("masking.gap.swap_bounds"),
            Message("masking.gap.swapped_values"),
        )

    def _ends(self, given: Any) -> tuple[float, float]:
        rule = Message("tables.must_be.two_rising_numbers")
        ends = listed(self.kind, "value_range", given, rule)
        if len(ends) != 2:
            raise wrong(self.kind, "value_range", rule)
        low, high = (number(self.kind, "value_range", end, lambda _: True, rule) for end in ends)
        if low >= high:
            raise wrong(self.kind, "value_range", rule)
        return low, high

    def _last(self, frame: pl.DataFrame, name: str, placed: NDArray[Any]) -> Ranks:
        """The last rank that each rank may be paired with."""
        count = placed.size
        if self.range_percent is not None:
            dtype = cells(frame, name).dtype
            if not dtype.is_numeric():
                raise InputError("CEL-V211", dtype=dtype, column=name)
            values = placed.astype(np.float64)
            low, high = self.value_range or (values[0], values[-1])
            with np.errstate(over="ignore"):  # an infinite end reaches the last rank, as it should
                ends = values + self.range_percent / 100 * (high - low)
            found = np.searchsorted(values, ends, side="right") - 1
            return found.astype(np.int64)
        window = self._ranks(count)
        if window < 1:
            raise InputError("CEL-V212", percent=self.percent, count=count, column=name)
        return np.minimum(np.arange(count) + min(window, count), count - 1)

    def _ranks(self, count: int) -> int:
        if self.window is not None:
            return self.window
        share = exact(self.percent) or Fraction(0)
        return int(share * count / 100)


def swap_partners(last: Ranks, rng: Source) -> Ranks:
    """The partner of each rank: each free rank in turn takes a uniform free one up to `last`.

    >>> from celosia.core.randomness import Seeded
    >>> swap_partners(np.array([1, 2, 3, 3]), Seeded(7)).tolist()
    [1, 0, 3, 2]
    """
    from celosia.tables.masking.perturbation._kernels import pair_ranks  # noqa: PLC0415 - heavy

    partner = np.empty(last.size, dtype=np.int64)
    while not pair_ranks(last, rng.words(last.size // 2 + SPARE), partner):
        pass  # more than `SPARE` words were passed over: a chance below 2**-1000
    return partner


def _facts(placed: NDArray[Any], partner: Ranks) -> dict[str, int]:
    moved = np.abs(partner - np.arange(partner.size))
    return {
        "exchanged": int((moved > 0).sum()),
        "without_partner": int((moved == 0).sum()),
        "same_value": int((placed == placed[partner]).sum()),
        "farthest_in_ranks": int(moved.max()),
    }
