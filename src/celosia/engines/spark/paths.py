"""Files and folders as Spark names them, and what must be done to them besides reading."""

from __future__ import annotations

import glob
import os
import re
import socket
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from celosia.core.errors import EngineError, InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_LIVE: set[str] = set()
"""Tokens of drafts that this process is writing."""


def is_local(session: SparkSession) -> bool:
    """Whether Spark runs on this machine, so that its files are ours."""
    try:
        return str(session.sparkContext.master).startswith("local")
    except Exception:
        return False


def local_path(session: SparkSession, place: str | Path) -> Path | None:
    """The path on this machine, where a place is on it; else None."""
    if isinstance(place, Path):
        return place
    if place.startswith("file:"):
        return Path(re.sub(r"^file:/*", "/", place))
    return Path(place) if not SCHEME.match(place) and is_local(session) else None


def spark_place(session: SparkSession, place: str | Path) -> str:
    """A place as Spark is asked for it; in the name of a file that exists, a star is a star."""
    path = local_path(session, place)
    if path is None:
        return str(place)
    whole = str(path.absolute())
    return "file://" + (re.sub(r"([\\*?\[\]{}])", r"\\\1", whole) if path.exists() else whole)


def stamps(path: Path) -> tuple[tuple[object, ...], ...]:
    """What changes when a file below a path is written, replaced, added or removed."""
    found: list[tuple[object, ...]] = []
    for place in [path] if path.exists() else map(Path, glob.glob(str(path))):
        for each in place.rglob("*") if place.is_dir() else [place]:
            if each.is_file():
                seen = each.stat()
                times = (seen.st_mtime_ns, seen.st_ctime_ns)
                found.append((str(each), seen.st_dev, seen.st_ino, seen.st_size, *times))
    return tuple(sorted(found, key=str))


def stamps_elsewhere(session: SparkSession, place: str) -> tuple[tuple[object, ...], ...]:
    """The same of files that only Spark can see; it lists them and reads none."""
    files = session.read.format("binaryFile").option("recursiveFileLookup", "true").load(place)
    listed = files.selectExpr("path", "length", "CAST(modificationTime AS STRING)")
    return tuple(sorted(tuple(row) for row in listed.collect()))


class HadoopFiles:
    """Of whatever Spark reads: HDFS, object stores."""

    def __init__(self, session: SparkSession) -> None:
        try:
            jvm: Any = session.sparkContext._jvm
            self._path = jvm.org.apache.hadoop.fs.Path
            self._settings = session.sparkContext._jsc.hadoopConfiguration()
        except Exception:
            reached = False
        else:
            reached = True
        if not reached:
            raise EngineError("CEL-E077")

    def _open(self, place: str) -> tuple[Any, Any]:
        path = self._path(place)
        return path.getFileSystem(self._settings), path

    def exists(self, place: str) -> bool:
        """Whether there is a file or a folder."""
        files, path = self._open(place)
        return bool(files.exists(path))

    def rename(self, place: str, to: str) -> None:
        """Give a folder another name, in one step."""
        files, path = self._open(place)
        if not files.rename(path, self._path(to)):
            raise OSError(to)

    def remove(self, place: str) -> None:
        """Take a folder away, if it is there."""
        files, path = self._open(place)
        files.delete(path, True)

    def beside(self, place: str, start: str) -> list[str]:
        """The names in the folder of a place that start so."""
        files, path = self._open(place)
        found = [each.getPath().getName() for each in files.listStatus(path.getParent())]
        return [each for each in found if each.startswith(start)]


def draft_name(name: str) -> str:
    """A name for what is not finished, which tells whose it is; good for tables and folders.

    >>> draft_name("people").startswith("_celosia_draft_people_")
    True
    """
    token = token_hex(8)
    _LIVE.add(token)
    return f"{draft_start(name)}{_host()}_{os.getpid()}_{token}"


def draft_start(name: str) -> str:
    """What the names of all drafts of a target start with."""
    return f"_celosia_draft_{name}_"


def before_name(name: str) -> str:
    """A name for what is replaced, until what replaces it has the name of the target."""
    return draft_name(name).replace(draft_start(name), before_start(name))


def before_start(name: str) -> str:
    """What the names of all that a target has replaced start with."""
    return f"_celosia_before_{name}_"


def forget(draft: str) -> None:
    """Say that a draft is no longer written."""
    _LIVE.discard(draft.rpartition("_")[2])


def abandoned(names: list[str]) -> list[str]:
    """The abandoned drafts: of this machine, and of a process that has ended."""
    found = []
    for name in names:
        host, process, token = name.split("_")[-3:]
        ours = host == _host() and process.isdecimal() and token not in _LIVE
        if ours and (int(process) == os.getpid() or not _runs(int(process))):
            found.append(name)
    return found


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _host() -> str:
    """The machine, so that no other takes our drafts for its own."""
    return blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()


def parent_and_name(place: str) -> tuple[str, str]:
    """A place split before its last name.

    >>> parent_and_name("hdfs://name/data/safe.parquet/")
    ('hdfs://name/data', 'safe.parquet')
    """
    parent, _, name = place.rstrip("/").rpartition("/")
    return parent, name


def file_exists(place: str | Path) -> InputError:
    """The error of files that would be written over."""
    return InputError("CEL-I004", path=str(place))


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
