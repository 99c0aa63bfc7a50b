"""Cut a sheet for models that only count records: nothing to ask, so kernels run on their own."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.tables.recoding.mondrian.rank_table import Nodes, RankTable

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
