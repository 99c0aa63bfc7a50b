"""The exact search on the real census rows, nine quasi-identifiers, k = 5, and ARX as recorded.

ARX 3.9.2 was measured once on the same data, hierarchies and kind of machine (two cores), search
only, in a warm Java machine; it is not run here. What is run here is a group-by of the same columns
in DuckDB, as the physical limit of looking at the rows at all.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any

import duckdb

from bench.timing import once, seconds
from celosia import KAnonymity, RecursiveDiversity, TCloseness, datasets
from celosia.tables import Model, Role, Schema
from celosia.tables.coded_table import code_table
from celosia.tables.recoding import Lattice, find_optimum

ARX_SECONDS = {0.0: 0.114, 0.02: 1.10, 0.05: 1.15, 1.0: 4.10}
"""By suppression limit; at 0 it took 0.045 to 0.114 s."""


def run() -> dict[str, dict[str, Any]]:
    """Seconds and ratios for each suppression limit, and for models about sensitive values."""
    rows = datasets.adult()
    given = datasets.census_schema()
    nine = Schema(tuple(replace(column, role=Role.QUASI_IDENTIFIER) for column in given.columns))
    taken: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for limit, arx in ARX_SECONDS.items():
        name = f"9 columns, k, limit {limit:.0%}"
        taken[name], searching = _search(rows, nine, [KAnonymity(5)], limit)
        taken[f"{name}, the search alone"] = searching
        ratios[f"ARX recorded / ours, limit {limit:.0%}"] = round(arx / searching, 1)
    k = KAnonymity(5)
    models: dict[str, list[Model]] = {
        "k": [k],
        "recursive (4, 3)": [k, RecursiveDiversity(4, 3, column="occupation")],
        "hierarchical t = 0.2": [k, TCloseness(0.2, "hierarchical", column="occupation")],
    }
    for limit in (0.0, 0.02, 0.05, 1.0):
        for name, wanted in models.items():
            label = f"8 columns, {name}, limit {limit:.0%}"
            taken[label], _ = _search(rows, given, wanted, limit)
            base = taken[f"8 columns, k, limit {limit:.0%}"]
            if name != "k":
                ratios[f"{name} / k, limit {limit:.0%}"] = round(taken[label] / base, 2)
    names = ", ".join(f'"{column.name}"' for column in nine.columns)
    with duckdb.connect() as connection:
        connection.register("census", rows.to_arrow())
        query = f"SELECT {names}, count(*) FROM census GROUP BY {names}"
        taken["DuckDB group-by, 9 columns"] = seconds(
            lambda: connection.execute(query).to_arrow_table()
        )
    return {
        "facts": {"rows": rows.height, "nodes": 12_960},
        "seconds": {name: round(value, 4) for name, value in taken.items()},
        "ratios": ratios,
    }


def _search(rows: Any, schema: Schema, models: list[Model], limit: float) -> tuple[float, float]:
    """Seconds to code the table, build its lattice and search it; and of the search alone."""
    sensitive = [name for model in models if (name := getattr(model, "column", None))]
    alone = []

    def work() -> None:
        lattice = Lattice.of(code_table(rows, schema, sensitive))
        alone.append(once(lambda: find_optimum(lattice, models, suppression=limit)))

    whole = seconds(work)
    return whole, median(alone[1:])  # the first call compiles
