"""Publishing many rows from end to end, against one group-by of the same columns in DuckDB."""

from __future__ import annotations

import resource
from typing import Any

import duckdb

from bench.timing import once
from celosia import KAnonymity, datasets
from celosia.tables import Role, publish


def run(rows: int = 10_000_000) -> dict[str, dict[str, Any]]:
    """Seconds, peak memory and the ratio for one generated table, k = 5, suppression 5 %."""
    schema = datasets.census_schema()
    publish(datasets.census(1000), schema, KAnonymity(5))  # compile the kernels
    made = once(lambda: datasets.census(rows))
    table = datasets.census(rows)
    names = ", ".join(f'"{name}"' for name in schema.named(Role.QUASI_IDENTIFIER))
    with duckdb.connect() as connection:
        connection.register("source", table.to_arrow())
        connection.execute("CREATE TABLE census AS SELECT * FROM source")
        query = f"SELECT {names}, count(*) FROM census GROUP BY {names}"
        group = once(lambda: connection.execute(query).to_arrow_table())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    published = once(lambda: publish(table, schema, KAnonymity(5)))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "facts": {"rows": rows, "table MB": round(table.estimated_size("mb"))},
        "seconds": {
            "generate": round(made, 2),
            "DuckDB group-by": round(group, 2),
            "publish": round(published, 2),
        },
        "memory MB": {"peak before": before // 1024, "peak after publishing": after // 1024},
        "ratios": {"publish / group-by": round(published / group, 2)},
    }
