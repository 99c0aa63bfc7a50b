"""The search of a lattice too large to be searched through, against ARX's heuristics and Mondrian.

Thirty seconds by the clock for each search, on 30,000 records with 24 quasi-identifiers and the
hierarchies that are proposed for them, k = 5. `--table` gives the credit-card clients of the UCI
repository as CSV (or any other table: all its columns but ID are quasi-identifiers); without it a
table of the same shape is made: amounts of six months that hang together. The losses of different
tables or hierarchies say nothing about one another: so ARX searches the same lattice, where it is
found. `--few-levels` takes hierarchies as by hand instead of those proposed: values, neighbours by
rank, and all; the credit-card clients have 4.9e13 nodes with these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from bench._arx import Arx
from celosia import KAnonymity
from celosia.frames import read
from celosia.tables import Role, Schema, draft_schema, publish
from celosia.tables.coded_table import code_table
from celosia.tables.hierarchies import Ordered
from celosia.tables.recoding import Lattice, anytime_search

SECONDS = 30.0
LIMITS = (0.05, 1.0)
HEURISTICS = ("BEST_EFFORT_GENETIC", "BEST_EFFORT_TOP_DOWN")


def run(
    arx: str | None = None,
    table: str | None = None,
    rows: int = 30_000,
    few_levels: bool = False,
) -> dict[str, dict[str, Any]]:
    """The loss of each search at each suppression limit, and what no node falls below."""
    frame = _made(rows) if table is None else read(Path(table))
    draft = draft_schema(frame).schema
    schema = Schema(
        tuple(
            replace(
                column,
                role=Role.QUASI_IDENTIFIER,
                hierarchy=_by_rank(frame[column.name]) if few_levels else column.hierarchy,
            )
            for column in draft.columns
            if column.name != "ID"
        )
    )
    coded = code_table(frame, schema)
    losses: dict[str, float] = {}
    spent: dict[str, float] = {}
    opponent = Arx(arx)
    for limit in LIMITS:
        started = process_time()
        found = anytime_search(
            Lattice.of(coded), [KAnonymity(5)], suppression=limit, time_limit=SECONDS
        )
        label = f"limit {limit:.0%}"
        spent[f"ours, {label}"] = process_time() - started
        losses[f"ours, {label}"] = found.score
        losses[f"no node below, {label}"] = found.certificate.at_least
    if not opponent.why_not:
        for algorithm in HEURISTICS:
            raced = opponent.race(
                frame,
                coded.columns,
                LIMITS,
                algorithm=algorithm,
                milliseconds=round(SECONDS * 1000),
                repeat=1,
            )
            for limit, theirs in raced.items():
                label = f"ARX {algorithm.removeprefix('BEST_EFFORT_').lower()}, limit {limit:.0%}"
                losses[label], spent[label] = theirs.loss, theirs.seconds
    started = process_time()
    losses["Mondrian"] = publish(frame, schema, KAnonymity(5), method="mondrian").solution.loss
    spent["Mondrian"] = process_time() - started
    nodes = Lattice.of(coded).nodes
    return {
        "facts": {
            "table": "made" if table is None else "given",
            "rows": frame.height,
            "columns": len(schema.columns),
            "nodes": f"{nodes:.3g}",
            "ARX": opponent.why_not or "run here",
        },
        "losses": {name: round(value, 4) for name, value in losses.items()},
        "processor seconds": {name: round(value, 1) for name, value in spent.items()},
    }


def _by_rank(values: pl.Series) -> Ordered:
    """Groups of neighbours: the more values, the more of them in a group."""
    number = values.n_unique()
    if number <= 2:
        return Ordered()
    if number <= 8:
        return Ordered(sizes=(2,))
    if number <= 20:
        return Ordered(sizes=(2, 4))
    if number <= 60:
        return Ordered(sizes=(5, 10, 20))
    twentieth = number // 20
    return Ordered(sizes=(twentieth, 5 * twentieth))


def _made(rows: int) -> pl.DataFrame:
    """Clients with bills and payments of six months, whose amounts follow the client's wealth."""
    random = np.random.default_rng(21)
    wealth = random.normal(size=rows)
    columns: dict[str, Any] = {
        "limit": 10_000 * np.clip(np.round(np.exp(2.4 + 0.8 * wealth)), 1, 80),
        "sex": random.integers(1, 3, rows),
        "education": random.choice(7, rows, p=(0.01, 0.35, 0.46, 0.16, 0.01, 0.005, 0.005)),
        "marriage": random.choice(4, rows, p=(0.002, 0.455, 0.533, 0.01)),
        "age": np.clip(np.round(35 + 9 * random.normal(size=rows)), 21, 79),
    }
    columns |= dict(_months(random, wealth))
    columns["default"] = random.random(rows) < 0.22
    whole = {name: np.asarray(values).astype(np.int64) for name, values in columns.items()}
    return pl.DataFrame(whole)


def _months(
    random: np.random.Generator, wealth: np.ndarray[Any, Any]
) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    debt = random.normal(size=wealth.size)
    for month in range(6):
        debt = 0.9 * debt + 0.45 * random.normal(size=wealth.size)
        bill = np.round(np.exp(9.5 + 0.9 * wealth + 1.2 * debt))
        yield f"status{month}", np.clip(np.round(debt), -2, 8)
        yield f"bill{month}", bill
        paid = random.beta(0.5, 5, wealth.size) * (random.random(wealth.size) < 0.8)
        yield f"paid{month}", np.round(bill * paid)
