"""Mondrian with k = 10 on many generated rows, against one group-by of the same columns."""

from __future__ import annotations

from typing import Any

import duckdb

from bench.memory import forget_peak, peak
from bench.timing import once
from celosia import KAnonymity, datasets
from celosia.tables import Role
from celosia.tables.coded_table import code_table
from celosia.tables.recoding import mondrian


def run(rows: int = 10_000_000) -> dict[str, dict[str, Any]]:
    """Seconds and peak memory of the partition itself, and of coding and labelling beside it."""
    schema = datasets.census_schema()
    small = code_table(datasets.census(1000), schema)
    mondrian.partition(small.columns, [KAnonymity(10)])  # compile the kernels
    table = datasets.census(rows)
    names = ", ".join(f'"{name}"' for name in schema.named(Role.QUASI_IDENTIFIER))
    with duckdb.connect() as connection:
        connection.register("census", table.to_arrow())
        query = f"SELECT {names}, count(*) FROM census GROUP BY {names}"
        group = once(lambda: connection.execute(query).to_arrow_table())
    held: dict[str, Any] = {}
    coding = once(lambda: held.update(table=code_table(table, schema)))
    columns = held["table"].columns
    encoded = sum(column.leaf_of_row.nbytes for column in columns)
    before = forget_peak()
    cutting = once(lambda: held.update(cut=mondrian.partition(columns, [KAnonymity(10)])))
    extra = max(0, peak() - before)
    labelling = once(lambda: mondrian.released_columns(held["cut"], columns))
    return {
        "facts": {
            "rows": rows,
            "classes": held["cut"].classes,
            "loss": round(mondrian.partition_loss(held["cut"]).total, 5),
        },
        "seconds": {
            "DuckDB group-by": round(group, 2),
            "code the columns": round(coding, 2),
            "partition": round(cutting, 2),
            "label": round(labelling, 2),
        },
        "memory MB": {"encoded table": encoded >> 20, "beside it at the peak": extra >> 20},
        "ratios": {
            "partition / group-by": round(cutting / group, 2),
            "15 s / partition": round(15 / cutting, 2),
            "memory / encoded table": round((encoded + extra) / encoded, 2),
        },
    }
