"""Engines as options: which one, and where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import options
from celosia.cli.frame import ReleaseOutputs
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOutputs:
    """Where a table is published: to a file, or inside an engine."""

    output: Output = None
    report: options.Report = None
    engine: Engine = None
    url: Url = None
    certificate: Certificate = None
    overwrite: options.Overwrite = False
    as_json: options.AsJson = False

    def check(
        self, table: str, *, inputs: Iterable[Path | None], refused: Mapping[str, bool]
    ) -> ReleaseOutputs:
        """The files to write, after all that can be refused before any work.

        Args:
            table: what is published.
            inputs: the other files that are read.
            refused: options that no engine takes, and whether they were given.
        """
        self._check_options(refused)
        outputs = ReleaseOutputs(
            output=None if self.output is None else Path(self.output),
            report=self.report,
            overwrite=self.overwrite,
            as_json=self.as_json,
        )
        if self.engine is None:
            outputs.check(inputs=(Path(table), *inputs))
        else:
            replace(outputs, output=None).check(inputs=inputs)
        return outputs

    def _check_options(self, refused: Mapping[str, bool]) -> None:
        """Refuse options that do not go together.

        Raises:
            InputError: CEL-P113.
        """
        if self.engine is None:
            if self.url is not None or self.certificate is not None:
                raise InputError("CEL-P113.no_engine")
            return
        if self.engine not in NAMES:
            hint = did_you_mean(self.engine, NAMES)
            raise InputError("CEL-P113.unknown", engine=self.engine, hint=hint, engines=NAMES)
        if self.engine == "postgres" and self.url is None:
            raise InputError("CEL-P113.no_address")
        if self.output is None:
            raise InputError("CEL-P113.no_output")
        for option, given in refused.items():
            if given:
                raise InputError("CEL-P113.option", option=option)


def open_engine(engine: str, url: str | None) -> AbstractContextManager[TableEngine]:
    """The engine, ready to work.

    Raises:
        InputError: CEL-Q204 the variable of an address is not set, CEL-Q200 an address with a
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
