"""Local time: windows of time that begin where clocks of a zone say so, over clock changes too."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import whole

Seconds = NDArray[np.int64]

MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 604_800
MONDAY = 4 * DAY
"""1 January 1970 was a Thursday: the first Monday came four days later."""

WINDOWS: dict[str, int] = {
    "1min": MINUTE,
    "5min": 5 * MINUTE,
    "15min": 15 * MINUTE,
    "1h": HOUR,
    "3h": 3 * HOUR,
    "6h": 6 * HOUR,
    "day": DAY,
    "week": WEEK,
    "month": 0,
}
"""Windows of time by name, with their seconds; each lies in one of the next, but a week in a
month. Six hours are parts of the day: night, morning, afternoon, evening."""

NESTED = ("1min", "5min", "15min", "1h", "3h", "6h", "day", "month")
"""Windows of which each lies in one of the next, for a hierarchy."""


def check_zone(zone: Any) -> str:
    """The name of a time zone.

    Raises:
        InputError: CEL-J001.zone there is no such zone.
    """
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, TypeError, OSError):
        raise InputError("CEL-J001.zone") from None
    return str(zone)


def local(times: Seconds, zone: str) -> Seconds:
    """Seconds that a local clock shows, counted as if it were in Greenwich.

    >>> local(np.array([0]), "Europe/Madrid").tolist()  # an hour ahead, in 1970
    [3600]
    """
    shown = pl.from_epoch(pl.Series(times), time_unit="s").dt.replace_time_zone("UTC")
    clock = shown.dt.convert_time_zone(zone).dt.replace_time_zone(None)
    return clock.dt.epoch("s").to_numpy()


def universal(clock: Seconds, zone: str) -> Seconds:
    """The first moment at which a local clock shows this; after a gap, the moment after it."""
    naive = pl.from_epoch(pl.Series(clock), time_unit="s")
    found = naive.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    if found.null_count():
        later = naive.dt.offset_by("1h").dt.replace_time_zone(
            zone, ambiguous="earliest", non_existent="null"
        )
        found = found.zip_with(found.is_not_null(), later)
    return found.dt.epoch("s").to_numpy()


def window_seconds(window: str | int) -> int:
    """The length of a window, by its name or in seconds; 0 for a month."""
    if isinstance(window, str) and window in WINDOWS:
        return WINDOWS[window]
    found = whole(window)
    if found is None or found < 1:
        raise InputError("CEL-J010", windows=list(WINDOWS))
    return found


def floor_times(times: Seconds, window: str | int, zone: str) -> Seconds:
    """The moment at which the window of each time begins.

    >>> spring = np.array([1_774_746_000])  # 29 March 2026, 03:00 in Madrid, an hour after 01:59
    >>> day = floor_times(spring, "day", "Europe/Madrid")
    >>> int(spring[0] - day[0]) // 3600
    2
    """
    length = window_seconds(window)
    if length % MINUTE == 0 and times.size:
        # Windows and clock changes begin with a minute: where points are many, minutes are fewer.
        first = int(times.min()) // MINUTE
        span = int(times.max()) // MINUTE - first + 1
        if span < times.size:
            minutes = (first + np.arange(span)) * MINUTE
            return _floor(minutes, length, zone)[times // MINUTE - first]
    return _floor(times, length, zone)


def _floor(times: Seconds, length: int, zone: str) -> Seconds:
    clock = local(times, zone)
    if length and HOUR % length == 0:
        # Offsets are whole quarters of an hour: the clock's window has a moment of its own.
        return times - clock % length
    if length == 0:
        months = clock.astype("datetime64[s]").astype("datetime64[M]")
        begins = months.astype("datetime64[s]").astype(np.int64)
    elif length % WEEK == 0:
        begins = (clock - MONDAY) // length * length + MONDAY
    else:
        begins = clock // length * length
    distinct, place = np.unique(begins, return_inverse=True)
    return universal(distinct, zone)[place]


def end_times(starts: Seconds, window: str | int, zone: str) -> Seconds:
    """The moment at which the window that begins at each time ends."""
    length = window_seconds(window)
    if length and HOUR % length == 0:
        return starts + length
    clock = local(starts, zone)
    if length == 0:
        months = clock.astype("datetime64[s]").astype("datetime64[M]") + 1
        return universal(months.astype("datetime64[s]").astype(np.int64), zone)
    distinct, place = np.unique(clock + length, return_inverse=True)
    return universal(distinct, zone)[place]


def hours_of_day(times: Seconds, zone: str) -> Seconds:
    """The local hour, 0 to 23."""
    return local(times, zone) % DAY // HOUR


def weekdays(times: Seconds, zone: str) -> Seconds:
    """The local day of the week, 0 for Monday."""
    return (local(times, zone) // DAY + 3) % 7


def iso_texts(times: Seconds, zone: str) -> pl.Series:
    """Times as ISO texts with the offset of the zone."""
    shown = pl.from_epoch(pl.Series(times), time_unit="s").dt.replace_time_zone("UTC")
    return shown.dt.convert_time_zone(zone).dt.strftime("%Y-%m-%dT%H:%M:%S%:z")
