"""A process whose Spark ends in the middle of the work, again and again; prints what came of it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import polars as pl
from tests.effort import EFFORT
from tests.spark import SETTINGS as USUAL

from celosia import KAnonymity, datasets
from celosia.core.errors import CelosiaError
from celosia.core.randomness import System
from celosia.engines.spark.session import spark_session
from celosia.engines.spark.tables import SparkTables
from celosia.engines.tables import Output
from celosia.tables.run_on_engine import publish_on

SETTINGS = USUAL | {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def slow(frame: pl.DataFrame) -> pl.DataFrame:
    """Tell that a worker is at work, then take too long."""
    Path(frame["place"][0]).touch()
    time.sleep(60)
    return frame


def main(folder: Path) -> None:
    """Kill Spark and publish with another; in a deep run stop that one, too."""
    source, people = folder / "raw", folder / "people.parquet"
    source.mkdir()
    mark = source / "_working"  # Spark takes no notice of such names
    cells = pl.DataFrame({"place": [str(mark)] * 9, "secret": ["SECRET-CELL"] * 9})
    cells.write_parquet(source / "0.parquet")
    reports = ended(folder, "kill")
    datasets.census(300).write_parquet(people)
    engine = SparkTables("local[2]", settings=SETTINGS)
    schema = datasets.census_schema()
    release = publish_on(engine, people, folder / "safe.parquet", schema, KAnonymity(5))
    print(
        json.dumps(
            [*reports, release.rows_written, *(ended(folder, "stop") if EFFORT >= 1 else [])]
        )
    )


def ended(folder: Path, how: str) -> list[object]:
    """The error of work whose Spark ends, and what is left of it."""
    source = folder / "raw"
    engine = SparkTables("local[2]", settings=SETTINGS)
    mark = source / "_working"
    threading.Thread(target=end, args=(how, mark)).start()
    reports: list[object] = []
    try:
        engine.map_batches(
            source,
            Output(place=folder / "other.parquet", order="kept", rng=System(), overwrite=False),
            slow,
            engine.columns(source),
        )
    except CelosiaError as error:
        chained = error.__cause__ or error.__context__
        reports.append([error.code, str(error), chained is None])
    mark.unlink()
    return [*reports, sorted(each.name for each in folder.iterdir())]


def end(how: str, mark: Path) -> None:
    """Wait until a worker is at work, then end Spark."""
    context = spark_session().sparkContext
    process = context._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
    while not mark.exists():
        time.sleep(0.05)
    if how == "stop":
        context.stop()
    else:
        os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
