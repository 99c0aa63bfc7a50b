"""Publishing on an engine, against its own group-by plus write of the same columns.

Generated census rows, k = 5, suppression 5 %, Parquet to Parquet. The engine's own work keeps the
order of the rows; publishing shuffles them. Memory is that of a fresh process for each number of
rows, DuckDB included, whose own memory is limited to 500 MB there, as the figure in `facts` says.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import duckdb
import pyarrow.parquet as pq

from bench.timing import once
from celosia import KAnonymity, datasets
from celosia.engines import DuckDBTables
from celosia.frames import ARROW_LEVEL
from celosia.tables import Role, publish, publish_on

MEMORY = "500MB"
REPEATS = 3
PART = 1_000_000
"""Rows that are generated at a time."""

ALONE = """
import resource, sys
from celosia import KAnonymity, datasets
from celosia.engines import DuckDBTables
from celosia.tables import publish_on
with DuckDBTables(memory=sys.argv[3], threads=2) as engine:
    release = publish_on(engine, sys.argv[1], sys.argv[2], datasets.census_schema(), KAnonymity(5))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, release.risk_before.classes)
"""


def run(rows: int = 10_000_000) -> dict[str, dict[str, Any]]:
    """Ratios of three runs for each engine, and the peak memory at 1, 10 and 100 million rows."""
    publish(datasets.census(1000), datasets.census_schema(), KAnonymity(5))  # compile the kernels
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        source = _census(place / "census.parquet", rows)
        found = _against("DuckDB", partial(_duckdb, source, place), partial(_own, source, place))
        found |= _spark(source, place)
        memory, combinations = {}, {}
        for size in (rows // 10, rows, rows * 10):
            file = source if size == rows else _census(place / "other.parquet", size)
            named = f"{size:,} rows"
            memory[named], combinations[named] = _alone(file, place / "alone.parquet")
    least, most = min(memory.values()), max(memory.values())
    return {
        "facts": {"rows": rows, "cores": os.cpu_count(), "DuckDB's limit for memory": MEMORY},
        "seconds": {name: value for name, value in found.items() if " s" in name},
        "distinct combinations": combinations,
        "memory MB": memory,
        "ratios": {name: value for name, value in found.items() if " s" not in name}
        | {"most memory / least": round(most / least, 2)},
    }


def _against(
    engine: str, ours: Callable[[], object], own: Callable[[], object]
) -> dict[str, float]:
    """Both in turn, several times: the machine may be busy, and so for both."""
    found = {}
    for number in range(1, REPEATS + 1):
        seconds, spent = _both(own)
        our_seconds, our_spent = _both(ours)
        found[f"{engine} itself, run {number}, s"] = round(seconds, 2)
        found[f"{engine} publishing, run {number}, s"] = round(our_seconds, 2)
        found[f"{engine} publishing / itself, run {number}"] = round(our_seconds / seconds, 2)
        if engine == "DuckDB":  # in this process: what other programs take does not count
            ratio = our_spent / spent
            found[f"{engine} publishing / itself, processor time, run {number}"] = round(ratio, 2)
    return found


def _both(work: Callable[[], object]) -> tuple[float, float]:
    before = process_time()
    seconds = once(work)
    return seconds, process_time() - before


def _duckdb(source: Path, place: Path) -> None:
    with DuckDBTables() as engine:
        target = place / "safe.parquet"
        publish_on(engine, source, target, datasets.census_schema(), KAnonymity(5))


def _own(source: Path, place: Path) -> None:
    schema = datasets.census_schema()
    names = ", ".join(f'"{name}"' for name in schema.named(Role.QUASI_IDENTIFIER))
    columns = ", ".join(f'"{column.name}"' for column in schema.columns)
    with duckdb.connect() as connection:
        table = f"read_parquet('{source}')"
        query = f"SELECT {names}, count(*) FROM {table} GROUP BY {names}"
        connection.execute(query).to_arrow_table()
        connection.execute(
            f"COPY (SELECT {columns} FROM {table}) TO '{place / 'own.parquet'}' (FORMAT parquet)"
        )


def _spark(source: Path, place: Path) -> dict[str, float]:
    """The same on Spark, its start-up aside; nothing where it is not installed."""
    from celosia.engines.spark.tables import SparkTables  # noqa: PLC0415 - slow to load

    if find_spec("pyspark") is None:
        return {}
    schema = datasets.census_schema()
    with SparkTables("local[2]") as engine:

        def ours() -> None:
            publish_on(
                engine, str(source), str(place / "spark-safe.parquet"), schema, KAnonymity(5)
            )

        def own() -> None:
            table = engine._session.read.parquet(str(source))
            table.groupBy(*schema.named(Role.QUASI_IDENTIFIER)).count().toArrow()
            table.write.mode("overwrite").parquet(str(place / "spark-own.parquet"))

        own()  # warms up
        return _against("Spark", ours, own)


def _alone(source: Path, target: Path) -> tuple[int, int]:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(source), str(target), MEMORY],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    peak, combinations = done.stdout.split()
    return int(peak), int(combinations)


def _census(path: Path, rows: int) -> Path:
    """A file of so many rows, of which few are in memory at a time."""
    writer = None
    for number, start in enumerate(range(0, rows, PART)):
        table = datasets.census(min(PART, rows - start), seed=1994 + number)
        arrow = table.to_arrow(compat_level=ARROW_LEVEL)
        writer = writer or pq.ParquetWriter(path, arrow.schema)
        writer.write_table(arrow, row_group_size=122_880)
    if writer is not None:
        writer.close()
    return path
