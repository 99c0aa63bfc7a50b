"""What the curator's side does when a vault is opened: find the tables and check declarations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.emission.target import chosen, column, grouped, name, named, whole
from celosia.queries.policy import Policy, database_url

if TYPE_CHECKING:
    from celosia.engines import SqlEngine

Ask = Callable[[exp.Expr], Any]


def open_engine(policy: Policy) -> SqlEngine:
    """The engine that holds the tables of a policy.

    Raises:
        EngineError: CEL-E013 to CEL-E015 it cannot be opened.
    """
    from celosia.engines import DuckDbEngine, PostgresEngine  # noqa: PLC0415 - loads databases

    database = policy.database
    if database.kind == "postgres":
        return PostgresEngine(database_url(database))
    path = None if database.path is None else database.located(database.path)
    files = {table: database.located(written) for table, written in database.files}
    return DuckDbEngine(path, files=files)


def columns_in(engine: SqlEngine, *, timeout: float) -> dict[str, dict[str, str]]:
    """The tables of a database, with the type of each column."""
    here = exp.Table(this=exp.to_identifier("columns"), db=exp.to_identifier("information_schema"))
    schema = "main" if engine.dialect == "duckdb" else "public"
    words = ("table_name", "column_name", "data_type")
    query = exp.Select(
        expressions=[exp.column(word) for word in words],
        from_=exp.From(this=here),
    ).where(
        exp.EQ(this=exp.column("table_schema"), expression=exp.Literal.string(schema)),
        exp.EQ(this=exp.column("table_catalog"), expression=exp.Anonymous(this="current_database")),
        copy=False,
    )
    found: dict[str, dict[str, str]] = {}
    for table, word, kind in engine.run(query, timeout=timeout):
        found.setdefault(str(table), {})[str(word)] = str(kind)
    return found


def check_unique(policy: Policy, engine: SqlEngine, *, timeout: float) -> None:
    """Refuse a column that is declared unique and is not; for the curator's eyes.

    Raises:
        InputError: CEL-Q152.
    """
    for table in policy.tables:
        for each in table.columns:
            if each.unique and not _is_unique(table.name, each.name, engine, timeout):
                raise InputError(
                    "CEL-Q152",
                    f"column '{table.name}.{each.name}' is declared unique, but values repeat.",
                    why="Bounds rest on it, so answers would protect less than they promise.",
                    fix="Correct the data, or take `unique` out of the policy.",
                    table=table.name,
                    column=each.name,
                )


def _is_unique(table: str, word: str, engine: SqlEngine, timeout: float) -> bool:
    filled = exp.Count(this=column(word))
    different = exp.Count(this=exp.Distinct(expressions=[column(word)]))
    query = exp.Select(
        expressions=[named(exp.EQ(this=filled, expression=different), "is_unique")],
        from_=exp.From(this=exp.Table(this=name(table))),
    )
    ((found,),) = engine.run(query, timeout=timeout)
    return bool(found)


def public_count(policy: Policy, ask: Ask) -> Callable[[str, str], int]:
    """Counts the most rows of a public table that share a value of a column."""

    def count(table: str, word: str) -> int:
        declared = policy.table(table)
        assert declared is not None
        assert declared.public
        spelled = declared.column(word)
        assert spelled is not None
        word = spelled.name
        rows = exp.Select(
            expressions=[column(word), named(exp.Count(this=exp.Star()), "n")],
            from_=exp.From(this=exp.Table(this=name(declared.name))),
            where=exp.Where(this=exp.Not(this=exp.Is(this=column(word), expression=exp.Null()))),
        )
        most = exp.func("COALESCE", exp.Max(this=column("n")), whole(0))
        ((found,),) = ask(chosen(grouped(rows, [word]), [named(most, "n")]))
        return int(found)

    return count
