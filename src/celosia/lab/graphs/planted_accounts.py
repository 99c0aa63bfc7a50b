"""Accounts planted before a release, and how often they are found again."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from celosia.core.messages import Message
from celosia.core.progress import Progress
from celosia.core.randomness import Seeded
from celosia.graphs.attacks import active
from celosia.graphs.generators import random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod
from celosia.graphs.perturbation.deletion import RandomPerturbation
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import SIGMAS
from celosia.lab.tolerance import Tolerance, at_least

RUNS = 40
"""As many as were measured by others."""

MEASURED: tuple[tuple[str, int, GraphMethod[Graph] | None, float], ...] = (
    (Message("lab.graphs.12_accounts_names_removed"), 12, None, 1.00),
    (Message("lab.graphs.8_accounts_names_removed"), 8, None, 0.83),
    (Message("lab.graphs.12_accounts_a_fifth_of_the"), 12, RandomPerturbation(amount=0.2), 0.00),
)


def rows(progress: Progress) -> Iterator[Row]:
    """Rates of recovery in a random graph of 1,000 vertices and 5,000 edges."""
    network = random_graph(1000, 5000, Seeded(29))
    for cell, accounts, method, stated in MEASURED:
        found = active(
            network, rng=Seeded(29), method=method, accounts=accounts, runs=RUNS, progress=progress
        )
        # Both rates are of 40 runs; one more of each kind keeps the error of 0 and 1 above 0.
        share = (RUNS * stated + 1) / (RUNS + 2)
        error = sqrt(2 * share * (1 - share) / RUNS)
        run = Message("lab.graphs.planted_accounts")
        why = Message("lab.tolerance.two_shares", sigmas=SIGMAS, runs=RUNS)
        near = Tolerance(absolute=SIGMAS * error, why=why)
        name = Message("lab.graphs.recovered", cell=cell)
        yield compare(run, name, stated, found.rate, near, kind="simulation")
        if stated == 1.0:
            name = Message("lab.graphs.at_least_2", cell=cell)
            yield compare(run, name, 0.9, found.rate, at_least(0.9), kind="theory")
