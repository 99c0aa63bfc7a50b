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

from celosia.engines.spark.running import CHANGED
from celosia.engines.spark.types import as_table
from celosia.engines.tables import ColumnMap, Recoding

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

KEY = "k"
"""The column with the released classes as numbers."""
STAR = "*"
HIDDEN = -1
"""The number of suppressed rows, where no other row shows stars alone."""
MOST_BITS = 62
"""Of all digits together, so that no sum overflows 64 bits and none is negative."""
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
    codes: pl.Series = field(repr=False)
    """The place of the label of each value, as `Int64`."""
    nodes: pl.Series = field(repr=False)
    """The node of each label, in the order of the labels."""
    labels: pl.Series = field(repr=False)
    is_same: bool
    """Whether the released column is the original one."""

    @property
    def bits(self) -> int:
        """How many binary digits tell the labels apart."""
        return max(0, len(self.labels) - 1).bit_length()


def digits_of(recoding: Recoding) -> list[Digits] | None:
    """The columns one by one; None where only whole combinations tell what is released."""
    if recoding.maps is None or recoding.hidden_nodes is None:
        return None
    found = []
    for name, column in zip(recoding.names, recoding.maps, strict=True):
        made = _digits(name, column)
        if made is None:
            return None
        found.append(made)
    return found if sum(each.bits for each in found) <= MOST_BITS else None


def _digits(name: str, column: ColumnMap) -> Digits | None:
    shown = pl.DataFrame({"node": column.nodes, "label": column.released})
    labels = shown.unique(maintain_order=True)
    # Rows are sorted by their numbers: nodes that look alike must not have different ones.
    if labels["node"].n_unique() < labels.height or labels["label"].n_unique() < labels.height:
        return None
    is_same = column.values.dtype == column.released.dtype and bool(
        column.values.eq_missing(column.released).all()
    )
    listed = column.released.dtype == pl.String and labels.height <= MOST_LABELS
    if not is_same and not (listed and _separator(labels["label"]) is not None):
        return None
    codes = column.nodes.replace_strict(
        labels["node"], pl.Series(range(labels.height)), return_dtype=pl.Int64
    )
    return Digits(name, column.values, codes, labels["node"], labels["label"], is_same)


@dataclass(frozen=True, slots=True)
class Recoded:
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


def by_digits(  # noqa: PLR0913 - one fact each
    session: SparkSession,
    frame: DataFrame,
    names: Sequence[str],
    digits: list[Digits],
    recoding: Recoding,
    *,
    every: bool,
    drop: bool,
) -> Recoded:
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
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - its usual name; heavy

    hidden = recoding.hidden_nodes
    assert hidden is not None
    parts: list[Column] = []
    packed = pl.Series(np.zeros(hidden.height, dtype=np.int64))
    shift = 0
    shifts: dict[str, int] = {}
    for number, column in enumerate(digits):
        if every or (len(column.labels) > 1 and (not column.is_same or hidden.height)):
            table = pl.DataFrame({"v": column.values, "p": column.codes * (1 << shift)})
            lookup = as_table(session, table).toDF(f"v{number}", f"p{number}")
            cell, value = frame[place(names.index(column.name))], lookup[f"v{number}"]
            # Where no empty cell was counted, none may be found: the plain comparison is faster.
            met = cell.eqNullSafe(value) if column.values.null_count() else cell == value
            frame = frame.join(F.broadcast(lookup), met, "left")
            parts.append(F.col(f"p{number}"))
            order = pl.Series(range(len(column.nodes)), dtype=pl.Int64)
            packed = packed + hidden[column.name].replace_strict(column.nodes, order) * (1 << shift)
        shifts[column.name] = shift
        shift += column.bits
    key: Column = F.lit(0).cast("long")
    if parts:  # a value that nobody has counted has no digits: the sum is empty
        key = F.coalesce(reduce(add, parts), F.raise_error(F.lit(CHANGED)).cast("long"))
    frame = frame.withColumn(KEY, key)
    is_hidden: Column | None = None
    if hidden.height:
        classes = as_table(session, pl.DataFrame({"h": packed.unique()}))
        frame = frame.join(F.broadcast(classes), frame[KEY] == classes["h"], "left")
        is_hidden = F.col("h").isNotNull()
    stars = is_hidden if not drop else None
    return Recoded(
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


def _carried(
    names: Sequence[str], digits: list[Digits], shifts: dict[str, int], stars: Column | None
) -> dict[str, Column]:
    """The number of each row, and the columns that stay as they are; nothing of starred rows."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    found = {KEY: F.col(KEY)}
    found |= {
        here: F.col(here)
        for each in digits
        if each.is_same and (here := place(names.index(each.name)))
    }
    if stars is None:
        return found
    # A class that shows nothing but stars by itself has the same number as the suppressed: the
    # order must not tell which is which.
    natural = [(each.labels == STAR).arg_max() if STAR in each.labels else None for each in digits]
    number = HIDDEN
    if None not in natural:
        number = sum(
            int(at) << shifts[each.name]
            for at, each in zip(natural, digits, strict=True)
            if at is not None
        )
    found = {here: F.when(stars, F.lit(STAR)).otherwise(each) for here, each in found.items()}
    found[KEY] = F.when(stars, F.lit(number).cast("long")).otherwise(F.col(KEY))
    return found


def _label(column: Digits, shift: int, *, stars: bool) -> Column:
    """The label whose place is told by the digits; a star for rows that are suppressed."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    found = _listed(column, shift)
    return F.when(F.col(KEY) == F.lit(HIDDEN), F.lit(STAR)).otherwise(found) if stars else found


def _listed(column: Digits, shift: int) -> Column:
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    if len(column.labels) == 1:
        return F.lit(column.labels[0]).cast("string")
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


def by_combinations(
    session: SparkSession, frame: DataFrame, names: Sequence[str], recoding: Recoding
) -> Recoded:
    """The rows with what their combinations show."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

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
    return Recoded(
        frame.withColumn("hidden", found).where(F.col("hidden").isNotNull()),
        F.col("hidden"),
        {each: F.col(each) for each in outside},
        shown,
    )
