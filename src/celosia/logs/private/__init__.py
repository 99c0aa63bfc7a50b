"""Private release of frequent queries, clicks and itemsets: differential privacy for persons.

`keys` chooses which items may be named at all. Four mechanisms do it: `LaplaceKeys` with noisy
counts, `OptimalKeys` with names only, `GaussianKeys` for persons with many items, `SipsKeys` for
the same in rounds. `itemsets` counts sets of items that persons have together.
"""

from celosia.logs.private.data import KeyData, Of, bounded_pairs, key_data
from celosia.logs.private.itemsets import PrivateItemsets
from celosia.logs.private.mechanisms import (
    ONE_PERSON,
    GaussianKeys,
    KeyMechanism,
    LaplaceKeys,
    OptimalKeys,
    SipsKeys,
)
from celosia.logs.private.planning import PER_PERSON, PlanRow, plan
from celosia.logs.private.release import METHODS, itemsets, keys, mechanism_for

__all__ = [
    "METHODS",
    "ONE_PERSON",
    "PER_PERSON",
    "GaussianKeys",
    "KeyData",
    "KeyMechanism",
    "LaplaceKeys",
    "Of",
    "OptimalKeys",
    "PlanRow",
    "PrivateItemsets",
    "SipsKeys",
    "bounded_pairs",
    "itemsets",
    "key_data",
    "keys",
    "mechanism_for",
    "plan",
]
