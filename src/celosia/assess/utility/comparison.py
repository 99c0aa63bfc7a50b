"""The original and the released table side by side, as codes that every measure uses.

Rows are never matched: a release may be shuffled, and its suppressed records may be gone. What is
compared is how often values occur, alone and together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.meaning import SUPPRESSED, Meaning
from celosia.assess.utility.column_pair import ColumnPair, holds_amounts, pair_column
from celosia.assess.utility.spread import SpreadRule
from celosia.core.errors import InputError
from celosia.core.messages import Message, quoted_names
from celosia.frames import TableLike, as_frame, as_text


@dataclass(frozen=True, slots=True, eq=False)
class Combinations:
    """The distinct combinations of codes in a table, and how many rows have each."""

    codes: NDArray[np.int32]
    """One line for each combination, one column for each column of the table."""
    counts: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two tables over the same columns, ready to be measured; made by `compare`."""

    columns: tuple[ColumnPair, ...]
    rows_before: int
    rows_after: int
    suppressed: int
    """Released records with `*` in every generalised column."""
    is_aligned: bool
    """Whether row i of the release is known to be row i of the original."""

    def column(self, name: str) -> ColumnPair:
        """The column of that name.

        Raises:
            InputError: CEL-A071 there is none.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise _unknown(
            [name], [column.name for column in self.columns], Message("assess.table.comparison")
        )

    def before(self) -> Combinations:
        """The distinct rows of the original."""
        return _combinations([column.before for column in self.columns])

    def after(self) -> Combinations:
        """The distinct rows of the release, as labels."""
        return _combinations([column.after for column in self.columns])

    def __repr__(self) -> str:
        # Values and labels stay out: a representation ends up in logs and tracebacks.
        return (
            f"Comparison(columns={len(self.columns)}, rows_before={self.rows_before}, "
            f"rows_after={self.rows_after}, suppressed={self.suppressed})"
        )


def compare(
    original: TableLike,
    released: TableLike,
    columns: Sequence[str],
    *,
    meanings: Mapping[str, Meaning] | None = None,
    numeric: Collection[str] | None = None,
    spread: SpreadRule = "uniform",
    drop_suppressed: bool = False,
    aligned: bool = False,
) -> Comparison:
    """Put an original table and its release side by side.

    Args:
        original: the table before; its cells are raw values.
        released: the table after, in any row order, perhaps with fewer rows.
        columns: what to compare.
        meanings: for each generalised column, what its labels may stand for; the other columns are
            compared as they are, and `*` in them may be any value.
        numeric: the columns that hold amounts; by default those with a numeric type in the
            original. Codes that look like numbers are better left out.
        spread: how a label counts that stands for several values: evenly for each of them, or in
            proportion to the original distribution, which a reader of the release does not know.
        drop_suppressed: leave out records with `*` in every generalised column, rather than
            spread each of them over everything.
        aligned: row i of the release is row i of the original. The claim is refused where a
            label of a generalised column shows that it is false.

    Empty cells are a value of their own, "(missing)"; `*` may stand for it where a column has it.

    Raises:
        InputError: CEL-A070 no columns or rows, CEL-A071 unknown column, CEL-A072 original values
            that the meaning does not know, CEL-A073 labels that mean nothing, CEL-A074 amounts that
            are not numbers, CEL-A075 aligned tables of different lengths, CEL-A076 a spread that
            does not exist, CEL-A083 tables that are not aligned.

    >>> compare({"age": [29, 31]}, {"age": [29, 30]}, ["age"])
    Comparison(columns=1, rows_before=2, rows_after=2, suppressed=0)
    """
    before, after = as_frame(original), as_frame(released)
    names = list(dict.fromkeys(columns))
    known = meanings or {}
    _check_tables(before, after, names, aligned=aligned)
    _check_choices(names, numeric, spread)
    hidden = suppressed_rows(after, [name for name in names if name in known] or names)
    kept = after.filter(~hidden) if drop_suppressed and not hidden.all() else after
    found = tuple(
        pair_column(
            before.get_column(name),
            kept.get_column(name),
            known.get(name),
            is_numeric=holds_amounts(before.get_column(name), known.get(name))
            if numeric is None
            else name in numeric,
            spread=spread,
        )
        for name in names
    )
    is_aligned = aligned and kept.height == before.height
    if is_aligned:
        _check_aligned([column for column in found if column.name in known])
    return Comparison(
        columns=found,
        rows_before=before.height,
        rows_after=kept.height,
        suppressed=int(hidden.sum()),
        is_aligned=is_aligned,
    )


def suppressed_rows(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Which rows have `*` in each of these columns."""
    hidden = pl.repeat(True, frame.height, dtype=pl.Boolean, eager=True)
    for name in columns:
        hidden &= (as_text(frame.get_column(name)) == SUPPRESSED).fill_null(value=False)
    return hidden


def _combinations(codes: Sequence[NDArray[np.int32]]) -> Combinations:
    frame = pl.DataFrame({str(place): column for place, column in enumerate(codes)})
    found = frame.group_by(frame.columns, maintain_order=True).len("rows")
    return Combinations(
        found.select(frame.columns).to_numpy(),
        found.get_column("rows").cast(pl.Float64).to_numpy(),
    )


def _check_tables(
    before: pl.DataFrame, after: pl.DataFrame, names: Sequence[str], *, aligned: bool
) -> None:
    if not names or not before.height or not after.height:
        raise InputError(
            "CEL-A070",
            columns=len(names),
            before=before.height,
            after=after.height,
        )
    for frame, table in (
        (before, Message("assess.table.original_table")),
        (after, Message("assess.table.released")),
    ):
        absent = [name for name in names if name not in frame.columns]
        if absent:
            raise _unknown(absent, frame.columns, table)
    if aligned and before.height != after.height:
        raise InputError("CEL-A075", before=before.height, after=after.height)


def _check_aligned(columns: Sequence[ColumnPair]) -> None:
    """Refuse a claim that the labels disprove; columns without a meaning may have been changed."""
    for column in columns:
        wrong = int((~column.covers()).sum())
        if wrong:
            raise InputError("CEL-A083", column=column.name, rows=wrong)


def _check_choices(names: Sequence[str], numeric: Collection[str] | None, spread: object) -> None:
    if spread not in {"uniform", "original"}:
        raise InputError("CEL-A076", spread=spread)
    absent = [name for name in numeric or () if name not in names]
    if absent:
        raise _unknown(absent, names, Message("assess.table.comparison"))


def _unknown(absent: Sequence[str], known: Sequence[str], table: Message) -> InputError:
    names = quoted_names(absent, known)
    return InputError("CEL-A071", table=table, names=names, columns=list(absent))
