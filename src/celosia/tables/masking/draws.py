"""Uniform and normal numbers for masking, from a source of randomness.

These are floats: they hide values among others, and carry no proof. Differentially private tables
draw their noise on whole numbers, by `celosia.mechanisms`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source

_BITS = 53


def uniforms(rng: Source, count: int) -> NDArray[np.float64]:
    """`count` numbers in the open interval (0, 1), each a half-step off the grid of 2**-53.

    >>> from celosia.core.randomness import Seeded
    >>> drawn = uniforms(Seeded(7), 1000)
    >>> bool((drawn > 0).all() and (drawn < 1).all())
    True
    """
    words = rng.words(count) >> np.uint64(64 - _BITS + 1)  # 52 bits: the half-step stays exact
    return (words.astype(np.float64) + 0.5) / 2.0 ** (_BITS - 1)


def normals(rng: Source, count: int) -> NDArray[np.float64]:
    """`count` standard normal numbers, by the inverse of the distribution function.

    The operating system's entropy can be used for each of them; a generator that is seeded once
    could be wound back from what is published.
    """
    from scipy.special import ndtri

    drawn: NDArray[np.float64] = ndtri(uniforms(rng, count))
    return drawn
