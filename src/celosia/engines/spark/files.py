"""Files that Spark reads as tables, and what tells one state of them from another."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
CSV_ENDINGS = (".csv", ".csv.gz")
CSV_OPTIONS = {
    "header": "true",
    "quote": '"',
    "escape": '"',  # a quote inside a cell is written twice, not behind a backslash
    "multiLine": "true",
    "mode": "PERMISSIVE",  # a cell that does not fit its column is NULL, and no error
}


class FileTable:
    """A Parquet file, a folder of them or a CSV file as a table of a session.

    Columns and types are those of the day it was opened. Spark lists the files of a table once;
    they are listed again when they changed.
    """

    def __init__(self, session: SparkSession, name: str, path: str | Path) -> None:
        self.name = name
        self._session = session
        written = str(path)
        self._local = None if _SCHEME.match(written) else Path(written).resolve(strict=True)
        self._place = written if self._local is None else self._local.as_uri()
        self._is_csv = written.lower().endswith(CSV_ENDINGS)
        reader = session.read
        if self._is_csv:
            # All rows are looked at for types, so that none can surprise later.
            found = reader.options(**CSV_OPTIONS).csv(self._place, inferSchema=True)
        else:
            found = reader.parquet(self._place)
        self._schema = found.schema
        self._seen = self.stamp()
        self._show(found)

    def refresh(self) -> None:
        """List the files again if they changed, which only local ones can tell in no time."""
        if self._local is None:
            return
        now = self.stamp()
        if now == self._seen:
            return
        reader = self._session.read.schema(self._schema)
        again = (
            reader.options(**CSV_OPTIONS).csv(self._place)
            if self._is_csv
            else reader.parquet(self._place)
        )
        self._seen = now
        self._show(again)

    def stamp(self) -> object:
        """What changes when a file is written, replaced, added or removed.

        Of files elsewhere only the names are known: cluster storage gives new data new names.
        """
        if self._local is None:
            if self._is_csv:
                return self._place
            fresh = self._session.read.schema(self._schema).parquet(self._place)
            return tuple(sorted(fresh.inputFiles()))
        return tuple(sorted(_stamps(self._local)))

    @property
    def is_local(self) -> bool:
        """Whether the files are on this machine, so that a change of them can be told."""
        return self._local is not None

    def drop(self) -> None:
        """Take the table out of the session."""
        self._session.catalog.dropTempView(self.name)

    def _show(self, frame: DataFrame) -> None:
        self.frame = frame
        frame.createOrReplaceTempView(quoted(self.name))


def quoted(name: str) -> str:
    """A name as Spark reads it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def _stamps(path: Path) -> list[tuple[object, ...]]:
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    found: list[tuple[object, ...]] = []
    for each in files:
        try:
            seen = each.stat()
        except OSError:
            continue  # gone: its stamp is missed
        times = (seen.st_mtime_ns, seen.st_ctime_ns)
        found.append((str(each), seen.st_dev, seen.st_ino, seen.st_size, *times))
    return found
