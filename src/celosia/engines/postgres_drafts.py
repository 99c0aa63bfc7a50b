"""Where released rows of PostgreSQL go: a table in an open transaction, or a Parquet file here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from celosia.engines.drafts import DraftFolder
from celosia.engines.duckdb_relations import quoted
from celosia.engines.recoded_classes import fresh_table, one_zero
from celosia.engines.sinks import write_parquet
from celosia.engines.tables import Draft, Place, guarded

if TYPE_CHECKING:
    import psycopg


class TableDraft:
    """A table in a transaction that is still open, see `tables.Draft`."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        names: tuple[str, Place],
        rows: int,
        columns: dict[str, pl.DataType],
    ) -> None:
        self._connection = connection
        self._draft, self._target = names
        self.rows = rows
        self.columns = columns

    def sha256(self) -> None:
        """There is no file."""
        return

    @guarded("PostgreSQL")
    def commit(self) -> None:
        """Give the table its name, in the place of one that has it, and end the transaction."""
        last = str(self._target).split(".")[-1]
        self._connection.execute(f"DROP TABLE IF EXISTS {place_name(self._target)}".encode())
        self._connection.execute(f"ALTER TABLE {self._draft} RENAME TO {quoted(last)}".encode())
        self._connection.commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import psycopg  # loaded already, by the caller who has a connection

        with suppress(psycopg.Error):
            self._connection.rollback()


def to_file(chunks: Iterator[pl.DataFrame], names: Sequence[str], target: Place) -> Draft:
    """Write chunks under these names into a file that waits for its own."""
    folder = DraftFolder(Path(target))
    try:
        named = (
            fresh_table(one_zero(pl.DataFrame(list(chunk), schema=list(names)))) for chunk in chunks
        )
        return write_parquet(named, folder, Path(target))
    except BaseException:
        folder.close()
        raise


def place_name(place: Place) -> str:
    """The name of a table in SQL.

    >>> place_name("raw.people")
    '"raw"."people"'
    """
    return ".".join(quoted(part) for part in str(place).split("."))
