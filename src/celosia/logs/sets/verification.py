"""Checks of published sets that share no code with the methods that made them.

Plain counting over the published labels: slow on purpose, and easy to read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

Set = tuple[str, ...]


def set_counts(sets: Iterable[Collection[str]], m: int) -> Counter[Set]:
    """How many transactions have each set of 1 to m items that occurs."""
    found: Counter[Set] = Counter()
    for each in sets:
        items = sorted(set(each))
        for size in range(1, min(m, len(items)) + 1):
            found.update(combinations(items, size))
    return found


def work(sets: Iterable[Collection[str]], m: int) -> int:
    """How many sets `set_counts` would look at."""
    return sum(comb(len(each), size) for each in sets for size in range(1, m + 1))


def rare_sets(sets: Iterable[Collection[str]], *, k: int, m: int) -> Iterator[Set]:
    """The sets of up to m items that occur in fewer than k transactions: what breaks k^m.

    >>> list(rare_sets([("a", "b"), ("a", "c"), ("a", "b")], k=2, m=2))
    [('c',), ('a', 'c')]
    """
    for items, count in set_counts(sets, m).items():
        if count < k:
            yield items


def smallest_group(sets: Iterable[Collection[str]]) -> int:
    """The fewest transactions that are equal; 0 where there is none."""
    return min(Counter(tuple(sorted(set(each))) for each in sets).values(), default=0)


def incoherent_sets(
    sets: Sequence[Collection[str]],
    sensitive: Collection[str],
    *,
    h: Fraction,
    k: int,
    p: int,
) -> Iterator[Set]:
    """The sets of up to p public items that break (h, k, p)-coherence."""
    public = [set(each) - set(sensitive) for each in sets]
    for items, count in set_counts(public, p).items():
        holders = [each for each in sets if set(items) <= set(each)]
        most = max((sum(one in each for each in holders) for one in sensitive), default=0)
        if count < k or Fraction(most, count) > h:
            yield items


def certain_rules(
    sets: Sequence[Collection[str]], sensitive: Collection[str], *, rho: Fraction, p: int
) -> Iterator[tuple[Set, str]]:
    """The rules q -> a with up to p items in q that break rho-uncertainty."""
    for items, count in set_counts(sets, p).items():
        holders = [each for each in sets if set(items) <= set(each)]
        for one in sensitive:
            joint = sum(one in each for each in holders)
            if one not in items and joint and Fraction(joint, count) >= rho:
                yield items, one
