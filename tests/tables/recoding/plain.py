"""Plain twins of the fast code: what it must equal, written to be read rather than to be quick."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import floor
from typing import NamedTuple

Path = tuple[str, ...]
Row = tuple[str, ...]


class PlainOutcome(NamedTuple):
    """What a node gives by the definitions of the specification."""

    loss: float
    suppressed: int
    classes: int


def generalise(
    rows: Sequence[Row], hierarchies: Sequence[Sequence[Path]], node: Sequence[int]
) -> list[Row]:
    """The labels of each row at a node."""
    labels = [
        {path[0]: path[level] for path in paths}
        for paths, level in zip(hierarchies, node, strict=True)
    ]
    return [
        tuple([column[value] for value, column in zip(row, labels, strict=True)]) for row in rows
    ]


def evaluate(
    rows: Sequence[Row], hierarchies: Sequence[Sequence[Path]], node: Sequence[int], k: int
) -> PlainOutcome:
    """Loss as defined: shares of the domain, scaled per column, geometric mean shifted by one."""
    released = generalise(rows, hierarchies, node)
    sizes = Counter(released)
    total = 1.0
    for column, paths in enumerate(hierarchies):
        leaves = Counter(path[node[column]] for path in paths)
        raw = sum(
            leaves[labels[column]] / len(paths) if sizes[labels] >= k else 1.0
            for labels in released
        )
        least = len(rows) / len(paths)
        span = len(rows) - least
        loss = max(0.0, (raw - least) / span) if span else 0.0
        total *= (1 + floor(loss * 1e10) / 1e10) ** (1 / len(hierarchies))
    kept = [size for size in sizes.values() if size >= k]
    return PlainOutcome(total - 1, len(rows) - sum(kept), len(kept))


def exhaustive(
    rows: Sequence[Row], hierarchies: Sequence[Sequence[Path]], k: int, allowed: int
) -> dict[tuple[int, ...], PlainOutcome]:
    """Every node that keeps somebody and suppresses no more than allowed."""
    nodes = product(*(range(len(paths[0])) for paths in hierarchies))
    outcomes = {node: evaluate(rows, hierarchies, node, k) for node in nodes}
    return {
        node: outcome
        for node, outcome in outcomes.items()
        if outcome.suppressed <= allowed and outcome.classes > 0
    }
