"""Differentially private contingency tables whose margins agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import check_list, parameter
from celosia.core.numbers import whole
from celosia.core.progress import Step
from celosia.frames import pick
from celosia.mechanisms import GaussianCounts, Geometric
from celosia.tables.masking.method import MethodResult, Work
from celosia.tables.private.consistency import (
    Axes,
    least_squares,
    project_onto_simplex,
    whole_numbers,
)
from celosia.tables.private.declarations import PublicColumn
from celosia.tables.private.histogram import COUNTS, ROWS, draw_rows
from celosia.tables.private.method import (
    DeclaredMethod,
    check_astray,
)
from celosia.tables.synthesis.checks import MOST_ROWS, NEW_ROWS, check_whole_table

MOST_CELLS = 2**22
"""Of the whole table, each cell of which gets noise."""
COUNT = "count"
"""The column of counts."""


def _check_orders(value: Any) -> tuple[int, ...]:
    found = [whole(order) for order in check_list(value)]
    orders = tuple(order for order in found if order is not None and order >= 0)
    if len(orders) < len(found):
        raise ValueError
    return orders


@dataclass(frozen=True, slots=True, kw_only=True)
class Contingency(DeclaredMethod):
    """The counts of all combinations of declared values, with noise, or rows drawn from them.

    The whole table is counted with noise, and so are its margins of the wanted `orders` (0 is the
    total, 1 every column alone, 2 every pair, ...). All of them are combined by least squares into
    one table, which is moved to the nearest one without counts below 0 and rounded to whole
    numbers; so every margin of it agrees with every other. Margins of their own help large tables,
    whose sums would gather the noise of many cells; a small table is best counted alone.

    As `counts` the table has a row for each combination with its `count`; as `rows` it looks like
    the table that was given.

    Columns are declared by `domains`, or by `bounds` cut into `bins`. A number beyond its bounds is
    clamped; a value that is not listed and an empty cell are one more value, released as empty.

    Guarantee: epsilon-DP, or (epsilon, delta)-DP, when neighbours add or remove one row, which
    moves one cell of the table and one of each margin by 1; they have equal shares of the budget.
    Declarations must not depend on the data.

    Reference: Barak et al. 2007, Privacy, accuracy and consistency too, PODS; Hay et al. 2010,
    Boosting the accuracy of differentially private histograms through consistency.
    """

    method_name: ClassVar[str] = "contingency"

    orders: tuple[int, ...] = parameter(
        (), check=_check_orders, allowed="tables.must_be.whole_numbers", example="[1, 2]"
    )
    output: Literal["counts", "rows"] = COUNTS
    rows: int | None = parameter(None, like=NEW_ROWS)

    def _margins(self, columns: int) -> list[Axes]:
        """The axes of all margins that are counted, the whole table last."""
        sizes = sorted({order for order in self.orders if order < columns} | {columns})
        return [axes for size in sizes for axes in combinations(range(columns), size)]

    def _noise(self, columns: int) -> Geometric | GaussianCounts:
        return self.budget.count_noise(Fraction(1, len(self._margins(columns))))

    def privacy_loss(self, columns: Sequence[str]) -> Loss:
        """The losses of the table and its margins together."""
        size = len(columns)
        return ComposedLoss((self._noise(size).privacy_loss(),) * len(self._margins(size)))

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        public = self._declared().columns(frame.schema, columns)
        self._check_size(public)
        shape = tuple(column.size for column in public)
        exact = _table(public, frame)
        noise = self._noise(len(columns))
        loss = self.privacy_loss(columns)  # refuses what cannot be drawn, before anything is
        if self.output == ROWS:
            check_astray(self.rows, variance=noise.variance, cells=prod(shape))
        margins, wanted = {}, self._margins(len(columns))
        for place, axes in enumerate(wanted):
            work.progress(Step(Message("masking.stage.counting_noise"), place, len(wanted)))
            others = tuple(axis for axis in range(len(shape)) if axis not in axes)
            counts = np.atleast_1d(exact.sum(axis=others))
            noisy = noise.release(counts.ravel(), rng=work.rng).astype(np.float64)
            margins[axes] = noisy.reshape(tuple(shape[axis] for axis in axes))
        # From here on only released numbers are used.
        best = least_squares(margins, dict.fromkeys(wanted, noise.variance), shape)
        total = max(round(float(best.sum())), 0)
        counts = whole_numbers(project_onto_simplex(best.reshape(1, -1), np.array([total]))[0])
        if self.output == COUNTS:
            released = _listing(public, counts, shape)
        else:
            count = min(total, MOST_ROWS) if self.rows is None else self.rows
            codes = np.unravel_index(draw_rows(counts, count, work.rng), shape)
            made = [
                column.series(np.asarray(code, dtype=np.int64), work.rng)
                for column, code in zip(public, codes, strict=True)
            ]
            released = pick(pl.DataFrame(made), frame.columns)
        return MethodResult(
            frame=released,
            facts={
                "rows": released.height,
                "cells": prod(shape),
                "margins": len(wanted),
                "deviation of counts": noise.variance**0.5,
                "loss": loss.as_dict(),
            },
            synthetic=True,
        )

    def _check_size(self, public: Sequence[PublicColumn]) -> None:
        cells = prod(column.size for column in public)
        if cells > MOST_CELLS:
            raise InputError("CEL-Y024", cells=cells, most_cells=MOST_CELLS)
        if self.output == COUNTS and COUNT in [column.name for column in public]:
            raise InputError("CEL-Y025", count=COUNT)


def _table(public: Sequence[PublicColumn], frame: pl.DataFrame) -> NDArray[np.int64]:
    """The exact counts: one row more or less moves one cell by 1."""
    cells = np.zeros(frame.height, dtype=np.int64)
    for column in public:
        cells = cells * column.size + column.codes(frame[column.name])  # below MOST_CELLS
    shape = tuple(column.size for column in public)
    return np.bincount(cells, minlength=prod(shape)).reshape(shape).astype(np.int64)


def _listing(
    public: Sequence[PublicColumn], counts: NDArray[np.int64], shape: tuple[int, ...]
) -> pl.DataFrame:
    """A row for each combination, in the order of the declarations."""
    places = np.unravel_index(np.arange(counts.size), shape)
    cells = [
        column.labels().gather(place).alias(column.name)
        for column, place in zip(public, places, strict=True)
    ]
    return pl.DataFrame([*cells, pl.Series(COUNT, counts)])
