"""Two attacks, on what should not be released and on what may be.

A differencing attack asks for two counts that differ by one person. An attack on floats (Mironov
2012) looks at the last bits of a noisy answer: from the exact answer 1, noise in floats gives
multiples of 2^-54 only between 0 and 1/4; from 0, about two thirds of the answers there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, expm1, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress
from celosia.core.randomness import Seeded
from celosia.lab.findings import Row
from celosia.lab.mechanisms.broken import BrokenFloatLaplace
from celosia.lab.mechanisms.cells import comparing
from celosia.mechanisms import Geometric, Laplace
from celosia.mechanisms.sparse.analysis import difference_tail

compare_equal, compare_printed = comparing("program")

TRIES = 400_000
LATTICE = 2.0**-54
OTHERS = 40
"""How many other people are counted."""


def rows(progress: Progress) -> list[Row]:
    """How often the attacks succeed, on bare answers and on ours."""
    return [*_differencing(), *_floats()]


def _differencing() -> Iterator[Row]:
    """One person's bit from the counts with and without the person; above 1/2 it is taken for 1."""
    run = Message("lab.mechanisms.differencing_attack_on_two_counts")
    bits = Seeded(22).integers(2, TRIES)
    exact = float(np.mean(((OTHERS + bits) - OTHERS > 0.5) == (bits == 1)))
    yield compare_equal(run, "lab.mechanisms.exact_counts_success", 1.0, exact)
    closed = 1 - difference_tail(0.5, 10, 10)
    yield compare_printed(run, "lab.mechanisms.laplace_counts_at_0_1_success", ".5125", closed)
    # The chance of a right guess with discrete noise of both counts: one half and half a tie.
    law = Geometric(epsilon=0.1).law
    tie = sum(law.mass(place) ** 2 for place in range(-1000, 1001))
    yield compare_printed(run, "lab.mechanisms.our_counts_at_0_1_success", ".5125", (1 + tie) / 2)
    guessed = []
    for name, seed in (("with", 23), ("without", 24)):
        counts = OTHERS + (bits if name == "with" else 0 * bits)
        guessed.append(_noisy(counts.astype(np.float64), seed))
    right = float(np.mean((guessed[0] - guessed[1] > 0.5) == (bits == 1)))
    words = Message("lab.mechanisms.our_laplace_counts_at_0_1", tries=TRIES)
    yield compare_printed(run, words, ".5125", right, error=sqrt(0.25 / TRIES))


def _noisy(counts: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Each count as our Laplace mechanism releases it at epsilon 0.1, all in one draw."""
    mechanism = Laplace(epsilon=0.1, sensitivity=1)
    grid = mechanism.resolution
    return grid.values(grid.indices(counts) + mechanism.law.draw(counts.size, Seeded(seed)))


def _floats() -> Iterator[Row]:
    run = Message("lab.mechanisms.last_bits_of_a_noisy_0")
    broken = BrokenFloatLaplace()
    zero, one = (
        impossible(broken.run(data, rng=Seeded(53 + place), size=TRIES))
        for place, data in enumerate(broken.neighbours)
    )
    # The published share is of a sample, too, whose size was not told; ours stands for it.
    error = sqrt(zero[0] * (1 - zero[0]) / zero[1])
    words = Message("lab.mechanisms.float_noise_on_0_share_impossible")
    yield compare_printed(run, words, ".67", zero[0], error=sqrt(2) * error)
    yield compare_printed(
        run,
        Message("lab.mechanisms.by_closed_form", words=words),
        ".67",
        off_lattice(broken.epsilon),
        error=error,
    )
    yield compare_equal(run, "lab.mechanisms.float_noise_on_1_share_impossible", 0.0, one[0])
    mechanism = Laplace(epsilon=1, sensitivity=1)
    for answer in (0.0, 1.0):
        noise = mechanism.law.draw(TRIES, Seeded(55 + int(answer)))
        share, _ = impossible(
            mechanism.resolution.values(mechanism.resolution.index(answer) + noise)
        )
        yield compare_equal(
            run,
            Message("lab.mechanisms.our_noise_on_share_impossible_from", answer=answer),
            0.0,
            share,
        )


def off_lattice(epsilon: float) -> float:
    """The share of floats off the lattice, for Laplace noise on 0 that lies between 0 and 1/4.

    Of the floats from 2^-j to 2^(1-j), one in 2^(j-2) is a multiple of 2^-54. For a flat density
    the share is 2/3; more of the noise lies near 0, where the floats are finer.

    >>> round(off_lattice(1e-9), 6), round(off_lattice(1.0), 4)
    (0.666667, 0.6787)
    """
    masses = [exp(-epsilon * 2.0**-j) - exp(-epsilon * 2.0 ** (1 - j)) for j in range(3, 55)]
    off = sum(mass * (1 - 2.0 ** (2 - j)) for j, mass in enumerate(masses, 3))
    return off / -expm1(-epsilon / 4)


def impossible(outputs: NDArray[np.float64]) -> tuple[float, int]:
    """The share of outputs between 0 and 1/4 that float noise on 1 cannot give, and their number.

    >>> impossible(np.array([0.125, 2.0**-60, 0.9]))
    (0.5, 2)
    """
    near = outputs[(outputs > 0) & (outputs < 0.25)]
    steps = near / LATTICE  # exact: a power of two
    return float(np.mean(steps != np.rint(steps))), int(near.size)
