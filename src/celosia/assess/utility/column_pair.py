"""One column before and after: its raw values, and the meaning of its released labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.meaning import SUPPRESSED, ExactMeaning, Meaning
from celosia.assess.utility.spread import Spread, SpreadRule
from celosia.core.errors import InputError
from celosia.frames import as_text, encode

EMPTY = "(missing)"
"""The value that an empty cell counts as."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnPair:
    """The codes of a column in both tables."""

    name: str
    values: tuple[str, ...]
    """Every raw value: amounts in growing order, other values as their meaning lists them."""
    numbers: NDArray[np.float64] | None
    """The amounts, NaN for a value that is none (an empty cell); None for categories."""
    before: NDArray[np.int32]
    """The place of each original cell in `values`."""
    labels: tuple[str, ...]
    """The distinct released labels."""
    after: NDArray[np.int32]
    """The place of each released cell in `labels`."""
    spread: Spread
    """What each label stands for, by shares."""

    @property
    def is_numeric(self) -> bool:
        """Whether the values are amounts."""
        return self.numbers is not None

    def counts_before(self) -> NDArray[np.float64]:
        """How many original cells have each value."""
        return np.bincount(self.before, minlength=len(self.values)).astype(np.float64)

    def counts_after(self) -> NDArray[np.float64]:
        """How many released cells each value has, labels being spread."""
        counts = np.bincount(self.after, minlength=len(self.labels)).astype(np.float64)
        return self.spread.mass(counts)

    def itself(self) -> Spread:
        """The spread of raw values: each is wholly itself."""
        places = np.arange(len(self.values), dtype=np.int64)
        return Spread(places, places, np.ones(len(places)), len(places), len(places))

    def covers(self) -> NDArray[np.bool_]:
        """For tables of one row order: whether each label may stand for the original value."""
        width = len(self.values)
        possible = self.spread.label * width + self.spread.value
        return np.isin(self.after.astype(np.int64) * width + self.before, possible)

    def __repr__(self) -> str:
        return f"ColumnPair({self.name!r}, values={len(self.values)}, labels={len(self.labels)})"


def holds_amounts(original: pl.Series, meaning: Meaning | None) -> bool:
    """Whether a column has a numeric type and its meaning, if any, lists numbers alone."""
    values = () if meaning is None else meaning.values
    return original.dtype.is_numeric() and not any(
        math.isnan(_number(value)) for value in values if value != EMPTY
    )


def pair_column(
    original: pl.Series,
    released: pl.Series,
    meaning: Meaning | None,
    *,
    is_numeric: bool,
    spread: SpreadRule,
) -> ColumnPair:
    """Code a column of both tables over the same values.

    Raises:
        InputError: CEL-A072, CEL-A073 or CEL-A074, as `compare` says.
    """
    name = original.name
    raw, new = encode(as_text(original)), encode(as_text(released))
    raw_texts, labels = raw.values.to_list(), new.values.to_list()
    if meaning is None:
        others = [label for label in labels if label != SUPPRESSED]
        meaning = ExactMeaning(tuple(dict.fromkeys([*raw_texts, *others])))
    has_empty = raw.missing or new.missing
    values = list(meaning.values)
    if has_empty and EMPTY not in values:
        values.append(EMPTY)
    numbers = _amounts(name, values) if is_numeric else None
    order = np.argsort(numbers, kind="stable") if numbers is not None else np.arange(len(values))
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    index = {value: int(place[at]) for at, value in enumerate(values)}
    before = _place(name, raw_texts, index, raw.codes)
    members = [_members(meaning, label, place) for label in labels]
    _check_meanings(name, members)
    if new.missing:
        labels.append(EMPTY)
        members.append(np.array([index[EMPTY]], dtype=np.int64))
    after = np.where(new.codes < 0, len(labels) - 1, new.codes).astype(np.int32)
    counts = np.bincount(before, minlength=len(values)).astype(np.float64)
    weights = counts if spread == "original" else np.ones(len(values))
    return ColumnPair(
        name=name,
        values=tuple(values[at] for at in order.tolist()),
        numbers=None if numbers is None else numbers[order],
        before=before,
        labels=tuple(labels),
        after=after,
        spread=Spread.weighted(members, weights),
    )


def _members(meaning: Meaning, label: str, place: NDArray[np.int64]) -> NDArray[np.int64]:
    found = meaning.stands_for(label)
    # A star may be any value, also the empty one, whatever the root of a hierarchy is called.
    if label == SUPPRESSED and SUPPRESSED not in meaning.values:
        return np.arange(place.size, dtype=np.int64)
    return place[found]


def _amounts(name: str, values: list[str]) -> NDArray[np.float64]:
    numbers = np.array([_number(value) for value in values])
    strange = sum(
        1
        for value, number in zip(values, numbers.tolist(), strict=True)
        if math.isnan(number) and value != EMPTY
    )
    if strange:
        raise InputError("CEL-A074", strange=strange, column=name)
    return numbers


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _place(
    name: str, texts: list[str], index: dict[str, int], codes: NDArray[np.int32]
) -> NDArray[np.int32]:
    places = [index.get(text, -1) for text in texts]
    lost = places.count(-1)
    if lost:
        raise InputError("CEL-A072", column=name, values=lost)
    # Code -1, an empty cell, picks the last entry.
    table = np.array([*places, index.get(EMPTY, -1)], dtype=np.int32)
    return table[codes]


def _check_meanings(name: str, members: list[NDArray[np.int64]]) -> None:
    lost = sum(1 for found in members if not found.size)
    if lost:
        raise InputError("CEL-A073", column=name, labels=lost)
