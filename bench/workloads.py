"""Workloads: errors of dashboards answered together, beside the same questions one by one.

For each dashboard the gain that the plan states, and the one that is measured: root mean square
errors of simulated answers against the exact ones, one by one over together, at the same epsilon.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import duckdb
import numpy as np

from celosia.core.errors import PrivacyWarning
from celosia.core.randomness import Seeded
from celosia.queries import Vault

EPSILON = 1.0
TURNS = 25
KEYS = {"ward": 8, "sex": 2, "band": 10, "kind": 5}
POLICY = """
name = "visits"
database.path = "visits.duckdb"
unit.name = "row"
budget.epsilon = 100000
questions_per_day = 100000

[tables.visits.columns]
"""


def dashboards() -> dict[str, list[str]]:
    """Questions by one key, by two, and all marginals of one, two and three."""
    names = list(KEYS)

    def by(*keys: str) -> str:
        listed = ", ".join(keys)
        grouped = f" GROUP BY {listed}" if keys else ""
        return f"SELECT {listed + ', ' if keys else ''}count(*) AS n FROM visits{grouped}"

    single = [by(), *map(by, names)]
    double = [by(*pair) for pair in combinations(names, 2)]
    triple = [by(*three) for three in combinations(names, 3)]
    return {
        "total and 4 keys": single,
        "6 pairs of keys": double,
        "total, keys, pairs": [*single, *double],
        "total, keys, pairs, triples": [*single, *double, *triple],
    }


def run(rows: int = 100_000) -> dict[str, dict[str, str]]:
    """The gains of each dashboard."""
    found: dict[str, dict[str, str]] = {
        "planned gain": {},
        "measured gain": {},
        "planning (CPU)": {},
    }
    with TemporaryDirectory() as folder, _open(Path(folder), rows) as vault:
        for name, questions in dashboards().items():
            begun = process_time()
            plan = vault.plan_workload(questions, epsilon=EPSILON)
            found["planning (CPU)"][name] = f"{process_time() - begun:.2f} s"
            found["planned gain"][name] = f"{plan.gain:.2f}"
            found["measured gain"][name] = f"{_measured(vault, questions):.2f}"
    return found


def _measured(vault: Vault, questions: list[str]) -> float:
    """The geometric mean over questions of the error one by one over the error together."""
    true = [_counts(vault.sql(query, epsilon=100).rows) for query in questions]
    ratios = []
    together = [
        _errors(answer.rows, exact)
        for turn in range(TURNS)
        for answer, exact in zip(
            vault.workload(questions, epsilon=EPSILON + turn / 1000), true, strict=True
        )
    ]
    for number, (query, exact) in enumerate(zip(questions, true, strict=True)):
        alone = [
            each
            for turn in range(TURNS)
            for each in _errors(
                vault.sql(query, epsilon=EPSILON / len(questions) + turn / 1e6).rows, exact
            )
        ]
        joint = [
            each
            for place, listed in enumerate(together)
            for each in listed
            if place % len(questions) == number
        ]
        ratios.append(sqrt(np.mean(np.square(alone))) / max(0.1, sqrt(np.mean(np.square(joint)))))
    return float(np.exp(np.mean(np.log(ratios))))


def _counts(rows: list[dict[str, object]]) -> list[float]:
    return [float(str(row["n"])) for row in rows]


def _errors(rows: list[dict[str, object]], true: list[float]) -> list[float]:
    return [found - exact for found, exact in zip(_counts(rows), true, strict=True)]


def _open(folder: Path, rows: int) -> Vault:
    values = {key: [f"{key}{number}" for number in range(size)] for key, size in KEYS.items()}
    columns = ", ".join(
        f"'{key}' || (hash(i * 31 + {place}) % {size}) AS {key}"
        for place, (key, size) in enumerate(KEYS.items())
    )
    with duckdb.connect(str(folder / "visits.duckdb")) as connection:
        connection.execute(f"CREATE TABLE visits AS SELECT {columns} FROM range({rows}) AS t(i)")
    declared = "".join(
        f'{key} = {{ type = "text", keys = {keys} }}\n' for key, keys in values.items()
    )
    (folder / "policy.toml").write_text(POLICY + declared.replace("'", '"'), "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return Vault.open(folder / "policy.toml", rng=Seeded(1))
