"""Options that say what a log is, shared by the commands of `celosia log`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from celosia.logs import Log, Transactions
    from celosia.logs.declaration import LogDeclaration

LogFile = Annotated[
    Path,
    typer.Argument(
        help="The log: a table (.csv, .parquet ...), JSON lines, an access log (common or combined "
        "format), or basket lines; also packed (.gz)."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogInput:
    """How a log is read."""

    declare: Annotated[
        Path | None,
        typer.Option(help="What the columns are (TOML); an access log needs none."),
    ] = None

    def declaration(self, path: Path) -> LogDeclaration:
        """What is declared of the file."""
        from celosia.logs.readers import declaration_of

        return declaration_of(self.declare, path)

    def read(self, path: Path) -> Log:
        """The log of a file."""
        from celosia.logs import read

        return read(path, self.declare)

    def read_sets(self, path: Path) -> Transactions:
        """The transactions of a file."""
        from celosia.logs import read_sets

        return read_sets(path, self.declare)
