"""Files of reports counted by several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from heapq import heapreplace
from pathlib import Path

from celosia.collect.collector.ingestion import STREAM, report_files
from celosia.collect.collector.tables import TABLES
from celosia.collect.distributed.parts import (
    FileCounter,
    GatheredCounts,
    PartialCount,
    check_each,
    combine_parts,
    merge_parts,
)
from celosia.collect.protocol import Protocol
from celosia.core.errors import EngineError, InputError
from celosia.core.messages import Message
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent

SHARES = 4
"""Shares of the files for each process, so that none waits long for the last."""


def gather_in_processes(
    protocol: Protocol,
    places: Iterable[str | Path],
    *,
    processes: int | None = None,
    source: str = "",
    counted_marks: Mapping[bytes, bytes] | None = None,
    progress: Progress = silent,
) -> GatheredCounts:
    """Count the Parquet and Arrow files of reports in several processes; all of them, or nothing.

    The sums are those of one server, bit for bit, whichever process has counted which file. A
    script that calls this must do so below `if __name__ == "__main__":`, as for every process that
    Python starts.

    Args:
        protocol: of the reports.
        places: files, and folders of them.
        processes: how many; None for one on each core.
        source: where the files come from; of a collector.
        counted_marks: what a collector has counted (`Collector.marks`); None where there is none.
        progress: called after each share of the files, with files.

    Raises:
        InputError: CEL-R082 a file is damaged or not of this protocol, or there is none; CEL-R078
            within it where a file was changed after a collector has counted it.
        EngineError: CEL-E074 a process has ended before its work.
    """
    number = whole(processes if processes is not None else os.cpu_count() or 1)
    if number is None or number < 1:
        raise InputError("CEL-E075")
    files = [str(path.resolve()) for path in report_files(places)]
    if any(each.endswith(STREAM) for each in files):
        raise InputError("CEL-R082.stream", stream=STREAM, tables=", ".join(TABLES))
    check_each([], files)
    whole_part = merge_parts(protocol, [])
    spawned = multiprocessing.get_context("spawn")  # forks of a process with threads may hang
    try:
        with ProcessPoolExecutor(number, mp_context=spawned) as workers:
            waiting: list[Future[PartialCount]] = [
                workers.submit(count_files, protocol, share, source, counted_marks)
                for share in _shares(files, SHARES * number)
            ]
            try:
                for done in as_completed(waiting):
                    whole_part = merge_parts(protocol, [whole_part, done.result()])
                    progress(
                        Step(
                            Message("collect.stage.counting_files"),
                            len(whole_part.files),
                            len(files),
                        )
                    )
            except BaseException:
                workers.shutdown(cancel_futures=True)
                raise
    except BrokenProcessPool:
        raise EngineError("CEL-E074") from None
    return combine_parts(protocol, whole_part)


def count_files(
    protocol: Protocol,
    files: Sequence[str],
    source: str,
    counted_marks: Mapping[bytes, bytes] | None,
) -> PartialCount:
    """The sums of some files of this machine."""
    counter = FileCounter(protocol, source, counted_marks)
    for path in files:
        counter.add_file(path)
    return counter.part()


def _shares(files: list[str], number: int) -> list[list[str]]:
    """The files in shares of about the same weight: the largest first, each to the lightest."""
    shares: list[list[str]] = [[] for _ in range(min(number, len(files)))]
    weights = [(0, at) for at in range(len(shares))]
    for size, path in sorted(((os.stat(path).st_size, path) for path in files), reverse=True):
        weight, lightest = weights[0]
        shares[lightest].append(path)
        heapreplace(weights, (weight + size, lightest))
    return shares
