"""Per-person totals with an unknown cap: median error in per cent, and linear programs.

The contributions have the shape of TPC-H at scale factor 1 with the customer as the unit (100,000
customers with orders, 15 orders each, 1 to 7 lines an order, 4 suppliers a part), declared to be at
most 2^20 each, and two heavier tails; epsilon is 1. `best cap` is what a curator who knew the best
power of two would get. On the heavier tails the figures depend on the one draw of the data:
over ten draws the median of the private cap is 0.4 to 1.0 on the log-normal tail.
The linear programs are those of a self-join, two people a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.timing import once
from celosia.core.randomness import Seeded
from celosia.queries.bounds.capped_total import CappedTotal
from celosia.queries.bounds.caps import capped_totals, ladder
from celosia.queries.bounds.private_cap import ContributionSummary, PrivateCap
from celosia.queries.bounds.r2t import R2T
from celosia.queries.bounds.r2t_cap import R2TCap
from celosia.queries.bounds.r2t_program import Incidence, program_totals

MOST = 2**20
RUNS = 100


def shapes(generator: np.random.Generator) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Contributions of people, by the question that they belong to."""
    customers = 100_000
    owner = generator.integers(0, customers, 1_500_000)
    orders = np.bincount(owner, minlength=customers)
    lines = generator.integers(1, 8, owner.size)
    by_customer = np.bincount(owner, lines, minlength=customers).astype(np.int64)
    # Distinct parts of a customer: 200,000 parts, so that a few lines fall on the same one.
    who = np.repeat(owner, lines)
    parts = np.unique(who * 200_000 + generator.integers(0, 200_000, who.size)) // 200_000
    yield "1 join: orders", orders
    yield "2 joins: lines", by_customer
    yield "3 joins: lines, distinct parts", np.bincount(parts, minlength=customers)
    yield "4 joins: lines by suppliers", 4 * by_customer
    yield "log-normal tail", np.ceil(np.exp(generator.normal(2, 1.2, 20_000))).astype(np.int64)
    yield "geometric tail, 2,000 people", generator.geometric(0.2, 2_000)


def run(*, rows: int = 20_000) -> dict[str, dict[str, Any]]:
    """Median errors of 100 runs in per cent, and seconds of the programs of `rows` rows."""
    generator, rng = np.random.default_rng(2026), Seeded(2026)
    r2t = R2T(epsilon=1, most=MOST)
    chosen, by_cap = PrivateCap(epsilon=1, most=MOST), R2TCap(epsilon=1, most=MOST)
    errors: dict[str, float] = {}
    for name, contributions in shapes(generator):
        people = ContributionSummary.of(contributions, most=MOST)
        totals, truth = list(people.totals), int(contributions.sum())

        def middle(values: list[float], truth: int = truth) -> float:
            return 100 * median(abs(value - truth) / truth for value in values)

        runs = [r2t.measure(totals, rng=rng) for _ in range(RUNS)]
        found = {
            "R2T, published answer": middle([each.parts["lower"] for each in runs]),
            "R2T, winner as it is": middle([each.value for each in runs]),
            "cap chosen by R2T": middle([by_cap.release(totals, rng=rng) for _ in range(RUNS)]),
            "private cap": middle([chosen.release(people, rng=rng) for _ in range(RUNS)]),
            "best cap": min(
                middle([given.release(total, rng=rng) for _ in range(RUNS)])
                for cap, total in zip(r2t.caps, totals, strict=True)
                for given in [CappedTotal(epsilon=1, cap=cap)]
            ),
        }
        errors |= {f"{name}, {kind}": round(value, 4) for kind, value in found.items()}
    return {"per cent": errors, "seconds": _programs(generator, rows)}


def _programs(generator: np.random.Generator, rows: int) -> dict[str, float]:
    ends = np.minimum(generator.zipf(1.7, (rows, 2)), rows // 10).reshape(-1)
    caps = ladder(1024)
    pairs = np.repeat(np.arange(rows), 2)
    ones = np.ones(rows, dtype=np.int64)
    even = generator.integers(0, rows // 20, 2 * rows)
    skewed, flat = Incidence(pairs, ends, ones), Incidence(pairs, even, ones)
    return {
        f"{len(caps)} programs, {rows} rows, skewed": round(
            once(lambda: program_totals(skewed, caps)), 3
        ),
        f"{len(caps)} programs, {rows} rows, even": round(
            once(lambda: program_totals(flat, caps)), 3
        ),
        f"{len(caps)} capped totals of {ends.size} people": round(
            once(lambda: capped_totals(ends, caps)), 4
        ),
    }
