"""The exact search on the real census rows, nine quasi-identifiers, k = 5, against ARX itself.

ARX runs where Java and its jars are found (`--arx` or ARX_CLASSPATH has their class path), on the
same rows and hierarchies, in a warm Java machine. Both are measured from the coded table to the
optimum, in processor seconds of the least run; for ARX the compiler of Java is not counted, and the
better of two settings is taken. Where ARX is not found that is said, and the recorded times of its
search alone stand in. A group-by of the same columns in DuckDB is the limit of looking at the rows.
"""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from typing import Any

import duckdb

from bench._arx import Arx, ArxRun
from bench.timing import seconds
from celosia import KAnonymity, RecursiveDiversity, TCloseness, datasets
from celosia.tables import Model, Role, Schema
from celosia.tables.coded_table import code_table
from celosia.tables.recoding import Lattice, find_optimum

REPEAT = 5

ARX_SECONDS = {0.0: 0.114, 0.02: 1.10, 0.05: 1.15, 1.0: 4.10}
"""Of ARX 3.9.2, by suppression limit; at 0 it took 0.045 to 0.114 s."""


def run(arx: str | None = None) -> dict[str, dict[str, Any]]:
    """Seconds and ratios for each suppression limit, and for models about sensitive values."""
    opponent = Arx(arx)
    rows = datasets.adult()
    given = datasets.census_schema()
    nine = Schema(tuple(replace(column, role=Role.QUASI_IDENTIFIER) for column in given.columns))
    taken: dict[str, float] = {}
    ratios: dict[str, float] = {}
    coded = code_table(rows, nine).columns
    # Without suppression last: it takes so little that Java must be warm.
    limits = sorted(ARX_SECONDS, reverse=True)
    live = {} if opponent.why_not else opponent.race(rows, coded, limits, repeat=REPEAT)
    losses = {}
    for limit, recorded in ARX_SECONDS.items():
        name = f"9 columns, k, limit {limit:.0%}"
        taken[name], losses[name] = _search(rows, nine, [KAnonymity(5)], limit)
        theirs = live.get(limit, ArxRun(recorded, losses[name]))
        taken[f"ARX, limit {limit:.0%}"] = theirs.seconds
        losses[f"ARX, limit {limit:.0%}"] = theirs.loss
        word = "ARX" if live else "ARX recorded"
        ratios[f"{word} / ours, limit {limit:.0%}"] = round(theirs.seconds / taken[name], 1)
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
        "facts": {"rows": rows.height, "nodes": 12_960, "ARX": opponent.why_not or "run here"},
        "losses": {name: round(value, 9) for name, value in losses.items()},
        "seconds": {name: round(value, 4) for name, value in taken.items()},
        "ratios": ratios,
    }


def _search(rows: Any, schema: Schema, models: list[Model], limit: float) -> tuple[float, float]:
    """Processor seconds to group a coded table and search its lattice; and the loss."""
    sensitive = [name for model in models if (name := getattr(model, "column", None))]
    taken, score = [], 0.0
    for _ in range(REPEAT + 1):  # the first call compiles
        coded = code_table(rows, schema, sensitive)
        started = process_time()
        lattice = Lattice.of(coded)
        score = find_optimum(lattice, models, suppression=limit).score
        taken.append(process_time() - started)
    return min(taken), score
