"""Files of reports counted by a Spark cluster.

Spark hands whole files to its workers, from whatever it reads (HDFS, object stores, a shared disk);
a worker counts them as `absorb_files` does, each partition gives one state, and the workers add
states up in rounds, so that this process sees one state however many files there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.collect.collector.tables import TABLES
from celosia.collect.distributed import parts
from celosia.collect.protocol import Protocol
from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.engines.spark.execution import error_text, is_alive, may_quote, workers_have_none
from celosia.engines.spark.paths import spark_place
from celosia.engines.spark.session import spark_session
from celosia.engines.spark.types import failures, map_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

TOGETHER = 16
"""States that one worker adds up in a round."""
PACKED, OPENING = 128 * 2**20, 4 * 2**20
"""Bytes of files that Spark packs into a partition, and what it takes each to weigh besides."""
ROW = "state binary, marks binary, about string"
ENDINGS = ",".join(each.removeprefix(".") for each in TABLES)


def gather_on_spark(
    protocol: Protocol,
    places: Iterable[str | Path],
    *,
    url: str | None = None,
    session: SparkSession | None = None,
    source: str = "",
    counted_marks: Mapping[bytes, bytes] | None = None,
) -> parts.GatheredCounts:
    """Count the Parquet and Arrow files of reports on Spark; all of them, or nothing.

    The sums are those of one server, bit for bit, however Spark cuts the work. Workers need
    celosia: install it there, or ship an environment (`spark.archives`).

    Args:
        protocol: of the reports.
        places: files and folders, as Spark names them ("hdfs://...", "s3a://..."); patterns (`*`)
            are Spark's. A `Path` is one of this machine.
        url: of Spark, as for `spark_session`; not with `session`.
        session: one that runs.
        source: where the files come from; of a collector.
        counted_marks: what a collector has counted (`Collector.marks`); None where there is none.

    Raises:
        InputError: CEL-R082 a file is damaged or not of this protocol, or there is none; CEL-R078
            within it where a file was changed after a collector has counted it.
        EngineError: CEL-E070 Spark failed or was stopped, CEL-E071 its workers have no celosia; or
            as `spark_session`.
    """
    spark = spark_session(url) if session is None else session
    paths = [spark_place(spark, place) for place in places]
    whole = _run(spark, partial(_whole, spark, protocol, paths, source, counted_marks))
    parts.check_each(paths, whole.files)
    return parts.combine_parts(protocol, whole)


def _whole(
    spark: SparkSession,
    protocol: Protocol,
    places: list[str],
    source: str,
    counted_marks: Mapping[bytes, bytes] | None,
) -> parts.PartialCount:
    if not places:
        return parts.merge_parts(protocol, [])
    files = (
        spark.read.format("binaryFile")
        .option("pathGlobFilter", f"*.{{{ENDINGS}}}")
        .option("recursiveFileLookup", "true")
        .load(places)
    )
    # Spark packs files into partitions of at most `maxPartitionBytes`, 128 MiB unless told.
    whole_files = files.select("path", "content")
    states = map_arrow(whole_files, partial(_counted, protocol, source, counted_marks), ROW)
    for partitions in _rounds(_expected(files)):
        states = map_arrow(states.repartition(partitions), partial(_added, protocol), ROW)
    rows = [row.asDict() for row in states.collect()]
    return parts.merge_parts(protocol, map(_part, rows))


def _expected(files: DataFrame) -> int:
    """About how many states there will be: Spark Connect does not tell of partitions.

    Too few or too many only make the rounds uneven.
    """
    number, size = files.selectExpr("count(*)", "coalesce(sum(length), 0)").collect()[0]
    return min(int(number), 1 + (int(size) + int(number) * OPENING) // PACKED)


def _rounds(states: int) -> Iterator[int]:
    """How many partitions each round has, down to one."""
    while states > TOGETHER:
        states = -(-states // TOGETHER)
        yield states
    yield 1


def _counted(
    protocol: Protocol,
    source: str,
    counted_marks: Mapping[bytes, bytes] | None,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """On a worker: the sums of the files of a partition."""
    import pyarrow as pa

    counter, empty = parts.FileCounter(protocol, source, counted_marks), True
    for batch in batches:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            counter.add(path.as_py(), pa.BufferReader(content.as_buffer()))
            empty = False
    if not empty:
        yield _batch(counter.part())


def _added(protocol: Protocol, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """On a worker: the sums of the states of a partition."""
    rows = (row for batch in batches for row in batch.to_pylist())
    whole = parts.merge_parts(protocol, map(parts.PartialCount.from_row, rows))
    if whole.files:
        yield _batch(whole)


def _batch(part: parts.PartialCount) -> pa.RecordBatch:
    import pyarrow as pa

    kinds = {"state": pa.binary(), "marks": pa.binary(), "about": pa.string()}
    return pa.RecordBatch.from_pylist([part.row()], schema=pa.schema(kinds))


def _part(row: Mapping[str, Any]) -> parts.PartialCount:
    """A row as Spark hands it over, whose bytes may be a bytearray."""
    return parts.PartialCount.from_row(
        dict(row) | {each: bytes(row[each]) for each in ("state", "marks")}
    )


def _run(spark: SparkSession, work: Callable[[], parts.PartialCount]) -> parts.PartialCount:
    """What Spark gives, or an error of ours: its own may hold whatever stood in the files."""
    from pyspark.errors import AnalysisException  # comes with pyspark

    failure: CelosiaError
    try:
        return work()
    except AnalysisException:  # before anything ran: a place that is not there
        failure = InputError("CEL-R082.not_found_by_spark")
    except failures() as error:
        missing = "No module named 'celosia" in error_text(error)
        failure = workers_have_none() if missing else _failed()
    except CelosiaError:
        raise
    except Exception as error:
        # A context that was stopped leaves None behind, on which pyspark stumbles.
        if not may_quote(error) and is_alive(spark):
            raise
        failure = _failed()
    except BaseException:  # Ctrl-C here must end the work there
        with suppress(Exception):
            spark.interruptAll()
        raise
    raise failure


def _failed() -> EngineError:
    return EngineError("CEL-E070")
