"""Generated search logs: what thresholds keep, who is singled out, and how many keys are named."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from celosia import datasets
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.lab.findings import Row, compare
from celosia.lab.tolerance import Tolerance
from celosia.logs import transactions_of
from celosia.logs.attacks import known_items
from celosia.logs.private import plan
from celosia.logs.summary import threshold_rows

SEEDS = range(11, 17)
"""Logs that are averaged: single ones differ by several parts in a hundred."""

THRESHOLDS = {2: (7455, 0.886), 5: (2327, 0.759), 10: (1027, 0.680), 20: (478, 0.610)}
KNOWN = {1: 0.12, 2: 0.48, 3: 0.73, 4: 0.87}
KEYS = {
    (1, "laplace"): 42.6, (1, "optimal"): 45.1, (1, "gaussian"): 27.4,
    (5, "laplace"): 36.2, (5, "optimal"): 41.6, (5, "gaussian"): 56.8,
    (20, "laplace"): 20.3, (20, "optimal"): 27.6, (20, "gaussian"): 88.0,
    (50, "laplace"): 8.9, (50, "optimal"): 13.6, (50, "gaussian"): 93.2,
}  # fmt: skip
"""Keys named at epsilon 1, delta 1e-5, by keys a person and mechanism."""

_SHARE = Tolerance(relative=0.1, why=Message("lab.tolerance.logs_differ"))
_UNICITY = Tolerance(absolute=0.03, why=Message("lab.tolerance.logs_differ"))
_KEYS = Tolerance(relative=0.2, absolute=4, why=Message("lab.tolerance.one_log"))


def rows(progress: Progress) -> Iterable[Row]:
    """Means over six logs, against those of the model that they follow."""
    logs = []
    for number, seed in enumerate(SEEDS):
        progress(Step(Message("lab.studies.logs.searches.title"), number, len(SEEDS)))
        logs.append(datasets.searches(seed=seed).log())
    tables = [threshold_rows(log) for log in logs]
    for place, (k, (queries, share)) in enumerate(THRESHOLDS.items()):
        kept = float(np.mean([table[place].queries for table in tables]))
        part = float(np.mean([table[place].records for table in tables]))
        yield compare(f"k={k}", "queries kept", queries, kept, _SHARE, kind="simulation")
        yield compare(f"k={k}", "share of records", share, part, _SHARE, kind="simulation")
    sets = [transactions_of(log) for log in logs]
    for items, share in KNOWN.items():
        found = float(
            np.mean([known_items(each, items=items, rng=Seeded(1)).share_exposed for each in sets])
        )
        run = f"{items} known"
        yield compare(run, "share singled out", share, found, _UNICITY, kind="simulation")
    for row in plan(logs[0], epsilon=1, delta=1e-5, runs=3, progress=progress):
        if (row.per_person, row.method) not in KEYS:
            continue  # the rounds of DP-SIPS have no published figures for this log
        run, keys = f"m={row.per_person}", KEYS[row.per_person, row.method]
        yield compare(run, f"keys, {row.method}", keys, row.keys, _KEYS, kind="simulation")
