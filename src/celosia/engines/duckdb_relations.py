"""What DuckDB reads: Parquet files, or a table of its own, under names of ours."""

# ruff: noqa: S608 - names are quoted, and all else in a query is ours

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar, cast

import polars as pl

from celosia.core.errors import EngineError
from celosia.engines.sql import stamp_of
from celosia.engines.tables import (
    Place,
    changed_source,
    names_files,
    not_found,
    unpublishable,
)

if TYPE_CHECKING:
    import duckdb

Stamp = tuple[int, ...]

_F = TypeVar("_F", bound=Callable[..., Any])

_MOST_DAYS = 95_000_000
"""From 1970; some 260,000 years, and a little less than what Polars can tell."""

_PLAIN = (
    pl.Boolean,
    pl.String,
    pl.Categorical,
    pl.Enum,
    pl.Date,
    pl.Datetime,
    pl.Time,
    pl.Duration,
    pl.Decimal,
    pl.Null,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A source as DuckDB scans it: its columns are c0, c1, ... whatever a user calls them."""

    place: Place
    scan: str
    """What comes after FROM, without the names of the columns."""
    columns: dict[str, pl.DataType]
    stamps: dict[Path, Stamp]
    """The files that are read, and what changes when one is written."""

    @property
    def text(self) -> str:
        """What comes after FROM. Names of our own: DuckDB's know no case."""
        names = ", ".join(f"c{number}" for number in range(len(self.columns)))
        return f"{self.scan} AS t({names})"

    def column(self, name: str) -> str:
        """A column as DuckDB compares it: text byte by byte, whatever collation its table has."""
        number = list(self.columns).index(name)
        collated = self.columns[name] == pl.String and not self.stamps
        return f"t.c{number}::VARCHAR COLLATE C" if collated else f"t.c{number}"

    def check_unchanged(self) -> None:
        """Refuse files that were written since they were first looked at.

        Raises:
            EngineError: CEL-E002.
        """
        if any(stamp_of(file) != stamp for file, stamp in self.stamps.items()):
            raise changed_source()


def watched(work: _F) -> _F:
    """Tell files that were written meanwhile from a DuckDB that stopped for another reason.

    Of methods whose first argument is a source, of engines that keep what they know of sources.
    """

    @wraps(work)
    def run(engine: Any, source: Place, *given: Any, **named: Any) -> Any:
        try:
            return work(engine, source, *given, **named)
        except EngineError as error:
            failed = error
        # Outside the handler, so that neither error has the other as its context.
        known: Relation | None = engine._relations.get(source)
        if known is not None:
            known.check_unchanged()
        raise failed

    return cast("_F", run)


def relation(connection: duckdb.DuckDBPyConnection, place: Place) -> Relation:
    """Look a source up.

    Raises:
        EngineError: CEL-E021 there is none, CEL-E022 a type that cannot be published.
    """
    if not names_files(place):
        scan = ".".join(quoted(part) for part in str(place).split("."))
        types = _own_types(connection, place, scan)
        _check_times(connection, scan, types)
        if _is_view(connection, place):
            # It may read files, or draw at random: only a copy is the same in every pass.
            copy = f"celosia_view_{token_hex(8)}"
            connection.execute(f"CREATE TEMP TABLE {copy} AS SELECT * FROM {scan}")
            scan = copy
        return Relation(place, scan, types, {})
    files = parquet_files(place)
    if not files:
        raise not_found(place)
    stamps = {file: stamp_of(file) for file in files}
    listed = ", ".join(literal(_no_pattern(str(file))) for file in files)
    hive = "true" if any("=" in part for part in _below(place, files[0])) else "false"
    scan = f"read_parquet([{listed}], hive_partitioning = {hive})"
    own = _own_types(connection, place, scan)
    stated = _stated_types(place, files[0])
    # Files that were split by the values of a column have this one in the name of their folder.
    types = dict(zip([*stated, *list(own)[len(stated) :]], own.values(), strict=True)) | stated
    return Relation(place, scan, types, stamps)


def parquet_files(place: Place) -> list[Path]:
    """The files that a place means, in order."""
    path = Path(place)
    if path.is_file():
        return [path]
    found: Iterable[Path]
    if path.is_dir():
        found = path.rglob("*")
    else:
        fixed = Path(*path.parts[: _first_pattern(path)])
        rest = path.parts[_first_pattern(path) :]
        found = fixed.glob(str(Path(*rest))) if rest else ()
    wanted = (".parquet", ".pq")
    # Names that begin with a dot or a line are, by custom, no part of the data.
    return sorted(
        each
        for each in found
        if each.suffix in wanted and each.is_file() and not each.name.startswith((".", "_"))
    )


def as_type(series: pl.Series, kind: pl.DataType) -> pl.Series:
    """A column that DuckDB gave back, in the type that its file or table says."""
    if series.dtype == kind:
        return series
    if kind == pl.Null:
        return pl.Series(series.name, [None] * len(series), dtype=pl.Null)
    if isinstance(kind, pl.Datetime) and kind.time_zone is not None:
        moments = series.dt.cast_time_unit(kind.time_unit)
        return moments.dt.convert_time_zone(kind.time_zone)
    return series.cast(kind)


def check_days(name: str, values: pl.Series) -> None:
    """Refuse days so far away that Polars cannot tell them, such as DuckDB's infinite ones.

    Raises:
        EngineError: CEL-E022.
    """
    units = {"ms": 86_400_000, "us": 86_400_000_000}  # nanoseconds do not reach that far
    kind = values.dtype
    day = 1 if kind == pl.Date else units.get(getattr(kind, "time_unit", "ns"))
    if not isinstance(kind, pl.Date | pl.Datetime) or day is None:
        return
    if (values.to_physical().abs() > _MOST_DAYS * day).any():
        raise unpublishable(name, f"{kind} with infinite values")


def quoted(name: str) -> str:
    """A name in SQL.

    >>> quoted("age")
    '"age"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def _own_types(
    connection: duckdb.DuckDBPyConnection, place: Place, scan: str
) -> dict[str, pl.DataType]:
    import duckdb  # loaded already, by the caller who has a connection

    table = None
    with suppress(duckdb.Error, RuntimeError):
        table = connection.execute(f"SELECT * FROM {scan} LIMIT 0").to_arrow_table()
    if table is None:
        raise not_found(place)
    types: dict[str, pl.DataType] = {}
    for field in table.schema:
        try:
            kind = pl.Series(pl.from_arrow(table.column(field.name))).dtype
        except pl.exceptions.PolarsError:
            kind = pl.Object()
        types[field.name] = _published(field.name, kind, str(field.type))
    return types


def _check_times(
    connection: duckdb.DuckDBPyConnection, scan: str, types: dict[str, pl.DataType]
) -> None:
    """Refuse times of day that would lose their zone, or the whole of themselves."""
    kinds = connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    for kind, name in zip((row[1] for row in kinds), types, strict=True):
        if kind == "TIME WITH TIME ZONE":
            raise unpublishable(name, kind)
        if kind == "TIME":
            query = f"SELECT bool_or({quoted(name)} = '24:00:00'::TIME) FROM {scan}"
            found = connection.execute(query).fetchone()
            if found and found[0]:
                raise unpublishable(name, "TIME with 24:00")


def _is_view(connection: duckdb.DuckDBPyConnection, place: Place) -> bool:
    """Whether a name may be that of a view: in whichever schema, if it names none."""
    *within, name = str(place).lower().split(".")
    views = connection.execute(
        "SELECT lower(schema_name) FROM duckdb_views() WHERE lower(view_name) = ?", [name]
    ).fetchall()
    return any(not within or schema in within for (schema,) in views)


def _stated_types(place: Place, file: Path) -> dict[str, pl.DataType]:
    """The types by which Polars reads a file, of which DuckDB knows some by another name."""
    import pyarrow as pa  # 0.15 s, only where an engine is wanted
    import pyarrow.parquet as pq

    try:
        found = pl.read_parquet_schema(file)
        stored = pq.read_schema(file)
    except (pl.exceptions.PolarsError, pa.ArrowException, OSError):
        found = None
    if found is None:
        raise not_found(place)
    types = {name: _published(name, kind, str(kind)) for name, kind in found.items()}
    for name, kind in types.items():
        # DuckDB cuts the nanoseconds off, which would merge different values.
        zoned = isinstance(kind, pl.Datetime) and kind.time_zone and kind.time_unit == "ns"
        if zoned or stored.field(stored.get_field_index(name)).type == pa.time64("ns"):
            raise unpublishable(name, f"{kind} in nanoseconds")
    return types


def _published(name: str, kind: pl.DataType, described: str) -> pl.DataType:
    wide = isinstance(kind, pl.Int128 | pl.UInt128)
    if isinstance(kind, _PLAIN) or (kind.is_numeric() and not wide):
        return kind
    raise unpublishable(name, described)


def _first_pattern(path: Path) -> int:
    parts = path.parts
    return next((n for n, part in enumerate(parts) if set(part) & set("*?[")), len(parts))


def _below(place: Place, file: Path) -> tuple[str, ...]:
    """The folders between a place and a file in it."""
    path = Path(place)
    base = Path(*path.parts[: _first_pattern(path)])
    return file.relative_to(base).parts[:-1] if base in file.parents else ()


def _no_pattern(name: str) -> str:
    """A name as a pattern that nothing else fits."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
