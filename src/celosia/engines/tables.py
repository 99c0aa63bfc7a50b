"""Engines that publish tables where the tables are: what each of them must be able to do.

The engine groups the quasi-identifiers, the search runs here on the distinct combinations, and the
engine recodes and writes. No row of the table comes here but in the batches of `map_batches`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import ClassVar, Literal, ParamSpec, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.core.randomness import Source
from celosia.core.resources import Closeable
from celosia.engines.duckdb import Groups, SizeCounts

Place = str | Path
"""A Parquet file, a folder or a pattern of them, or the name of a table in the engine."""

Order = Literal["shuffled", "kept"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_SPEAKERS = ("duckdb", "_duckdb", "psycopg", "pyarrow", "polars")
"""Packages whose errors may quote cells."""

Batch = Callable[[pl.DataFrame], pl.DataFrame]
"""What becomes of some rows, whichever others come with them."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnMap:
    """What becomes of each value of one column where it is the same in every row."""

    values: pl.Series = field(repr=False)
    """The distinct values of the column, an empty cell among them if there is one."""
    released: pl.Series = field(repr=False)
    """What each of them shows, in the type of the released column."""
    nodes: pl.Series = field(repr=False)
    """The number of the node of the hierarchy that each belongs to, as `UInt32`."""


@dataclass(frozen=True, slots=True, eq=False)
class RecodingMap:
    """What becomes of each combination of the quasi-identifiers: once for each, in three frames.

    An engine may look every combination up, or, where there are `maps`, each column by itself
    and then the suppressed classes, which are mostly few.
    """

    combinations: pl.DataFrame = field(repr=False)
    """Distinct, one row each, in the columns and types that `count_groups` gave them."""
    released: pl.DataFrame = field(repr=False)
    """The same columns as they are released: `*` where suppressed, unless those are dropped."""
    hidden: NDArray[np.bool_] = field(repr=False)
    """Which combinations are suppressed."""
    groups: NDArray[np.int64] = field(repr=False)
    """For each combination, the place of one of its groups among those of `count_groups`."""
    rows: int
    """How many rows were counted: as many must be recoded, or the table has changed."""
    maps: tuple[ColumnMap, ...] | None = field(default=None, repr=False)
    """One for each column where all rows share the levels; None where they do not."""
    hidden_nodes: pl.DataFrame | None = field(default=None, repr=False)
    """With `maps`: the classes that are suppressed, each as the nodes of its columns. Their rows
    show `*` in every column, or are dropped; all others show what the maps say."""
    hidden_rows: int | None = None
    """How many rows the suppressed combinations have."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are recoded."""
        return tuple(self.combinations.columns)

    def released_rows(self, *, drop: bool) -> int:
        """The number of rows that must be written, or the table has changed."""
        if not drop:
            return self.rows
        assert self.hidden_rows is not None, "rows that are dropped must have been counted"
        return self.rows - self.hidden_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the rows of a release go, and in which order."""

    place: Place
    order: Order
    rng: Source
    """What a shuffle draws from, where the engine does not draw itself."""
    overwrite: bool
    partition_by: tuple[str, ...] = ()
    """The columns by whose values the target is split, where the engine can do so."""
    sort: tuple[str, ...] = ()
    """Columns by which shuffled rows are sorted, where the place is a file."""


class Draft(Closeable):
    """A written table that is not visible yet: leaving the block without `commit` takes it away."""

    rows: int
    """How many were written."""
    columns: dict[str, pl.DataType]
    """Names and types as written, in order."""

    def sha256(self) -> str | None:
        """The hash of the file, where the target is a single file here; else None."""
        return None

    @abstractmethod
    def count_sizes(self) -> SizeCounts:
        """How many different rows were written how often, see `TableEngine.count_sizes`."""

    @abstractmethod
    def commit(self) -> None:
        """Give the table its name, in one step; at most once."""

    @abstractmethod
    def close(self) -> None:
        """Take away what was not committed."""


class TableEngine(Closeable):
    """Where a table is grouped, recoded and written.

    All calls between `__enter__` and `__exit__` see one state of the source, or say that it has
    changed (CEL-E002). No error holds what the engine said, for that may hold cells.
    """

    name: ClassVar[str]
    """How the certificate calls it: `duckdb`, `postgres`, `spark`."""
    writes_partitions: ClassVar[bool] = False
    """Whether it splits a target by the values of columns, see `Output`."""

    @abstractmethod
    def columns(self, source: Place) -> dict[str, pl.DataType]:
        """Names and types, in order.

        Raises:
            EngineError: CEL-E021 there is no such table or file, CEL-E022 a type that cannot be
                published.
        """

    @abstractmethod
    def check_target(self, source: Place, target: Place, *, overwrite: bool) -> None:
        """Refuse, before any work, a target that could not be written at its end.

        Raises:
            InputError: CEL-I003 to CEL-I005 and CEL-I007 for files, CEL-P110 a table that exists.
        """

    @abstractmethod
    def count_groups(self, source: Place, columns: Sequence[str]) -> Groups:
        """The distinct combinations of some columns, and how many rows have each.

        Empty cells are a value, text is compared byte by byte, a NaN is like another.
        """

    @abstractmethod
    def count_distinct(self, source: Place, column: str) -> tuple[int, int]:
        """How many cells of a column are not empty, and how many of these are different."""

    @abstractmethod
    def count_sizes(
        self, source: Place, columns: Sequence[str], unit: str | None = None
    ) -> SizeCounts:
        """How many combinations of some columns are shared by how many rows, or by how many units.

        A unit is a value of the column `unit`, such as a person. Equal means what it means for
        `count_groups`; no combination leaves the engine.
        """

    @abstractmethod
    def recode(
        self,
        source: Place,
        output: Output,
        recoding: RecodingMap,
        *,
        keep: Sequence[str],
        drop_suppressed: bool,
    ) -> Draft:
        """Write the columns `keep`, in that order, with those of the recoding as it says.

        Columns that are not recoded stay as they are, but for -0.0, which becomes 0.0, and named
        categories, which become text.

        Raises:
            EngineError: CEL-E002 the table changed since it was grouped, CEL-E020 it failed.
        """

    @abstractmethod
    def map_batches(
        self, source: Place, output: Output, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> Draft:
        """Write what a function makes of the rows, batch by batch, as a table of these columns.

        On several machines the function is pickled; its errors come out as they are.
        """

    @abstractmethod
    def collect_batches(
        self, source: Place, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> pl.DataFrame:
        """What a function makes of the rows, batch by batch, brought here: a few numbers for each.

        As for `map_batches`, but nothing is written; the order of the rows is any.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the engine, and of what it holds for this work."""


def names_files(place: Place) -> bool:
    """Whether a place means Parquet files and not a table.

    >>> [names_files(each) for each in ("raw/*.parquet", "people.parquet", "census.people")]
    [True, True, False]
    """
    if isinstance(place, Path):
        return True
    return place.endswith((".parquet", ".pq")) or "/" in place or "*" in place


def guarded(engine: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """One error for whatever an engine or the disk says in a call, for it may hold cells."""

    def guard(work: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(work)
        def run(*given: _P.args, **named: _P.kwargs) -> _R:
            interrupted = False
            try:
                return work(*given, **named)
            except CelosiaError:
                raise
            except Exception as error:
                package = type(error).__module__.split(".")[0]
                if not (package in _SPEAKERS or isinstance(error, OSError | MemoryError)):
                    # How DuckDB tells Ctrl-C; all else is a fault of ours, and comes out as it is.
                    if type(error) is not RuntimeError or "interrupted" not in str(error).lower():
                        raise
                    interrupted = True
            # Outside the handler, so that the error has no cause that quotes cells.
            if interrupted:
                raise KeyboardInterrupt
            raise engine_failed(engine)

        return run

    return guard


def engine_failed(engine: str) -> EngineError:
    """The one error of an engine that stopped; what it said may hold cells."""
    return EngineError("CEL-E020", engine=engine)


def changed_source() -> EngineError:
    """The error of a table of which the rows that are written are not those that were counted."""
    return EngineError("CEL-E002")


def not_found(place: Place) -> EngineError:
    """The error of a source that is not there."""
    return EngineError("CEL-E021", place=place)


def unpublishable(column: str, kind: str) -> EngineError:
    """The error of a column whose type has no counterpart here."""
    return EngineError("CEL-E022", kind=kind, column=column)


def same_place(place: Place) -> InputError:
    """The error of a target that is its own source."""
    return InputError("CEL-I007.place", place=place)


def table_exists(place: Place) -> InputError:
    """The error of a table that would be written over."""
    return InputError("CEL-P110", place=place)
