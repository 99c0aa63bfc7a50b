"""Invented shopping baskets by the scheme of IBM Quest, with a hierarchy and sensitive items."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.datasets._basket_kernels import fill_baskets
from celosia.logs.sets.transactions import Transactions
from celosia.tables.hierarchies import Hierarchy

TRANSACTIONS, ITEMS, MEAN_LENGTH, PATTERNS, SEED = 10_000, 1_000, 10, 2_000, 1
MOST_TRANSACTIONS, MOST_ITEMS = 100_000_000, 1_000_000
FAN_OUT = 5
"""Items below each group of the hierarchy, and groups below each group."""

_PATTERN_LENGTH = 4
_CORRELATION = 0.5
_SENSITIVE_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class Baskets:
    """Transactions with the hierarchy of their items, and the items that are sensitive."""

    transactions: Transactions
    hierarchy: Hierarchy = field(repr=False)
    sensitive: frozenset[str] = field(repr=False)


def baskets(
    transactions: int = TRANSACTIONS,
    items: int = ITEMS,
    mean_length: int = MEAN_LENGTH,
    patterns: int = PATTERNS,
    *,
    seed: int = SEED,
) -> Baskets:
    """Baskets that repeat patterns of items which are often bought together.

    Patterns have 4 items on average, half of them from the pattern before; a basket takes patterns
    by weight and loses some of their items (Agrawal and Srikant 1994, section 4.1).

    Raises:
        InputError: CEL-D045 no such size.

    >>> made = baskets(100, 50, 5, 20)
    >>> made.transactions.count, len(made.hierarchy.leaves), made.hierarchy.levels
    (100, 50, 4)
    """
    for what, value, most in (
        ("transactions", transactions, MOST_TRANSACTIONS),
        ("items", items, MOST_ITEMS),
        ("mean_length", mean_length, 1_000),
        ("patterns", patterns, MOST_ITEMS),
    ):
        number = whole(value)
        if number is None or not 1 <= number <= most:
            raise InputError("CEL-D045", what=what, least=1, most=most)
    rng = np.random.Generator(np.random.PCG64(seed))
    starts, members = _patterns(items, patterns, rng)
    weights = np.cumsum(rng.exponential(size=patterns))
    corruption = np.clip(rng.normal(0.5, 0.1, patterns), 0, 0.95)
    sizes = rng.poisson(mean_length - 1, transactions) + 1
    owners, taken = fill_baskets(
        sizes.astype(np.int64),
        starts,
        members,
        weights / weights[-1],
        corruption,
        int(rng.integers(2**62)),
    )
    width = len(str(items - 1))
    labels = tuple(f"item{number:0{width}d}" for number in range(items))
    made = Transactions.from_pairs(owners, taken, labels, count=transactions)
    hidden = rng.permutation(items)[: max(1, round(items * _SENSITIVE_SHARE))]
    return Baskets(made, _hierarchy(labels), frozenset(labels[each] for each in hidden))


def _patterns(
    items: int, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The items of each pattern, one after another, and where each begins."""
    popularity = rng.permutation(items)
    found: list[NDArray[np.int64]] = []
    before = np.empty(0, dtype=np.int64)
    for _ in range(count):
        size = min(items, int(rng.poisson(_PATTERN_LENGTH - 1)) + 1)
        shared = min(len(before), int(size * min(1.0, rng.exponential(_CORRELATION))))
        old = rng.permutation(before)[:shared]
        new = popularity[(items * rng.random(size - shared) ** 2).astype(np.int64)]
        before = np.unique(np.concatenate([old, new]))
        found.append(before)
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum([len(each) for each in found], out=starts[1:])
    return starts, np.concatenate(found)


def _hierarchy(labels: tuple[str, ...]) -> Hierarchy:
    """Groups of five, of five groups, and so on up to the root."""
    sizes = []
    size = FAN_OUT
    while size < len(labels):
        sizes.append(size)
        size *= FAN_OUT
    return Hierarchy.from_paths(
        [
            (label, *(f"group{level}.{place // each}" for level, each in enumerate(sizes, 1)), "*")
            for place, label in enumerate(labels)
        ]
    )
