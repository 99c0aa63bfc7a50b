"""What each metric measures, written from its definition, record by record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tests.tables.recoding.plain import Path, Row


class Release(NamedTuple):
    """A node over a table: the raw rows, their labels, and who is kept."""

    hierarchies: Sequence[Sequence[Path]]
    rows: Sequence[Row]
    node: Sequence[int]
    labels: Sequence[Row]
    kept: Sequence[bool]
    weights: Mapping[int, float]

    def weight(self, column: int) -> float:
        """Scaled so that the largest is 1."""
        given = [self.weights.get(number, 1.0) for number in range(len(self.hierarchies))]
        return given[column] / max(given)

    def leaves(self, column: int, record: int) -> int:
        """How many leaves a released cell may stand for."""
        paths = self.hierarchies[column]
        if not self.kept[record]:
            return len(paths)
        label = self.labels[record][column]
        return sum(1 for path in paths if path[self.node[column]] == label)


def loss(release: Release) -> float:
    """The geometric mean of 1 + loss, less 1, over the most that it can be."""
    columns, rows = len(release.hierarchies), len(release.rows)
    total = most = 1.0
    for column, paths in enumerate(release.hierarchies):
        raw = sum(release.leaves(column, record) / len(paths) for record in range(rows))
        least = rows / len(paths)
        share = (raw - least) / (rows - least) if len(paths) > 1 else 0.0
        total *= (1 + release.weight(column) * share) ** (1 / columns)
        most *= (1 + release.weight(column)) ** (1 / columns)
    return (total - 1) / (most - 1)


def arithmetic_loss(release: Release) -> float:
    """The mean over the columns of the share of the way that their cells have gone."""
    rows, total, weights = len(release.rows), 0.0, 0.0
    for column, paths in enumerate(release.hierarchies):
        cells = [release.leaves(column, record) - 1 for record in range(rows)]
        share = sum(cells) / (rows * (len(paths) - 1)) if len(paths) > 1 else 0.0
        total += release.weight(column) * share
        weights += release.weight(column)
    return total / weights


def precision(release: Release) -> float:
    """The share of the way up, averaged over cells; suppressed cells went all the way."""
    total = weights = 0.0
    for column, paths in enumerate(release.hierarchies):
        way = release.node[column] / (len(paths[0]) - 1)
        weight = release.weight(column)
        weights += weight * len(release.rows)
        total += sum(weight * (way if kept else 1.0) for kept in release.kept)
    return total / weights


def height(release: Release) -> float:
    return sum(release.node) / sum(len(paths[0]) - 1 for paths in release.hierarchies)


def _kept_sizes(release: Release) -> list[int]:
    pairs = zip(release.labels, release.kept, strict=True)
    return list(Counter(label for label, kept in pairs if kept).values())


def discernibility(release: Release) -> float:
    """The sum of squares of kept classes, all records for each suppressed one."""
    rows = len(release.rows)
    sizes = _kept_sizes(release)
    total = sum(size**2 for size in sizes) + rows * (rows - sum(sizes))
    return (total - rows) / (rows**2 - rows) if rows > 1 else 0.0


def average_class_size(release: Release) -> float:
    rows = len(release.rows)
    sizes = _kept_sizes(release)
    average = rows / (len(sizes) + (sum(sizes) < rows))
    return (average - 1) / (rows - 1) if rows > 1 else 0.0


def entropy_bits(release: Release, *, starred: bool = False) -> float:
    """The bits to tell each original cell from its released one; `starred`: if all were `*`."""
    bits = 0.0
    for column in range(len(release.hierarchies)):
        cells = [
            (row[column], label[column] if kept and not starred else "*")
            for row, label, kept in zip(release.rows, release.labels, release.kept, strict=True)
        ]
        pairs, outputs = Counter(cells), Counter(output for _, output in cells)
        bits -= math.fsum(math.log2(pairs[cell] / outputs[cell[1]]) for cell in cells)
    return bits


def entropy(release: Release) -> float:
    most = entropy_bits(release, starred=True)
    return entropy_bits(release) / most if most else 0.0


def ambiguity(release: Release) -> float:
    """The average number of raw records that each may have been, on a logarithmic scale."""
    columns = range(len(release.hierarchies))
    total = sum(
        math.prod(release.leaves(column, record) for column in columns)
        for record in range(len(release.rows))
    )
    most = math.prod(len(paths) for paths in release.hierarchies)
    return math.log(total / len(release.rows)) / math.log(most) if most > 1 else 0.0


def information(release: Release, record: int) -> float:
    """The share of its digits that a record keeps."""
    columns = range(len(release.hierarchies))
    whole = sum(math.log(len(paths)) for paths in release.hierarchies)
    lost = sum(math.log(release.leaves(column, record)) for column in columns)
    return 1 - lost / whole if whole else 1.0


def publisher_payoff(release: Release) -> float:
    """With Wan's figures: a record earns 1200, and is attacked in classes of fewer than 75."""
    sizes = Counter(label for label, kept in zip(release.labels, release.kept, strict=True) if kept)
    earned = 0.0
    for record, label in enumerate(release.labels):
        if release.kept[record]:
            attacked = 300 / sizes[label] > 4
            earned += 1200 * information(release, record) - attacked * 300 / sizes[label]
    return min(1.0, 1 - earned / (1200 * len(release.rows)))


PLAIN_METRICS: dict[str, Callable[[Release], float]] = {
    "loss": loss,
    "arithmetic-loss": arithmetic_loss,
    "precision": precision,
    "height": height,
    "discernibility": discernibility,
    "average-class-size": average_class_size,
    "entropy": entropy,
    "ambiguity": ambiguity,
    "publisher-payoff": publisher_payoff,
}
