"""Recode a table by its lattice: one node for all records, or local recoding in rounds.

In local recoding the records that a node suppresses are a table of their own. The search finds the
best node of that table without a limit, keeps the records that it can keep, and starts again with
the rest. Different records are then released at different levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.progress import Progress
from celosia.tables.coded_table import CodedTable
from celosia.tables.metrics import Loss
from celosia.tables.options import PublishOptions
from celosia.tables.recoding import (
    Lattice,
    Node,
    SearchResult,
    find_optimum,
    greedy_search,
    is_searchable,
)
from celosia.tables.recoding.certificate import Certificate, allowance
from celosia.tables.recoding.fixed_levels import evaluate_levels

MOST_ROUNDS = 200
"""Each round keeps at least one class; later ones keep hardly more than that."""


@dataclass(frozen=True, slots=True, eq=False)
class LatticeRecoding:
    """The level and the suppression of each row."""

    lattice: Lattice = field(repr=False)
    levels: Node | NDArray[np.int16]
    """The level of each column, the same for all rows or one for each."""
    hidden: NDArray[np.bool_] = field(repr=False)
    """Which rows are suppressed."""
    leaf_sums: NDArray[np.int64]
    suppressed: int
    score: float
    kept_sizes: NDArray[np.int64] | None = field(default=None, repr=False)
    """Records of each class that is kept; None where classes must be counted by their labels."""
    rounds: int = 1
    certificate: Certificate | None = None


def recode_by_lattice(
    table: CodedTable, options: PublishOptions, limit: float, progress: Progress
) -> LatticeRecoding:
    """The best node; or with local recoding several, each for those whom the last one suppressed.

    Raises:
        PrivacyError: CEL-P001 nothing meets the models within the limit.
    """
    lattice = table.lattice()
    if options.local:
        local = _in_rounds(table, lattice, options, progress)
        if local.suppressed <= allowance(limit, table.records()):
            return local
    return _at_one_node(lattice, _search(lattice, options, limit, progress))


def loss_score(options: PublishOptions, lattice: Lattice, leaf_sums: Sequence[int]) -> float:
    """The score of a recoding that is no node; only the loss can be had of one."""
    assert isinstance(options.metric, Loss)
    measure = options.metric.over(lattice)
    return measure.share(measure.product(leaf_sums))


def _at_one_node(lattice: Lattice, found: SearchResult) -> LatticeRecoding:
    best = found.best
    return LatticeRecoding(
        lattice,
        best.node,
        ~best.kept[lattice.class_of_rows(best.node)],
        np.array(best.leaf_sums),
        best.suppressed,
        found.score,
        best.kept_sizes,
        certificate=found.certificate,
    )


def _in_rounds(
    table: CodedTable, lattice: Lattice, options: PublishOptions, progress: Progress
) -> LatticeRecoding:
    """Any number may be suppressed at first: the next rounds take most of them up again."""

    def search(part: Lattice) -> SearchResult:
        return _search(part, options, 1.0, progress)

    found = search(lattice)
    first = _at_one_node(lattice, found)
    rounds, rest = refine(
        Round(found.best.node, np.flatnonzero(~first.hidden)),
        np.flatnonzero(first.hidden),
        table.lattice,
        search,
    )
    if len(rounds) == 1:
        return first
    hidden = np.zeros(table.height, dtype=np.bool_)
    hidden[rest] = True
    levels = np.zeros((table.height, len(table.columns)), dtype=np.int16)
    for each in rounds:
        levels[each.rows] = each.node
    sums = _cost(table, rounds, rest)
    # Of the ways to recode some records apart nothing is proven, so there is no certificate.
    return LatticeRecoding(
        lattice,
        levels,
        hidden,
        sums,
        table.records(rest),
        loss_score(options, lattice, sums.tolist()),
        rounds=len(rounds),
    )


def _search(
    lattice: Lattice, options: PublishOptions, suppression: float, progress: Progress
) -> SearchResult:
    if options.levels is not None:
        return evaluate_levels(lattice, options.levels, options.models, suppression, options.metric)
    if not is_searchable(lattice) and isinstance(options.metric, Loss):
        return greedy_search(
            lattice,
            options.models,
            suppression=suppression,
            metric=options.metric,
            time_limit=options.time_limit,
            progress=progress,
        )
    return find_optimum(
        lattice,
        options.models,
        suppression=suppression,
        metric=options.metric,
        time_limit=options.time_limit,
        progress=progress,
    )


def _cost(table: CodedTable, rounds: Sequence[Round], rest: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each column, the leaves that all cells together may stand for."""
    sums = []
    for number, column in enumerate(table.columns):
        total = table.records(rest) * len(column.hierarchy.leaves)
        for each in rounds:
            leaves = column.hierarchy.leaves_under(each.node[number])
            covered = leaves[column.leaf_of_row[each.rows]]
            counts = 1 if table.counts is None else table.counts[each.rows]
            total += int((covered * counts).sum())
        sums.append(total)
    return np.array(sums, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Round:
    """One node, and the rows that are released at its levels."""

    node: Node
    rows: NDArray[np.int64] = field(repr=False)


def refine(
    first: Round,
    suppressed: NDArray[np.int64],
    lattice_of: Callable[[NDArray[np.int64]], Lattice],
    search: Callable[[Lattice], SearchResult],
) -> tuple[Sequence[Round], NDArray[np.int64]]:
    """The rounds that follow a global solution, and the rows that stay suppressed.

    Args:
        first: the global solution and the rows that it keeps.
        suppressed: the rows that it suppresses.
        lattice_of: the lattice of some of the rows.
        search: the best node of a lattice, with any number of records suppressed.
    """
    rounds = [first]
    rest = suppressed
    while rest.size and len(rounds) < MOST_ROUNDS:
        lattice = lattice_of(rest)
        try:
            best = search(lattice).best
        except PrivacyError:  # too few records are left, or they are too similar
            break
        kept = best.kept[lattice.class_of_rows(best.node)]
        rounds.append(Round(best.node, rest[kept]))
        rest = rest[~kept]
    return rounds, rest
