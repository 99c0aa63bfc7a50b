"""Batches as they are offered to a collector: reports, an id, a source, and what they may weigh."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from zlib import crc32

from celosia.collect.reports import Reports
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import PlainValues
from celosia.core.numbers import whole

LONGEST_ID = 200
DAY = len("2026-11-18:")


def utc_day() -> int:
    """Today's number, by universal time."""
    return datetime.now(UTC).date().toordinal()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Reports as bytes, and the id that their sender gave them.

    The id is what tells a batch that is sent again from a new one that looks alike. The reports
    themselves cannot: two devices with one common value often send the very same bytes, and both
    must be counted.

    Raises:
        InputError: CEL-R079 the id is not 1 to 200 printable ASCII letters, or the source is not
            at most 100 printable letters.
    """

    data: bytes = field(repr=False)
    id: str
    source: str = ""
    """Who sends: the name of a relay or of a folder, never of a person. Ids are its own."""
    is_file: bool = False
    """Whether it is a piece of a file: its id is its place, and is kept for good."""

    def __post_init__(self) -> None:
        named = isinstance(self.id, str) and self.id.isascii() and self.id.isprintable()
        if not named or not 0 < len(self.id) <= LONGEST_ID:
            raise InputError("CEL-R079.id", longest=LONGEST_ID)
        if not isinstance(self.source, str) or len(self.source) > 100:
            raise InputError("CEL-R079.source")
        if self.source and not self.source.isprintable():
            raise InputError("CEL-R079.not_printable")

    @property
    def day(self) -> int:
        """The number of the day that the id begins with, as `2026-11-18:`; 0 where there is none.

        >>> Batch(data=b"", id="0001-01-31:7f3a").day, Batch(data=b"", id="7f3a").day
        (31, 0)
        """
        try:
            told = self.id[: DAY - 1] if self.id[DAY - 1 : DAY] == ":" else ""
            return date.fromisoformat(told).toordinal()
        except ValueError:
            return 0

    def partition(self, partitions: int) -> int:
        """Which one of so many partitions counts this batch, from 1: by the CRC-32 of its id.

        >>> Batch(data=b"", id="7f3a").partition(4)
        1
        """
        return 1 + crc32(self.id.encode()) % partitions

    @property
    def marks(self) -> tuple[bytes, bytes]:
        """The hash of the id, and the hash of the reports under the id as key; 16 bytes each.

        The key is not kept, so that nobody can try out which report made the second.
        """
        # A length first: no two pairs of source and id run into one text.
        said = f"{len(self.source)}:{self.source}{self.id}".encode()
        key = hashlib.blake2b(said, digest_size=32, person=b"celosia-key").digest()
        name = hashlib.blake2b(said, digest_size=16, person=b"celosia-id").digest()
        return name, hashlib.blake2b(self.data, digest_size=16, key=key).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(PlainValues):
    """A batch is safely on disk, and counted once."""

    reports: int
    counted: bool
    """False if it had been counted before."""

    def __str__(self) -> str:
        if self.counted:
            return say("collect.summary.receipt", reports=self.reports)
        return say("collect.summary.receipt_again", reports=self.reports)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """What one batch and one source may weigh.

    Raises:
        InputError: CEL-R077 a limit is not a whole number above 0.
    """

    batch_bytes: int = 16 * 2**20
    batch_reports: int = 4_000_000
    source_reports: int | None = None
    """All reports that one named source may ever send; one bound on what it can poison."""
    remember_days: int | None = None
    """How many days a batch may be sent again. The id then begins with the day on which the batch
    was made (`2026-11-18:`), older batches are refused, and their marks are dropped. Without, marks
    are kept for good."""
    partition: int = 1
    """Which one of the partitions this is."""
    partitions: int = 1
    """How many collectors share the batches of one collection, each with its own part."""

    def __post_init__(self) -> None:
        more = (self.source_reports or 1, self.remember_days or 1, self.partition, self.partitions)
        for value in (self.batch_bytes, self.batch_reports, *more):
            number = whole(value)
            if number is None or number < 1:
                raise InputError("CEL-R077.limit")
        if self.partition > self.partitions:
            raise InputError("CEL-R077.partition", partitions=self.partitions)

    def check_place(self, batch: Batch, oldest: int, today: int) -> None:
        """Refuse a batch of another partition, or of a day whose marks are gone.

        Raises:
            InputError: CEL-R093 too old, or of no day, CEL-R094 of another partition.
        """
        if batch.partition(self.partitions) != self.partition:
            raise InputError("CEL-R094", partition=batch.partition(self.partitions))
        if self.remember_days is None or batch.is_file:
            return
        if not batch.day:
            raise InputError("CEL-R093.no_day")
        if not oldest <= batch.day <= today + 1:
            raise InputError("CEL-R093.other_day", days=self.remember_days)

    def check_size(self, size: int) -> None:
        """Refuse bytes before anything reads them.

        Raises:
            InputError: CEL-R077 too many.
        """
        if size > self.batch_bytes:
            raise InputError("CEL-R077.too_many_bytes", most=self.batch_bytes)

    def read(self, data: bytes) -> Reports:
        """The reports of a batch of a fair size.

        Raises:
            InputError: CEL-R002 it is no batch, or empty, CEL-R077 too large.
        """
        self.check_size(len(data))
        reports = Reports.from_bytes(data)
        if len(reports) > self.batch_reports:
            raise InputError("CEL-R077.too_many_reports", most=self.batch_reports)
        if not len(reports):
            raise InputError("CEL-R002.empty")
        return reports

    def check_source(self, source: str, before: int, reports: int) -> None:
        """Refuse what a source sends beyond its share.

        Raises:
            InputError: CEL-R080 it has sent all that it may.
        """
        if source and self.source_reports is not None and before + reports > self.source_reports:
            raise InputError("CEL-R080", source_reports=self.source_reports)
