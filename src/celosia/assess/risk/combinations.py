"""How far combinations of values single records out, counted over rows, chunks or groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.methods import PlainValues
from celosia.engines import Groups

MOST_ALONE = 0.05
"""The largest share of the records that may be alone with their raw values."""
FEWEST_TOGETHER = 3
"""Records that share a combination of raw values on average, at least."""
CATEGORIES = 20
"""Up to so many different combinations are categories, however few records a table has."""
MOST_KEYS = 1 << 22
"""Of more combinations than this an evenly drawn part is counted, where rows come in chunks."""

Sets = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniqueness(PlainValues):
    """How far the values of some columns single records out."""

    records: int
    combinations: int
    """Different combinations of their values."""
    alone: int
    """Records whose combination no other record has."""

    @classmethod
    def of(cls, sizes: NDArray[np.int64], numbers: NDArray[np.int64] | None = None) -> Self:
        """The figures of combinations by their sizes, or of so many combinations of each size.

        >>> Uniqueness.of(np.array([1, 3]), np.array([2, 1]))
        Uniqueness(records=5, combinations=3, alone=2)
        """
        each = np.ones_like(sizes) if numbers is None else numbers
        return cls(
            records=int((sizes * each).sum()),
            combinations=int(each.sum()),
            alone=int(each[sizes == 1].sum()),
        )

    @property
    def alone_share(self) -> float:
        """The share of the records that are alone."""
        return self.alone / self.records if self.records else 0.0

    @property
    def average_risk(self) -> float:
        """The chance that an attacker who knows the values picks a random record rightly."""
        return self.combinations / self.records if self.records else 0.0

    @property
    def too_high(self) -> bool:
        """Whether the records are unique, or nearly so.

        More than 5 % of them are alone, or fewer than three share a combination on average. Up to
        20 combinations are never too many: they are the categories of a small table.
        """
        return self.combinations > CATEGORIES and (
            self.alone > MOST_ALONE * self.records
            or self.combinations * FEWEST_TOGETHER > self.records
        )


Count = Callable[[Sets], Sequence[Uniqueness]]
"""Measures some sets of columns of a table, in one pass where it can."""


def protected_first(names: Sequence[str], count: Count) -> tuple[str, ...]:
    """Which of these columns to protect, the most telling first, so that the others may stay raw.

    None if records are not unique or nearly so on all of them together.

    >>> frame = pl.DataFrame({"sex": ["F", "M"] * 15, "salary": range(30)})
    >>> protected_first(["sex", "salary"], count_in(frame))
    ('salary',)
    """
    if not names or not count([names])[0].too_high:
        return ()
    each = dict(zip(names, count([[name] for name in names]), strict=True))
    ordered = sorted(names, key=lambda name: each[name].combinations)
    # More columns single out at least as many records, so the columns to keep can be bisected.
    fits, fails = 0, len(ordered)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if count([ordered[:middle]])[0].too_high:
            fails = middle
        else:
            fits = middle
    return tuple(reversed(ordered[fits:]))


class CombinationCounter:
    """Counts the combinations of rows that come in chunks, by a hash of 64 bits each.

    Above `most` combinations it keeps those in an evenly drawn part of the hashes: all records of
    a combination are kept or none, so what is known of it stays true. Where the unit of each row
    is given, people or households are counted instead of rows.

    >>> counter = CombinationCounter()
    >>> counter.add(pl.DataFrame({"sex": ["F", "M", "F"], "age": [30, 30, 30]}))
    >>> counter.uniqueness()
    Uniqueness(records=3, combinations=2, alone=1)
    """

    def __init__(self, *, most: int = MOST_KEYS) -> None:
        self._most = most
        self._rows = 0
        self._halvings = 0
        self._waiting: list[_Owners] = []
        self._keys = np.empty(0, dtype=np.uint64)
        self._lowest = self._highest = self._keys  # of the owners of each combination
        self._pairs: CombinationCounter | None = None

    def add(self, rows: pl.DataFrame, units: pl.Series | None = None) -> None:
        """Count some rows; all have the same columns, and all have units or none has."""
        keys = hash_rows(rows)
        if units is None:  # each row is its own owner
            owners = np.arange(self._rows, self._rows + rows.height, dtype=np.uint64)
        else:
            owners = hash_rows(units.to_frame())
        self.add_hashes(keys, owners, units=units is not None)

    def add_hashes(
        self, keys: NDArray[np.uint64], owners: NDArray[np.uint64], *, units: bool
    ) -> None:
        """Count rows by the hashes of their combinations and of what they belong to."""
        self._waiting.append((keys, owners, owners))
        self._rows += keys.size
        if units:
            self._pairs = self._pairs or CombinationCounter(most=self._most)
            pairs = hash_rows(pl.DataFrame([pl.Series("k", keys), pl.Series("u", owners)]))
            self._pairs.add_hashes(pairs, pairs, units=False)
        if sum(keys.size for keys, _, _ in self._waiting) >= self._most:
            self._merge()

    def _merge(self) -> None:
        parts = zip((self._keys, self._lowest, self._highest), *self._waiting, strict=True)
        keys, lowest, highest = map(np.concatenate, parts)
        self._waiting = []
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.append(keys.size > 0, keys[1:] != keys[:-1])[: keys.size])
        keys = keys[first]
        kept = np.searchsorted(keys, np.uint64(2 ** (64 - self._halvings) - 1), side="right")
        while kept > self._most:
            self._halvings += 1
            kept = np.searchsorted(keys, np.uint64(2 ** (64 - self._halvings) - 1), side="right")
        if first.size:
            lowest = np.minimum.reduceat(lowest[order], first)
            highest = np.maximum.reduceat(highest[order], first)
        self._keys, self._lowest, self._highest = keys[:kept], lowest[:kept], highest[:kept]

    def uniqueness(self) -> Uniqueness:
        """The figures of all rows, estimated where only a part was counted."""
        self._merge()
        scale = 2**self._halvings
        records = self._rows if self._pairs is None else self._pairs.uniqueness().combinations
        return Uniqueness(
            records=records,
            combinations=min(records, self._keys.size * scale),
            alone=min(records, int((self._lowest == self._highest).sum()) * scale),
        )


_Owners = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]
"""Hashes of combinations, and the lowest and the highest of those that each belongs to."""


class StreamCounts:
    """Measures columns of a table that comes in chunks, while they pass on their way elsewhere.

    Args:
        wanted: the sets to measure on their first way, by the names of all columns.
        read: reads all chunks again, for sets that were not measured then.
        unit: the column of the people or households to count instead of records.
    """

    def __init__(
        self,
        wanted: Callable[[Sequence[str]], Sets],
        read: Callable[[], Iterator[pl.DataFrame]],
        unit: str | None = None,
    ) -> None:
        self._wanted = wanted
        self._read = read
        self._unit = unit
        self._counters: dict[tuple[str, ...], CombinationCounter] = {}
        self.names: list[str] = []
        """The columns of the table, once a chunk has passed."""

    def watch(self, chunks: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """The same chunks, counted as they pass."""
        for chunk in chunks:
            if not self.names:
                self.names = chunk.columns
                self._prepare(self._wanted(self.names))
            self._count(chunk, self._counters)
            yield chunk

    def __call__(self, sets: Sets) -> Sequence[Uniqueness]:
        """The figures of these sets; those not counted yet take another pass."""
        new = self._prepare(sets)
        if new:
            for chunk in self._read():
                self._count(chunk, new)
        return [self._counters[tuple(names)].uniqueness() for names in sets]

    def _prepare(self, sets: Sets) -> dict[tuple[str, ...], CombinationCounter]:
        missing = [key for key in map(tuple, sets) if key not in self._counters]
        new = {key: CombinationCounter() for key in missing}
        self._counters |= new
        return new

    def _count(
        self, chunk: pl.DataFrame, counters: Mapping[tuple[str, ...], CombinationCounter]
    ) -> None:
        units = None if self._unit is None else chunk[self._unit]
        for names, counter in counters.items():
            counter.add(pl.DataFrame([chunk[name] for name in names]), units)


def count_in(frame: pl.DataFrame, units: pl.Series | None = None) -> Count:
    """Measures columns of a frame; by people or households, where the unit of each row is given."""

    def measure(names: Sequence[str]) -> Uniqueness:
        if units is not None:
            counter = CombinationCounter(most=max(1, frame.height))
            counter.add(pl.DataFrame([frame[name] for name in names]), units)
            return counter.uniqueness()
        if len(names) == 1:
            sizes = frame[names[0]].unique_counts().to_numpy()
        else:
            keys = np.sort(hash_rows(pl.DataFrame([frame[name] for name in names])))
            sizes = np.diff(_last_of_equals(keys), prepend=-1)
        return Uniqueness.of(sizes.astype(np.int64))

    return lambda sets: [measure(names) for names in sets]


def count_in_groups(groups: Groups, unit: str | None = None) -> Count:
    """Measures columns by which an engine has grouped a table, the unit among them if given."""
    if unit is not None:
        return count_in(groups.values, groups.values[unit])

    def measure(names: Sequence[str]) -> Uniqueness:
        places = [f"c{number}" for number in range(len(names))]
        frame = pl.DataFrame(
            [
                *(groups.values[name].alias(c) for name, c in zip(names, places, strict=True)),
                pl.Series("size", groups.sizes),
            ]
        )
        sizes = frame.group_by(places).agg(pl.col("size").sum())["size"].to_numpy()
        return Uniqueness.of(sizes.astype(np.int64))

    return lambda sets: [measure(names) for names in sets]


def count_passing(
    chunks: Iterable[tuple[pl.DataFrame, pl.Series | None]], counter: CombinationCounter | None
) -> Iterator[pl.DataFrame]:
    """The same chunks without their units, all their columns counted as they pass if wanted."""
    for chunk, units in chunks:
        if counter is not None:
            counter.add(chunk, units)
        yield chunk


def hash_rows(rows: pl.DataFrame) -> NDArray[np.uint64]:
    """A hash for each row; columns get names of ours, for a user's may be patterns to Polars."""
    named = (pl.Categorical, pl.Enum)
    columns = [
        (series.cast(pl.String) if isinstance(series.dtype, named) else series).alias(f"c{place}")
        for place, series in enumerate(rows)
    ]
    return pl.DataFrame(columns).hash_rows().to_numpy()


def _last_of_equals(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where each run of equal keys ends, of keys in order."""
    return np.flatnonzero(np.append(keys[1:] != keys[:-1], keys.size > 0)[: keys.size])
