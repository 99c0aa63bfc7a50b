"""Magnitude tables: sums of a value over one to three dimensions, with all their totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean, say
from celosia.core.numbers import whole
from celosia.frames import as_frame, as_text, encode
from celosia.tables.masking.method import cells

MOST_DIMENSIONS = 3
MOST_CELLS = 200_000

Cell = tuple[int, ...]
"""A place in a table: the category in each dimension, the last of which is the total."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MagnitudeTable:
    """The sum of a value in each cell, with who contributes; totals are last in each dimension.

    It holds what must not be published as it stands: `protect` does that.
    """

    by: tuple[str, ...]
    """The dimensions."""
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    """The categories of each dimension, the total last."""
    value: str
    """What is summed."""
    values: NDArray[np.float64] = field(repr=False)
    """The sums, one axis a dimension."""
    counts: NDArray[np.int64] = field(repr=False)
    """How many contributors each cell has."""
    largest: NDArray[np.float64] = field(repr=False)
    """The largest contributions of each cell along a last axis, zero where there are fewer."""
    sole: NDArray[np.int64] = field(repr=False)
    """The number of the contributor of a cell that has only one, else -1."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many categories each dimension has, its total included."""
        return self.values.shape

    def cells(self) -> Iterator[Cell]:
        """All places, in order."""
        return product(*map(range, self.shape))

    def label(self, cell: Cell) -> tuple[str, ...]:
        """The categories of a place."""
        return tuple(names[place] for names, place in zip(self.labels, cell, strict=True))

    def known_part(self, cell: Cell, insider: int) -> float:
        """What a contributor knows to be in a cell: the inner cells of it that are his alone."""
        inner = tuple(
            slice(0, -1) if place == size - 1 else slice(place, place + 1)
            for place, size in zip(cell, self.shape, strict=True)
        )
        is_inner = all(place < size - 1 for place, size in zip(cell, self.shape, strict=True))
        his = self.sole[inner] == insider
        return 0.0 if is_inner else float(self.values[inner][his].sum())

    def frame(self) -> pl.DataFrame:
        """One row a cell: for the officer, as it shows every value and the largest contributors."""
        return self.labelled(
            {
                self.value: self.values,
                "contributors": self.counts,
                "largest": self.largest[..., 0],
                "second_largest": self.largest[..., 1],
            }
        )

    def labelled(self, columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
        """One row a cell: its categories, then arrays of the table's shape.

        A name that a dimension has already gets an underscore.
        """
        texts = zip(*(self.label(cell) for cell in self.cells()), strict=True)
        made = [
            pl.Series(name, text, dtype=pl.String)
            for name, text in zip(self.by, texts, strict=True)
        ]
        taken = set(self.by)
        for name, array in columns.items():
            free = name
            while free in taken:
                free += "_"
            taken.add(free)
            series = pl.Series(array.reshape(-1))
            made.append((series.fill_nan(None) if series.dtype.is_float() else series).alias(free))
        return pl.DataFrame(made)

    def as_dict(self) -> dict[str, Any]:
        """What the table is about, without its cells."""
        return {
            "by": list(self.by),
            "value": self.value,
            "categories": [len(names) - 1 for names in self.labels],
            "cells": int(self.values.size),
            "contributors": int(self.counts[(-1,) * len(self.by)]),
        }

    def __str__(self) -> str:
        return say(
            "tables.report.magnitude_table",
            value=self.value,
            columns=" x ".join(self.by),
            cells=self.values.size,
        )


def magnitude_table(
    data: Any,
    *,
    by: Sequence[str],
    value: str,
    unit: str | None = None,
    largest: int = 3,
    total: str = "Total",
) -> MagnitudeTable:
    """Sum a value of a table over one to three columns, with all totals.

    Args:
        data: the records.
        by: one to three columns whose values are the categories.
        value: the column that is summed; numbers of at least 0.
        unit: the column that says who a record belongs to; the records of a unit in a cell are one
            contribution. By default each record is a contributor of its own.
        largest: how many contributions of each cell to keep; a dominance rule needs its n.
        total: what a total is called.

    Raises:
        InputError: CEL-V310 .. CEL-V318, before anything is computed.

    >>> firms = pl.DataFrame({"region": ["n", "n", "s"], "sales": [10, 5, 7]})
    >>> magnitude_table(firms, by=["region"], value="sales").values.tolist()
    [15.0, 7.0, 22.0]
    """
    frame = as_frame(data)
    _check(frame, by, value, unit, largest)
    places, labels = [], []
    for name in by:
        coded = encode(cells(frame, name))
        texts = as_text(coded.values).to_list()
        if total in texts:
            raise InputError("CEL-V314", column=name)
        places.append(coded.codes.astype(np.int64))
        labels.append((*texts, total))
    shape = tuple(map(len, labels))
    if prod(shape) > MOST_CELLS:
        raise InputError("CEL-V315", cells=prod(shape), most_cells=MOST_CELLS)
    amounts = cells(frame, value).cast(pl.Float64).to_numpy()
    units = None if unit is None else encode(cells(frame, unit)).codes.astype(np.int64)
    values = np.zeros(shape)
    counts = np.zeros(shape, dtype=np.int64)
    top = np.zeros((*shape, largest))
    sole = np.full(shape, -1, dtype=np.int64)
    owners = np.arange(frame.height) if units is None else units
    for totals in product((False, True), repeat=len(by)):
        cell = np.ravel_multi_index(
            tuple(
                np.full(frame.height, size - 1) if is_total else place
                for place, size, is_total in zip(places, shape, totals, strict=True)
            ),
            shape,
        )
        of_cell, amount, owner = _contributions(cell, amounts, owners)
        flat = (values.reshape(-1), counts.reshape(-1), sole.reshape(-1))
        _add_up(of_cell, amount, owner, flat, top.reshape(-1, largest))
    return MagnitudeTable(
        by=tuple(by),
        labels=tuple(labels),
        value=value,
        values=values,
        counts=counts,
        largest=top,
        sole=sole,
    )


def _contributions(
    cell: NDArray[np.int64], amounts: NDArray[np.float64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """The cell, amount and owner of each contribution: what an owner has in a cell is one."""
    # Both factors are below the number of cells and of rows, so the product is within 64 bits.
    many = int(owners.max()) + 1
    pairs, place = np.unique(cell * many + owners, return_inverse=True)
    summed = np.bincount(place.reshape(-1), weights=amounts).astype(np.float64)
    return pairs // many, summed, pairs % many


def _add_up(
    cell: NDArray[np.int64],
    amounts: NDArray[np.float64],
    owners: NDArray[np.int64],
    flat: tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]],
    top: NDArray[np.float64],
) -> None:
    """Write sums, numbers, sole owners and largest contributions of the cells that occur."""
    values, counts, sole = flat
    order = np.lexsort((-amounts, cell))
    cell, amounts, owners = cell[order], amounts[order], owners[order]
    start = np.flatnonzero(np.diff(cell, prepend=-1))
    size = np.diff(np.append(start, cell.size))
    found = cell[start]
    values[found] = np.add.reduceat(amounts, start)
    counts[found] = size
    sole[found] = np.where(size == 1, owners[start], -1)
    for rank in range(top.shape[1]):
        enough = size > rank
        top[found[enough], rank] = amounts[start[enough] + rank]


def _check(
    frame: pl.DataFrame, by: Sequence[str], value: str, unit: str | None, largest: int
) -> None:
    if isinstance(by, str) or not 1 <= len(by) <= MOST_DIMENSIONS or len(set(by)) < len(by):
        raise InputError("CEL-V310", most_dimensions=MOST_DIMENSIONS)
    named = [*by, value] if unit is None else [*by, value, unit]
    for name in named:
        if name not in frame.columns:
            raise InputError("CEL-V317", hint=did_you_mean(name, frame.columns), column=name)
    if value in by or not cells(frame, value).dtype.is_numeric():
        raise InputError("CEL-V311", column=value)
    if not frame.height:
        raise InputError("CEL-V316")
    for name in named:
        empty = cells(frame, name).null_count()
        if name == value and cells(frame, name).dtype.is_float():
            empty += int(cells(frame, name).is_nan().sum())
        if empty:
            raise InputError("CEL-V312", empty=empty, column=name)
    amounts = cells(frame, value).cast(pl.Float64).to_numpy()
    if not np.isfinite(amounts).all():
        raise InputError("CEL-V318", column=value)
    if (amounts < 0).any():
        raise InputError("CEL-V313", cells=int((amounts < 0).sum()), column=value)
    if (whole(largest) or 0) < 2:
        raise InputError("CEL-V319", largest=largest)
