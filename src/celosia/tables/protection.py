"""From a coded table to a protected one: the solution, and the released values of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import nextafter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.utility.aggregates import Aggregates, interval_aggregates
from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, Stopwatch
from celosia.tables.coded_table import CodedColumn, CodedTable
from celosia.tables.hierarchies import ROOT
from celosia.tables.history.joint import JointOutcome
from celosia.tables.metrics import Loss, LossScale
from celosia.tables.options import PublishOptions
from celosia.tables.recoding import (
    Lattice,
    Node,
    SearchResult,
    anytime_search,
    find_optimum,
    is_searchable,
    mondrian,
)
from celosia.tables.recoding.chosen_levels import evaluate_levels
from celosia.tables.recoding.search import Certificate, allowance
from celosia.tables.released_table import ReleasedColumn
from celosia.tables.units import UnitOutcome
from celosia.tables.verification import joins_suppressed, judge_released, promises_broken

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
    lattice = Lattice.of(table)
    if options.local:
        local = _in_rounds(table, lattice, options, progress)
        if local.suppressed <= allowance(limit, table.weight()):
            return local
    return _at_one_node(lattice, _search(lattice, options, limit, progress))


def loss_score(options: PublishOptions, lattice: Lattice, leaf_sums: Sequence[int]) -> float:
    """The score of a recoding that is no node; only the loss can be had of one."""
    assert isinstance(options.metric, Loss)
    measure = options.metric.over(lattice)
    return measure.share(measure.score_of(leaf_sums))


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
        partial(Lattice.of, table),
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
        table.weight(rest),
        loss_score(options, lattice, sums.tolist()),
        rounds=len(rounds),
    )


def _search(
    lattice: Lattice, options: PublishOptions, suppression: float, progress: Progress
) -> SearchResult:
    if options.levels is not None:
        return evaluate_levels(lattice, options.levels, options.models, suppression, options.metric)
    if not is_searchable(lattice) and isinstance(options.metric, Loss):
        search = partial(anytime_search, metric=options.metric)
    else:
        search = partial(find_optimum, metric=options.metric)
    return search(
        lattice,
        options.models,
        suppression=suppression,
        time_limit=options.time_limit,
        progress=progress,
    )


def _cost(table: CodedTable, rounds: Sequence[Round], rest: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each column, the leaves that all cells together may stand for."""
    sums = []
    for number, column in enumerate(table.columns):
        total = table.weight(rest) * len(column.hierarchy.leaves)
        for each in rounds:
            leaves = column.hierarchy.leaves_under(each.node[number])
            covered = leaves[column.leaf_of_row[each.rows]]
            counts = 1 if table.weights is None else table.weights[each.rows]
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


@dataclass(frozen=True, slots=True, eq=False)
class Protection:
    """What was chosen, and the quasi-identifiers as they are released."""

    columns: tuple[CodedColumn, ...] = field(repr=False)
    scale: LossScale
    """What turns leaf sums into losses, over all records."""
    leaf_sums: tuple[int, ...]
    score: float
    """By the metric of the options, from 0 to 1."""
    records: int
    suppressed: int
    """Records of the table, and those of them that are suppressed."""
    kept_sizes: NDArray[np.int64] = field(repr=False)
    """The number of records (or units, where these are counted) of each class that is kept, with
    suppressed ones that show the same."""
    raw_sizes: NDArray[np.int64] = field(repr=False)
    """The same before anything was done, for all records."""
    hidden: NDArray[np.bool_] = field(repr=False)
    """Which rows are suppressed."""
    released: list[ReleasedColumn] = field(repr=False)
    """Each quasi-identifier of each row: generalised, and `*` where suppressed but not dropped."""
    levels: Node | None
    """The node of the lattice; None where rows have levels of their own."""
    rounds: int = 1
    """How many nodes were used, one after the other on those whom the last one suppressed."""
    certificate: Certificate | None = None
    crowd_fails: tuple[str, ...] = ()
    """Which promises the suppressed records do not keep as a class of their own."""
    units: UnitOutcome | None = None
    """What becomes of people or households, where these are counted."""
    joint: JointOutcome | None = None
    """What the release is worth together with earlier ones, where a history knows these."""
    intervals: Mapping[str, Aggregates] = field(default_factory=dict)
    """By column, the mean, limits and mode of numbers that are released as intervals."""


