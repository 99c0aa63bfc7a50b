"""What is counted of a log that is read block by block, in memory by distinct values.

Of an item no more than k persons are kept; once it has k it is common, and none are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from celosia.core.randomness import Source

ITEM, PERIOD = "\x1fitem", "\x1fperiod"
"""Columns that no file has: what is counted, and in which period."""
_PERSON, _COUNT, _TIME, _PLACE = "person", "count", "time", "\x1fplace"


class PersonSupport:
    """Which items at least k persons have.

    >>> support = PersonSupport(2)
    >>> items = pl.DataFrame({ITEM: ["a"], PERIOD: [0]})
    >>> for person in (1, 1, 2):
    ...     support.add(items, pl.Series([person], dtype=pl.UInt64))
    >>> support.common.get_column(ITEM).to_list()
    ['a']
    """

    def __init__(self, k: int) -> None:
        self.k = k
        keys = {ITEM: pl.String, PERIOD: pl.Int64}
        self.common = pl.DataFrame(schema=keys)
        """Items that have them."""
        self._open = pl.DataFrame(schema=keys | {_PERSON: pl.UInt64})

    def add(self, items: pl.DataFrame, people: pl.Series) -> None:
        """Count the items of some records and their persons."""
        pairs = items.with_columns(people.alias(_PERSON)).unique()
        pairs = pairs.join(self.common, on=[ITEM, PERIOD], how="anti")
        pairs = pl.concat([self._open, pairs]).unique()
        has_enough = pl.len().over(ITEM, PERIOD) >= self.k
        found = pairs.filter(has_enough).select(ITEM, PERIOD).unique()
        self.common = pl.concat([self.common, found])
        self._open = pairs.filter(~has_enough)


class BlockCounts:
    """Persons, items, times and agents of all blocks."""

    def __init__(self, *, persons: int, agent_persons: int) -> None:
        self.records = 0
        self.items = PersonSupport(persons)
        self.agents = PersonSupport(agent_persons)
        self._least = persons
        self._people = pl.DataFrame(schema={_PERSON: pl.UInt64, _COUNT: pl.Int64})
        self._times = pl.DataFrame(schema={_TIME: pl.String, _COUNT: pl.Int64})
        self._records = pl.DataFrame(schema={ITEM: pl.String, PERIOD: pl.Int64, _COUNT: pl.Int64})

    def add(
        self,
        records: int,
        *,
        people: pl.Series | None,
        items: pl.DataFrame | None,
        times: pl.Series | None,
        agents: pl.Series | None,
    ) -> None:
        """Count the records of a block; None for what it has not."""
        self.records += records
        if people is not None:
            self._people = _added(self._people, pl.DataFrame({_PERSON: people}))
        if times is not None:
            self._times = _added(self._times, pl.DataFrame({_TIME: times}))
        if items is not None:
            self._records = _added(self._records, items)
        if items is not None and people is not None:
            self.items.add(items, people)
        if agents is not None and people is not None:
            self.agents.add(pl.DataFrame({ITEM: agents}).with_columns(_no_period()), people)

    @property
    def persons_seen(self) -> int:
        """How many different persons there are."""
        return self._people.height

    @property
    def largest_share(self) -> float:
        """The share of the records that the most active person has; 0 without persons."""
        most = self._people.get_column(_COUNT).max()
        return float(most) / self.records if isinstance(most, int) else 0.0

    @property
    def distinct_items(self) -> pl.Series:
        """Every item once."""
        return self._records.get_column(ITEM).unique()

    @property
    def frequent_items(self) -> pl.DataFrame:
        """Items that enough records have, whoever they are of."""
        return self._records.filter(pl.col(_COUNT) >= self._least).select(ITEM, PERIOD)

    def places(self, most: int) -> TimePlaces:
        """Where records of each time are put in order: about `most` of them together."""
        times = self._times.sort(_TIME, nulls_last=False)
        counts = times.get_column(_COUNT).to_list() or [self.records]
        first, parts, place, filled = [], [], 0, 0
        for count in counts:
            several = -(-count // most)
            if filled and filled + count > most:
                place, filled = place + 1, 0
            first.append(place)
            parts.append(several)
            filled += count
            if several > 1:
                place, filled = place + several, 0
        return TimePlaces(times.get_column(_TIME), first, parts)


@dataclass(frozen=True, slots=True)
class TimePlaces:
    """For each time the first place of its records, and over how many places they are spread."""

    times: pl.Series
    first: list[int] = field(repr=False)
    parts: list[int] = field(repr=False)

    def split(
        self, records: pl.DataFrame, time: str | None, rng: Source
    ) -> Iterator[tuple[int, pl.DataFrame]]:
        """The records of each place; those of a time with several go to each with equal chance."""
        first = np.array(self.first, dtype=np.int64)
        parts = np.array(self.parts, dtype=np.int64)
        number = np.zeros(records.height, dtype=np.int64)
        if time is not None and len(self.times):
            known = self.times.fill_null("")
            given = records.get_column(time).fill_null("")
            places = pl.Series(np.arange(len(known)))
            number = given.replace_strict(known, places, return_dtype=pl.Int64).to_numpy()
        drawn = np.zeros(records.height, dtype=np.int64)
        if (parts > 1).any():
            drawn = (rng.words(records.height) % parts[number].astype(np.uint64)).astype(np.int64)
        marked = records.with_columns(pl.Series(_PLACE, first[number] + drawn))
        for (place,), part in marked.partition_by(_PLACE, as_dict=True).items():
            yield int(place), part.drop(_PLACE)


def _no_period() -> pl.Expr:
    return pl.lit(0, dtype=pl.Int64).alias(PERIOD)


def _added(counts: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Counts of distinct values with those of some more."""
    names = values.columns
    more = values.group_by(names).agg(pl.len().cast(pl.Int64).alias(_COUNT))
    return pl.concat([counts, more]).group_by(names).agg(pl.col(_COUNT).sum())
