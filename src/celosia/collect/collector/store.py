"""What takes in batches, once each, and has them on disk before it acknowledges them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock

import numpy as np

from celosia.collect.collector.batches import Batch, BatchLimits, Receipt, utc_day
from celosia.collect.collector.journal import NO_DAY, Journal
from celosia.collect.protocol import Protocol, Server
from celosia.collect.reports import Packed, Reports
from celosia.core.errors import EngineError, InputError
from celosia.core.progress import Progress, silent
from celosia.core.resources import Closeable


class BatchStore(Closeable):
    """A folder of batches: a collector adds them up, a shuffler sends them on."""

    def __init__(
        self,
        journal: Journal,
        protocol: Protocol,
        limits: BatchLimits,
        today: Callable[[], int] = utc_day,
    ) -> None:
        self.protocol = protocol
        self.limits = limits
        self._today = today
        self._oldest = 0
        self._journal = journal
        self._lock = RLock()
        self._server: Server | None = None  # None: to be read from the folder again

    @abstractmethod
    def _read_again(self, progress: Progress) -> None:
        """Make the server from what is on disk."""

    @abstractmethod
    def _put_away(self, server: Server, fresh: list[Packed]) -> bool:
        """Keep what was counted; whether the folder should be tidied."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the folder."""

    def absorb(self, data: bytes, *, id: str, source: str = "") -> Receipt:
        """Count a batch; it is on disk when this returns.

        Args:
            data: as `Reports.to_bytes` writes it.
            id: drawn by the sender for this batch, and sent again with it.
            source: who sends, if there are several that are known.

        Raises:
            InputError: CEL-R001, CEL-R002 damaged, CEL-R004 of another protocol, CEL-R077 too
                large, CEL-R078 the id was used for other reports, CEL-R079 not an id, CEL-R080 the
                source has sent all that it may.
            EngineError: CEL-R075 it could not be written; it is not counted.
        """
        (outcome,) = self.absorb_all([Batch(data=data, id=id, source=source)])
        if isinstance(outcome, InputError):
            raise outcome
        return outcome

    def absorb_all(
        self, batches: Sequence[Batch], *, in_order: bool = False
    ) -> list[Receipt | InputError]:
        """Count several batches with one write; those that are refused do not touch the others.

        Args:
            batches: each with its own id.
            in_order: whether the first that is refused is also the last that is tried.

        Raises:
            EngineError: CEL-R075 they could not be written; none of them is counted.
        """
        with self._changing() as server:
            self._forget()
            fresh: list[Packed] = []
            outcomes: list[Receipt | InputError] = []
            for each in batches:
                outcomes.append(self._outcome(server, each, fresh))
                if in_order and isinstance(outcomes[-1], InputError):
                    break
            shortened = bool(fresh) and self._put_away(server, fresh)
        if shortened:
            self._tidy()
        return outcomes

    def _outcome(self, server: Server, batch: Batch, fresh: list[Packed]) -> Receipt | InputError:
        try:
            return self._counted(server, batch, fresh)
        except InputError as refusal:  # a server refuses before it changes anything
            return refusal

    def _counted(self, server: Server, batch: Batch, fresh: list[Packed]) -> Receipt:
        reports = self.limits.read(batch.data)
        self.limits.check_place(batch, self._oldest, self._today())
        name, mark = batch.marks
        day = NO_DAY if self.limits.remember_days is None or batch.is_file else batch.day
        before = self._journal.mark_of(name, day)
        if before == mark:
            return Receipt(reports=len(reports), counted=False)
        if before is not None:
            raise InputError("CEL-R078.other_reports")
        self.limits.check_source(batch.source, self._journal.sent_by(batch.source), len(reports))
        server.absorb(reports)
        self._journal.note([(name, mark)], day)
        if batch.source:
            self._journal.add_sent(batch.source, len(reports))
        fresh.append(reports.packed)
        return Receipt(reports=len(reports), counted=True)

    def _forget(self) -> None:
        """Drop the marks of days that are over, once a day."""
        days = self.limits.remember_days
        if days is not None and self._today() - days > self._oldest:
            self._oldest = self._journal.forget_before(self._today() - days)

    @contextmanager
    def _changing(self) -> Iterator[Server]:
        """A change of memory and disk together; if it fails, memory is what the disk has."""
        with self._lock:
            server = self._counting()
            try:
                with self._journal.writing():
                    yield server
            except BaseException:
                self._server = None
                raise

    def _counting(self) -> Server:
        if self._server is None:
            self._read_again(silent)
        assert self._server is not None
        return self._server

    def _tidy(self) -> None:
        with suppress(EngineError):  # the log is only longer; all of it is on disk already
            self._journal.tidy()


def joined(fingerprint: bytes, parts: list[Packed]) -> bytes:
    """Reports of several batches as one."""
    return Reports(fingerprint, np.concatenate(parts)).to_bytes()
