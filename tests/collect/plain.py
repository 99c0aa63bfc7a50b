"""What the kernels of collect do, in plain Python; and histograms of the specification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.collect.protocol import Protocol
from celosia.core.randomness import Seeded, Source

EXPONENTIAL = np.fromstring(
    "19651 11972 7214 4491 2607 1587 936 593 367 214 145 82 41 33 31 16 11 4 3 1 1",
    dtype=np.int64,
    sep=" ",
)
"""exp_50k: how many of 50,000 users have the values 0 .. 20."""

NORMAL = np.fromstring(
    "5 49 239 981 3386 8709 18139 30366 38492 37994 30250 18110 8776 3313 936 206 45 4",
    dtype=np.int64,
    sep=" ",
)
"""norm_200k: the values 3 .. 20."""

WORDS = {
    "cool": 7946,
    "brunch": 6350,
    "outfit": 5819,
    "follower": 5010,
    "link": 4996,
    "spoiler": 4077,
    "influencer": 3234,
    "feedback": 2718,
    "smartphone": 2709,
    "hobby": 2233,
}
"""anglicismo_50k, without its 4,908 misspelt words."""


def anglicisms(seed: int = 0) -> NDArray[np.str_]:
    """The 50,000 words, the misspelt ones drawn anew: 3 to 8 random letters."""
    generator = np.random.default_rng(seed)
    listed = [word for word, count in WORDS.items() for _ in range(count)]
    for _ in range(50_000 - len(listed)):
        letters = generator.integers(97, 123, generator.integers(3, 9))
        listed.append("".join(map(chr, letters)))
    return np.array(listed)


def hadamard(size: int) -> NDArray[np.int64]:
    """The matrix of signs, by its recursive form."""
    if size == 1:
        return np.array([[1]])
    half = hadamard(size // 2)
    return np.block([[half, half], [half, -half]])


def tosses(stream: Iterator[int], heads: int, rounds: int, pool: list[int]) -> list[int]:
    """64 tosses from a stream of words, bit by bit; `pool` is what is left of the last word."""
    bound = [heads >> (31 - place) & 1 for place in range(32)]
    found: list[int | None] = [None] * 64
    for place in range(rounds):
        word = next(stream)
        for lane in range(64):
            if found[lane] is None and word >> lane & 1 != bound[place]:
                found[lane] = bound[place]
    for lane in range(64):
        if found[lane] is not None:
            continue
        if len(pool) <= 32 - rounds:
            word = next(stream)
            pool[:] = [word >> place & 1 for place in range(64)]
        found[lane] = 0
        for place in range(rounds, 33):
            bit = pool.pop(0)
            if place < 32 and bit != bound[place]:
                found[lane] = bound[place]
                break
    return [each or 0 for each in found]


def many_runs(
    made: Callable[[str], Protocol], histogram: NDArray[np.int64], runs: int, **asked: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Errors of the estimates of values 0, 1, ... by run, and what the standard errors say.

    Each run has hash functions, rows and coins of its own.
    """
    values = np.repeat(np.arange(histogram.size), histogram)
    errors, told = [], []
    for run in range(runs):
        protocol = made(f"run {run}")
        server = protocol.server()
        for batch in protocol.client(rng=Seeded(run)).batches(values):
            server.absorb(batch)
        found = server.estimate(range(histogram.size), **asked)
        errors.append(found.counts - histogram)
        told.append(found.errors)
    return np.array(errors), np.array(told)


def theory(protocol: Protocol, histogram: NDArray[np.int64]) -> NDArray[np.float64]:
    """The variance of the estimate of each value, by the protocol's own formula."""
    users, squares = int(histogram.sum()), float((histogram.astype(float) ** 2).sum())
    return np.array(
        [
            protocol.variance(users, count=each, squares=squares - each**2)
            for each in histogram.tolist()
        ]
    )


def agrees(squares: NDArray[np.float64], expected: float) -> bool:
    """Whether the mean of one square for each run is within 4 standard errors of a value."""
    return bool(abs(squares.mean() - expected) <= 4 * squares.std(ddof=1) / squares.size**0.5)


class Counted(Source):
    """A seeded source that counts the bytes that were drawn from it."""

    simulation = True

    def __init__(self, seed: int) -> None:
        self.inner, self.drawn = Seeded(seed), 0

    def raw(self, count: int) -> bytes:
        self.drawn += count
        return self.inner.raw(count)


def bits_of(report: Sequence[int], count: int) -> list[int]:
    """The first bits of a report, the lowest bit of each byte first."""
    return [int(report[place // 8]) >> place % 8 & 1 for place in range(count)]
