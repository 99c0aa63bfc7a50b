"""What Spark has written and nobody sees yet: a folder of Parquet files, or a table."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import TYPE_CHECKING, Self

import polars as pl

from celosia.engines.drafts import DraftFolder
from celosia.engines.spark.files import quoted
from celosia.engines.spark.places import (
    HadoopFiles,
    abandoned,
    draft_name,
    draft_start,
    forget,
    parent_and_name,
)
from celosia.engines.spark.running import run
from celosia.engines.tables import Place, engine_failed, table_exists

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkDraft:
    """Something that waits for its name, see `tables.Draft`."""

    rows = 0
    columns: dict[str, pl.DataType]

    def write(self, frame: DataFrame) -> None:
        """Let Spark write a frame here."""
        raise NotImplementedError

    def read(self) -> DataFrame:
        """What was written."""
        raise NotImplementedError

    def sha256(self) -> None:
        """A folder and a table have no hash."""
        return

    def commit(self) -> None:
        """Give it its name."""
        raise NotImplementedError

    def close(self) -> None:
        """Take away what was not committed."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class LocalDraft(SparkDraft):
    """A folder of this machine: it can be taken away even when Spark is gone."""

    def __init__(self, session: SparkSession, target: Path) -> None:
        self._session, self._target = session, target
        self._folder = DraftFolder(target)
        self._data = self._folder.path / "data"

    def write(self, frame: DataFrame) -> None:
        """Let Spark write a frame here."""
        frame.write.parquet(self._data.as_uri())

    def read(self) -> DataFrame:
        """What was written."""
        return self._session.read.parquet(self._data.as_uri())

    def commit(self) -> None:
        """Give the folder its name; what had it before goes when the new one has it."""
        before = self._folder.path / "before"
        try:
            if self._target.exists():
                os.rename(self._target, before)
            os.rename(self._data, self._target)
        except OSError:
            with suppress(OSError):
                os.rename(before, self._target)
        if self._data.exists():
            raise engine_failed("Spark")

    def close(self) -> None:
        """Take away what was not committed."""
        self._folder.close()


class HadoopDraft(SparkDraft):
    """A folder of HDFS or of an object store, which Spark itself renames."""

    def __init__(self, session: SparkSession, target: str) -> None:
        self._session, self._files, self._target = session, HadoopFiles(session), target.rstrip("/")
        self._parent, name = parent_and_name(target)
        left = run(session, lambda: self._files.beside(self._target, draft_start(name)))
        for each in abandoned(left):
            run(session, lambda each=each: self._files.remove(f"{self._parent}/{each}"))  # type: ignore[misc]  # bound now, for each
        self._draft = f"{self._parent}/{draft_name(name)}"

    def write(self, frame: DataFrame) -> None:
        """Let Spark write a frame here."""
        frame.write.parquet(self._draft)

    def read(self) -> DataFrame:
        """What was written."""
        return self._session.read.parquet(self._draft)

    def commit(self) -> None:
        """Give the folder its name; what had it before goes when the new one has it."""
        run(self._session, self._rename)

    def _rename(self) -> None:
        before = f"{self._draft}_{token_hex(4)}"
        had = self._files.exists(self._target)
        if had:
            self._files.rename(self._target, before)
        try:
            self._files.rename(self._draft, self._target)
        except Exception:
            if had:
                self._files.rename(before, self._target)
            raise
        if had:
            self._files.remove(before)

    def close(self) -> None:
        """Take away what was not committed; where Spark is gone, the next run does."""
        forget(self._draft)
        with suppress(Exception):
            self._files.remove(self._draft)


class TableDraft(SparkDraft):
    """A table of the catalogue."""

    def __init__(self, session: SparkSession, target: Place, *, overwrite: bool) -> None:
        self._session, self._overwrite = session, overwrite
        self._target = str(target)
        base, _, name = self._target.rpartition(".")
        self._base = f"{base}." if base else ""
        where = f" IN {base}" if base else ""
        run(session, lambda: self._sweep(where, name))
        self._draft = f"{self._base}{quoted(draft_name(name))}"

    def _sweep(self, where: str, name: str) -> None:
        rows = self._session.sql(f"SHOW TABLES{where}").collect()
        names = [row["tableName"] for row in rows if row["tableName"].startswith(draft_start(name))]
        for each in abandoned(names):
            self._session.sql(f"DROP TABLE IF EXISTS {self._base}{quoted(each)}")

    def write(self, frame: DataFrame) -> None:
        """Let Spark write a frame here."""
        frame.write.saveAsTable(self._draft)

    def read(self) -> DataFrame:
        """What was written."""
        return self._session.table(self._draft)

    def commit(self) -> None:
        """Give the table its name."""
        run(self._session, self._rename)

    def _rename(self) -> None:
        exists = self._session.catalog.tableExists(self._target)
        if exists and not self._overwrite:
            raise table_exists(self._target)
        before = f"{self._base}{quoted(draft_name('before'))}"
        if exists:
            self._session.sql(f"ALTER TABLE {self._target} RENAME TO {before}")
        self._session.sql(f"ALTER TABLE {self._draft} RENAME TO {self._target}")
        if exists:
            self._session.sql(f"DROP TABLE {before}")

    def close(self) -> None:
        """Take away what was not committed; where Spark is gone, the next run does."""
        forget(self._draft.strip("`"))
        with suppress(Exception):
            self._session.sql(f"DROP TABLE IF EXISTS {self._draft}")
