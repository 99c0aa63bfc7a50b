"""Generated logs that several tests look at, made once."""

from __future__ import annotations

from functools import cache

from celosia import datasets
from celosia.logs import Log

SEEDS = range(11, 17)


@cache
def search_log(seed: int) -> Log:
    """A search log of 5,000 people."""
    return datasets.searches(seed=seed).log()
