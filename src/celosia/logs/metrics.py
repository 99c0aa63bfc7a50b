"""What is left of sets for their users: frequent items and pairs."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from celosia.logs.sets.disassociation import DisassociatedSets
from celosia.logs.sets.item_tree import ItemTree, chains_of
from celosia.logs.sets.transactions import Transactions

PAIRS = 400
"""The most frequent pairs of the original whose supports are compared."""

TOP = 100
"""The most frequent items of both that are compared."""

MOST_TRANSACTIONS = 200_000
"""Transactions up to which pairs are counted one by one."""


def sets(original: Transactions, made: Transactions, tree: ItemTree | None) -> dict[str, float]:
    """Shares of 0 to 1: what is kept of items, top items, and supports of frequent pairs."""
    found = {
        "items_kept": _items_kept(original, made),
        "top_items_overlap": _top_overlap(original, made),
    }
    if original.count <= MOST_TRANSACTIONS:
        found["pair_error"] = pair_error(original, made, tree)
    return found


def _items_kept(original: Transactions, made: Transactions) -> float:
    """The share of the occurrences of the original that are published as they are."""
    names = dict(zip(made.labels, made.supports.tolist(), strict=True))
    kept = sum(
        min(count, names.get(label, 0))
        for label, count in zip(original.labels, original.supports.tolist(), strict=True)
    )
    return float(kept / max(1, len(original.items)))


def _top_overlap(original: Transactions, made: Transactions) -> float:
    """The share of the most frequent items that are among the most frequent published labels."""
    before, after = (_top(each) for each in (original, made))
    return len(before & after) / max(1, len(before))


def _top(data: Transactions) -> set[str]:
    supports = data.supports
    order = np.lexsort((np.arange(len(supports)), -supports))[:TOP]
    return {data.labels[item] for item in order if supports[item]}


def _pairs(data: Transactions) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for items in data.sets():
        found.update(combinations(sorted(items), 2))
    return found


def pair_error(original: Transactions, made: Transactions, tree: ItemTree | None) -> float:
    """The mean relative error of the supports of the most frequent pairs of the original.

    The support of a generalised pair is spread evenly over the pairs of leaves that it stands for.
    """
    top = _pairs(original).most_common(PAIRS)
    if not top:
        return 0.0
    published = _pairs(made)
    singles = dict(zip(made.labels, made.supports.tolist(), strict=True))
    chains = chains_of(tree)
    errors = []
    for (one, other), count in top:
        guess = 0.0
        for first, first_size in chains.get(one, [(one, 1)]):
            for second, second_size in chains.get(other, [(other, 1)]):
                if first == second:
                    # A group that holds both: its pairs are spread over all pairs inside it.
                    inside = first_size * (first_size - 1) / 2
                    guess += singles.get(first, 0) / max(1.0, inside)
                else:
                    pair = (first, second) if first < second else (second, first)
                    guess += published.get(pair, 0) / (first_size * second_size)
        errors.append(abs(guess - count) / count)
    return float(np.mean(errors))


def disassociated(original: Transactions, made: DisassociatedSets) -> dict[str, float]:
    """The share of the most frequent pairs whose joint support is still seen, and of the items."""
    seen: Counter[tuple[str, str]] = Counter()
    linked = 0
    for chunk in made.chunks():
        for items in chunk:
            linked += len(items)
            seen.update(combinations(sorted(items), 2))
    top = _pairs(original).most_common(PAIRS)
    errors = [abs(seen.get(pair, 0) - count) / count for pair, count in top]
    return {
        "items_in_chunks": linked / max(1, len(original.items)),
        "pair_error": float(np.mean(errors)) if errors else 0.0,
    }
