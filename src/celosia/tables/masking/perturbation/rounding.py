"""Rounding to multiples of a base: to the nearest, or up and down by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exact, exactly
from celosia.core.randomness import Source
from celosia.tables.masking.draws import uniforms
from celosia.tables.masking.method import (
    MaskingMethod,
    MethodResult,
    Reach,
    Work,
    cells,
    check_number,
    numbers,
)
from celosia.tables.masking.perturbation.moments import too_large

Matrix = NDArray[np.float64]
Wholes = NDArray[np.int64]

LARGEST = 2**52
"""Multiples beyond this are not told apart by a float, nor are their halves."""

FINEST = 2**31
"""Bases and offsets are fractions of smaller whole numbers, so that products stay in range."""


def _check_decimal(value: Any) -> float:
    found = check_number(value)
    parts = exact(found)
    if parts is None or abs(parts.numerator) >= FINEST or parts.denominator >= FINEST:
        raise ValueError
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding(MaskingMethod):
    """Each number becomes a multiple of the base, counted from the offset.

    A number half-way between two multiples goes to the even one, so that halves do not push the
    mean up. Whole numbers stay whole numbers if base and offset are. Empty cells stay empty.

    Args:
        base: the distance of the multiples, above 0; a decimal such as 0.1 means one tenth.
        offset: one of the multiples.
        random: up with a chance of (x mod base)/base and else down, which leaves the expected
            value of each cell as it is.

    Guarantee: none; a released multiple says in which interval of one base (random: two bases) the
    value lies.

    Reference: Willenborg & de Waal 2001; Hundepool et al. 2012, section 3.6.5.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"pay": [1230, 1250, 1260, None]})
    >>> Rounding(base=100).apply(frame, ["pay"], rng=Seeded(7)).frame["pay"].to_list()
    [1200, 1200, 1300, None]
    """

    method_name: ClassVar[str] = "rounding"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    reaches: ClassVar[tuple[Reach, ...]] = ("row",)

    base: float = parameter(
        kind="number",
        above=0,
        check=_check_decimal,
        allowed="tables.must_be.few_digits_above_zero",
        start=100,
    )
    offset: float = parameter(
        0.0, kind="number", check=_check_decimal, allowed="tables.must_be.few_digits"
    )
    random: bool = parameter(False, is_main=True)

    @property
    def draws(self) -> bool:
        """Only up and down by chance."""
        return self.random

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        matrix = numbers(frame, columns, self.method_name)
        units = [self._units(matrix[:, place], name) for place, name in enumerate(columns)]
        rounded, facts = [], {}
        for place, name in enumerate(columns):
            released = self._released(self._multiples(units[place], work.rng))
            series = pl.Series(released).fill_nan(None)
            whole = cells(frame, name).dtype.is_integer() and self._denominator() == 1
            rounded.append((series.cast(pl.Int64) if whole else series).alias(name))
            facts[name] = {"changed": int((np.abs(released - matrix[:, place]) > 0).sum())}
        return MethodResult(frame=frame.with_columns(rounded), facts=facts)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (Message("masking.gap.totals"),)

    def _exact(self, name: str) -> Fraction:
        return exactly(getattr(self, name))

    def _denominator(self) -> int:
        return int(np.lcm(self._exact("base").denominator, self._exact("offset").denominator))

    def _units(self, values: Matrix, column: str) -> Matrix:
        """The values in bases from the offset; what is a multiple but for rounding is one."""
        base, offset, finest = self._exact("base"), self._exact("offset"), self._denominator()
        with np.errstate(over="ignore"):
            units = (values * finest - float(offset * finest)) / float(base * finest)
        if (np.abs(units) >= LARGEST).any() or (np.abs(values) >= LARGEST).any():
            raise too_large(column, self.method_name)
        nearest = np.rint(units)
        # Two operations on decimals such as 0.29 * 100 are off by a few units in the last place.
        slip = 4 * np.finfo(np.float64).eps * np.maximum(np.abs(units), 1.0)
        return np.where(np.abs(units - nearest) <= slip, nearest, units)

    def _multiples(self, units: Matrix, rng: Source) -> Matrix:
        if not self.random:
            return np.rint(units)  # halves to even
        below = np.floor(units)
        return below + (uniforms(rng, units.size) < units - below)

    def _released(self, multiples: Matrix) -> Matrix:
        """Each multiple as a float: whole numbers, exact below 2**53, and then one division."""
        base, offset, finest = self._exact("base"), self._exact("offset"), self._denominator()
        return (multiples * float(base * finest) + float(offset * finest)) / finest + 0.0
