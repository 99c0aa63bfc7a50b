"""One thread that counts for all requests: what waits is written to disk together."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Lock, Thread

from celosia.collect.collector.batches import Batch, Receipt
from celosia.collect.collector.metrics import Metrics
from celosia.collect.collector.store import BatchStore
from celosia.core.errors import CelosiaError, InputError

TOGETHER = 1_000
"""Batches of one write at most."""


class TooBusy(CelosiaError):  # noqa: N818 - reads as the fact it states
    """Too many batches wait; this one is not counted."""

    exit_code = 1

    def __init__(self) -> None:
        super().__init__("CEL-R086")


_Waiting = tuple[Batch, "Future[Receipt]"]


class Writer:
    """Batches from many threads, counted by one.

    A write to disk takes as long for one batch as for a thousand small ones, so while one is under
    way the next ones gather. Each is acknowledged when it is on disk, not before.
    """

    def __init__(self, store: BatchStore, *, waiting: int, waiting_bytes: int) -> None:
        self._store = store
        self._queue: Queue[_Waiting | None] = Queue(waiting)
        self._most = waiting_bytes
        self.metrics = Metrics()
        self._bytes = 0
        self._lock = Lock()
        self._thread = Thread(target=self._run, name="celosia-writer", daemon=True)
        self._thread.start()

    def submit(self, batch: Batch) -> Future[Receipt]:
        """A promise that a batch is counted.

        Raises:
            TooBusy: CEL-R086 too many wait.
        """
        made: Future[Receipt] = Future()
        size = len(batch.data)
        with self._lock:
            try:
                if self._bytes + size > self._most:
                    raise Full
                self._queue.put_nowait((batch, made))
            except Full:
                self.metrics.batches_sent_away += 1
                raise TooBusy() from None
            self._bytes += size
        made.add_done_callback(lambda _: self._leave(size))
        return made

    def close(self) -> None:
        """Count what waits, and end."""
        self._queue.put(None)
        self._thread.join()

    @property
    def waiting(self) -> dict[str, int]:
        """What waits now."""
        return {"batches_waiting": self._queue.qsize(), "bytes_waiting": self._bytes}

    def _leave(self, size: int) -> None:
        with self._lock:
            self._bytes -= size

    def _run(self) -> None:
        ended = False
        while not ended:
            group, ended = self._gathered()
            if not group:
                continue
            try:
                outcomes = self._store.absorb_all([batch for batch, _ in group])
            except BaseException as error:  # none of them is counted, and each is told
                self.metrics.write_failures += 1
                for _, made in group:
                    made.set_exception(error)
                continue
            self.metrics.writes += 1
            for (_, made), outcome in zip(group, outcomes, strict=True):
                if isinstance(outcome, InputError):
                    self.metrics.batches_refused += 1
                    made.set_exception(outcome)
                    continue
                self.metrics.batches_counted += outcome.counted
                self.metrics.batches_repeated += not outcome.counted
                self.metrics.reports_counted += outcome.reports if outcome.counted else 0
                made.set_result(outcome)

    def _gathered(self) -> tuple[list[_Waiting], bool]:
        """What waits now, and whether it is the last."""
        found = [self._queue.get()]
        with suppress(Empty):
            while len(found) < TOGETHER and found[-1] is not None:
                found.append(self._queue.get_nowait())
        # From here on nobody can take a batch back; who has done so before is not counted.
        waiting = [each for each in found if each is not None]
        group = [each for each in waiting if each[1].set_running_or_notify_cancel()]
        return group, len(waiting) < len(found)
