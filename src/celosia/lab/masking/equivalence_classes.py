"""The classes of a small table as models see them: sizes, diversity, closeness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.attacks.classes import Classes, texts_of
from celosia.frames import encode
from celosia.tables import models
from celosia.tables.models import Histogram, SensitiveColumn, TCloseness


@dataclass(frozen=True, slots=True, eq=False)
class EquivalenceClasses:
    """The classes of a table in the order of their first rows."""

    members: tuple[tuple[int, ...], ...]
    """The rows of each class, from 1."""
    distinct: tuple[int, ...]
    """Different sensitive values of each."""
    distances: tuple[float, ...]
    """Between the sensitive values of each and of all, all values being equally far apart."""

    @classmethod
    def of(cls, frame: pl.DataFrame, keys: Sequence[str], sensitive: str) -> EquivalenceClasses:
        """Group the records that look alike."""
        of_row = Classes.of(texts_of(frame, list(keys))).of_row
        found, first, sizes = np.unique(of_row, return_index=True, return_counts=True)
        coded = encode(frame[sensitive])
        totals = np.bincount(coded.codes).astype(np.int64)
        rows = Histogram.of_rows(
            SensitiveColumn(sensitive, totals), of_row, coded.codes.astype(np.int32), found.size
        )
        classes = models.Classes(sizes.astype(np.int64), {sensitive: rows})
        apart = TCloseness(1.0, column=sensitive).distances(classes)
        order = np.argsort(first)
        return cls(
            tuple(_rows(of_row == found[each]) for each in order),
            tuple(int(np.diff(rows.starts)[each]) for each in order),
            tuple(float(apart[each]) for each in order),
        )

    @property
    def k(self) -> int:
        """The size of the smallest class."""
        return min(map(len, self.members))

    @property
    def unique(self) -> tuple[int, ...]:
        """The rows that are alone."""
        return tuple(each[0] for each in self.members if len(each) == 1)

    @property
    def discernibility(self) -> int:
        """The sum of the squared sizes (DM)."""
        return sum(len(each) ** 2 for each in self.members)


def format_groups(groups: Sequence[Sequence[int]]) -> str:
    """Groups as one text.

    >>> format_groups([(1, 3), (2,)])
    '{1,3} {2}'
    """
    return " ".join("{" + ",".join(map(str, group)) + "}" for group in groups)


def _rows(chosen: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple((np.flatnonzero(chosen) + 1).tolist())
