"""How many entities of each kind make a graph of a given number of facts."""

from __future__ import annotations

from celosia.datasets.watdiv.draws import mean_objects, weights
from celosia.datasets.watdiv.schema import CATEGORIES_APART, KINDS, VALUES
from celosia.datasets.watdiv.values import Property


def sizes_of(users: int) -> dict[str, int]:
    """How many entities of each kind there are for a number of users.

    >>> sizes_of(1000)["Product"], sizes_of(1000)["City"]
    (250, 240)
    """
    growing = {kind.name: kind.fixed or max(1, users * kind.per_thousand // 1000) for kind in KINDS}
    return {**growing, **VALUES}


def expected_facts(users: int) -> float:
    """The mean number of facts over all seeds, but for the few objects drawn too often."""
    sizes = sizes_of(users)
    return sum(
        sizes[kind.name] * each.share / 100 * mean_objects(each, sizes) * _share_of(each)
        for kind in KINDS
        for each in kind.properties
    )


def users_for(triples: int) -> int:
    """The number of users whose graph has as many facts as wanted, as nearly as it can."""
    low, high = 1, triples
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if expected_facts(middle) <= triples else (low, middle)
    return min((low, high), key=lambda users: abs(expected_facts(users) - triples))


def _share_of(item: Property) -> float:
    """The share of products whose category is of the groups of a property."""
    if not item.groups:
        return 1.0
    each = weights(VALUES["ProductCategory"], 4)
    return sum(
        int(weight) for at, weight in enumerate(each) if at % CATEGORIES_APART in item.groups
    ) / int(each.sum())
