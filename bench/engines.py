"""Publishing on an engine, against its own group-by plus write of the same columns.

Times: generated census rows, k = 5, suppression 5 %, Parquet to Parquet. The engine's own work
keeps the order of the rows; publishing shuffles them. Each figure is the middle of three runs.

Memory: the peak of a fresh process for each number of rows, DuckDB included, whose own memory is
limited as `facts` says. Every size has the same people, each as often as the size asks for, and k
grows alike: so combinations, search and result are the same, and only the rows are more.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import duckdb

from bench.timing import once
from celosia import KAnonymity, datasets
from celosia.engines import DuckDBTables
from celosia.tables import Role, publish, publish_on

MEMORY, THREADS = "500MB", 2
REPEATS = 3
MEMORY_ROWS = (1_000_000, 10_000_000, 100_000_000)

GENERATE = """
import sys
import numpy as np
import pyarrow.parquet as pq
from celosia import datasets
from celosia.frames import ARROW_LEVEL
path, rows, part, repeated = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "True"
people, writer = None, None
for number, start in enumerate(range(0, rows, part)):
    if people is None or not repeated:
        people = datasets.census(min(part, rows - start), seed=1994 + number)
        people = people.to_arrow(compat_level=ARROW_LEVEL)
        writer = writer or pq.ParquetWriter(path, people.schema)
    order = np.random.default_rng(number).permutation(people.num_rows)
    writer.write_table(people.take(order), row_group_size=122_880)
writer.close()
"""

ALONE = """
import sys
from celosia import KAnonymity, datasets
from celosia.engines import DuckDBTables
from celosia.tables import publish_on
source, target, memory, threads, k = sys.argv[1:]
with DuckDBTables(memory=memory, threads=int(threads)) as engine:
    schema = datasets.census_schema()
    release = publish_on(engine, source, target, schema, KAnonymity(int(k)))
# Not ru_maxrss, which a process inherits from the one that started it.
status = open("/proc/self/status").read()
peak = int(status.split("VmHWM:")[1].split()[0]) // 1024
print(peak, release.risk_before.classes, release.risk.classes)
"""


def run(
    rows: int = 10_000_000, memory_rows: Sequence[int] = MEMORY_ROWS
) -> dict[str, dict[str, Any]]:
    """Ratios of both engines at one size, and the peak of memory at several.

    Args:
        rows: of the table that is timed.
        memory_rows: sizes at which memory is measured, multiples of the least of them.
    """
    publish(datasets.census(1000), datasets.census_schema(), KAnonymity(5))  # compile the kernels
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        source = _census(place / "census.parquet", rows, part=1_000_000, repeated=False)
        found = _against("DuckDB", partial(_duckdb, source, place), partial(_own, source, place))
        found |= _spark(source, place)
        source.unlink()
        memory, combinations, classes = {}, {}, {}
        for size in (min(memory_rows), *memory_rows):  # the first compiles what is not yet cached
            source = _census(place / "many.parquet", size, part=min(memory_rows), repeated=True)
            k = 5 * size // min(memory_rows)
            named = f"{size:,} rows"
            memory[named], combinations[named], classes[named] = _alone(source, place, k)
    least, most = min(memory.values()), max(memory.values())
    return {
        "facts": {
            "rows": rows,
            "cores": os.cpu_count(),
            "DuckDB's limit for memory": MEMORY,
            "its threads where memory is measured": THREADS,
        },
        "seconds": {name: value for name, value in found.items() if name.endswith(", s")},
        "distinct combinations": combinations,
        "released classes": classes,
        "memory MB": memory,
        "ratios": {name: value for name, value in found.items() if not name.endswith(", s")}
        | {"most memory / least": round(most / least, 2)},
    }


def _against(
    engine: str, ours: Callable[[], object], own: Callable[[], object]
) -> dict[str, float]:
    """Both in turn, several times: the machine may be busy, and so for both."""
    runs = [(_both(own), _both(ours)) for _ in range(REPEATS)]
    found = {
        f"{engine} itself, s": median(one[0] for one, _ in runs),
        f"{engine} publishing, s": median(other[0] for _, other in runs),
        f"{engine} publishing / itself": median(other[0] / one[0] for one, other in runs),
    }
    if engine == "DuckDB":  # in this process: what other programs take does not count
        found[f"{engine} publishing / itself, processor time"] = median(
            other[1] / one[1] for one, other in runs
        )
    return {name: round(value, 2) for name, value in found.items()}


def _both(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock, and of the processor in this process."""
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
    from celosia.engines.spark.tables import SparkTables

    if find_spec("pyspark") is None:
        return {}
    schema = datasets.census_schema()
    columns = [column.name for column in schema.columns]
    with SparkTables("local[2]") as engine:

        def ours() -> None:
            publish_on(
                engine, str(source), str(place / "spark-safe.parquet"), schema, KAnonymity(5)
            )

        def own() -> None:
            table = engine._session.read.parquet(str(source))
            table.groupBy(*schema.named(Role.QUASI_IDENTIFIER)).count().toArrow()
            table.select(*columns).write.mode("overwrite").parquet(str(place / "spark-own.parquet"))

        own()  # both warm up: Java compiles what runs often
        ours()
        return _against("Spark", ours, own)


def _alone(source: Path, place: Path, k: int) -> tuple[int, int, int]:
    """Megabytes at the peak, and how many classes there were before and after."""
    target = place / "alone.parquet"
    peak, before, after = _python(ALONE, source, target, MEMORY, THREADS, k).split()
    return int(peak), int(before), int(after)


def _census(path: Path, rows: int, *, part: int, repeated: bool) -> Path:
    """A file of so many rows, made part by part in a process of its own."""
    _python(GENERATE, path, rows, part, repeated)
    return path


def _python(program: str, *arguments: object) -> str:
    words = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
