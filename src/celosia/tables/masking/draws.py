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


def draw_codes(
    chances: NDArray[np.float64], cases: NDArray[np.int64], uniform: NDArray[np.float64]
) -> NDArray[np.int64]:
    """A code for each row: code c with the chance in row `cases[i]` and column c.

    Rows of chances need not sum to one; a row without any chance draws evenly.

    >>> chances = np.array([[1.0, 3.0], [0.0, 0.0]])
    >>> draw_codes(chances, np.array([0, 0, 1]), np.array([0.2, 0.3, 0.9]))
    array([0, 1, 1])
    """
    width = chances.shape[1]
    totals = chances.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0, chances, 1.0) / np.where(totals > 0, totals, width)
    ends = np.cumsum(shares, axis=1)
    ends /= ends[:, -1:]
    # All rows of the table end to end, row r between r and r + 1, are searched at once.
    flat = (ends + np.arange(len(ends))[:, None]).ravel()
    found = np.searchsorted(flat, cases + uniform, side="right")
    codes: NDArray[np.int64] = np.minimum(found - cases * width, width - 1)
    return codes


def even_uniforms(cases: NDArray[np.int64], rng: Source) -> NDArray[np.float64]:
    """Numbers in (0, 1) that are spread evenly among the rows of each case, in random order.

    The i-th of m rows of a case gets (i + u) / m: the number of rows with a code differs by fewer
    than two from what is expected, instead of by the square root of it.
    """
    order = np.argsort(rng.words(cases.size))
    ordered = cases[order]
    # Few cases are sorted by their digits, in linear time.
    small = cases.size > 0 and int(cases.max()) < 2**16
    by_case = np.argsort(ordered.astype(np.uint16) if small else ordered, kind="stable")
    order, ordered = order[by_case], ordered[by_case]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    sizes = np.diff(starts, append=cases.size)
    ranks = np.arange(cases.size) - np.repeat(starts, sizes)
    found = np.empty(cases.size)
    found[order] = (ranks + uniforms(rng, cases.size)) / np.repeat(sizes, sizes)
    return found
