"""Our own exact sampler: kernels fed with random words, for large vectors and seeded runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.randomness import Source
from celosia.mechanisms.noise.scale_limits import Proposal

CHUNK = 2**16
"""Words that are read at once."""

Step = Callable[[NDArray[np.uint32], Any, int], tuple[int, int]]


def laplace(scale: Fraction, size: int, rng: Source) -> NDArray[np.int64]:
    """`size` exact discrete Laplace draws of a scale within reach."""
    from celosia.mechanisms.noise import _kernels  # Numba loads when noise is drawn

    def step(units: NDArray[np.uint32], found: Any, done: int) -> tuple[int, int]:
        return _kernels.laplace(units, scale.numerator, scale.denominator, found, done)

    found = np.empty(size, dtype=np.int64)
    fill(found, step, rng, words_each=4)
    return found


def gaussian(parameter: Fraction, size: int, rng: Source) -> NDArray[np.int64]:
    """`size` exact discrete Gaussian draws of a sigma^2 within reach."""
    from celosia.mechanisms.noise import _kernels

    proposal = Proposal.of(parameter)

    def step(units: NDArray[np.uint32], found: Any, done: int) -> tuple[int, int]:
        return _kernels.gaussian(
            units,
            proposal.top,
            proposal.bottom,
            proposal.factor,
            proposal.centre,
            proposal.low,
            proposal.high,
            found,
            done,
        )

    found = np.empty(size, dtype=np.int64)
    fill(found, step, rng, words_each=8)
    return found


def fill(found: NDArray[Any], step: Step, rng: Source, *, words_each: int) -> None:
    """Let a kernel fill an array, with as many random words as it takes.

    Args:
        found: what is filled.
        step: continues from a place in `found`; returns the place and what it used of the stream.
        rng: where the words come from.
        words_each: about how many words an entry takes.

    Raises:
        PrivacyError: CEL-M021 a draw does not fit into 64 bits.
    """
    done, left, coming = 0, np.empty(0, dtype=np.uint32), None
    with ThreadPoolExecutor(1) as reader:
        while done < found.size:
            needed = (found.size - done) * words_each
            words = rng.words(min(CHUNK, needed + 16)) if coming is None else coming.result()
            # The system's entropy is as slow as the kernels; both leave Python free for the other.
            coming = reader.submit(rng.words, CHUNK) if needed > CHUNK else None
            units = np.concatenate([left, words.view(np.uint32)])
            done, at = step(units, found, done)
            if at < 0:
                raise PrivacyError("CEL-M021")
            left = units[at:]
