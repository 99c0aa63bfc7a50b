"""Where the rows of a DuckDB engine come from: the owner's database, and files as tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp


def attach(connection: duckdb.DuckDBPyConnection, path: str | Path | None) -> bool:
    """Put the tables of the owner's file beside those of other files, under their own names.

    Returns:
        Whether all of them are stored, and none is computed, as views and generated columns are.
    """
    from sqlglot import exp  # 0.1 s, only where an engine is wanted

    if path is None:
        return True
    place = exp.Literal.string(str(Path(path).resolve(strict=True))).sql("duckdb")
    connection.execute(f"ATTACH {place} AS celosia_owner (READ_ONLY)")
    tables = connection.execute(
        "SELECT table_name FROM information_schema.tables "
        "WHERE table_catalog = 'celosia_owner' AND table_schema = 'main'"
    ).fetchall()
    for (table,) in tables:
        parts = (table, "main", "celosia_owner")
        names = [exp.to_identifier(part, quoted=True) for part in parts]
        there = exp.Table(this=names[0], db=names[1], catalog=names[2])
        create(connection, "VIEW", table, there)
    computed = connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE database_name = 'celosia_owner' "
        "AND NOT internal UNION ALL "
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'celosia_owner' "
        "AND sql ILIKE '%generated always%'"
    )
    return computed.fetchone() is None


def add_files(
    connection: duckdb.DuckDBPyConnection, files: Mapping[str, str | Path]
) -> tuple[Path, ...]:
    """Make files tables: a CSV file is read now, a Parquet file stays where it is.

    Returns:
        The Parquet files, which are read by every query.
    """
    from sqlglot import exp  # 0.1 s, only where an engine is wanted

    reachable = []
    for table, file in files.items():
        found = Path(file).resolve(strict=True)
        is_parquet = found.suffix.lower() in (".parquet", ".pq")
        options: list[exp.Expr] = [exp.Literal.string(str(found))]
        if is_parquet:
            reachable.append(found)
        else:
            # All rows are looked at for types, so that none can surprise later.
            size = exp.Literal.number(-1)
            options.append(exp.PropertyEQ(this=exp.var("sample_size"), expression=size))
        reader = exp.Anonymous(
            this="read_parquet" if is_parquet else "read_csv", expressions=options
        )
        kind = "VIEW" if is_parquet else "TABLE"
        create(connection, kind, table, exp.Table(this=reader))
    # As text: to bind a value, DuckDB loads pandas where there is one, for a third of a second.
    paths = exp.Array(expressions=[exp.Literal.string(str(each)) for each in reachable])
    connection.execute(f"SET allowed_paths = {paths.sql('duckdb')}")
    return tuple(reachable)


def create(
    connection: duckdb.DuckDBPyConnection, kind: str, name: str, source: exp.Table | exp.Select
) -> None:
    """Make a table or a view of what a query finds."""
    from sqlglot import exp  # loaded already

    made = exp.Create(
        this=exp.Table(this=exp.to_identifier(name, quoted=True)),
        kind=kind,
        replace=True,
        expression=source if isinstance(source, exp.Select) else exp.select("*").from_(source),
    )
    connection.execute(made.sql("duckdb"))