def protect(
    table: CodedTable, options: PublishOptions, progress: Progress, stopwatch: Stopwatch
) -> Protection:
    """Find a generalisation that meets the models, and recode the rows."""
    part, rows = without_empty(table, options)
    recode = _by_lattice if options.method == "lattice" else _by_mondrian
    protection = recode(table, part, rows, options, progress=progress, stopwatch=stopwatch)
    with stopwatch.measure("measuring"):
        return replace(
            protection,
            crowd_fails=promises_broken(protection.hidden, table, options.models),
            units=None
            if table.units is None
            else UnitOutcome.of(
                options.schema.unit or "", table.units, protection.hidden, protection.released
            ),
            intervals=_intervals(protection.released, table.counts),
        )


def _intervals(
    released: Sequence[ReleasedColumn], counts: NDArray[np.int64] | None
) -> dict[str, Aggregates]:
    found = {each.name: interval_aggregates(each.cells, each.records(counts)) for each in released}
    return {name: each for name, each in found.items() if each is not None}


def without_empty(
    table: CodedTable, options: PublishOptions
) -> tuple[CodedTable, NDArray[np.int64]]:
    """The part that is searched, without records whose empty cells suppress them; and its rows.

    Raises:
        PrivacyError: CEL-P004 these are more than the limit allows.
    """
    empty = table.empty_cells_to_suppress()
    _check_empty(table, empty, options)
    rows = np.flatnonzero(~empty)
    return (table.some(rows) if empty.any() else table), rows


def _by_lattice(
    table: CodedTable,
    part: CodedTable,
    rows: NDArray[np.int64],
    options: PublishOptions,
    *,
    progress: Progress,
    stopwatch: Stopwatch,
) -> Protection:
    limit = remaining_limit(options, table, part)
    with stopwatch.measure("search"):
        chosen = recode_by_lattice(part, options, limit, progress)
    spent = table.weight() - part.weight()
    hidden = np.ones(table.height, dtype=np.bool_)
    hidden[rows] = chosen.hidden
    levels = chosen.levels
    if not isinstance(levels, tuple):
        of_all = np.zeros((table.height, len(table.columns)), dtype=np.int16)
        of_all[rows] = levels
        levels = of_all
    with stopwatch.measure("recoding"):
        released = _released(table.columns, levels, hidden & (not options.drop_suppressed))
    with stopwatch.measure("measuring"):
        sizes = chosen.kept_sizes
        joined = not options.drop_suppressed and joins_suppressed(released, hidden)
        if sizes is None or joined or table.units is not None:  # a search counts weights
            sizes = judge_released(
                released, hidden, table, options.models, dropped=options.drop_suppressed
            )
        whole = chosen.lattice if part is table else Lattice(table.columns, table.weights)
        raw_sizes = _raw_sizes(table, whole)
    sums = chosen.leaf_sums + spent * np.array(whole.loss.leaves)
    return Protection(
        columns=table.columns,
        scale=whole.loss,
        leaf_sums=tuple(int(total) for total in sums),
        score=chosen.score,
        records=table.records(),
        suppressed=table.records(hidden),
        kept_sizes=sizes,
        raw_sizes=raw_sizes,
        hidden=hidden,
        released=released,
        levels=levels if isinstance(levels, tuple) else None,
        rounds=chosen.rounds,
        certificate=chosen.certificate,
    )


