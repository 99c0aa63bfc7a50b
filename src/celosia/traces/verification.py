"""Verification of published traces by code that shares nothing with the methods.

Traces are compared by the full sequence of what is published; every sequence must be that of at
least k different persons. Weights are not believed but counted from the key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import polars as pl

from celosia.core.errors import InputError
from celosia.traces.samples import Samples


@dataclass(frozen=True, slots=True)
class Verification:
    """What was counted in a published table."""

    groups: int
    """Different sequences of samples."""
    smallest: int
    """Different persons of the sequence with the fewest; 0 where nothing is published."""

    def holds(self, k: int) -> bool:
        """Whether every sequence is that of at least k persons."""
        return self.groups == 0 or self.smallest >= k


def verify(frame: pl.DataFrame, owners: Mapping[int, Hashable]) -> Verification:
    """Count the persons of each published sequence.

    Args:
        frame: the published table, with its column `trace`.
        owners: the key: the person of each trace.

    Raises:
        InputError: CEL-J013 the table has no traces, or some that the key does not name.

    >>> table = pl.DataFrame({"trace": [0, 1], "time": ["t", "t"], "latitude": [1.0, 1.0]})
    >>> verify(table, {0: 7, 1: 8}).smallest, verify(table, {0: 7, 1: 7}).smallest
    (2, 1)
    """
    if "trace" not in frame.columns:
        raise InputError("CEL-J013.columns")
    if not set(frame["trace"]) <= set(owners):
        raise InputError("CEL-J013.key", path="-")
    sequences: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    others = [name for name in frame.columns if name != "trace"]
    for trace, *rest in frame.select(["trace", *others]).iter_rows():
        sequences[trace].append(tuple(rest))
    persons: dict[tuple[tuple[object, ...], ...], set[Hashable]] = defaultdict(set)
    for trace, samples in sequences.items():
        persons[tuple(sorted(samples, key=repr))].add(owners[trace])
    return Verification(len(persons), min(map(len, persons.values()), default=0))


def owners_of(samples: Samples) -> dict[int, int]:
    """The key of samples as a dictionary."""
    return dict(enumerate(samples.owner.tolist()))
