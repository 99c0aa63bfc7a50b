"""What servers of the study would have counted, drawn by its exact law: simulation only.

Bits of unary reports are independent given the values, so a count is a sum of two binomial numbers.
Only the cells of the values asked about are drawn, which no other cell changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.collect.count_mean.count_mean import CountMean, CountMeanServer
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.rappor.rappor import Rappor, RapporServer
from celosia.sketches.hashing import digests

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def count_mean(
    protocol: CountMean, counts: Counts, drawn: np.random.Generator, *, single: int = 0
) -> Floats:
    """Raw estimates of values with these counts, under hash functions drawn anew.

    Columns are uniform and independent: the variance asks for no more of a family.

    Args:
        protocol: of the collection.
        counts: how many users have each value.
        drawn: of the simulation.
        single: how many more users have a value that nobody else has.
    """
    rows, truth = protocol.hashes, protocol.coin.chance
    even = np.full(rows, 1 / rows)
    members = np.stack([drawn.multinomial(each, even) for each in counts])
    columns = drawn.integers(protocol.width, size=members.shape)
    holders, first = np.empty_like(members), np.empty_like(members)
    for place in range(counts.size):
        same = columns == columns[place]
        holders[place] = np.sum(members, axis=0, where=same)
        first[place] = np.argmax(same, axis=0)
    reports = members.sum(axis=0)
    for row, column in zip(
        drawn.integers(rows, size=single), drawn.integers(protocol.width, size=single), strict=True
    ):
        holders[:, row] += columns[:, row] == column
        reports[row] += 1
    ones = drawn.binomial(holders, truth) + drawn.binomial(reports - holders, 1 - truth)
    shared = np.take_along_axis(ones, first, axis=0)  # one cell is drawn once, whoever asks
    server = CountMeanServer(protocol)
    server.users = int(reports.sum())
    return server.counts_from(shared.sum(axis=1))


def dbitflip(protocol: DBitFlip, counts: Counts, drawn: np.random.Generator) -> Floats:
    """Raw estimates of all buckets.

    Each has its exact law. Given who is asked about which bucket, errors of two buckets are
    independent with mean 0 for all but holders, who hold one only: so they are uncorrelated.
    """
    truth, share = protocol.coin.chance, protocol.bits / protocol.buckets
    queried = [drawn.binomial(each, share) for each in (counts, counts.sum() - counts)]
    server = protocol.server()
    server.queried += queried[0] + queried[1]
    server.ones += drawn.binomial(queried[0], truth) + drawn.binomial(queried[1], 1 - truth)
    server.users = int(counts.sum())
    return server.estimate(range(counts.size)).counts


def rappor(protocol: Rappor, counts: Counts, drawn: np.random.Generator) -> RapporServer:
    """A server after reports of everybody; the values are 0, 1, 2, ..."""
    low, high = (float(each) for each in protocol.chances)
    even = np.full(protocol.cohorts, 1 / protocol.cohorts)
    members = np.stack([drawn.multinomial(each, even) for each in counts])
    server = protocol.server()
    values = digests(np.arange(counts.size))
    for cohort in range(protocol.cohorts):
        bits = protocol.filters(values, np.full(counts.size, cohort))
        holders = members[:, cohort] @ bits
        others = members[:, cohort].sum() - holders
        server.ones[cohort] += drawn.binomial(holders, high) + drawn.binomial(others, low)
    server.reports += members.sum(axis=0)
    server.users = int(counts.sum())
    return server