def remaining_limit(options: PublishOptions, table: CodedTable, part: CodedTable) -> float:
    """The limit for the rows that are left, so that it holds for all."""
    if part is table:
        return options.suppression
    records = part.weight()
    left = allowance(options.suppression, table.weight()) - (table.weight() - records)
    share = left / records
    # A share that was rounded down would allow one record fewer.
    return share if allowance(share, records) == left else nextafter(share, 1.0)


def _by_mondrian(
    table: CodedTable,
    part: CodedTable,
    rows: NDArray[np.int64],
    options: PublishOptions,
    *,
    progress: Progress,
    stopwatch: Stopwatch,
) -> Protection:
    progress(Step(Message("tables.stage.partitioning_table"), 0))
    with stopwatch.measure("search"):
        cut = mondrian.partition(
            part.columns,
            options.models,
            sensitive=part.sensitive,
            relaxed=options.method == "mondrian-relaxed",
            weights=options.weights([column.name for column in part.columns]),
            counts=part.weights,
            units=part.units,
            progress=progress,
        )
    hidden = np.ones(table.height, dtype=np.bool_)
    hidden[rows] = False
    with stopwatch.measure("recoding"):
        released = mondrian.released_columns(cut, part.columns)
        if part is not table:
            star = not options.drop_suppressed
            released = [_spread(each, rows, table.height, star=star) for each in released]
    with stopwatch.measure("measuring"):
        lattice = Lattice(table.columns, table.weights)
        sizes = judge_released(
            released, hidden, table, options.models, dropped=options.drop_suppressed
        )
        raw_sizes = _raw_sizes(table, lattice)
    gone = table.weight() - part.weight()
    leaves = np.array(lattice.loss.leaves)
    sums = tuple(int(total) for total in np.array(mondrian.leaf_sums(cut)) + gone * leaves)
    return Protection(
        columns=table.columns,
        scale=lattice.loss,
        leaf_sums=sums,
        score=loss_score(options, lattice, sums),
        records=table.records(),
        suppressed=table.records(hidden),
        kept_sizes=sizes,
        raw_sizes=raw_sizes,
        hidden=hidden,
        released=released,
        levels=None,
    )


def _spread(
    column: ReleasedColumn, rows: NDArray[np.int64], height: int, *, star: bool
) -> ReleasedColumn:
    """The cells of some rows in their places among all, the others `*` or empty."""
    cells = column.cells.cast(pl.String) if star else column.cells
    other = pl.Series([ROOT if star else None], dtype=cells.dtype)
    places = np.full(height, len(cells))
    places[rows] = column.place_of_row
    return ReleasedColumn.of(pl.concat([cells, other]), places)


def _raw_sizes(table: CodedTable, lattice: Lattice) -> NDArray[np.int64]:
    """Records of each class of the raw table, or units; a population has classes without any."""
    if table.units is not None:
        class_of = lattice.class_of_rows((0,) * len(table.columns)).astype(np.int64)
        return table.units.classes(class_of, int(class_of.max()) + 1).sizes
    sizes = lattice.class_table((0,) * len(lattice.columns)).sizes
    return sizes[sizes > 0]


def _released(
    columns: Sequence[CodedColumn], levels: Node | NDArray[np.int16], starred: NDArray[np.bool_]
) -> list[ReleasedColumn]:
    """Each column at the level of its node, or of each row."""
    released = []
    for number, column in enumerate(columns):
        level = levels[number] if isinstance(levels, tuple) else levels[:, number]
        if isinstance(level, int) and level == 0 and not starred.any():
            released.append(column.released_raw())
            continue
        released.append(column.released_at(level, starred))
    return released


def _check_empty(table: CodedTable, empty: NDArray[np.bool_], options: PublishOptions) -> None:
    gone = table.weight(empty)
    if gone > allowance(options.suppression, table.weight()) or gone == table.weight():
        records = table.records(empty)
        raise PrivacyError("CEL-P004", suppression=options.suppression, records=records)
