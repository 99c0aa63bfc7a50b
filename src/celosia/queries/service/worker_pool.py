"""Work in threads, so much at once and so much waiting, and never longer than a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from celosia.queries.service.envelope import Reply, error_reply
from celosia.queries.service.errors import hidden_error, too_busy


class WorkerPool:
    """A few threads with a short queue.

    Work may wait for its place for so many seconds. Once begun it keeps to a time of its own, the
    deadline of its plan; work that is still not done after twice as long goes on in its thread, for
    a thread cannot be stopped, and keeps its place until it ends: so there are never more at once
    than was said.
    """

    def __init__(self, *, places: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(places, thread_name_prefix="celosia")
        self._most = places + waiting
        self._seconds = seconds
        self._inside = 0
        self._lock = Lock()

    async def run(self, work: Callable[[], Reply]) -> Reply:
        """What some work replies.

        Whatever is raised becomes a reply inside the thread: an exception that nobody fetches
        would be written to the log of the event loop, with its words.

        Raises:
            TooBusy: CEL-Q178 it did not find a place, or not in time; it has not begun.
        """
        with self._lock:
            if self._inside >= self._most:
                raise too_busy()
            self._inside += 1
        begun = self._pool.submit(_replied, work)
        begun.add_done_callback(self._leave)
        ended = asyncio.wrap_future(begun)
        await asyncio.wait({ended}, timeout=self._seconds)
        if begun.cancel():
            raise too_busy()
        await asyncio.wait({ended}, timeout=2 * self._seconds)
        return begun.result() if begun.done() else error_reply(hidden_error())

    def _leave(self, _done: Future[Reply]) -> None:
        with self._lock:
            self._inside -= 1

    def close(self) -> None:
        """Take no more work, and wait for what is under way."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _replied(work: Callable[[], Reply]) -> Reply:
    try:
        return work()
    except BaseException as error:  # also what a library in Rust panics with
        return error_reply(error)
