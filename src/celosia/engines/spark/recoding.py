"""A recoding as columns of Spark: released rows as one number, and the text only at the end.

Every value is looked up in a small table that all workers have, and gives the digits of its label
in one whole number for each row. That number, and the columns that are not recoded, are shuffled
and sorted; the labels are looked up by their place in a list when the rows are written. Where
columns cannot be told one by one, the combinations are looked up instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add, and_
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from celosia.engines.spark.execution import CHANGED
from celosia.engines.spark.types import as_table
from celosia.engines.tables import ColumnMap, RecodingMap

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

KEY = "k"
"""The column with the released classes as numbers."""
STAR = "*"
HIDDEN = -1
"""The number of suppressed rows, where no other row shows stars alone."""
GONE = -(1 << 57)
"""What a label adds that is shown in no row: so the sum is below 0, whatever else is added."""
MOST_BITS, MOST_COLUMNS = 56, 60
"""Of all digits together, and of columns: no sum of 60 of either leaves 64 bits."""
MOST_LABELS = 50_000
"""Labels of a column that are sent with the plan of the work."""
MOST_BROADCAST = 5_000_000
"""Combinations that every worker gets; more of them are sorted and merged with the rows."""


def place(number: int) -> str:
    """What a column of the source is called here: names of users may be anything."""
    return f"c{number}"


@dataclass(frozen=True, slots=True)
class Digits:
    """One column: the code of each value, where its digits are, and its labels in order."""

    name: str
    values: pl.Series = field(repr=False)
    nodes: pl.Series = field(repr=False)
    """The node of each value."""
    codes: pl.Series = field(repr=False)
    """The place of the label of each value, as `Int64`; empty where no row shows the label."""
    labels: pl.Series = field(repr=False)
    """Those that rows show, sorted: codes must tell nothing of rows that are suppressed."""
    is_same: bool
    """Whether the released column is the original one; it needs no codes then."""

    @property
    def bits(self) -> int:
        """How many binary digits tell the labels apart."""
        return 0 if self.is_same else max(0, len(self.labels) - 1).bit_length()

    @property
    def needs_lookup(self) -> bool:
        """Whether codes differ, so that they must be looked up."""
        return not self.is_same and bool((self.codes != 0).fill_null(value=True).any())

    def of_nodes(self, nodes: pl.Series) -> pl.DataFrame:
        """The value and the code of some nodes."""
        known = pl.DataFrame({"node": self.nodes, "value": self.values, "code": self.codes})
        wanted = pl.DataFrame({"node": nodes})
        first = known.unique("node", keep="first")
        return wanted.join(first, on="node", how="left", maintain_order="left")


def digits_of(recoding: RecodingMap) -> list[Digits] | None:
    """The columns one by one; None where only whole combinations tell what is released."""
    if recoding.maps is None or recoding.hidden_nodes is None:
        return None
    found = []
    shows = pl.Series(~recoding.hidden)
    for name, column in zip(recoding.names, recoding.maps, strict=True):
        made = _digits(name, column, recoding.released[name].filter(shows))
        if made is None:
            return None
        found.append(made)
    fits = sum(each.bits for each in found) <= MOST_BITS and len(found) <= MOST_COLUMNS
    return found if fits else None


def _digits(name: str, column: ColumnMap, shown: pl.Series) -> Digits | None:
    labels = pl.DataFrame({"node": column.nodes, "label": column.released}).unique()
    # Rows are sorted by their numbers: nodes that look alike must not have different ones.
    if labels["node"].n_unique() < labels.height or labels["label"].n_unique() < labels.height:
        return None
    same_type = column.values.dtype == column.released.dtype
    if same_type and bool(column.values.eq_missing(column.released).all()):
        none = pl.Series([0], dtype=pl.Int64).new_from_index(0, len(column.values))
        return Digits(name, column.values, column.nodes, none, shown.unique(), is_same=True)
    if column.released.dtype != pl.String or labels.height > MOST_LABELS:
        return None
    if _separator(labels["label"]) is None:
        return None
    listed = pl.DataFrame({"label": shown.unique().sort()}).with_row_index("code")
    found = pl.DataFrame({"label": column.released}).join(
        listed, on="label", how="left", nulls_equal=True, maintain_order="left"
    )
    codes = found["code"].cast(pl.Int64)
    return Digits(name, column.values, column.nodes, codes, listed["label"], is_same=False)


@dataclass(frozen=True, slots=True)
class RecodedRows:
    """Rows on the way to their release.

    What is shuffled is `carried` and nothing else: it says no more than what is shown in the end.
    """

    frame: DataFrame
    hidden: Column | None
    """Which rows are suppressed; None where none is."""
    carried: dict[str, Column]
    """The columns that are shuffled."""
    shown: dict[str, Column]
    """The recoded columns, made of those that were shuffled."""


def by_digits(
    session: SparkSession,
    frame: DataFrame,
    names: Sequence[str],
    digits: list[Digits],
    recoding: RecodingMap,
    *,
    every: bool,
    drop: bool,
) -> RecodedRows:
    """The rows with their labels as one number.

    Args:
        session: of the frame.
        frame: of the source, columns c0, c1, ...
        names: of those columns.
        digits: of the recoded columns.
        recoding: for the suppressed classes.
        every: whether all values must be looked up, also of columns that show one label or what
            they are: so rows that were not counted are found, where nothing else tells of them.
        drop: whether suppressed rows are left out, so that none shows a star.
    """
    from pyspark.sql import functions as F  # noqa: N812 - its usual name; heavy

    parts: list[Column] = []
    shift = 0
    shifts: dict[str, int] = {}
    for number, column in enumerate(digits):
        if every or column.needs_lookup:
            digit = (column.codes * (1 << shift)).fill_null(GONE)
            table = pl.DataFrame({"v": column.values, "p": digit})
            lookup = as_table(session, table).toDF(f"v{number}", f"p{number}")
            met = _met(frame[place(names.index(column.name))], lookup[f"v{number}"], column.values)
            frame = frame.join(F.broadcast(lookup), met, "left")
            parts.append(F.col(f"p{number}"))
        shifts[column.name] = shift
        shift += column.bits
    key: Column = F.lit(0).cast("long")
    if parts:  # a value that was not counted has no digits: the sum is empty
        key = F.coalesce(reduce(add, parts), F.raise_error(F.lit(CHANGED)).cast("long"))
    frame = frame.withColumn(KEY, key)
    frame, is_hidden = _marked(session, frame, names, digits, shifts=shifts, recoding=recoding)
    stars = is_hidden if not drop else None
    return RecodedRows(
        frame,
        is_hidden,
        _carried(names, digits, shifts, stars),
        {
            each.name: F.col(place(names.index(each.name)))
            if each.is_same
            else _label(each, shifts[each.name], stars=stars is not None)
            for each in digits
        },
    )


def _met(cell: Column, value: Column, values: pl.Series) -> Column:
    """Whether a cell is a value; the plain comparison is faster where no empty cell was counted."""
    return cell.eqNullSafe(value) if values.null_count() else cell == value


def _marked(
    session: SparkSession,
    frame: DataFrame,
    names: Sequence[str],
    digits: list[Digits],
    *,
    shifts: dict[str, int],
    recoding: RecodingMap,
) -> tuple[DataFrame, Column | None]:
    """The rows joined with the suppressed classes, and what tells that a row is of one of them.

    A class is known by the number of its labels and the values of columns that stay as they are. A
    label that only suppressed rows have tells by itself.
    """
    from pyspark.sql import functions as F  # noqa: N812

    hidden = recoding.hidden_nodes
    assert hidden is not None
    if not hidden.height:
        return frame, None
    packed = pl.Series(np.zeros(hidden.height, dtype=np.int64))
    classes: dict[str, pl.Series] = {}
    for number, column in enumerate(digits):
        codes = column.of_nodes(hidden[column.name])
        if column.is_same:
            classes[f"h{number}"] = codes["value"]
        else:
            packed = packed + codes["code"] * (1 << shifts[column.name])
    table = pl.DataFrame({"h": packed} | classes).filter(pl.col("h").is_not_null())
    is_hidden = F.col(KEY) < F.lit(0)
    if table.height:
        lookup = as_table(session, table)
        met = frame[KEY] == lookup["h"]
        for number, column in enumerate(digits):
            if column.is_same:
                cell = frame[place(names.index(column.name))]
                met &= _met(cell, lookup[f"h{number}"], column.values)
        frame = frame.join(F.broadcast(lookup), met, "left")
        is_hidden |= F.col("h").isNotNull()
    return frame, is_hidden


def _carried(
    names: Sequence[str], digits: list[Digits], shifts: dict[str, int], stars: Column | None
) -> dict[str, Column]:
    """The number of each row, and the columns that stay as they are; nothing of starred rows."""
    from pyspark.sql import functions as F  # noqa: N812

    found = {KEY: F.col(KEY)}
    found |= {
        here: one_zero(here, each.values.dtype)
        for each in digits
        if each.is_same and (here := place(names.index(each.name)))
    }
    if stars is None:
        return found
    # A class that shows nothing but stars by itself has the same number as the suppressed: the
    # order must not tell which is which.
    number = HIDDEN
    if all(STAR in each.labels for each in digits):
        number = sum(
            int((each.labels == STAR).arg_max() or 0) << shifts[each.name]
            for each in digits
            if not each.is_same
        )
    found = {here: F.when(stars, F.lit(STAR)).otherwise(each) for here, each in found.items()}
    found[KEY] = F.when(stars, F.lit(number).cast("long")).otherwise(F.col(KEY))
    return found


def _label(column: Digits, shift: int, *, stars: bool) -> Column:
    """The label whose place is told by the digits; a star for rows that are suppressed."""
    from pyspark.sql import functions as F  # noqa: N812

    found = _listed(column, shift)
    return F.when(F.col(KEY) == F.lit(HIDDEN), F.lit(STAR)).otherwise(found) if stars else found


def _listed(column: Digits, shift: int) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    if len(column.labels) < 2:
        return F.lit(column.labels.first()).cast("string")
    mark = _separator(column.labels)
    assert mark is not None
    texts = column.labels.fill_null("").to_list()
    at = F.shiftright(F.col(KEY), shift).bitwiseAND(F.lit((1 << column.bits) - 1)).cast("int")
    found = F.get(F.split(F.lit(mark.join(texts)), mark, -1), at)
    if column.labels.null_count():
        empty = column.labels.is_null().arg_max()
        return F.when(at != F.lit(empty), found)
    return found


def _separator(labels: pl.Series) -> str | None:
    """A letter that no label has, and that means itself in a pattern."""
    texts = "".join(labels.drop_nulls().to_list()) if labels.dtype == pl.String else ""
    return next((mark for mark in map(chr, range(1, 9)) if mark not in texts), None)


def one_zero(here: str, kind: pl.DataType) -> Column:
    """A column as it is; of the two zeros of floats, and of all their NaN, one is left.

    They are one class, so nothing may tell its rows apart.
    """
    from pyspark.sql import functions as F  # noqa: N812

    column = F.col(here)
    if not kind.is_float():
        return column
    name = "float" if kind == pl.Float32() else "double"
    zero, nan = (F.lit(each).cast(name) for each in (0.0, float("nan")))
    return F.when(column == zero, zero).when(F.isnan(column), nan).otherwise(column)


def by_combinations(
    session: SparkSession, frame: DataFrame, names: Sequence[str], recoding: RecodingMap
) -> RecodedRows:
    """The rows with what their combinations show."""
    from pyspark.sql import functions as F  # noqa: N812

    inside = {f"v{n}": each for n, each in enumerate(recoding.combinations)}
    outside = {f"r{n}": each for n, each in enumerate(recoding.released)}
    table = pl.DataFrame(inside | outside | {"hidden": recoding.hidden})
    lookup = as_table(session, table)
    met = reduce(
        and_,
        (
            frame[place(names.index(name))].eqNullSafe(lookup[f"v{number}"])
            for number, name in enumerate(recoding.names)
        ),
    )
    small = table.height <= MOST_BROADCAST
    frame = frame.join(F.broadcast(lookup) if small else lookup, met, "left")
    found = F.coalesce(F.col("hidden"), F.raise_error(F.lit(CHANGED)).cast("boolean"))
    shown = {name: F.col(f"r{number}") for number, name in enumerate(recoding.names)}
    return RecodedRows(
        frame.withColumn("hidden", found).where(F.col("hidden").isNotNull()),
        F.col("hidden"),
        {each: F.col(each) for each in outside},
        shown,
    )
