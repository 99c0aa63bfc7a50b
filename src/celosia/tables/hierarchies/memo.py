"""Hierarchies that a rule has built, kept while one piece of work asks for them several times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from celosia.tables.hierarchies.hierarchy import Builder, Hierarchy

_kept: list[tuple[Builder, pl.Series, Hierarchy]] = []
# Not a context variable: columns are coded in threads of a pool, which would not see it.
_holders = 0


@contextmanager
def kept_hierarchies() -> Iterator[None]:
    """Build no hierarchy twice: the same rule and the same values give the one built before.

    A release, its solutions, its risk and its attacks all code the same columns; of a million
    incomes each hierarchy takes seconds.
    """
    global _holders  # noqa: PLW0603 - see above
    _holders += 1
    try:
        yield
    finally:
        _holders -= 1
        if not _holders:
            _kept.clear()


def built(rule: Builder, values: pl.Series) -> Hierarchy:
    """What a rule builds from these values, or has built from equal ones."""
    if not _holders:
        return rule.build(values)
    for known, given, found in list(_kept):
        if known == rule and given.equals(values, check_dtypes=True):
            return found
    found = rule.build(values)
    _kept.append((rule, values, found))
    return found
