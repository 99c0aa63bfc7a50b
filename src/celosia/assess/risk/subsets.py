"""Which columns make people unique: every small set of columns, and what each column adds.

For a set of columns the records that share no values with another are unique, and knowing the set
finds them. A *minimal sample unique* (MSU) of a record is a set on which it is unique while it is
on no smaller part of it; the fewer columns an MSU has, and the more MSUs a record has, the more
special it is (SUDA: Elliot, Manning, Ford 2002; Manning, Haglin, Keane 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.risk._kernels import refine
from celosia.assess.risk.profile import check_known
from celosia.core.errors import InputError
from celosia.core.messages import Message, say_of
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.frames import as_frame, encode

Subset = tuple[int, ...]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCounts:
    """Counts for one set of columns."""

    columns: Subset
    unique: int
    """Records that are alone."""
    classes: int
    like_pairs: float
    """Pairs of records that are equal here."""
    minimal: Rows
    """Distinct rows that are alone here and on no part of the set."""


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """The rows that are not yet alone on a set of columns, with the group of each."""

    rows: Rows
    groups: NDArray[np.int32]
    alone: int


class Subsets:
    """The distinct rows of a coded table; equal records are one row with a weight."""

    def __init__(self, codes: list[NDArray[np.int32]], weights: NDArray[np.int64]):
        self._codes = codes
        self.weights = weights
        self.rows = weights.size
        self.row_of: NDArray[np.int32] = np.arange(self.rows, dtype=np.int32)
        """The distinct row of each record."""
        slots = 1 << max(4, (2 * self.rows - 1).bit_length())
        self._keys = np.empty(slots, dtype=np.int64)
        self._owners = np.full(slots, -1, dtype=np.int32)

    @classmethod
    def of(cls, codes: Sequence[NDArray[np.int32]], records: int) -> Subsets:
        """The lattice of a table given by codes, of which -1 is an empty cell."""
        shifted = [np.asarray(column, dtype=np.int32) + np.int32(1) for column in codes]
        whole = cls(shifted, np.ones(records, dtype=np.int64))
        row_of = np.zeros(records, dtype=np.int32)
        weights = np.empty(0, dtype=np.int64)
        for column in shifted:
            row_of, weights = refine(row_of, column, whole.weights, whole._keys, whole._owners)
        first = np.empty(weights.size, dtype=np.int64)
        first[row_of[::-1]] = np.arange(records - 1, -1, -1)  # the first record of a row comes last
        merged = cls([column[first] for column in shifted], weights)
        merged.row_of = row_of
        return merged

    def walk(self, largest: int) -> Iterator[SubsetCounts]:
        """Every set of up to `largest` columns, smaller ones first.

        A row that is alone on a part of a set is so on the set, so sizes are walked one by one
        and the flags of one size tell what is minimal in the next.
        """
        before: dict[Subset, NDArray[np.uint8]] = {}
        everyone = _Groups(np.arange(self.rows), np.zeros(self.rows, dtype=np.int32), 0)
        for size in range(1, largest + 1):
            now: dict[Subset, NDArray[np.uint8]] = {}
            for looked, alone in self._descend((), everyone, size, before):
                if size < largest:
                    now[looked.columns] = np.packbits(alone, bitorder="little")
                yield looked
            before = now

    def _descend(
        self, prefix: Subset, held: _Groups, size: int, before: dict[Subset, NDArray[np.uint8]]
    ) -> Iterator[tuple[SubsetCounts, NDArray[np.bool_]]]:
        """The sets of one size that start with these columns."""
        start = prefix[-1] + 1 if prefix else 0
        for column in range(start, len(self._codes) - (size - len(prefix)) + 1):
            subset = (*prefix, column)
            weights = self.weights[held.rows]
            split, sizes = refine(
                held.groups, self._codes[column][held.rows], weights, self._keys, self._owners
            )
            single = sizes[split] == 1
            newly = held.rows[single]
            alone = held.alone + newly.size
            if len(subset) < size:
                rest = _Groups(held.rows[~single], split[~single], alone)
                yield from self._descend(subset, rest, size, before)
                continue
            minimal = newly
            for part in combinations(subset, size - 1) if size > 1 else ():
                minimal = minimal[~_flags(before[part], minimal)]
            flags = np.ones(self.rows, dtype=np.bool_)
            flags[held.rows[~single]] = False
            pairs = float((sizes * (sizes - 1.0)).sum() / 2)
            yield SubsetCounts(subset, alone, held.alone + sizes.size, pairs, minimal), flags


def _flags(bits: NDArray[np.uint8], rows: Rows) -> NDArray[np.bool_]:
    return np.asarray((bits[rows >> 3] >> (rows & 7).astype(np.uint8)) & 1, dtype=np.bool_)


MOST_SUBSETS = 50_000
"""How many sets of columns are looked at unless the caller allows more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetRisk:
    """The risk from an attacker who knows these columns."""

    columns: tuple[str, ...]
    unique: float
    """Share of the records that are alone with their values."""
    average: float
    """Chance of picking a random record rightly: classes / records (distinction)."""
    separation: float
    """Share of the pairs of records that differ on these columns."""
    minimal: int
    """Records of which this set is a minimal sample unique."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRisks:
    """How much columns, alone and together, single records out."""

    columns: tuple[str, ...]
    records: int
    at_most: int
    """The largest sets that were looked at."""
    subsets: tuple[SubsetRisk, ...]
    """Every set up to that size, the smallest first."""
    contributions: dict[str, float]
    """What a column adds to the share of unique records: averaged over the sets it can join, first
    of each size and then over sizes. This is the Shapley value if all sets were looked at."""
    minimal_keys: tuple[tuple[str, ...], ...]
    """Sets on which every record is unique, and no part of them is such."""
    minimal_unique_sets: tuple[tuple[str, ...], ...]
    """Sets on which at least one record is unique, and none is on a part of them."""
    suda: NDArray[np.float64] = field(repr=False, compare=False)
    """A score for each record: see `suda_weight`."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the scores are per record, so only how many are above 0."""
        names = ("columns", "records", "at_most", "minimal_keys", "minimal_unique_sets")
        plain = {name: getattr(self, name) for name in names}
        plain["subsets"] = [asdict(subset) for subset in self.subsets]
        plain["contributions"] = dict(self.contributions)
        plain["special_records"] = int((self.suda > 0).sum())
        return plain

    def __str__(self) -> str:
        most = max(self.contributions, key=self.contributions.__getitem__)
        special = int((self.suda > 0).sum())
        return say_of("assess.line.columns", self, special=special, most=most)


