"""Work on Spark that ends when its time is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAUSE = 0.2
"""Seconds between two attempts: what is still being planned has no work to stop yet."""


@contextmanager
def time_limit(
    session: SparkSession, seconds: float, *, through_connect: bool
) -> Iterator[Callable[[], bool]]:
    """Stop what this thread has Spark do inside the block, once the time is up.

    Args:
        session: whose work it is.
        seconds: after which it is stopped.
        through_connect: whether the session is one of Spark Connect, which knows work by tags;
            elsewhere it is known by the group of its jobs. Both belong to a thread, so threads may
            share a session.

    Spark's tasks notice between batches of rows that they are stopped: the caller has its error at
    once, but a task in a join of everything with everything may keep its core for a while.

    Yields:
        Tells whether the time was up.
    """
    word = f"celosia-{uuid4().hex}"
    done, late = Event(), Event()

    def stop() -> None:
        with suppress(Exception):
            if through_connect:
                session.interruptTag(word)
            else:
                session.sparkContext.cancelJobGroup(word)

    def watch() -> None:
        if done.wait(seconds):
            return
        late.set()
        stop()
        while not done.wait(PAUSE):
            stop()

    if through_connect:
        session.addTag(word)
    else:
        session.sparkContext.setJobGroup(word, "celosia", interruptOnCancel=True)
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield late.is_set
    finally:
        done.set()
        watcher.join()
        with suppress(Exception):
            if through_connect:
                session.removeTag(word)
            else:
                session.sparkContext.setLocalProperty("spark.jobGroup.id", "")
