"""What a masked table discloses of single values: of sensitive columns, and as intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.assess.labels import label
from celosia.assess.linkage.distance import nearest, standardise
from celosia.core.errors import InputError
from celosia.core.messages import Message, say_of
from celosia.core.methods import PlainValues, derived
from celosia.core.numbers import real
from celosia.core.progress import Progress, silent


@dataclass(frozen=True, slots=True)
class AttributeDisclosure(PlainValues):
    """How well a sensitive column can be inferred from what an attacker knows about a person."""

    column: str
    measure: Literal["accuracy", "variance explained"]
    attack: float
    """Share of right guesses of a category; share of an amount's variance that is explained."""
    baseline: float
    """The same for who knows the masked table and nothing of the person: the guess is its most
    frequent value, or its mean."""
    people: int
    """Records with a value of the column; the others are left out."""

    @property
    @derived
    def advantage(self) -> float:
        """What the attack adds, as a share of what there was to add; at least 0."""
        room = 1 - self.baseline
        return max(0.0, (self.attack - self.baseline) / room) if room > 0 else 0.0

    def __str__(self) -> str:
        return say_of("assess.line.attribute", self, measure=label(self.measure))


def attribute_disclosure(
    tables: AlignedTables,
    *,
    known: Sequence[str],
    sensitive: Sequence[str],
    progress: Progress = silent,
) -> tuple[AttributeDisclosure, ...]:
    """Predict sensitive columns of each original person from the nearest masked records.

    The attacker knows some columns of a person, finds the nearest of the different masked records
    (the first of those as near), and guesses the most frequent value (of categories) or the mean
    (of amounts) of the masked records that look like that one. No alignment is needed: it works on
    synthetic tables as well. A high accuracy alone is no disclosure: a rule that holds for all
    people tells of those outside the table too.

    Args:
        tables: both tables, with all the columns.
        known: what the attacker knows of a person.
        sensitive: what the attacker wants to know.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: CEL-A200 no known column, CEL-A201 unknown column, CEL-A209 a column that is
            both known and sensitive.

    >>> from celosia.assess.alignment import align
    >>> people = {"age": [20, 21, 60, 61], "ill": ["flu", "flu", "cold", "cold"]}
    >>> tables = align(people, {"age": [22, 19, 63, 58], "ill": people["ill"]})
    >>> print(*attribute_disclosure(tables, known=["age"], sensitive=["ill"]))
    ill: accuracy 100.00% against 50.00% without the person's record
    """
    both = [name for name in sensitive if name in known]
    if both:
        raise InputError("CEL-A209", column=both[0])
    if not known:
        raise InputError("CEL-A200.none_known")
    if not sensitive:
        return ()
    keys = tables.only(known)
    shown, asked = standardise(keys.after, keys.before, keys.nominal)
    found = nearest(
        asked, shown, keys.nominal, progress=progress, stage=Message("assess.stage.attributes")
    )
    _, look = np.unique(shown, axis=0, return_inverse=True)
    look = look.reshape(-1)
    return tuple(_disclose(tables, name, look, look[found.first]) for name in sensitive)


def _disclose(
    tables: AlignedTables, name: str, look: NDArray[np.int64], person: NDArray[np.int64]
) -> AttributeDisclosure:
    place = tables.place(name)
    true, shown = tables.before[:, place], tables.after[:, place]
    present = ~np.isnan(true)
    true, person = true[present], person[present]
    filled = ~np.isnan(shown)
    shown, look = shown[filled], look[filled]
    if not true.size or not shown.size:
        attack = baseline = 0.0
    elif tables.nominal[place]:
        attack = float((_modes(look, shown, person) == true).mean())
        baseline = float((_modes(np.zeros_like(look), shown, np.zeros(1, int)) == true).mean())
    else:
        guess = _means(look, shown, person)
        spread = ((true - true.mean()) ** 2).mean() or 1.0
        attack = max(0.0, 1 - float(((true - guess) ** 2).mean() / spread))
        baseline = max(0.0, 1 - float(((true - shown.mean()) ** 2).mean() / spread))
    return AttributeDisclosure(
        column=name,
        measure="accuracy" if tables.nominal[place] else "variance explained",
        attack=attack,
        baseline=baseline,
        people=int(present.sum()),
    )


def _modes(
    group: NDArray[np.int64], codes: NDArray[np.float64], wanted: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The most frequent code of each wanted group; that of all rows where a group has none."""
    most = np.full(int(max(group.max(), wanted.max())) + 1, _mode(codes))
    pairs, counts = np.unique(np.column_stack([group, codes]), axis=0, return_counts=True)
    # The last one written stays: counts ascend, and of equal counts the least code comes last.
    order = np.lexsort((-pairs[:, 1], counts))
    most[pairs[order, 0].astype(np.int64)] = pairs[order, 1]
    return most[wanted]


def _mode(codes: NDArray[np.float64]) -> float:
    values, counts = np.unique(codes, return_counts=True)
    return float(values[np.argmax(counts)])


def _means(
    group: NDArray[np.int64], amounts: NDArray[np.float64], wanted: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The mean of each wanted group; that of all rows where a group has none."""
    size = int(max(group.max(), wanted.max())) + 1
    counts = np.bincount(group, minlength=size)
    sums = np.bincount(group, weights=amounts, minlength=size)
    means = np.divide(sums, counts, out=np.full(size, amounts.mean()), where=counts > 0)
    return np.asarray(means[wanted])


@dataclass(frozen=True, slots=True)
class ColumnInterval(PlainValues):
    """One column: the share of original values inside the interval around their masked value."""

    column: str
    by_rank: float
    """The interval holds the masked values whose rank is at most `width` of all away (RID)."""
    by_deviation: float
    """The interval is `width` standard deviations to both sides (SDID)."""
    cells: int
    """Values that both tables have; the others are left out."""


@dataclass(frozen=True, slots=True)
class IntervalDisclosure(PlainValues):
    """How closely masked amounts tell the original ones."""

    width: float
    columns: tuple[ColumnInterval, ...]
    whole_records: float
    """Share of records with every amount inside its interval of standard deviations; a record
    counts by the columns that both tables have, and one without any is left out."""

    @property
    @derived
    def by_rank(self) -> float:
        """Mean over the columns, by ranks."""
        return float(np.mean([each.by_rank for each in self.columns]))

    @property
    @derived
    def by_deviation(self) -> float:
        """Mean over the columns, by standard deviations."""
        return float(np.mean([each.by_deviation for each in self.columns]))

    def __str__(self) -> str:
        return say_of("assess.line.intervals", self)


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
