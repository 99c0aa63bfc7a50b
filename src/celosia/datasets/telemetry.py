"""Values on devices: what local privacy is tried on.

Each table has a random `user_id` and a `value` for each device. Beside the generators stand the
exact histograms of tables that published results were made with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.core.randomness import Seeded, Source

ROWS = 50_000
MOST_ROWS = 10**8
SEED = 2024
COLUMNS = ("user_id", "value")

LETTERS = {
    **{"A": 0.29, "B": 0.19, "C": 0.15, "D": 0.12},
    **{"E": 0.10, "F": 0.08, "G": 0.05, "H": 0.02},
}
"""The weights of `letters`."""

WORDS = {
    **{"cool": 0.18, "brunch": 0.14, "outfit": 0.13, "follower": 0.11, "link": 0.11},
    **{"spoiler": 0.09, "influencer": 0.07, "smartphone": 0.06, "feedback": 0.06, "hobby": 0.05},
}
"""The weights of `anglicisms` among values without a typo."""
TYPOS = 0.1
"""The share of values of `anglicisms` that are random strings."""
SHORTEST, LONGEST = 3, 8
"""The letters of such a string."""

EXPONENTIAL_50K: dict[int, int] = dict(
    enumerate(
        [
            *(19651, 11972, 7214, 4491, 2607, 1587, 936, 593, 367, 214),
            *(145, 82, 41, 33, 31, 16, 11, 4, 3, 1, 1),
        ]
    )
)
"""How often each value is there in the published table of 50,000 exponential values."""

NORMAL_200K: dict[int, int] = dict(
    enumerate(
        [
            *(5, 49, 239, 981, 3386, 8709, 18139, 30366, 38492),
            *(37994, 30250, 18110, 8776, 3313, 936, 206, 45, 4),
        ],
        start=3,
    )
)
"""The same for 200,000 normal values."""

ANGLICISMS_50K = {
    **{"cool": 7946, "brunch": 6350, "outfit": 5819, "follower": 5010, "link": 4996},
    **{"spoiler": 4077, "influencer": 3234, "feedback": 2718, "smartphone": 2709, "hobby": 2233},
}
"""The same for the words among 50,000 anglicisms; the others are typos."""
TYPOS_50K = 4908
"""How many of the 50,000 are typos; with the words there are 4,895 different values."""


def exponential(rows: int = ROWS, *, seed: int = SEED) -> pl.DataFrame:
    """Whole numbers from 0 on, each less common than the one before by 0.6065.

    An exponential number with a mean of 2, cut to its whole part: P(v) = 0.3935 * 0.6065^v.

    Raises:
        InputError: CEL-D030 for `rows` or `seed`.

    >>> exponential(3)["value"].to_list()
    [2, 0, 0]
    """
    rng = _source(rows, seed)
    drawn = -2 * np.log1p(-_uniform(rng, rows))
    return _table(drawn.astype(np.int64), rng)


def normal(rows: int = ROWS, *, seed: int = SEED) -> pl.DataFrame:
    """Whole numbers around 12: a normal number with a standard deviation of 2, cut.

    Cutting makes 11 and 12 the most common values, with 0.1915 each.

    Raises:
        InputError: CEL-D030 for `rows` or `seed`.

    >>> normal(3)["value"].to_list()
    [12, 13, 13]
    """
    rng = _source(rows, seed)
    # Box and Muller 1958.
    radius = np.sqrt(-2 * np.log1p(-_uniform(rng, rows)))
    drawn = 12 + 2 * radius * np.cos(2 * np.pi * _uniform(rng, rows))
    return _table(drawn.astype(np.int64), rng)


def letters(rows: int = ROWS, *, seed: int = SEED) -> pl.DataFrame:
    """The letters A to H, from 29 % down to 2 %.

    Raises:
        InputError: CEL-D030 for `rows` or `seed`.

    >>> letters(5)["value"].to_list()
    ['D', 'A', 'B', 'E', 'H']
    """
    rng = _source(rows, seed)
    return _table(_weighted(LETTERS, _uniform(rng, rows)), rng)


def anglicisms(rows: int = ROWS, *, seed: int = SEED) -> pl.DataFrame:
    """Ten English words as people type them abroad, with a typo in every tenth value.

    A typo is a random string of 3 to 8 small letters: values that no list contains.

    Raises:
        InputError: CEL-D030 for `rows` or `seed`.

    >>> anglicisms(5)["value"].to_list()
    ['spoiler', 'brunch', 'outfit', 'smartphone', 'jia']
    """
    rng = _source(rows, seed)
    drawn = _uniform(rng, rows)
    made = _weighted(WORDS, np.minimum(drawn / (1 - TYPOS), np.nextafter(1, 0)))
    wrong = np.flatnonzero(drawn >= 1 - TYPOS)
    sizes = SHORTEST + rng.integers(LONGEST - SHORTEST + 1, wrong.size)
    strings = _strings("abcdefghijklmnopqrstuvwxyz", wrong.size, LONGEST, rng)
    made[wrong] = [text[:size] for text, size in zip(strings, sizes.tolist(), strict=True)]
    return _table(made, rng)


def values_of(histogram: Mapping[Any, int]) -> NDArray[Any]:
    """The values that a histogram counts, each as often as it says.

    >>> values_of({"a": 2, "b": 1}).tolist()
    ['a', 'a', 'b']
    """
    return np.repeat(np.array([*histogram]), np.array([*histogram.values()], dtype=np.int64))


def _source(rows: int, seed: int) -> Source:
    size, start = whole(rows), whole(seed)
    if size is None or not 0 <= size <= MOST_ROWS or start is None or start < 0:
        raise InputError("CEL-D030", most_rows=MOST_ROWS)
    return Seeded(start)


def _uniform(rng: Source, size: int) -> NDArray[np.float64]:
    """Numbers in [0, 1) with 53 bits."""
    return (rng.words(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _weighted(weights: Mapping[str, float], uniform: NDArray[np.float64]) -> NDArray[Any]:
    edges = np.cumsum([*weights.values()])
    names = np.array([*weights], dtype=object)
    return names[np.searchsorted(edges / edges[-1], uniform, side="right")]


def _strings(alphabet: str, count: int, length: int, rng: Source) -> list[str]:
    letters = np.array([ord(each) for each in alphabet], dtype=np.uint32)
    drawn = letters[rng.integers(len(alphabet), count * length)]
    found: list[str] = np.ascontiguousarray(drawn).view(f"=U{length}").tolist() if count else []
    return found


def _table(values: NDArray[Any], rng: Source) -> pl.DataFrame:
    """Values beside random names; two devices never have the same."""
    names = _strings("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", values.size, 10, rng)
    while len(known := dict.fromkeys(names)) < len(names):
        more = _strings("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", len(names) - len(known), 10, rng)
        names = [*known, *more]
    column = values if values.dtype.kind == "i" else pl.Series(values.tolist(), dtype=pl.String)
    return pl.DataFrame({"user_id": pl.Series(names, dtype=pl.String), "value": column})
