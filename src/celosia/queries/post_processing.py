"""Post-processing of released rows: what is computed, kept, ordered and cut off costs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, Literal, get_args

from sqlglot import exp

from celosia.queries.algebra import PostProcessing
from celosia.queries.emission.syntax import as_alias, column, identifier, integer_literal
from celosia.queries.ownership.owners import unused_name

Kind = Literal["integer", "number", "text", "boolean"]
"""Of the values of a released column; dates and time stamps are released as texts."""
KINDS: tuple[Kind, ...] = get_args(Kind)
Row = dict[str, Any]
POSITION = "celosia_place"


def post_process(rows: Sequence[Row], steps: PostProcessing) -> list[tuple[int, Row]]:
    """The rows that are shown, in order, each with its position among the released rows.

    Everything is computed by DuckDB over nothing but the released rows, with the same meaning as
    in the query.
    """
    has_work = steps.having is not None or steps.order or steps.limit is not None or steps.offset
    if not rows or not (has_work or steps.computed):
        return [(position, _select_columns(row, steps)) for position, row in enumerate(rows)]
    import duckdb  # 0.1 s, only where an answer is made
    import polars as pl

    columns = {word: [row[word] for row in rows] for word in rows[0]}
    words = [each.name for each in steps.computed]
    position_name = unused_name(
        POSITION, [*columns, *words]
    )  # outputs have names of the analyst's choice
    columns[position_name] = list(range(len(rows)))
    with duckdb.connect() as connection:
        connection.register("answers", pl.DataFrame(columns, strict=False).to_arrow())
        found = connection.execute(_query(steps, position_name).sql(dialect="duckdb")).fetchall()
    made = []
    for position, *values in found:
        extra = dict(zip(words, map(_as_json_value, values), strict=True))
        made.append((position, _select_columns(rows[position] | extra, steps)))
    return made


def computed_kinds(known: Mapping[str, Kind], steps: PostProcessing) -> dict[str, Kind]:
    """The kinds of what is computed of released columns, as DuckDB has them; it sees no row.

    Args:
        known: the kinds of the released columns.
        steps: what is computed of them.
    """
    if not steps.computed:
        return {}
    import duckdb
    import polars as pl

    types = {
        "integer": pl.Int64(),
        "number": pl.Float64(),
        "text": pl.String(),
        "boolean": pl.Boolean(),
    }
    position = unused_name(POSITION, [*known, *(each.name for each in steps.computed)])
    schema: dict[str, pl.DataType] = {name: types[kind] for name, kind in known.items()}
    empty = pl.DataFrame(schema=schema | {position: pl.Int64()})
    with duckdb.connect() as connection:
        connection.register("answers", empty.to_arrow())
        query = _query(steps, position).sql(dialect="duckdb")
        described = connection.execute(query).description or []
    # The first column is the position.
    return {
        each.name: _duckdb_kind(str(column[1]))
        for each, column in zip(steps.computed, described[1:], strict=True)
    }


def _duckdb_kind(name: str) -> Kind:
    """The kind of a type of DuckDB, by its name.

    >>> [_duckdb_kind(name) for name in ("BIGINT", "HUGEINT", "DECIMAL(3,1)", "BOOLEAN", "DATE")]
    ['integer', 'number', 'number', 'boolean', 'text']
    """
    if name in {"BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UINTEGER", "USMALLINT", "UTINYINT"}:
        return "integer"
    if name in {"DOUBLE", "FLOAT", "HUGEINT", "UBIGINT", "UHUGEINT"} or name.startswith("DECIMAL"):
        return "number"
    return "boolean" if name == "BOOLEAN" else "text"


def _query(steps: PostProcessing, position: str) -> exp.Select:
    source: exp.Expr = exp.Table(this=identifier("answers"))
    having = steps.having
    for each in steps.computed:  # one at a time: each may refer to those before it
        if having is not None and each.expression.find(exp.Window) is not None:
            # A window looks at the rows that HAVING has left.
            kept = exp.Select(
                expressions=[exp.Star()],
                from_=exp.From(this=source),
                where=exp.Where(this=having.copy()),
            )
            source = exp.Subquery(this=kept, alias=exp.TableAlias(this=identifier("answers")))
            having = None
        inner = exp.Select(
            expressions=[exp.Star(), as_alias(each.expression.copy(), each.name)],
            from_=exp.From(this=source),
        )
        source = exp.Subquery(this=inner, alias=exp.TableAlias(this=identifier("answers")))
    query = exp.Select(
        expressions=[column(position), *(column(each.name) for each in steps.computed)],
        from_=exp.From(this=source),
    )
    if having is not None:
        query.set("where", exp.Where(this=having.copy()))
    order = [
        exp.Ordered(this=column(word), desc=descending, nulls_first=False)
        for word, descending in steps.order
    ]
    # Equal rows stay in the order of their keys.
    query.set("order", exp.Order(expressions=[*order, exp.Ordered(this=column(position))]))
    if steps.limit is not None:
        query.set("limit", exp.Limit(expression=integer_literal(steps.limit)))
    if steps.offset:
        query.set("offset", exp.Offset(expression=integer_literal(steps.offset)))
    return query


def _as_json_value(value: Any) -> Any:
    """A value that JSON has a word for; an infinity is none, as a division by zero is."""
    number = float(value) if isinstance(value, Decimal) else value
    return None if isinstance(number, float) and not isfinite(number) else number


def _select_columns(row: Row, steps: PostProcessing) -> Row:
    """The columns that the query names, in its order."""
    return {word: row[word] for word in steps.columns} if steps.columns else dict(row)
