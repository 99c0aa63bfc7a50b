"""Reports wait in a folder until there are enough of them; then they leave in a random order.

A batch and its mark are on disk before it is acknowledged. What leaves is first put on disk under a
new random id, in the transaction that takes it out of what waits, and is deleted when the collector
has acknowledged it. So a crash loses nothing, and what is sent twice is counted once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np

from celosia.collect.collector.batches import BatchLimits, utc_day
from celosia.collect.collector.journal import Journal
from celosia.collect.collector.store import BatchStore, joined
from celosia.collect.protocol import Protocol, Server
from celosia.collect.reports import HEAD, Packed, Reports
from celosia.core.methods import Parameter, checked
from celosia.core.progress import Progress
from celosia.core.randomness import Source, System

FORM = "celosia shuffler 1"
LEAST = Parameter(name="least", kind="whole", least=2, most=10**9)
"""A report alone is not shuffled."""
CHECKED = 10**6
"""Reports that one server checks; then a new one takes its place, so that memory stays bounded."""
PIECE = 8 * 2**20
"""Bytes of reports that are sent at once."""

Send = Callable[[bytes, str], None]
"""Gives a batch to the collector under an id, and returns when it is acknowledged."""


class Shuffler(BatchStore):
    """Takes in batches as a collector does, and forgets all but their reports.

    A batch may be a single report. Nothing of it is kept but the report: not its sender, its time,
    its place among others or its id (of which a mark stays, to know it again). `release` puts all
    reports that wait in a random order, if there are enough of them, and `forward` sends them on
    under new ids.
    """

    def __init__(
        self,
        journal: Journal,
        protocol: Protocol,
        limits: BatchLimits,
        today: Callable[[], int] = utc_day,
        *,
        least: int,
        rng: Source,
    ) -> None:
        super().__init__(journal, protocol, limits, today)
        self.least = least
        self._rng = rng
        self._waiting = 0

    @classmethod
    def open(
        cls,
        folder: str | Path,
        protocol: Protocol,
        *,
        least: int,
        limits: BatchLimits | None = None,
        rng: Source | None = None,
        today: Callable[[], int] = utc_day,
    ) -> Shuffler:
        """Open a folder, or begin one.

        Args:
            folder: of this shuffler alone.
            protocol: as the devices have it.
            least: the fewest reports that leave together.
            limits: what one batch and one source may weigh.
            rng: of the order; without it the operating system decides.
            today: the number of the day, by which marks expire.

        Raises:
            EngineError: CEL-R074 another process has it, CEL-R075 it cannot be read or written.
            InputError: CEL-R076 it is of another protocol, CEL-I060 too few reports.
        """
        least = checked("shuffle", LEAST, least)
        journal = Journal(folder, protocol, form=FORM)
        rng = System() if rng is None else rng
        return cls(journal, protocol, limits or BatchLimits(), today, least=least, rng=rng)

    @property
    def waiting(self) -> int:
        """How many reports wait to be shuffled."""
        with self._lock:
            self._counting()
            return self._waiting

    def release(self) -> int:
        """Shuffle all that waits, if it is enough, and make it ready to be sent; how many reports.

        Raises:
            EngineError: CEL-R075 it could not be written; then everything waits on.
        """
        with self._changing():
            if self._waiting < self.least:
                return 0
            kept = [Reports.from_bytes(each).packed for each in self._journal.kept()]
            packed = np.concatenate(kept)
            packed = packed[self._rng.permutation(packed.shape[0])]
            rows = max(1, (min(PIECE, self.limits.batch_bytes) - HEAD) // packed.shape[1])
            self._journal.send_out(
                (self._new_id(), self._bytes(packed[start : start + rows]))
                for start in range(0, packed.shape[0], rows)
            )
            released, self._waiting = packed.shape[0], 0
        self._tidy()
        return int(released)

    def forward(self, send: Send) -> int:
        """Send what is ready, until all has arrived; how many reports.

        Whatever `send` raises ends it; what has not arrived is sent again by the next call.
        """
        total = 0
        while True:
            with self._lock:
                found = self._journal.outgoing()
            if found is None:
                return total
            id, data = found
            send(data, id)
            with self._lock, self._journal.writing():
                self._journal.delete_outgoing(id)
            total += len(Reports.from_bytes(data))

    def close(self) -> None:
        """Let go of the folder; what waits stays there."""
        with self._lock:
            self._tidy()
            self._server = None
            self._journal.close()

    def _new_id(self) -> str:
        return f"{date.fromordinal(self._today()).isoformat()}:{secrets.token_hex(16)}"

    def _bytes(self, packed: Packed) -> bytes:
        return Reports(self.protocol.fingerprint, packed).to_bytes()

    def _put_away(self, server: Server, fresh: list[Packed]) -> bool:
        # The server has refused what no client can have made: one such report would have the
        # collector refuse all others that are sent with it.
        self._journal.keep(joined(self.protocol.fingerprint, fresh))
        self._waiting += sum(each.shape[0] for each in fresh)
        if server.users > CHECKED:
            self._server = None
        return False

    def _read_again(self, progress: Progress) -> None:
        self._server = self.protocol.server()
        self._waiting = sum(len(Reports.from_bytes(each)) for each in self._journal.kept())
