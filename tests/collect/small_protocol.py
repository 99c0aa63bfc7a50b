"""A small protocol, batches of it, and what exactly they must count to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.core.randomness import Seeded

PROTOCOL = HadamardCountMean(epsilon=2.0, hashes=4, width=16, key="tests")
"""A report is 7 bits; the state is 512 bytes and a head."""


@cache
def batch(number: int, reports: int = 40) -> bytes:
    """Reports of some words, the same for the same number."""
    words = [f"word {each % 7}" for each in range(reports)]
    return PROTOCOL.client(rng=Seeded(number)).privatise(words).to_bytes()


def name(number: int) -> str:
    """The id of a batch."""
    return f"batch-{number:012}"


def state_of(numbers: Iterable[int], reports: int = 40) -> bytes:
    """What a plain server counts of these batches, each once."""
    server = PROTOCOL.server()
    for number in numbers:
        server.absorb(batch(number, reports))
    return server.to_bytes()
