"""Drafts of Spark, which are not visible yet: a folder of Parquet files, or a table."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from celosia.engines.drafts import DraftFolder
from celosia.engines.duckdb import SizeCounts, size_counts
from celosia.engines.spark.execution import run
from celosia.engines.spark.paths import (
    HadoopFiles,
    abandoned,
    before_name,
    before_start,
    draft_name,
    draft_start,
    file_exists,
    forget,
    parent_and_name,
    quoted,
)
from celosia.engines.tables import Draft, Place, engine_failed, table_exists

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_HERE, _EXCHANGE = -100, 2
"""Of Linux: paths are of the working folder; two names change places."""


def swap_folders(new: Path, target: Path) -> None:
    """Let two folders change their names: in one step where the system can do that.

    Elsewhere the old one is put aside first. A process killed between the two steps leaves it
    there, and `restore_folder` gives it its name again.

    Raises:
        OSError: neither has changed.
    """
    if _exchange(new, target):
        return
    before = target.with_name(before_name(target.name))
    try:
        os.rename(target, before)
        try:
            os.rename(new, target)
        except BaseException:
            os.rename(before, target)
            raise
        os.rename(before, new)  # as an exchange would have left it
    finally:
        forget(before.name)


def restore_folder(target: Path) -> None:
    """Give back its name to what was put aside by a run that was killed."""
    if not target.parent.is_dir():
        return
    start = before_start(target.name)
    left = [each.name for each in target.parent.iterdir() if each.name.startswith(start)]
    for name in abandoned(left):
        if target.exists():
            shutil.rmtree(target.with_name(name), ignore_errors=True)
        else:
            with suppress(OSError):
                os.rename(target.with_name(name), target)


def _exchange(one: Path, other: Path) -> bool:
    """Whether the system could do it in one step."""
    if sys.platform != "linux":
        return False
    try:
        exchange = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):  # an old C library
        return False
    done = exchange(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return bool(done == 0)


def count_sizes(rows: DataFrame, keys: Sequence[str], unit: str | None = None) -> SizeCounts:
    """How many combinations of some columns are shared by how many rows, or by how many units."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    def counted() -> DataFrame:
        size = F.count(F.lit(1)) if unit is None else F.count_distinct(unit)
        return rows.groupBy(*keys).agg(size.alias("size")).groupBy("size").count()

    table = run(rows.sparkSession, lambda: counted().toArrow())
    return size_counts(pl.DataFrame(pl.from_arrow(table)))


class SparkDraft(Draft):
    """Something that waits for its name, see `tables.Draft`."""

    rows = 0

    @abstractmethod
    def write(self, frame: DataFrame, partition_by: Sequence[str] = ()) -> None:
        """Let Spark write a frame here."""

    @abstractmethod
    def read(self) -> DataFrame:
        """What was written."""

    def count_sizes(self) -> SizeCounts:
        rows = self.read().toDF(*(f"c{number}" for number in range(len(self.columns))))
        return count_sizes(rows, rows.columns)


class LocalDraft(SparkDraft):
    """A folder of this machine: it can be taken away even when Spark is gone."""

    def __init__(self, session: SparkSession, target: Path, *, overwrite: bool) -> None:
        self._session, self._target, self._overwrite = session, target, overwrite
        restore_folder(target)
        self._folder = DraftFolder(target)
        self._data = self._folder.path / "data"

    def write(self, frame: DataFrame, partition_by: Sequence[str] = ()) -> None:
        frame.write.partitionBy(*partition_by).parquet(self._data.as_uri())

    def read(self) -> DataFrame:
        return self._session.read.parquet(self._data.as_uri())

    def commit(self) -> None:
        done = True
        if self._target.exists() and not self._overwrite:
            raise file_exists(self._target)
        try:
            if self._target.exists():
                swap_folders(self._data, self._target)
            else:
                os.rename(self._data, self._target)
        except OSError:
            done = False
        if not done:
            raise engine_failed("Spark")

    def close(self) -> None:
        """Take away what was not committed, or what was replaced."""
        self._folder.close()


