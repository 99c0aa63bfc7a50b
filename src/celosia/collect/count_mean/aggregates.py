"""Simulation only: what a server would have counted, drawn at once instead of report by report.

Bits of unary reports are independent, so each count of a server is a sum of two binomial numbers:
of the truths of those who have the column, and of the lies of all others. Drawing these takes no
longer for a billion users than for a thousand, which is what planning a collection wants. Clients
never come here: nothing that is drawn here protects anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import Coin
from celosia.collect.count_mean.count_mean import CountMean, CountMeanServer
from celosia.collect.protocol import Protocol
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.sketches.hashing import digests

Counts = NDArray[np.int64]
MOST_USERS = 2**40


def simulate_counts(
    protocol: Protocol,
    histogram: Mapping[Any, int],
    *,
    rng: Source | None = None,
    progress: Progress = silent,
) -> CountMeanServer:
    """A server as it would be after reports of everybody in a histogram: a simulation.

    The law of its state is that of real reports, with the chances of the real coins; binomial
    numbers are NumPy's, seeded from `rng`.

    Args:
        protocol: a `CountMean`; a `HadamardCountMean` is as fast by real reports.
        histogram: how many users have each value.
        rng: where the draws come from; without it the operating system.
        progress: called now and then.

    Raises:
        InputError: CEL-R016 the protocol has no unary reports, CEL-R017 a count is no whole number
            of at least 0, or there are more than 2^40 users.

    >>> from celosia.core.randomness import Seeded
    >>> protocol = CountMean(epsilon=2)
    >>> server = simulate_counts(protocol, {"a": 10**9, "b": 10**8}, rng=Seeded(1))
    >>> server.users, server.estimate(["a", "b"]).shares.round(2).tolist()
    (1100000000, [0.91, 0.09])
    """
    if not isinstance(protocol, CountMean):
        raise InputError("CEL-R016", protocol_name=protocol.method_name)
    given = [whole(each) for each in histogram.values()]
    counts = [each for each in given if each is not None and each >= 0]
    users = sum(counts)
    if len(counts) < len(given) or users > MOST_USERS:
        raise InputError("CEL-R017")
    generator = _generator(System() if rng is None else rng)
    server = protocol.server()
    holders = np.zeros((protocol.hashes, protocol.width), dtype=np.int64)
    rows = np.arange(protocol.hashes)
    for place, (value, count) in enumerate(zip(histogram, counts, strict=True)):
        progress(Step(Message("collect.stage.simulate"), place, len(counts)))
        chosen = generator.multinomial(count, np.full(protocol.hashes, 1 / protocol.hashes))
        holders[rows, protocol.family.every_column(digests([value]))[:, 0]] += chosen
    server.reports += holders.sum(axis=1)
    for row in range(protocol.hashes):
        server.ones[row] += unary_counts(
            holders[row], int(server.reports[row]), truth=protocol.coin, generator=generator
        )
    server.users = users
    return server


def unary_counts(
    holders: Counts, users: int, *, truth: Coin, generator: np.random.Generator
) -> Counts:
    """How many of `users` reports have each bit set, where `holders` have it in truth.

    Args:
        holders: for each bit, how many users have it.
        users: how many users there are.
        truth: a coin that tells the truth, with heads, about 1 and about 0 alike.
        generator: of the simulation.
    """
    truthful = generator.binomial(holders, truth.chance)
    return np.asarray(truthful + generator.binomial(users - holders, 1 - truth.chance))


def _generator(rng: Source) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(rng.words(4).tolist()))
