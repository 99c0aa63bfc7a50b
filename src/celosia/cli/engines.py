"""Engines as options: which one, and where it is."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.paths import resolve_address
from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean

if TYPE_CHECKING:
    from celosia.engines.tables import TableEngine

NAMES = ("duckdb", "postgres", "spark")

Table = Annotated[
    str,
    typer.Argument(
        help="The table: CSV, Parquet, Arrow, JSON lines or Excel; with --engine Parquet (a "
        "file, a folder or a pattern) or a table of the engine.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="Output file; its suffix sets the format. With --engine a Parquet file or a table.",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(help="Run on an engine: duckdb, postgres or spark.", show_default=False),
]
Url = Annotated[
    str | None,
    typer.Option(
        help="Address of the engine: a DuckDB file, postgresql://..., local[4], spark://..., or "
        "$NAME, a variable that holds it.",
        show_default=False,
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option(help="Output file of the certificate.", show_default=False),
]


def check_options(
    engine: str | None,
    url: str | None,
    certificate: Path | None,
    output: str | None,
    *,
    others: Mapping[str, bool],
) -> None:
    """Refuse options that do not go together, before any work.

    Args:
        engine: which engine, if any.
        url: where it is.
        certificate: where a certificate goes.
        output: where the release goes.
        others: options that no engine takes, and whether they were given.

    Raises:
        InputError: CEL-P113.
    """
    if engine is None:
        if url is not None or certificate is not None:
            raise InputError("CEL-P113.no_engine")
        return
    if engine not in NAMES:
        raise InputError(
            "CEL-P113.unknown", engine=engine, hint=did_you_mean(engine, NAMES), engines=NAMES
        )
    if engine == "postgres" and url is None:
        raise InputError("CEL-P113.no_address")
    if output is None:
        raise InputError("CEL-P113.no_output")
    for option, given in others.items():
        if given:
            raise InputError("CEL-P113.option", option=option)


def open_engine(engine: str, url: str | None) -> AbstractContextManager[TableEngine]:
    """The engine, ready to work.

    Raises:
        InputError: CEL-Q204 the variable of an address is not set, CEL-Q205 an address with a
            password, which others would see.
    """
    address = None if url is None else resolve_address(url)
    if engine == "postgres":
        from celosia.engines.postgres_tables import PostgresTables

        return PostgresTables(address or "")
    if engine == "spark":
        from celosia.engines.spark.tables import SparkTables

        return SparkTables(address)
    from celosia.engines.duckdb_tables import DuckDBTables

    return DuckDBTables(address)
