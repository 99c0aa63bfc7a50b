"""The exact search on the census, against reading its file and one group-by in DuckDB.

Rows are the real 30,162 where they are installed, else generated ones; k = 5. DuckDB groups the
same columns from a table of its own, with all cores.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from bench.timing import seconds
from celosia import InputError, KAnonymity, datasets, frames
from celosia.tables import Column, Role, Schema
from celosia.tables.coded_table import code_column
from celosia.tables.recoding import Lattice, find_optimum

LIMITS = (0.0, 0.02, 0.05, 1.0)
MODELS = [KAnonymity(5)]


def run() -> dict[str, dict[str, Any]]:
    """Seconds and ratios for eight and nine quasi-identifiers and four suppression limits."""
    table, source = _rows()
    times = {"read the CSV file": _reading(table)}
    ratios = {}
    for schema, width in ((datasets.census_schema(), "8 columns"), (_nine(), "9 columns")):
        names = list(schema.named(Role.QUASI_IDENTIFIER))
        times[f"DuckDB group-by, {width}"] = group = _grouping(table, names)
        for limit in LIMITS:
            what = f"search, {width}, suppression {limit:.0%}"
            times[what] = search = seconds(partial(_search, table, schema, limit))
            ratios[f"{what} / read"] = search / times["read the CSV file"]
            ratios[f"{what} / group-by"] = search / group
    return {
        "facts": {"rows": table.height, "source": source},
        "seconds": {name: round(value, 4) for name, value in times.items()},
        "ratios": {name: round(value, 2) for name, value in ratios.items()},
    }


def _rows() -> tuple[pl.DataFrame, str]:
    try:
        return datasets.adult(), "real census rows"
    except InputError:
        return datasets.census(), "generated census rows"


def _nine() -> Schema:
    columns = datasets.census_schema().columns
    return Schema(
        tuple(Column(c.name, Role.QUASI_IDENTIFIER, hierarchy=c.hierarchy) for c in columns)
    )


def _reading(table: pl.DataFrame) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census.csv"
        frames.write(table, path)
        return seconds(lambda: frames.read(path))


def _grouping(table: pl.DataFrame, names: list[str]) -> float:
    with duckdb.connect() as connection:
        connection.register("source", table.to_arrow())
        connection.execute("CREATE TABLE census AS SELECT * FROM source")
        listed = ", ".join(f'"{name}"' for name in names)
        query = f"SELECT {listed}, count(*) FROM census GROUP BY {listed}"
        return seconds(lambda: connection.execute(query).to_arrow_table())


def _search(table: pl.DataFrame, schema: Schema, limit: float) -> None:
    """Everything between the table in memory and the optimum: encoding, grouping, search."""
    columns = [code_column(table[column.name], column) for column in schema.quasi_identifiers]
    find_optimum(Lattice(columns), MODELS, suppression=limit)
