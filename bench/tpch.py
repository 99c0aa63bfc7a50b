"""Counts over one to four joins of TPC-H: median errors of 100 answers in per cent, and seconds.

Scale factor 1 by default (`--rows` is the number of orders), by the benchmark's own generator where
DuckDB's extension is installed; epsilon is 1, and a customer with all orders is protected. The two
elastic lines protect one row only: of any table, as published (with true frequencies), or with
parts and suppliers public as for all others. `vault` is the planner's own choice. The bars are 0.5
per cent, and 2 times plain after 50 ms.
"""

from __future__ import annotations

from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import sqlglot

from bench.queries import ALLOWANCE, TIMEOUT
from bench.timing import seconds
from celosia.core.randomness import Seeded
from celosia.datasets import tpch
from celosia.engines import DuckDBEngine
from celosia.lab.sql.shop import EPSILON, JoinQuery, query, run_queries, save_shop
from celosia.queries.policy import load_policy
from celosia.queries.results import execute_plan
from celosia.queries.vault import Vault

RUNS = 100
ORDERS = 1_500_000


def run(*, rows: int = ORDERS) -> dict[str, dict[str, Any]]:
    """Median errors in per cent by question and way, and seconds, private and plain."""
    shop = tpch(rows / ORDERS)
    errors: dict[str, float] = {}
    taken: dict[str, float] = {}
    ratios: dict[str, float] = {}
    rng = Seeded(2026)
    with save_shop(shop) as path:
        policy = load_policy(path)
        files = {table: policy.database.resolve_path(file) for table, file in policy.database.files}
        asked = list(run_queries(shop, path))
        with Vault.open(path, rng=rng) as vault, DuckDBEngine(files=files) as engine:
            for each in asked:
                text = query(each.joins, distinct=each.distinct)
                plain = seconds(
                    partial(engine.run, sqlglot.parse_one(text), timeout=TIMEOUT), repeat=3
                )
                private, found = _by_vault(vault, engine, text, each, rng)
                taken[f"{each.name}, private"], taken[f"{each.name}, plain"] = private, plain
                ratios[each.name] = private / plain
                ratios[f"{each.name}, over 50 ms"] = max(0, private - ALLOWANCE) / plain
                for way, values in {**_errors(each, rng), "vault": found}.items():
                    percent = 100 * median(map(abs, values)) / each.exact
                    errors[f"{each.name}, {way}"] = float(f"{percent:.3g}")
    return {
        "shop": {str(shop): ""},
        "per cent": errors,
        "seconds": {name: round(value, 3) for name, value in taken.items()},
        "times plain": {name: round(value, 2) for name, value in ratios.items()},
    }


def _errors(asked: JoinQuery, rng: Seeded) -> dict[str, list[Any]]:
    lower, values = asked.r2t_errors(RUNS, rng)
    return {
        "elastic, all private": asked.elastic_errors(asked.published, RUNS, rng),
        "elastic": asked.elastic_errors(asked.elastic, RUNS, rng),
        "R2T, as published": lower,
        "R2T, without penalty": values,
        "cap chosen by R2T": asked.r2t_cap_errors(RUNS, rng),
        "private cap": asked.chosen_cap_errors(RUNS, rng),
        "declared caps": asked.capped_errors(RUNS, rng),
    }


def _by_vault(
    vault: Vault, engine: DuckDBEngine, text: str, asked: JoinQuery, rng: Seeded
) -> tuple[float, list[Any]]:
    """The median time of three answers, and errors of many, for which the data is read once."""
    times = []
    for number in range(3):
        started = perf_counter()
        vault.sql(text, epsilon=0.01 + number * 1e-6)  # another question each time
        times.append(perf_counter() - started)
    plan = vault.explain(text, epsilon=EPSILON)
    kept: dict[str, Any] = {}

    def remembered(tree: Any) -> Any:
        words = tree.sql("duckdb")
        if words not in kept:
            kept[words] = engine.run(tree, timeout=TIMEOUT)
        return kept[words]

    found = []
    for _ in range(RUNS):
        ((row, _),) = execute_plan(plan, remembered, rng=rng).table(0.95)
        (value,) = row.values()
        found.append(value - asked.exact)
    return median(times), found
