"""Cut a sheet by counts alone, or for models of any kind: parts of a level are judged together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.tables.coded_table import CodedSensitive
from celosia.tables.models import Classes, Histogram, Model, SensitiveColumn, judge_all
from celosia.tables.models.units import unit_classes
from celosia.tables.recoding.mondrian import _kernels
from celosia.tables.recoding.mondrian.rank_table import Nodes, RankTable
from celosia.tables.units import CodedUnits

STAGE = "tables.stage.partitioning"
SHARES = 16
"""Nodes are cut one level at a time until none has more than this share of the records. From then
on they are tasks of about that size: more of them than threads, for some take longer."""
SMALLEST_TASK = 20_000
"""Fewer records are not worth a task."""


def cut_by_counts(rank_table: RankTable, least: int, progress: Progress) -> None:
    """Cut until no part can be cut into parts of at least `least` records.

    Each thread has stretches of the sheet for itself, and what becomes of a stretch does not depend
    on the others: the result is the same however many threads there are.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            tasks = _tasks(rank_table, least, pool, progress)
            cuts = {pool.submit(rank_table.split_to_the_end, task, least): task for task in tasks}
            done = 0
            for cut in as_completed(cuts):
                cut.result()
                done += _records(cuts[cut])
                progress(Step(Message(STAGE), done, rank_table.records))
        except BaseException:  # cancelled: what has not begun need not begin
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _tasks(
    rank_table: RankTable, least: int, pool: ThreadPoolExecutor, progress: Progress
) -> list[Nodes]:
    """Nodes to be cut to the end, in groups of neighbours, the largest group first."""
    most = max(rank_table.records // SHARES, SMALLEST_TASK)
    large: Nodes = np.array([[0, rank_table.records]], dtype=np.int64)
    small: list[Nodes] = []
    while large.size:
        progress(Step(Message(STAGE), 0, rank_table.records))
        cuts = pool.map(lambda node: _cut_once(rank_table, node, least), large)
        parts = np.concatenate(list(cuts))
        is_large = parts[:, 1] - parts[:, 0] > most
        small.append(parts[~is_large])
        large = parts[is_large]
    nodes = np.concatenate(small)
    nodes = nodes[np.argsort(nodes[:, 0])]
    group_of = np.cumsum(nodes[:, 1] - nodes[:, 0]) // most
    starts = np.flatnonzero(np.diff(group_of, prepend=-1))
    groups = np.split(nodes, starts[1:])
    return sorted(groups, key=_records, reverse=True)


def _records(nodes: Nodes) -> int:
    return int((nodes[:, 1] - nodes[:, 0]).sum())


def _cut_once(rank_table: RankTable, node: Nodes, least: int) -> Nodes:
    """The parts of a node, none if it is to stay as it is."""
    parts, _, _ = rank_table.split_each(node.reshape(1, 2), np.zeros(1, dtype=np.int64), least)
    rank_table.firsts[parts[:, 0]] = True
    return parts


class Judge:
    """What the models say of stretches of a sheet."""

    def __init__(
        self,
        rank_table: RankTable,
        models: Sequence[Model],
        sensitive: Sequence[CodedSensitive],
        units: CodedUnits | None = None,
    ):
        self._sheet = rank_table
        self._models = models
        self._sensitive = sensitive
        self._units = units

    def classes(self, nodes: Nodes) -> Classes:
        """The stretches as the models see them."""
        if self._units is not None:
            members = self._histogram(nodes, self._units.as_column, self._units.of_row)
            values = self._units.values
            pairs = [self._histogram(nodes, e.as_column, e.pair_of_row) for e in values]
            return unit_classes(members, pairs, values)
        histograms = {}
        for each in self._sensitive:
            histograms[each.column.name] = self._histogram(nodes, each.column, each.value_of_row)
        return Classes(self._sheet.sizes(nodes), histograms)

    def _histogram(
        self, nodes: Nodes, column: SensitiveColumn, value_of_row: NDArray[np.int32]
    ) -> Histogram:
        entries = _kernels.histogram(
            nodes, self._sheet.rows, value_of_row, column.totals.size, self._sheet.counts
        )
        return Histogram(column, *entries)

    def __call__(self, nodes: Nodes) -> NDArray[np.bool_]:
        """Whether each of the stretches meets every model."""
        if nodes.shape[0] == 0:
            return np.empty(0, dtype=np.bool_)
        return judge_all(self.classes(nodes), self._models).satisfied


def cut_by_judgement(rank_table: RankTable, judge: Judge, least: int, progress: Progress) -> None:
    """Cut until no part can be cut into parts that meet every model.

    Every node proposes its best cut, and all parts are judged at once. A node whose proposal was
    turned down comes back with the next column.
    """
    nodes: Nodes = np.array([[0, rank_table.records]], dtype=np.int64)
    skips = np.zeros(1, dtype=np.int64)
    while nodes.shape[0]:
        open_records = int((nodes[:, 1] - nodes[:, 0]).sum())
        progress(Step(Message(STAGE), rank_table.records - open_records, rank_table.records))
        parts, begins, turns = rank_table.split_each(nodes, skips, least)
        satisfied = judge(parts)
        node_of_part = np.repeat(np.arange(nodes.shape[0]), np.diff(begins))
        failed = np.bincount(node_of_part[~satisfied], minlength=nodes.shape[0])
        kept = np.ones(satisfied.size, dtype=np.bool_)
        joined = []
        for node in np.flatnonzero((failed > 0) & (np.diff(begins) > 2)):
            own = slice(int(begins[node]), int(begins[node + 1]))
            if _join_failed(rank_table, parts[own], satisfied[own], kept[own]):
                joined.append(own.stop - 1)
        satisfied[joined] = judge(parts[joined])
        good = np.ones(nodes.shape[0], dtype=np.bool_)
        good[node_of_part[~satisfied & kept]] = False
        good &= np.diff(begins) > 0
        cut = parts[kept & good[node_of_part]]
        rank_table.firsts[cut[:, 0]] = True
        again = ~good & (turns < len(rank_table.axes))
        large = rank_table.sizes(cut) >= 2 * least
        nodes = np.concatenate([cut[large], nodes[again]])
        skips = np.concatenate([np.zeros(int(large.sum()), dtype=np.int64), turns[again]])


def _join_failed(
    rank_table: RankTable, parts: Nodes, satisfied: NDArray[np.bool_], kept: NDArray[np.bool_]
) -> bool:
    """Put the parts of one node that failed with its last one, which may hold as a whole.

    Only a node of a tree has more than two parts, and its last one is those children that are not
    told apart. Where nothing is left to stand on its own, nothing is done.
    """
    behind = ~satisfied
    if behind[:-1].any():
        behind[-1] = True
    else:  # the last one itself failed, and the child before it, the smallest, may mend that
        behind[-2] = True
    if behind.all():
        return False
    parts[-1, 0] = rank_table.bring_behind(parts, behind)
    kept[:] = ~behind
    kept[-1] = True
    return True
