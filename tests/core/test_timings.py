"""Stages are timed one inside another, streams included."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from celosia.core.progress import Stopwatch, Timings


def test_a_stream_is_timed_apart_from_what_is_done_with_it() -> None:
    ticks = count()
    watch = Stopwatch(lambda: float(next(ticks)))

    def read() -> Iterator[int]:
        for number in range(2):
            next(ticks)  # reading one item takes a second more
            yield number

    with watch.measure("writing"):
        assert list(watch.measure_each("reading", read())) == [0, 1]
    # Each look at the clock is a second; the last one finds the end of the stream.
    assert watch.timings().seconds == {"reading": 5.0, "writing": 4.0}
    assert Timings.from_dict(watch.timings().as_dict()) == watch.timings()


def test_a_stage_that_fails_is_closed() -> None:
    watch = Stopwatch(iter([0.0, 1.0, 5.0, 7.0]).__next__)
    with pytest.raises(ValueError, match="wrong"), watch.measure("search"):
        raise ValueError("wrong")
    with watch.measure("recoding"):
        pass
    assert watch.timings().seconds == {"search": 1.0, "recoding": 2.0}
