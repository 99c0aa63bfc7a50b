"""A server that lasts: batches are counted once, whatever happens to the process in between."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from celosia.collect.collector.batches import BatchLimits, Receipt, utc_day
from celosia.collect.collector.journal import Journal
from celosia.collect.collector.store import BatchStore, joined
from celosia.collect.estimates import Estimates, Summary
from celosia.collect.protocol import Protocol, Server
from celosia.collect.reports import Packed, Reports
from celosia.core.errors import EngineError, InputError
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step, silent

REPLAYED = 4 * 2**20
"""Bytes of batches that are counted together when a folder is opened."""


class Collector(BatchStore):
    """A server with a folder; memory and disk do not grow with the reports.

    What is acknowledged is on disk. Batches are kept as they are until they weigh more than the
    state does; then a snapshot of the state takes their place: so no more is written than twice
    what is sent, and what must be counted again after a crash is bounded. Only 32 bytes for each
    batch stay, to know it again: for good, or for the days that the limits declare.

    A state is sums of 64-bit whole numbers, to which a report adds or takes away 1 in some cells:
    no number of reports that anybody could send makes them overflow.
    """

    _kept = 0
    _size = 0

    @classmethod
    def open(
        cls,
        folder: str | Path,
        protocol: Protocol,
        *,
        limits: BatchLimits | None = None,
        make: bool = True,
        progress: Progress = silent,
        today: Callable[[], int] = utc_day,
    ) -> Collector:
        """Open a folder, or begin one; what a crash has left is counted first.

        Args:
            folder: of this collector alone.
            protocol: as the devices have it.
            limits: what one batch and one source may weigh.
            make: whether a folder that is not there is made.
            progress: called while batches are counted again.
            today: the number of the day, by which marks expire.

        Raises:
            EngineError: CEL-R074 another process has it, CEL-R075 it cannot be read or written.
            InputError: CEL-R075 there is none, CEL-R076 it is of another protocol.
        """
        journal = Journal(folder, protocol, make=make)
        made = cls(journal, protocol, limits or BatchLimits(), today)
        try:
            made._read_again(progress)
        except BaseException:
            made.close()
            raise
        return made

    @property
    def users(self) -> int:
        """How many reports are counted."""
        with self._lock:
            return self._counting().users

    def merge(self, other: Collector) -> Receipt:
        """Take in a shard: its sums, and the marks of its batches.

        Raises:
            InputError: CEL-R004 of another protocol, CEL-R081 both have counted one batch, or the
                shard was taken in before; nothing is changed.
        """
        with self._lock, other._lock:
            theirs = other._counting()
            with self._changing() as server:
                for day in other._journal.days():
                    if not self._journal.note(other._journal.marks(day), day):
                        raise _overlapping()
                for source, reports in other._journal.sources().items():
                    self._journal.add_sent(source, reports)
                server.merge(theirs)
                self._keep_snapshot(server)
            self._tidy()
            return Receipt(reports=theirs.users, counted=True)

    def merge_state(self, data: bytes) -> Receipt:
        """Take in a state that a server has written (`Server.to_bytes`); the same one only once.

        Raises:
            InputError: CEL-R004 of other parameters, CEL-R006 damaged.
        """
        name = hashlib.blake2b(data, digest_size=16, person=b"celosia-state").digest()
        with self._lock:
            arriving = self.protocol.server().load(data)
            if self._journal.mark_of(name) is not None:
                return Receipt(reports=arriving.users, counted=False)
            with self._changing() as server:
                self._journal.note([(name, name)])
                server.merge(arriving)
                self._keep_snapshot(server)
            self._tidy()
            return Receipt(reports=arriving.users, counted=True)

    def marks(self) -> dict[bytes, bytes]:
        """All batches that are counted: the hash of the id, and the hash of the reports."""
        with self._lock:
            known = self._journal
            return {name: mark for day in known.days() for name, mark in known.marks(day)}

    def take_in(self, server: Server, marks: Mapping[bytes, bytes], *, source: str = "") -> Receipt:
        """Take in what was counted elsewhere of batches that are new here.

        Args:
            server: of the sums.
            marks: of the batches, as `Batch.marks`.
            source: who has sent them.

        Raises:
            InputError: CEL-R004 of another protocol, CEL-R080 the source has sent all that it may,
                CEL-R081 one of the batches is counted already; nothing is changed.
        """
        with self._changing() as mine:
            self.limits.check_source(source, self._journal.sent_by(source), server.users)
            if not self._journal.note(marks.items()):
                raise _overlapping()
            if source:
                self._journal.add_sent(source, server.users)
            mine.merge(server)
            self._keep_snapshot(mine)
        self._tidy()
        return Receipt(reports=server.users, counted=True)

    def estimate(self, candidates: Sequence[Hashable], *, post: str = "raw") -> Estimates:
        """As `Server.estimate`, of all that is counted."""
        with self._lock:
            return self._counting().estimate(candidates, post=post)

    def find(
        self,
        candidates: Sequence[Hashable] | None = None,
        *,
        significance: float = 0.05,
        progress: Progress = silent,
    ) -> Estimates:
        """As `Server.find`, of all that is counted; batches are counted on meanwhile."""
        server = self.protocol.server().load(self.state())
        return server.find(candidates, significance=significance, progress=progress)

    def summary(self) -> Summary | None:
        """As `Server.summary`, of all that is counted."""
        with self._lock:
            return self._counting().summary()

    def state(self) -> bytes:
        """The state as bytes, as `Server.to_bytes`."""
        with self._lock:
            return self._counting().to_bytes()

    def as_dict(self) -> dict[str, Any]:
        """How much is counted, as plain values for JSON."""
        with self._lock:
            return {
                "method": self.protocol.method_name,
                "fingerprint": self.protocol.fingerprint.hex(),
                "reports": self._counting().users,
                "batches": self._journal.batches(),
                "sources": self._journal.sources(),
            }

    def __str__(self) -> str:
        return say(
            "collect.summary.collector", users=self.users, protocol=self.protocol.method_name
        )

    def close(self) -> None:
        """Put the state away, so that no report is kept as it was, and let go of the folder."""
        with self._lock:
            if self._server is not None and self._kept:
                with suppress(EngineError), self._journal.writing():
                    self._keep_snapshot(self._server)
            self._tidy()
            self._server = None
            self._journal.close()

    def _put_away(self, server: Server, fresh: list[Packed]) -> bool:
        """Keep what was counted, as it is or within a snapshot; whether it was the latter."""
        weight = self._kept + sum(each.nbytes for each in fresh)
        if weight > self._size:
            self._keep_snapshot(server)
            return True
        self._journal.keep(joined(self.protocol.fingerprint, fresh))
        self._kept = weight
        return False

    def _keep_snapshot(self, server: Server) -> None:
        state = server.to_bytes()
        self._journal.keep_snapshot(state)
        self._kept, self._size = 0, len(state)

    def _read_again(self, progress: Progress) -> None:
        """The last snapshot and all batches since: the same sums as before the crash."""
        server = self.protocol.server()
        snapshot = self._journal.snapshot()
        if snapshot is not None:
            server.load(snapshot)
        size = len(server.to_bytes() if snapshot is None else snapshot)
        waiting: list[Packed] = []
        weight = kept = 0
        for batch in self._journal.kept():
            waiting.append(Reports.from_bytes(batch).packed)
            weight += waiting[-1].nbytes
            kept += waiting[-1].nbytes
            if weight > REPLAYED:
                server.absorb(joined(self.protocol.fingerprint, waiting))
                waiting, weight = [], 0
                progress(Step(Message("collect.stage.counting_again"), server.users))
        if waiting:
            server.absorb(joined(self.protocol.fingerprint, waiting))
        self._server, self._kept, self._size = server, kept, size


def _overlapping() -> InputError:
    return InputError("CEL-R081")
