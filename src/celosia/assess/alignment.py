"""An original table and its masked table as two matrices with matched records.

Amounts are numbers; categories are codes over the values of both tables; an empty cell is NaN.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.meaning import SUPPRESSED
from celosia.assess.utility.aggregates import limits_of
from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.frames import TableLike, as_frame, as_text, encode

LARGEST = 1e100
"""Amounts up to which the sum of the squares of a table cannot overflow."""


@dataclass(frozen=True, slots=True, eq=False)
class AlignedTables:
    """Two tables over the same columns, ready to be linked and measured; made by `align`."""

    columns: tuple[str, ...]
    before: NDArray[np.float64]
    """The original, one line a record; NaN for an empty cell."""
    after: NDArray[np.float64]
    """The masked table over the same numbers and codes; a suppressed cell is empty."""
    nominal: NDArray[np.bool_]
    """Which columns are categories, whose codes can only be equal or not."""
    rows: NDArray[np.int64] | None
    """The original record of each masked one; None where there is none (a synthetic table)."""

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns that hold amounts."""
        return tuple(
            name for name, is_code in zip(self.columns, self.nominal, strict=True) if not is_code
        )

    def origins(self) -> NDArray[np.int64]:
        """The original record of each masked one.

        Raises:
            InputError: CEL-A206 the masked table is synthetic, so no record comes from another.
        """
        if self.rows is None:
            raise InputError("CEL-A206")
        return self.rows

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The columns of amounts alone, before and after.

        Raises:
            InputError: CEL-A207 there are none.
        """
        amounts = ~self.nominal
        if not amounts.any():
            raise InputError("CEL-A207")
        return self.before[:, amounts], self.after[:, amounts]

    def place(self, name: str) -> int:
        """The position of a column.

        Raises:
            InputError: CEL-A201 there is no such column.
        """
        if name not in self.columns:
            raise _unknown(name, self.columns, Message("assess.table.comparison"))
        return self.columns.index(name)

    def only(self, columns: Sequence[str]) -> AlignedTables:
        """The same tables over some of the columns."""
        places = [self.place(name) for name in columns]
        return AlignedTables(
            tuple(columns),
            self.before[:, places],
            self.after[:, places],
            self.nominal[places],
            self.rows,
        )

    def __repr__(self) -> str:
        # Cells stay out: a representation ends up in logs and tracebacks.
        return (
            f"AlignedTables(columns={len(self.columns)}, before={len(self.before)}, "
            f"after={len(self.after)})"
        )


def align(
    original: TableLike,
    masked: TableLike,
    columns: Sequence[str] | None = None,
    *,
    rows: Sequence[int] | NDArray[np.int64] | None = None,
    nominal: Collection[str] = (),
    synthetic: bool = False,
) -> AlignedTables:
    """Put an original table and a masked or synthetic one side by side.

    A column holds amounts where it is numeric (or a date or time) in both tables, or numeric in the
    original and made of intervals such as `[20, 30[` in the masked one, which count by their
    middle. All others are categories, compared as text; `*` is an empty cell.

    Args:
        original: the table before.
        masked: the table after, perhaps with fewer rows or in another order.
        columns: what to compare; by default every column that both have.
        rows: the row of the original, from 0, that each masked row comes from; by default the same.
        nominal: columns of numbers that are only names, such as postal codes.
        synthetic: the masked rows are new and come from no row.

    Raises:
        InputError: CEL-A200 no columns, CEL-A201 unknown column, CEL-A202 rows that do not fit,
            CEL-A203 tables of different lengths without rows, CEL-A204 an empty table, CEL-A205
            infinite or immense values.

    >>> align({"age": [29, 31]}, {"age": [30, 30]})
    AlignedTables(columns=1, before=2, after=2)
    """
    before, after = as_frame(original), as_frame(masked)
    names = _names(before, after, columns)
    for table, frame in (
        (Message("assess.table.original_table"), before),
        (Message("assess.table.masked"), after),
    ):
        if not frame.height:
            raise InputError("CEL-A204", table=table)
    found = [
        _column(before.get_column(name), after.get_column(name), as_codes=name in nominal)
        for name in names
    ]
    return AlignedTables(
        columns=tuple(names),
        before=np.column_stack([column[0] for column in found]),
        after=np.column_stack([column[1] for column in found]),
        nominal=np.array([column[2] for column in found]),
        rows=None if synthetic else _rows(rows, before.height, after.height),
    )


def rows_by(original: TableLike, masked: TableLike, identifier: str) -> NDArray[np.int64]:
    """The original row of each masked row, by an identifier that both tables hold.

    Raises:
        InputError: CEL-A201 no such column; CEL-A208 identifiers that are empty or come twice in
            the original, or masked ones that it does not have.

    >>> rows_by({"id": ["a", "b"]}, {"id": ["b", "a"]}, "id").tolist()
    [1, 0]
    """
    before, after = as_frame(original), as_frame(masked)
    for table, frame in (
        (Message("assess.table.original"), before),
        (Message("assess.table.masked"), after),
    ):
        if identifier not in frame.columns:
            raise _unknown(identifier, frame.columns, table)
    known = as_text(before.get_column(identifier)).alias("id")
    wanted = as_text(after.get_column(identifier)).alias("id")
    faulty = known.null_count() + len(known) - known.n_unique()
    numbered = pl.DataFrame({"id": known}).with_row_index("row")
    found = pl.DataFrame({"id": wanted})
    if not faulty:
        joined = found.join(numbered, on="id", how="left", maintain_order="left")["row"]
        faulty = joined.null_count()
    if faulty:
        raise InputError("CEL-A208", faulty=faulty, column=identifier)
    return joined.to_numpy().astype(np.int64)


def _names(before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str] | None) -> list[str]:
    wanted = before.columns if columns is None else list(dict.fromkeys(columns))
    if columns is None:
        wanted = [name for name in wanted if name in after.columns]
    for name in wanted:
        for table, frame in (
            (Message("assess.table.original"), before),
            (Message("assess.table.masked"), after),
        ):
            if name not in frame.columns:
                raise _unknown(name, frame.columns, table)
    if not wanted:
        raise InputError("CEL-A200.none_shared")
    return wanted


def _unknown(name: str, known: Sequence[str], table: Message) -> InputError:
    return InputError("CEL-A201", table=table, hint=did_you_mean(name, known), column=name)


def _rows(
    rows: Sequence[int] | NDArray[np.int64] | None, before: int, after: int
) -> NDArray[np.int64]:
    if rows is None:
        if before != after:
            raise InputError("CEL-A203", before=before, after=after)
        return np.arange(before, dtype=np.int64)
    places = np.asarray(rows)
    fits = places.shape == (after,) and places.dtype.kind in "iu"
    if not fits or places.min() < 0 or places.max() >= before:
        raise InputError("CEL-A202", after=after, before=before - 1)
    return places.astype(np.int64)


def _column(
    before: pl.Series, after: pl.Series, *, as_codes: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    amounts = None if as_codes else _amounts(before, after)
    if amounts is not None:
        for values in amounts:
            if (np.abs(values) > LARGEST).any():
                raise InputError("CEL-A205", largest=LARGEST, column=before.name)
        return (*amounts, False)
    texts = [as_text(_without_nan(series)).alias("cell") for series in (before, after)]
    if SUPPRESSED not in texts[0].unique():
        texts[1] = texts[1].replace(SUPPRESSED, None)
    codes = encode(pl.concat(texts)).codes.astype(np.float64)
    codes[codes < 0] = np.nan
    return codes[: len(before)], codes[len(before) :], True


def _amounts(
    before: pl.Series, after: pl.Series
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Both sides as numbers, or None where they are categories."""
    if before.dtype.is_numeric() and after.dtype.is_numeric():
        return _floats(before), _floats(after)
    if before.dtype.is_temporal() and before.dtype == after.dtype:
        return _floats(before.to_physical()), _floats(after.to_physical())
    if before.dtype.is_numeric() and after.dtype == pl.String:
        middles = _middles(after)
        return None if middles is None else (_floats(before), middles)
    return None


def _floats(series: pl.Series) -> NDArray[np.float64]:
    return np.array(series.cast(pl.Float64).to_numpy(), dtype=np.float64)


def _middles(labels: pl.Series) -> NDArray[np.float64] | None:
    """The middle of each interval; None where a label names no number."""
    coded = encode(labels)
    middles = []
    for label in coded.values.to_list():
        limits = limits_of(label)
        if limits is None and label != SUPPRESSED:
            return None
        middles.append(np.nan if limits is None else float(sum(limits) / 2))
    return np.array([*middles, np.nan])[coded.codes]  # code -1, an empty cell, picks the last


def _without_nan(series: pl.Series) -> pl.Series:
    return series.fill_nan(None) if series.dtype.is_float() else series
