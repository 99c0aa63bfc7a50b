"""Partial counts of files of reports, and how they are combined.

A state is sums of whole numbers, or reports in rising order, so parts may be merged in any order
and in any grouping: the bytes of the whole are those of one server that has counted everything.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from heapq import heapreplace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from celosia.collect.collector.batches import Batch
from celosia.collect.collector.ingestion import PIECE, STREAM, RefusedFile, piece_name, report_files
from celosia.collect.collector.tables import TABLES, table_pieces
from celosia.collect.protocol import Protocol, Server
from celosia.collect.registry import reason_of
from celosia.collect.reports import HEAD
from celosia.core.errors import EngineError, InputError
from celosia.core.messages import Message, say
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent

Marks = dict[bytes, bytes]
"""Of pieces that are counted: the hash of the place, and of the reports there; 16 bytes each."""
SHOWN = 5
"""Files that an error names; its details name all."""


@dataclass(frozen=True, slots=True)
class PartialCount:
    """The sums of some files; nothing of a file that was refused matters, for all is refused."""

    state: bytes = field(repr=False)
    marks: Marks = field(repr=False)
    files: tuple[str, ...]
    already_counted: int
    """Reports that had been counted before, and are not among the sums."""
    refused: tuple[RefusedFile, ...] = ()

    def row(self) -> dict[str, Any]:
        """The part as plain values, to travel between machines."""
        about = {
            "files": self.files,
            "already_counted": self.already_counted,
            "refused": [each.as_dict() for each in self.refused],
        }
        marks = b"".join(name + mark for name, mark in self.marks.items())
        return {"state": self.state, "marks": marks, "about": json.dumps(about)}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> PartialCount:
        """The part that `row` has told."""
        about, marks = json.loads(row["about"]), row["marks"]
        return cls(
            row["state"],
            {marks[at : at + 16]: marks[at + 16 : at + 32] for at in range(0, len(marks), 32)},
            tuple(about["files"]),
            about["already_counted"],
            tuple(RefusedFile(**each) for each in about["refused"]),
        )


@dataclass(frozen=True, slots=True)
class GatheredCounts:
    """The reports of many files, added up."""

    server: Server
    files: int
    counted: int
    """Reports that are among the sums."""
    already_counted: int
    """Reports that were left out, for they had been counted before."""
    marks: Marks = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "counted": self.counted,
            "already_counted": self.already_counted,
        }

    def __str__(self) -> str:
        line = say("collect.summary.files", counted=self.counted, files=self.files)
        if not self.already_counted:
            return line
        reports = self.already_counted
        return say("collect.summary.counted_before", files=line, reports=reports)


class FileCounter:
    """Counts whole files, in one place.

    Args:
        protocol: of the reports.
        source: where the files come from, as for `absorb_files`.
        counted_marks: marks of pieces that a collector has counted; they are not counted again.
            None where there is no collector.
    """

    def __init__(
        self,
        protocol: Protocol,
        source: str = "",
        counted_marks: Mapping[bytes, bytes] | None = None,
    ) -> None:
        self._protocol, self._source, self._before = protocol, source, counted_marks
        self._server = protocol.server()
        self._marks: Marks = {}
        self._files: list[str] = []
        self._refused: list[RefusedFile] = []
        self._already_counted = 0

    def add(self, path: str, file: BinaryIO) -> None:
        """Count a file, or write down why not."""
        self._files.append(path)
        place = PurePosixPath(_plain(path))
        name = piece_name(place)
        pieces = table_pieces(file, self._protocol, most=PIECE, suffix=place.suffix)
        try:
            for number, data in pieces:
                self._count(Batch(data=data, id=f"{name}:{number}", source=self._source))
        except InputError as refusal:
            self._refused.append(_refused(path, refusal))
        except OSError:  # what Arrow raises where a page of a file is cut off
            self._refused.append(_refused(path, InputError("CEL-R082.reports_unreadable")))

    def add_file(self, path: str) -> None:
        """Count a file of this machine."""
        try:
            with open(path, "rb") as file:
                self.add(path, file)
        except OSError as error:
            refusal = InputError("CEL-R082.file_unreadable", reason=reason_of(error))
            self._refused.append(_refused(path, refusal))

    def _count(self, batch: Batch) -> None:
        if self._before is None:
            self._server.absorb(batch.data)
            return
        name, mark = batch.marks
        before = self._before.get(name)
        if before == mark:
            self._already_counted += (len(batch.data) - HEAD) // -(-self._protocol.report_bits // 8)
            return
        if before is not None:
            raise InputError("CEL-R078.changed")
        if name in self._marks:
            raise InputError("CEL-R078.alike")
        self._server.absorb(batch.data)
        self._marks[name] = mark

    def part(self) -> PartialCount:
        """All that was counted here."""
        return PartialCount(
            self._server.to_bytes(),
            self._marks,
            tuple(self._files),
            self._already_counted,
            tuple(self._refused),
        )


def merge_parts(protocol: Protocol, parts: Iterable[PartialCount]) -> PartialCount:
    """Several parts as one.

    Two files of which a collector could not tell which is which are refused, as it would do.
    """
    server = protocol.server()
    marks: Marks = {}
    files: list[str] = []
    refused: list[RefusedFile] = []
    already_counted = 0
    for part in parts:
        server.load(part.state)
        if marks.keys() & part.marks.keys():
            refused.append(_signature(part))
        marks |= part.marks
        files += part.files
        refused += part.refused
        already_counted += part.already_counted
    return PartialCount(server.to_bytes(), marks, tuple(files), already_counted, tuple(refused))


def combine_parts(protocol: Protocol, whole: PartialCount) -> GatheredCounts:
    """What the last part has come to; an error if anything was refused."""
    if not whole.files:
        raise InputError("CEL-R082.no_files", tables=", ".join(TABLES))
    if whole.refused:
        refused = sorted(whole.refused, key=lambda each: (each.path, each.what))
        shown = "; ".join(map(str, refused[:SHOWN])) + ("; ..." if len(refused) > SHOWN else "")
        raise InputError(
            "CEL-R082.nothing_counted",
            count=len(refused),
            files=len(whole.files),
            shown=shown,
            refused=[each.as_dict() for each in refused],
        )
    server = protocol.server().load(whole.state)
    return GatheredCounts(
        server, len(whole.files), server.users, whole.already_counted, whole.marks
    )


def check_each(places: Collection[str], files: Collection[str]) -> None:
    """Refuse places of which no file was counted, and files that were given twice."""
    found = [_plain(each) for each in files]
    if len(set(found)) < len(found):
        raise InputError("CEL-R082.twice")
    for place in places:
        start = _plain(place)
        inside = start.rstrip("/") + "/"
        if not set(start) & set("*?[{") and not any(
            each == start or each.startswith(inside) for each in found
        ):
            raise InputError("CEL-R082.nothing_there", tables=", ".join(TABLES), path=place)


def _plain(place: str) -> str:
    """A place without its scheme: Spark writes file:/a where others write file:///a.

    >>> _plain("file:///a/b.parquet"), _plain("file:/a/b.parquet"), _plain("/a/b.parquet")
    ('/a/b.parquet', '/a/b.parquet', '/a/b.parquet')
    """
    return re.sub(r"^/+", "/", re.sub(r"^[A-Za-z][A-Za-z0-9+.-]+:", "", place))


def _signature(part: PartialCount) -> RefusedFile:
    path = part.files[0]
    if len(part.files) > 1:
        path = str(Message("collect.files.one_of_them", files=len(part.files)))
    return _refused(path, InputError("CEL-R078.alike"))


def _refused(path: str, refusal: InputError) -> RefusedFile:
    return RefusedFile(path, refusal.code, refusal.what)


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
