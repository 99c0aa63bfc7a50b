"""The exact search on many rows, against one group-by of the same columns and the bare search."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import duckdb

from bench.memory import forget_peak, peak
from bench.timing import once, seconds
from celosia import KAnonymity, datasets
from celosia.tables import Role, publish
from celosia.tables.coded_table import code_table
from celosia.tables.recoding import Lattice, find_optimum


def run(rows: int = 10_000_000) -> dict[str, dict[str, Any]]:
    """Seconds, peak memory and ratios for one generated table, k = 5, suppression 5 %."""
    schema = datasets.census_schema()
    publish(datasets.census(1000), schema, KAnonymity(5))  # compile the kernels
    made = once(lambda: datasets.census(rows))
    table = datasets.census(rows)
    names = ", ".join(f'"{name}"' for name in schema.named(Role.QUASI_IDENTIFIER))
    with duckdb.connect() as connection:
        connection.register("census", table.to_arrow())
        query = f"SELECT {names}, count(*) FROM census GROUP BY {names}"
        group = seconds(lambda: connection.execute(query).to_arrow_table(), repeat=3)
        connection.execute("CREATE TABLE stored AS SELECT * FROM census")
        own = query.replace("census", "stored")
        stored = seconds(lambda: connection.execute(own).to_arrow_table(), repeat=3)
    held: dict[str, Any] = {}
    prepared = seconds(lambda: held.update(lattice=Lattice.of(code_table(table, schema))), repeat=3)
    searched = once(lambda: find_optimum(held["lattice"], [KAnonymity(5)], suppression=0.05))
    held.clear()
    before, started = forget_peak(), process_time()
    release = publish(table, schema, KAnonymity(5))
    published, most = process_time() - started, peak()
    with tempfile.TemporaryDirectory() as folder:
        started = process_time()
        release.save(Path(folder) / "safe.parquet")
        saved = process_time() - started
    return {
        "facts": {"rows": rows, "table MB": round(table.estimated_size("mb"))},
        "seconds": {
            "generate": round(made, 2),
            "DuckDB group-by of the same table": round(group, 2),
            "DuckDB group-by of its own, dictionaries made before": round(stored, 2),
            "code and group": round(prepared, 2),
            "search": round(searched, 2),
            "publish and shuffle, of the processor": round(published, 2),
            "save as Parquet, of the processor": round(saved, 2),
        },
        "memory MB": {
            "before publishing": before >> 20,
            "peak while publishing": most >> 20,
            "peak with the file": peak() >> 20,
        },
        "ratios": {
            "code, group and search / (2 group-bys + search)": round(
                (prepared + searched) / (2 * group + searched), 2
            ),
            "the same, of DuckDB's own table": round(
                (prepared + searched) / (2 * stored + searched), 2
            ),
        },
    }
