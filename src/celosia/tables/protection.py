"""From coded columns to protected ones: the search, and what becomes of each row.

The rows may be the records of a table, or combinations of values that stand for several records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.progress import Progress
from celosia.tables.coding import CodedColumn
from celosia.tables.hierarchies import ROOT
from celosia.tables.models import Classes, hold_all
from celosia.tables.recoding import Found, Lattice, Node, optimum
from celosia.tables.wish import Wish


@dataclass(frozen=True, slots=True, eq=False)
class Protected:
    """The optimum, and the quasi-identifiers as they are released."""

    lattice: Lattice = field(repr=False)
    found: Found
    kept_sizes: NDArray[np.int64] = field(repr=False)
    """The number of records of each class that is kept."""
    hidden: NDArray[np.bool_] = field(repr=False)
    """Which rows are suppressed."""
    released: list[pl.Series] = field(repr=False)
    """Each quasi-identifier of each row: generalised, and `*` where suppressed but not dropped."""


def protect(
    columns: Sequence[CodedColumn],
    counts: NDArray[np.int64] | None,
    wish: Wish,
    progress: Progress,
) -> Protected:
    """Search the lattice of the columns, and recode their rows; `counts` as for `Lattice`."""
    lattice = Lattice(columns, counts)
    found = optimum(lattice, wish.models, suppression=wish.suppression, progress=progress)
    class_of, sizes = lattice.classes_of_rows(found.best.node)
    kept = hold_all(Classes(sizes), wish.models)
    hidden = ~kept[class_of]
    # Whoever is dropped needs no star, so columns left raw can keep their types.
    starred = hidden & (not wish.drop_suppressed)
    released = _released(columns, found.best.node, starred)
    return Protected(lattice, found, sizes[kept], hidden, released)


def _released(
    columns: Sequence[CodedColumn], node: Node, starred: NDArray[np.bool_]
) -> list[pl.Series]:
    if not starred.any():
        return [
            column.labels_at(level) if level > 0 else column.raw()
            for column, level in zip(columns, node, strict=True)
        ]
    stars = pl.Series("stars", starred)
    return [
        pl.select(
            pl.when(stars).then(pl.lit(ROOT)).otherwise(column.labels_at(level)).alias(column.name)
        ).to_series()
        for column, level in zip(columns, node, strict=True)
    ]
