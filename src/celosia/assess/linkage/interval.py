"""Interval disclosure: how closely masked values show the original values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.numbers import real


@dataclass(frozen=True, slots=True)
class ColumnInterval:
    """One column: the share of original values inside the interval around their masked value."""

    column: str
    by_rank: float
    """The interval holds the masked values whose rank is at most `width` of all away (RID)."""
    by_deviation: float
    """The interval is `width` standard deviations to both sides (SDID)."""
    cells: int
    """Values that both tables have; the others are left out."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class IntervalDisclosure:
    """How closely masked amounts tell the original ones."""

    width: float
    columns: tuple[ColumnInterval, ...]
    whole_records: float
    """Share of records with every amount inside its interval of standard deviations; a record
    counts by the columns that both tables have, and one without any is left out."""

    @property
    def by_rank(self) -> float:
        """Mean over the columns, by ranks."""
        return float(np.mean([each.by_rank for each in self.columns]))

    @property
    def by_deviation(self) -> float:
        """Mean over the columns, by standard deviations."""
        return float(np.mean([each.by_deviation for each in self.columns]))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "width": self.width,
            "by_rank": self.by_rank,
            "by_deviation": self.by_deviation,
            "whole_records": self.whole_records,
            "columns": [each.as_dict() for each in self.columns],
        }

    def __str__(self) -> str:
        return say(
            "assess.line.intervals",
            width=self.width,
            by_rank=self.by_rank,
            by_deviation=self.by_deviation,
        )


def interval_disclosure(tables: AlignedTables, *, width: float = 0.05) -> IntervalDisclosure:
    """The share of original amounts inside an interval around their masked value.

    By rank, the interval reaches from the least to the greatest masked value whose mean rank
    differs by at most `width` times the number of records. By standard deviation, it reaches
    `width` deviations of the original column to both sides.

    Raises:
        InputError: CEL-A206 a synthetic table, CEL-A207 no amounts, CEL-A210 a width that is not
            above 0 and at most 1.

    >>> from celosia.assess.alignment import align
    >>> tables = align({"pay": [10, 20, 30, 40]}, {"pay": [10.5, 20, 33, 26]})
    >>> print(interval_disclosure(tables, width=0.25))
    interval disclosure at 25%: 50.00% by rank, 75.00% by standard deviation

    Reference: Domingo-Ferrer & Torra 2001; Templ & Meindl 2008.
    """
    size = real(width)
    if size is None or not 0 < size <= 1:
        raise InputError("CEL-A210", width=width)
    before, after = tables.numbers()
    original = before[tables.origins()]
    found, inside = [], np.ones(after.shape, dtype=bool)
    for place, name in enumerate(tables.numeric):
        known = ~np.isnan(original[:, place]) & ~np.isnan(after[:, place])
        true, shown = original[known, place], after[known, place]
        deviation = _deviation(before[:, place])
        near = np.abs(true - shown) <= size * deviation
        inside[known, place] = near
        found.append(
            ColumnInterval(
                column=name,
                by_rank=_share(_in_rank(true, shown, size)),
                by_deviation=_share(near),
                cells=int(known.sum()),
            )
        )
    compared = ~(np.isnan(original) | np.isnan(after)).all(axis=1)
    return IntervalDisclosure(
        width=size,
        columns=tuple(found),
        whole_records=_share(np.asarray(inside[compared].all(axis=1))),
    )


def _in_rank(
    true: NDArray[np.float64], shown: NDArray[np.float64], width: float
) -> NDArray[np.bool_]:
    values, place, counts = np.unique(shown, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    # Half a rank of slack against rounding never reaches another value: ranks lie on halves.
    reach = width * shown.size + 0.01
    low = values[np.searchsorted(middle, middle - reach)] if values.size else values
    high = values[np.searchsorted(middle, middle + reach, side="right") - 1] if values.size else low
    return (low[place] <= true) & (true <= high[place])


def _deviation(column: NDArray[np.float64]) -> float:
    known = column[~np.isnan(column)]
    return float(known.std(ddof=1)) if known.size > 1 else 0.0


def _share(found: NDArray[np.bool_]) -> float:
    return float(found.mean()) if found.size else 0.0
