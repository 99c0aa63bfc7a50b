"""Rank swapping: values change places with values that lie near them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import check_list, parameter
from celosia.core.numbers import exact
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.tables.masking.method import (
    NUMBER,
    TEXTS,
    WHOLE,
    MaskingMethod,
    MethodResult,
    Work,
    cells,
    check_columns,
    check_number,
)
from celosia.tables.masking.perturbation.moments import check_varied, ordered_cells

Ranks = NDArray[np.int64]

SPARE = 64
"""Words beyond one for each pair; a word is passed over with a chance below 2**-32."""


def _check_ends(value: Any) -> tuple[float, float]:
    low, high = map(check_number, check_list(value))
    if low >= high:
        raise ValueError
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSwap(MaskingMethod):
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

    method_name: ClassVar[str] = "rank-swap"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False

    window: int | None = parameter(None, like=WHOLE, least=1)
    percent: float | None = parameter(None, like=NUMBER, above=0, most=100, start=5)
    range_percent: float | None = parameter(None, like=NUMBER, above=0, most=100)
    value_range: tuple[float, float] | None = parameter(
        None, check=_check_ends, allowed="tables.must_be.two_rising_numbers", example="[0, 100]"
    )
    order: tuple[str, ...] = parameter((), like=TEXTS, kind="values")

    def check(self) -> None:
        """Refuse two distances at once, and what does not belong to the one given."""
        given = self._exactly_one("window", "percent", "range_percent")
        if self.value_range is not None and given != "range_percent":
            raise InputError(
                "CEL-V201.ranks_only", method=self.method_name, first="value_range", second=given
            )
        if self.order and given == "range_percent":
            raise InputError(
                "CEL-V201.no_differences", method=self.method_name, first="order", second=given
            )

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_columns(frame, columns, self.method_name)
        ready = []
        for name in columns:  # all are checked before anything is drawn
            rows, keys = ordered_cells(frame, name, self.order, self.method_name)
            check_varied(keys, name, self.method_name)
            by_rank = np.argsort(keys, kind="stable")
            ready.append((name, rows, keys[by_rank], by_rank))
        reaches = [self._last(frame, name, placed) for name, _, placed, _ in ready]
        swapped, facts = [], {}
        for done, ((name, rows, placed, by_rank), last) in enumerate(
            zip(ready, reaches, strict=True)
        ):
            work.progress(Step(Message("masking.stage.rank_swapping"), done, len(columns)))
            partner = swap_partners(last, work.rng)
            source = np.arange(frame.height)
            source[rows[by_rank]] = rows[by_rank[partner]]
            swapped.append(cells(frame, name).gather(source).alias(name))
            facts[name] = _facts(placed, partner)
        return MethodResult(frame=frame.with_columns(swapped), facts=facts)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            Message("masking.gap.swap_bounds"),
            Message("masking.gap.swapped_values"),
        )

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
    from celosia.tables.masking.perturbation._kernels import pair_ranks

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
