"""dBitFlip: Tables 5.16, 5.17 and 5.18."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.lab.collect import aggregates, publication
from celosia.lab.collect.identities import correlation, identities, times
from celosia.lab.collect.law import ErrorLaw, rmse
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import compare_printed

RUNS = 40
"""Of drawn aggregates."""
REAL = ((1, 1.0), (4, 1.0), (24, 4.0))
"""Bits and epsilons that are run with real reports too."""


def rows(progress: Progress) -> list[Row]:
    """Every line of the tables."""
    counts = publication.exponential_counts()
    lines = publication.table("dbitflip")
    found: list[Row] = []
    for done, line in enumerate(lines):
        progress(Step(Message("lab.collect.bits_of_500_000_users"), done, len(lines)))
        bits, epsilon = int(line["bits"]), float(line["epsilon"])
        protocol = DBitFlip(epsilon=epsilon, buckets=counts.size, bits=bits)
        run = Message("lab.collect.dbitflip_d_epsilon", bits=bits, epsilon=line["epsilon"])
        found += identities(run, line, users=500_000, spread=publication.MANY_RANGE)
        found += correlation(run, line, counts)
        expected = law(protocol, counts)
        found.append(
            compare_printed(
                run,
                "lab.collect.rmse_by_theory_th",
                line["theory"],
                expected.rmse,
                kind="program",
            )
        )
        cell = Message("lab.collect.rmse_of_the_published_run_beside")
        found.append(expected.of_rmse(run, cell, line["rmse"]))
        drawn = publication.generator(Seeded(800 + done))
        errors = [rmse(aggregates.dbitflip(protocol, counts, drawn), counts) for _ in range(RUNS)]
        cell = Message("lab.collect.rmse_of_runs_of_ours_exact", runs=RUNS)
        found.append(expected.of_runs(run, cell, errors))
        if (bits, epsilon) in REAL:
            cell = Message("lab.collect.rmse_of_a_run_of_ours")
            found.append(expected.of_runs(run, cell, [_real(protocol, counts)]))
    return [*found, *_users()]


def law(protocol: DBitFlip, counts: publication.Counts) -> ErrorLaw:
    """Of the errors of all buckets, which are uncorrelated."""
    users = int(counts.sum())
    return ErrorLaw(np.array([protocol.variance(users, count=each) for each in counts.tolist()]))


def _real(protocol: DBitFlip, counts: publication.Counts) -> float:
    values = np.repeat(np.arange(counts.size), counts)
    server = protocol.server()
    for batch in protocol.client(rng=Seeded(860)).batches(values):
        server.absorb(batch)
    return rmse(server.estimate(range(counts.size)).counts, counts)


def _users() -> Iterator[Row]:
    for line in publication.table("dbitflip_users"):
        users = int(line["users"])
        counts = publication.normal_counts(users)
        protocol = DBitFlip(epsilon=1, buckets=counts.size, bits=4)
        run, cell = (
            Message("lab.collect.dbitflip_of_users", users=users),
            Message("lab.collect.percent_error_beside_theory"),
        )
        yield law(protocol, counts).of_mean(run, cell, line["percent"], scale=100 / users)
        yield from times(run, line)