def column_risks(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    at_most: int = 3,
    most_subsets: int = MOST_SUBSETS,
    progress: Progress = silent,
) -> ColumnRisks:
    """The risk of every set of up to `at_most` columns; all columns unless some are named.

    Empty cells count as one value of their own. More sets than `most_subsets` are refused.

    >>> import polars as pl
    >>> table = pl.DataFrame({"sex": ["F", "F", "M", "M"], "age": [30, 40, 30, 30]})
    >>> found = column_risks(table)
    >>> [(subset.columns, subset.unique) for subset in found.subsets]
    [(('sex',), 0.0), (('age',), 0.25), (('sex', 'age'), 0.5)]
    >>> found.suda.tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    frame = as_frame(data)
    names = list(dict.fromkeys(frame.columns if columns is None else columns))
    largest, total = check_sets(names, at_most, most_subsets)
    check_known(names, frame.columns)
    codes = [encode(frame.get_column(name).alias("cell")).codes for name in names]
    lattice = Subsets.of(codes, frame.height)
    pairs = frame.height * (frame.height - 1) / 2
    found: dict[Subset, SubsetRisk] = {}
    scores = np.zeros(lattice.rows, dtype=np.float64)
    for place, looked_at in enumerate(lattice.walk(largest), 1):
        minimal = looked_at.minimal
        scores[minimal] += suda_weight(len(looked_at.columns), largest, len(names))
        found[looked_at.columns] = SubsetRisk(
            columns=tuple(names[column] for column in looked_at.columns),
            unique=looked_at.unique / frame.height if frame.height else 0.0,
            average=looked_at.classes / frame.height if frame.height else 0.0,
            separation=1 - looked_at.like_pairs / pairs if pairs else 1.0,
            minimal=minimal.size,
        )
        progress(Step(Message("assess.stage.columns"), place, total))
    keys = {subset for subset, risk in found.items() if risk.unique == 1}
    some = {subset for subset, risk in found.items() if risk.unique > 0}
    return ColumnRisks(
        columns=tuple(names),
        records=frame.height,
        at_most=largest,
        subsets=tuple(found.values()),
        contributions=dict(zip(names, _contributions(found, len(names), largest), strict=True)),
        minimal_keys=tuple(found[subset].columns for subset in _minimal(keys)),
        minimal_unique_sets=tuple(found[subset].columns for subset in _minimal(some)),
        suda=scores[lattice.row_of],
    )


def suda_weight(size: int, at_most: int, columns: int) -> float:
    """What an MSU of this size adds to the SUDA score of its record.

    With M columns and MSUs sought up to size m, an MSU of size k adds the product of (M - i) for
    i from k to min(m, M - 1): the sets of at most m + 1 columns above it, in the order they grow.

    >>> [suda_weight(size, 3, 5) for size in (1, 2, 3)]
    [24.0, 6.0, 2.0]
    """
    return float(prod(columns - i for i in range(size, min(at_most, columns - 1) + 1)))


def check_sets(names: Sequence[str], at_most: int, most_subsets: int) -> tuple[int, int]:
    """The largest size to look at, and how many sets; refused if senseless or too much work.

    Raises:
        InputError: CEL-A002 no column, CEL-A024 no such size, CEL-A025 too many sets.
    """
    if not names:
        raise InputError("CEL-A002.no_columns")
    wanted, limit = whole(at_most), whole(most_subsets)
    if wanted is None or wanted < 1 or limit is None or limit < 1:
        raise InputError("CEL-A024", at_most=at_most, most_subsets=most_subsets)
    largest = min(wanted, len(names))
    counts = np.cumsum([float(comb(len(names), size)) for size in range(1, largest + 1)])
    if counts[-1] > limit:
        fits = int((counts <= limit).sum())
        raise InputError(
            "CEL-A025.smaller_sets" if fits else "CEL-A025.none_fits",
            sets=counts[-1],
            limit=limit,
            fits=fits,
            columns=len(names),
            at_most=largest,
        )
    return largest, int(counts[-1])


def _minimal(sets: set[Subset]) -> list[Subset]:
    """The sets of which no part is a member; membership must be inherited by larger sets."""
    return sorted(
        (
            subset
            for subset in sets
            if not any(part in sets for part in combinations(subset, len(subset) - 1))
        ),
        key=lambda subset: (len(subset), subset),
    )


def _contributions(found: dict[Subset, SubsetRisk], columns: int, largest: int) -> list[float]:
    """For each column its mean gain in uniqueness, over the sets of each size and then sizes."""
    gains = np.zeros((columns, largest), dtype=np.float64)
    for subset, risk in found.items():
        for place, column in enumerate(subset):
            rest = subset[:place] + subset[place + 1 :]
            before = found[rest].unique if rest else 0.0
            gains[column, len(subset) - 1] += risk.unique - before
    joined = np.array([comb(columns - 1, size) for size in range(largest)], dtype=np.float64)
    return [float(gain) for gain in (gains / joined).mean(axis=1)]
