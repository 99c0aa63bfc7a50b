"""Sampling: only some of the records are released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exact
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.tables.masking.method import (
    NUMBER,
    TEXTS,
    WHOLE,
    MaskingMethod,
    MethodResult,
    Work,
    check_columns,
)

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling(MaskingMethod):
    """A simple random sample of the records without replacement, or one in each stratum.

    The rows keep their order. It works on whole records: the columns of its step do not matter.

    Args:
        fraction: the share of the records that is released, above 0 and at most 1.
        rows: instead of `fraction`, their number.
        by: columns whose combinations of values are strata: each gives its share of the sample to
            within one record (largest remainders), an empty cell being a value of its own.

    Guarantee: an attacker who does not know who is in the sample cannot be sure that a record alone
    in it is alone in the table; a record whose values are known to be unique is not hidden.

    Reference: Willenborg & de Waal 2001.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"sex": ["f", "m", "f", "m", "f", "f"]})
    >>> sample = Sampling(fraction=0.5, by=("sex",)).apply(frame, ["sex"], rng=Seeded(7))
    >>> sample.frame["sex"].to_list(), sample.facts
    (['f', 'm', 'f'], {'rows': 3, 'of': 6, 'fraction': 0.5, 'strata': 2, 'strata_left_out': 0})
    """

    method_name: ClassVar[str] = "sampling"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = True
    picks_rows: ClassVar[bool] = True

    fraction: float | None = parameter(None, like=NUMBER, above=0, most=1, start=0.5)
    rows: int | None = parameter(None, like=WHOLE, least=1)
    by: tuple[str, ...] = parameter((), like=TEXTS, kind="columns")

    def check(self) -> None:
        """Refuse a share and a number at once."""
        self._exactly_one("fraction", "rows")

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        if self.by:
            check_columns(frame, self.by, self.method_name)
        wanted = self._wanted(frame.height)
        strata = _strata(frame, self.by)
        sizes = np.bincount(strata)
        shares = largest_remainders(sizes, wanted)
        rows = _drawn(strata, sizes, shares, work.rng)
        facts = {
            "rows": wanted,
            "of": frame.height,
            "fraction": wanted / frame.height,
            "strata": int(sizes.size),
            "strata_left_out": int((shares == 0).sum()),
        }
        return MethodResult(frame=frame[rows], facts=facts, rows=rows)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (Message("masking.gap.sample_uniques"),)

    def _wanted(self, height: int) -> int:
        """How many records are drawn: the nearest whole number, at least one."""
        requested = self.rows if self.rows is not None else 1
        if requested > height:
            raise InputError("CEL-V260", rows=requested, height=height)
        if self.rows is not None:
            return self.rows
        share = exact(self.fraction) or Fraction(0)
        return max(1, round(share * height))


def largest_remainders(sizes: Rows, wanted: int) -> Rows:
    """Parts of `wanted` in proportion to sizes, each within one of its exact share.

    >>> largest_remainders(np.array([5, 3, 2]), 4).tolist()
    [2, 1, 1]
    """
    total = int(sizes.sum())
    # Whole numbers: a table has fewer than 2**31 rows, so the products stay below 2**62.
    parts, left = np.divmod(sizes * wanted, total)
    order = np.argsort(-left, kind="stable")
    parts[order[: wanted - int(parts.sum())]] += 1
    return parts


def _strata(frame: pl.DataFrame, by: Sequence[str]) -> Rows:
    """The number of each record's stratum, in order of their first records."""
    if not by:
        return np.zeros(frame.height, dtype=np.int64)
    keys = pick(frame, by).to_struct("stratum").to_frame()
    seen = keys.unique(maintain_order=True).with_row_index("number")
    found = keys.join(seen, on="stratum", how="left", maintain_order="left", nulls_equal=True)
    return found["number"].to_numpy().astype(np.int64)


def _drawn(strata: Rows, sizes: Rows, shares: Rows, rng: Source) -> Rows:
    """The first records of each stratum in a uniform order of all, sorted by row."""
    order = rng.permutation(strata.size)
    if sizes.size == 1:
        return np.sort(order[: int(shares[0])])
    order = order[np.argsort(strata[order], kind="stable")]
    place = np.arange(strata.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(shares, sizes)])
