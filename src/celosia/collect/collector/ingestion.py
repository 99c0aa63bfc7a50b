"""Reports from files and folders into a collector, piece by piece, resumable at any moment.

A file is read in pieces of at most 1 MiB of reports. The id of a piece is the place where it
stands: the last two names of the path, or more of them where folders are partitions (`day=18`), and
its number in the file. So a file that is offered again is known again, a file that has grown is
read on from where it was, and a file that was changed is refused at the first piece that is not
what it was.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

from celosia.collect.collector.batches import Batch
from celosia.collect.collector.collector import Collector
from celosia.collect.collector.tables import TABLES, table_pieces
from celosia.collect.protocol import Protocol
from celosia.collect.registry import reason_of
from celosia.collect.reports import HEAD, Reports, read_head
from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues
from celosia.core.progress import Progress, Step, silent

PIECE = 2**20
"""Bytes of reports in one piece. It must never change: ids of pieces go by it."""
TOGETHER = 32 * 2**20
MOST_TOGETHER = 10_000
"""Bytes and pieces that are counted with one write."""

STREAM = ".clr"


@dataclass(frozen=True, slots=True)
class RefusedFile(PlainValues):
    """A file of which something was refused; the pieces before it are counted."""

    path: str
    code: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what} ({self.code})"


@dataclass(frozen=True, slots=True)
class IngestionSummary(PlainValues):
    """What came of some files."""

    files: int
    counted: int
    """Reports that are counted now."""
    already_counted: int
    """Reports that had been counted before."""
    refused: tuple[RefusedFile, ...] = ()

    def __str__(self) -> str:
        line = say("collect.summary.files", counted=self.counted, files=self.files)
        if self.already_counted:
            reports = self.already_counted
            line = say("collect.summary.counted_before", files=line, reports=reports)
        if self.refused:
            line = say("collect.summary.files_refused", files=line, refused=len(self.refused))
        return line


def absorb_files(
    collector: Collector,
    places: Iterable[str | Path],
    *,
    source: str = "",
    progress: Progress = silent,
) -> IngestionSummary:
    """Count the reports in files, and in all files below folders.

    Args:
        collector: where they are counted.
        places: batches one after the other (.clr), or Parquet and Arrow files with a column
            `report` (see `celosia.collect.collector.tables`); folders with such files.
        source: a name for where the files come from; other files of the same names may then come
            from another source.
        progress: called after each write, with bytes.

    Raises:
        InputError: CEL-R082 a place is not there, or not a file of reports.
        EngineError: CEL-R075 the folder of the collector cannot be written; run it again later.
    """
    files = list(report_files(places))
    total = sum(path.stat().st_size for path in files)
    counted = already_counted = done = 0
    refused: list[RefusedFile] = []
    for path in files:
        try:
            for group in _groups(_batches(path, collector, source)):
                for outcome in collector.absorb_all(group, in_order=True):
                    if isinstance(outcome, InputError):
                        raise outcome
                    counted += outcome.reports if outcome.counted else 0
                    already_counted += 0 if outcome.counted else outcome.reports
                done += sum(len(each.data) for each in group)
                stage = Message("collect.stage.counting_file", file=path.name)
                progress(Step(stage, min(done, total), total))
        except InputError as refusal:
            refused.append(RefusedFile(str(path), refusal.code, refusal.what))
    return IngestionSummary(len(files), counted, already_counted, tuple(refused))


def piece_name(path: PurePath) -> str:
    """What the ids of the pieces of a file begin with: a hash of the last two names of its path.

    Folders of partitions (`region=es/day=18`) count as one name: Spark and others give files of
    different partitions the same name.
    """
    first = len(path.parts) - 2
    while first > 0 and "=" in path.parts[first] and "=" in path.parts[first - 1]:
        first -= 1
    place = "/".join(path.parts[max(0, first) :])
    return hashlib.blake2b(os.fsencode(place), digest_size=32).hexdigest()


def report_files(places: Iterable[str | Path]) -> Iterator[Path]:
    """Files by name, so that every run reads them in the same order.

    In folders, names that begin with `_` or `.` are left out, as Spark does: what is below them is
    not finished yet (`_temporary`), or is not data.
    """
    for place in map(Path, places):
        if place.is_dir():
            inside = (each for each in place.rglob("*") if each.suffix in {STREAM, *TABLES})
            yield from sorted(
                each
                for each in inside
                if not any(name[0] in "_." for name in each.relative_to(place).parts)
                and each.is_file()
            )
        elif place.is_file() and place.suffix in {STREAM, *TABLES}:
            yield place
        else:
            raise InputError(
                "CEL-R082.not_reports",
                place=place,
                endings=", ".join([STREAM, *TABLES]),
                path=str(place),
            )


def _groups(batches: Iterator[Batch]) -> Iterator[list[Batch]]:
    """Pieces that are counted with one write; those before a fault in the file are kept."""
    group: list[Batch] = []
    weight = 0
    fault: InputError | None = None
    while fault is None:
        try:
            batch = next(batches, None)
        except InputError as error:
            fault, batch = error, None
        if batch is None:
            break
        group.append(batch)
        weight += len(batch.data)
        if weight >= TOGETHER or len(group) >= MOST_TOGETHER:
            yield group
            group, weight = [], 0
    if group:
        yield group
    if fault is not None:
        raise fault


def _batches(path: Path, collector: Collector, source: str) -> Iterator[Batch]:
    """The pieces of a file, each with the id of its place."""
    name = piece_name(path.resolve())
    try:
        with path.open("rb") as file:
            pieces = (
                _stream_pieces(file, collector.protocol)
                if path.suffix == STREAM
                else table_pieces(file, collector.protocol, most=PIECE, suffix=path.suffix)
            )
            for number, data in pieces:
                yield Batch(data=data, id=f"{name}:{number}", source=source, is_file=True)
    except OSError as error:
        reason = reason_of(error)
        raise InputError("CEL-R082.unreadable", path=str(path), reason=reason) from None


def _stream_pieces(file: BinaryIO, protocol: Protocol) -> Iterator[tuple[str, bytes]]:
    """Batches one after the other, in pieces; a batch that is cut off is refused as a whole."""
    left = os.fstat(file.fileno()).st_size
    number = 0
    while left:
        size, fingerprint, count = read_head(file.read(min(left, HEAD)))
        if fingerprint != protocol.fingerprint or size != -(-protocol.report_bits // 8):
            raise InputError("CEL-R004.batch_of_a_file", number=number + 1)
        left -= HEAD + size * count
        if left < 0:
            raise InputError("CEL-R002.cut_off", number=number + 1)
        rows = max(1, PIECE // size)
        for begun in range(0, count, rows):
            here = min(rows, count - begun)
            head = Reports.head(size, fingerprint, here)
            yield f"{number}.{begun // rows}", head + file.read(size * here)
        number += 1