class HadoopDraft(SparkDraft):
    """A folder of HDFS or of an object store, which Spark itself renames."""

    def __init__(self, session: SparkSession, target: str, *, overwrite: bool) -> None:
        self._session, self._files, self._target = session, HadoopFiles(session), target.rstrip("/")
        self._overwrite = overwrite
        self._parent, self._name = parent_and_name(target)
        run(session, self._sweep)
        self._draft = f"{self._parent}/{draft_name(self._name)}"

    def _sweep(self) -> None:
        """Take away what runs that were killed have left, but bring back what they took away."""
        for each in abandoned(self._files.beside(self._target, before_start(self._name))):
            left = f"{self._parent}/{each}"
            if self._files.exists(self._target):
                self._files.remove(left)
            else:
                self._files.rename(left, self._target)
        for each in abandoned(self._files.beside(self._target, draft_start(self._name))):
            self._files.remove(f"{self._parent}/{each}")

    def write(self, frame: DataFrame, partition_by: Sequence[str] = ()) -> None:
        frame.write.partitionBy(*partition_by).parquet(self._draft)

    def read(self) -> DataFrame:
        return self._session.read.parquet(self._draft)

    def commit(self) -> None:
        run(self._session, self._rename)

    def _rename(self) -> None:
        had = self._files.exists(self._target)
        if had and not self._overwrite:
            raise file_exists(self._target)
        before = f"{self._parent}/{before_name(self._name)}"
        if had:
            self._files.rename(self._target, before)
        try:
            self._files.rename(self._draft, self._target)
        except BaseException:
            if had:
                self._files.rename(before, self._target)
            raise
        finally:
            forget(before)
        if had:
            with suppress(Exception):  # it is published; the next run takes this away
                self._files.remove(before)

    def close(self) -> None:
        forget(self._draft)
        with suppress(Exception):
            self._files.remove(self._draft)


class TableDraft(SparkDraft):
    """A table of the catalogue."""

    def __init__(self, session: SparkSession, target: Place, *, overwrite: bool) -> None:
        self._session, self._overwrite = session, overwrite
        self._target = str(target)
        base, _, self._name = self._target.rpartition(".")
        self._base = f"{base}." if base else ""
        self._where = f" IN {base}" if base else ""
        run(session, self._sweep)
        self._draft = f"{self._base}{quoted(draft_name(self._name))}"

    def _sweep(self) -> None:
        """Take away what runs that were killed have left, but bring back what they took away."""
        rows = self._session.sql(f"SHOW TABLES{self._where}").collect()
        names = [row["tableName"] for row in rows]
        for each in abandoned([one for one in names if one.startswith(before_start(self._name))]):
            left = f"{self._base}{quoted(each)}"
            if self._session.catalog.tableExists(self._target):
                self._session.sql(f"DROP TABLE IF EXISTS {left}")
            else:
                self._session.sql(f"ALTER TABLE {left} RENAME TO {self._target}")
        for each in abandoned([one for one in names if one.startswith(draft_start(self._name))]):
            self._session.sql(f"DROP TABLE IF EXISTS {self._base}{quoted(each)}")

    def write(self, frame: DataFrame, partition_by: Sequence[str] = ()) -> None:
        assert not partition_by, "refused before: a rename would lose the partitions"
        frame.write.saveAsTable(self._draft)

    def read(self) -> DataFrame:
        return self._session.table(self._draft)

    def commit(self) -> None:
        """Give the table its name; what had it before goes when the new one has it."""
        run(self._session, self._rename)

    def _rename(self) -> None:
        exists = self._session.catalog.tableExists(self._target)
        if exists and not self._overwrite:
            raise table_exists(self._target)
        name = before_name(self._name)
        before = f"{self._base}{quoted(name)}"
        if exists:
            self._session.sql(f"ALTER TABLE {self._target} RENAME TO {before}")
        try:
            self._session.sql(f"ALTER TABLE {self._draft} RENAME TO {self._target}")
        except BaseException:
            if exists:
                self._session.sql(f"ALTER TABLE {before} RENAME TO {self._target}")
            raise
        finally:
            forget(name)
        if exists:
            with suppress(Exception):  # it is published; the next run takes this away
                self._session.sql(f"DROP TABLE {before}")

    def close(self) -> None:
        forget(self._draft.strip("`"))
        with suppress(Exception):
            self._session.sql(f"DROP TABLE IF EXISTS {self._draft}")
