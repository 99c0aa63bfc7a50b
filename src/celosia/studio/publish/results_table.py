"""The table before and after in one, sorted by class, one page of rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.frames import as_text, pick, unused_name
from celosia.studio.language import _
from celosia.studio.publish.form import PublishForm
from celosia.studio.visitors import Work

BEFORE = "side_before.parquet"
AFTER = "side_after.parquet"
SIZE = 20
"""Rows of a page."""


@dataclass(frozen=True, slots=True)
class Side:
    """Some rows of one side, and the class of each: from 0, and -1 for a suppressed record."""

    rows: pl.DataFrame
    classes: tuple[int, ...]
    total: int


def write_sides(
    place: Path,
    frame: pl.DataFrame,
    released: pl.DataFrame,
    source_rows: NDArray[np.int64],
    wanted: PublishForm,
) -> None:
    """Write both tables with the class of each record in front.

    Only the owner of the table sees them, and they are written only beside the table.

    Args:
        place: the folder.
        frame: the table before.
        released: the table as published.
        source_rows: the row of the table before that each released row comes from.
        wanted: what was chosen.
    """
    names = wanted.named("quasi-identifier")
    labels = _labels(released, names)
    known = labels.unique().filter(pl.col("shown").is_not_null()).sort("hidden", "shown")
    known = known.with_row_index("number").select(
        "shown",
        pl.when("hidden").then(-1).otherwise(pl.col("number").cast(pl.Int64)).alias("class"),
    )
    after = labels.join(known, on="shown", how="left", maintain_order="left")["class"]
    _sorted(released, after, then=names).write_parquet(place / AFTER)
    # A record that was left out of the release is suppressed.
    before = np.full(frame.height, -1, dtype=np.int64)
    before[source_rows] = after.to_numpy()
    _sorted(frame, pl.Series(before)).write_parquet(place / BEFORE)


@dataclass(frozen=True, slots=True)
class Joined:
    """Some records as they are and as they are published, in one table."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    classes: tuple[int, ...]
    released: frozenset[int]
    """The columns that show the release."""
    total: int


def joined(
    work: Work, number: int, changed: Sequence[str], *, folded: bool = True, size: int = SIZE
) -> Joined:
    """The records of one page: each quasi-identifier beside its released label, then the rest.

    All records of a class have the same labels, so that a label stands beside its own value.

    Args:
        work: the work.
        number: the page.
        changed: the quasi-identifiers.
        folded: whether columns that are not published are left out.
        size: the rows of a page.
    """
    side = _side(work.path(BEFORE), number, size)
    after = pl.scan_parquet(work.path(AFTER))
    first, *published = after.collect_schema().names()
    shown = sorted(set(side.classes))
    labels = {
        row[0]: dict(zip(published, row[1:], strict=True))
        for row in after.filter(pl.col(first).is_in(shown))
        .unique(first, keep="any")
        .collect()
        .iter_rows()
    }
    hidden = [name for name in side.rows.columns if name not in published]
    rest = [name for name in published if name not in changed] + ([] if folded else hidden)
    heads: list[str] = []
    for name in changed:
        heads += [name, _("{column}, released", column=name)]
    rows = []
    for row, each in zip(side.rows.iter_rows(named=True), side.classes, strict=True):
        label = labels.get(each)
        cells: list[Any] = []
        for name in changed:
            cells += [row[name], _("left out") if label is None else label[name]]
        rows.append((*cells, *(row[name] for name in rest)))
    marked = frozenset(range(1, 2 * len(changed), 2))
    return Joined((*heads, *rest), tuple(rows), side.classes, marked, side.total)


def hidden_columns(work: Work) -> list[str]:
    """The columns that are not published."""
    before, after = (
        pl.scan_parquet(work.path(name)).collect_schema().names()[1:] for name in (BEFORE, AFTER)
    )
    return [name for name in before if name not in after]


def pages(work: Work, *, size: int = SIZE) -> int:
    """How many pages there are."""
    rows = max(_height(work.path(name)) for name in (BEFORE, AFTER))
    return max(1, -(-rows // size))


def first_suppressed(work: Work, *, size: int = SIZE) -> int | None:
    """The page on which the suppressed records of the table begin; None if there are none."""
    classes = pl.scan_parquet(work.path(BEFORE)).select(pl.first().alias("class")).collect()
    column = classes["class"]
    if not (column == -1).any():
        return None
    return int((column != -1).sum()) // size + 1


def _labels(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """What each record shows as one text, and whether it is suppressed: `*` in every column."""
    texts = [as_text(table.get_column(name)).alias(f"c{at}") for at, name in enumerate(names)]
    # Each cell with its length in front, so that no two different records give the same text.
    frame = pl.DataFrame(texts).with_columns(pl.all().fill_null("\x00"))
    shown = frame.select(
        pl.concat_str(
            [
                pl.concat_str(pl.col(name).str.len_chars().cast(pl.String), pl.lit(":"), name)
                for name in frame.columns
            ]
        ).alias("shown"),
        pl.all_horizontal(pl.all() == "*").alias("hidden"),
    )
    if shown["hidden"].all():  # generalised fully: one class, and no record suppressed
        return shown.with_columns(hidden=pl.lit(value=False))
    return shown


def _sorted(table: pl.DataFrame, classes: pl.Series, *, then: Sequence[str] = ()) -> pl.DataFrame:
    name = unused_name("class", table.columns)
    number = classes.cast(pl.Int64).alias(name)
    whole = pl.DataFrame([number, *table.get_columns()])
    # Suppressed records last; within a class the order of the file says nothing, so none is kept.
    order = pl.DataFrame({"last": number == -1, "class": number})
    for at, column in enumerate(table.columns):
        if column not in then:
            order = order.with_columns(as_text(table.get_column(column)).alias(f"c{at}"))
    places = order.with_row_index("row").sort(order.columns, maintain_order=True)["row"]
    return whole[places]


def _side(path: Path, number: int, size: int) -> Side:
    part = pl.scan_parquet(path).slice((number - 1) * size, size).collect()
    classes = part.to_series(0)
    return Side(pick(part, part.columns[1:]), tuple(classes.to_list()), _height(path))


def _height(path: Path) -> int:
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())
