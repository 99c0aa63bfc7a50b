"""HAVING, ORDER BY and LIMIT on released numbers: post-processing, which costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import After
from celosia.queries.emission.target import column, name, whole

Row = dict[str, Any]


def kept_places(rows: Sequence[Row], after: After) -> list[int]:
    """Which rows are shown, in order.

    The condition is worked out by DuckDB over nothing but the released rows, with the same meaning
    as in the query.
    """
    if not rows or (after.having is None and not after.order and after.limit is None):
        return list(range(len(rows)))
    import duckdb  # noqa: PLC0415 - 0.1 s, only where an answer is made
    import polars as pl  # noqa: PLC0415

    columns = {word: [row[word] for row in rows] for word in rows[0]}
    columns[PLACE] = list(range(len(rows)))
    query = exp.Select(
        expressions=[column(PLACE)], from_=exp.From(this=exp.Table(this=name("answers")))
    )
    if after.having is not None:
        query.set("where", exp.Where(this=after.having.copy()))
    order = [
        exp.Ordered(this=column(word), desc=descending, nulls_first=False)
        for word, descending in after.order
    ]
    # Equal rows stay in the order of their keys.
    query.set("order", exp.Order(expressions=[*order, exp.Ordered(this=column(PLACE))]))
    if after.limit is not None:
        query.set("limit", exp.Limit(expression=whole(after.limit)))
    with duckdb.connect() as connection:
        connection.register("answers", pl.DataFrame(columns, strict=False).to_arrow())
        found = connection.execute(query.sql(dialect="duckdb")).fetchall()
    return [place for (place,) in found]


PLACE = "celosia_place"


def shown(row: Row, after: After) -> Row:
    """The columns that the query names, in its order."""
    return {word: row[word] for word in after.columns} if after.columns else dict(row)
