"""Column types of Spark and ours, where nothing is lost between them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from celosia.engines.tables import Place, not_found, unpublishable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType


_PLAIN: dict[str, pl.DataType] = {
    "tinyint": pl.Int8(),
    "smallint": pl.Int16(),
    "int": pl.Int32(),
    "bigint": pl.Int64(),
    "float": pl.Float32(),
    "double": pl.Float64(),
    "boolean": pl.Boolean(),
    "string": pl.String(),
    "date": pl.Date(),
    "timestamp": pl.Datetime("us", "UTC"),
    "timestamp_ntz": pl.Datetime("us"),
}
_NAMES = {kind: name for name, kind in _PLAIN.items()}


def polars_types(schema: StructType) -> dict[str, pl.DataType]:
    """The types of a table as ours.

    Raises:
        EngineError: CEL-E022 a type that cannot be published.
    """
    return {each.name: _polars(each.name, each.dataType) for each in schema.fields}


def _polars(column: str, kind: Any) -> pl.DataType:
    name = kind.simpleString()
    if name.startswith("decimal("):
        return pl.Decimal(kind.precision, kind.scale)
    if name not in _PLAIN:  # nested, binary, intervals, text with a collation
        raise unpublishable(column, name)
    return _PLAIN[name]


def spark_type(column: str, kind: pl.DataType) -> DataType:
    """One of our types as Spark has it.

    Raises:
        EngineError: CEL-E022 Spark has no such type.
    """
    from pyspark.sql.types import DecimalType, _parse_datatype_string

    if isinstance(kind, pl.Decimal):
        return DecimalType(kind.precision or 38, kind.scale)
    plain = plain_type(kind)
    if plain not in _NAMES:
        raise unpublishable(column, str(kind))
    found: DataType = _parse_datatype_string(_NAMES[plain])
    return found


def plain_type(kind: pl.DataType) -> pl.DataType:
    """The type in which Spark holds the same values."""
    wider: dict[pl.DataType, pl.DataType] = {
        pl.UInt8(): pl.Int16(),
        pl.UInt16(): pl.Int32(),
        pl.UInt32(): pl.Int64(),
        pl.UInt64(): pl.Decimal(20, 0),
    }
    if isinstance(kind, pl.Datetime):
        return pl.Datetime("us", "UTC" if kind.time_zone else None)
    if isinstance(kind, pl.Categorical | pl.Enum):
        return pl.String()
    return wider.get(kind, kind)


def plain_table(frame: pl.DataFrame) -> pa.Table:
    """A frame as Arrow, in types that Spark takes."""
    return frame.with_columns(
        frame[name].cast(plain_type(kind)) for name, kind in frame.schema.items()
    ).to_arrow()


def as_table(session: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """A frame as a table of Spark, in the types that `polars_types` would read again."""
    from pyspark.sql.types import StructField, StructType

    kinds = [StructField(name, spark_type(name, kind)) for name, kind in frame.schema.items()]
    return session.createDataFrame(plain_table(frame), schema=StructType(kinds))


def check_file(schema: pa.Schema) -> None:
    """Refuse what Spark would read from a Parquet file as something else, or not at all.

    Raises:
        EngineError: CEL-E022 a type that cannot be published.
    """
    import pyarrow as pa

    for column in schema:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        finest = pa.types.is_timestamp(kind) and kind.unit == "ns"
        if finest or pa.types.is_time(kind) or pa.types.is_duration(kind):
            raise unpublishable(column.name, str(kind))


def check_files(source: Place, seen: Iterable[tuple[object, ...]]) -> None:
    """Look at the types in the first Parquet file, of which Spark would change some."""
    import pyarrow as pa
    from pyarrow import parquet

    first = next((str(each[0]) for each in seen if _is_data(Path(str(each[0])))), None)
    schema = None
    if first is not None:
        with suppress(pa.ArrowException, OSError):
            schema = parquet.read_schema(first)
    if schema is None:
        raise not_found(source)
    check_file(schema)


def _is_data(path: Path) -> bool:
    """As Spark sees it: what begins with a dot or a line below is not."""
    return not path.name.startswith((".", "_"))


Batches = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
"""What becomes of the batches of one partition."""


def map_arrow(frame: DataFrame, function: Batches, schema: StructType | str) -> DataFrame:
    """A frame mapped by a function that workers run, batch by batch; Arrow in, Arrow out.

    The function is pickled, and names of ours in it are looked up on the workers: they need
    celosia. Nothing goes through pandas, but pyspark wants to see that it is there.
    """
    with warnings.catch_warnings():
        # It warns of a pandas that it does not know; none of it is used here.
        warnings.simplefilter("ignore", FutureWarning)
        return frame.mapInArrow(function, schema)


def failures() -> tuple[type[BaseException], ...]:
    """What is raised where Spark fails, or its Java process is gone."""
    from py4j.protocol import Py4JError  # comes with pyspark
    from pyspark.errors import PySparkException

    return (PySparkException, Py4JError, OSError, EOFError)
