"""Small functions of arrays of numbers that several modules use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct numbers in ascending order; sorts, which beats the hashing of `np.unique`.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def people_per_item(
    people: NDArray[np.integer], items: NDArray[np.integer], count: int
) -> NDArray[np.int64]:
    """How many different persons each item has; repeated records of a person count once.

    >>> people_per_item(np.array([0, 0, 1]), np.array([0, 0, 1]), 2).tolist()
    [1, 1]
    """
    persons = int(people.max(initial=0)) + 1
    pairs = distinct(items.astype(np.int64) * persons + people)
    return np.bincount(pairs // persons, minlength=count)
