"""Times of records: read in one form, floored in a zone, cut into sessions and periods."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.logs.declaration import LogDeclaration, check_zone

Period = Literal["whole", "month", "week", "day"]

IDLE_SECONDS = 30 * 60
"""A pause after which a new session begins."""

_EVERY = {"hour": "1h", "day": "1d", "week": "1w", "month": "1mo"}
_EPOCH_UNITS: dict[str, Literal["s", "ms"]] = {"s": "s", "ms": "ms"}
_LAST_SECOND = 253_402_300_800
"""The first second of the year 10000: a larger number counts milliseconds."""


def parse_times(column: pl.Series, declaration: LogDeclaration) -> pl.Series:
    """The moments of a column, in UTC; missing where a text is no time.

    Raises:
        InputError: CEL-U020 times say no zone and none is declared; CEL-U021 numbers, and
            `epoch` does not say what they count, or they count milliseconds.
    """
    zone = declaration.zone
    if column.dtype == pl.Date:
        column = column.cast(pl.Datetime("us"))
    if isinstance(column.dtype, pl.Datetime):
        if column.dtype.time_zone is not None:
            return column.dt.convert_time_zone("UTC")
        return _with_zone(column, zone)
    if column.dtype.is_numeric():
        if declaration.epoch is None:
            raise InputError("CEL-U021.no_epoch")
        unit = _EPOCH_UNITS[declaration.epoch]
        largest = column.drop_nulls().abs().max()
        seconds = float(largest) / (1000 if unit == "ms" else 1) if largest is not None else 0  # type: ignore[arg-type]
        if seconds >= _LAST_SECOND:
            raise InputError("CEL-U021.milliseconds")
        return pl.from_epoch(column.cast(pl.Int64), time_unit=unit).dt.replace_time_zone("UTC")
    texts = column.cast(pl.String).str.strip_chars()
    has_zone = texts.str.contains(r"(?:Z|[+-]\d{2}:?\d{2})$")
    plain = texts.str.replace(r"Z$", "+00:00").str.replace("T", " ").str.replace(r" ([+-])", "$1")
    aware = _first_that_fits(
        plain,
        ("%Y-%m-%d %H:%M:%S%.f%z", "%Y-%m-%d %H:%M%z", "%d/%b/%Y:%H:%M:%S%z"),
        utc=True,
    )
    if bool(has_zone.fill_null(value=True).all()):
        return aware
    naive = _first_that_fits(plain, ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"), utc=False)
    days = plain.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
    moments = naive.zip_with(naive.is_not_null(), days)
    if bool((aware.is_null() & moments.is_not_null()).any()):
        moments = _with_zone(moments, zone)
        return aware.zip_with(aware.is_not_null(), moments)
    return aware


def _first_that_fits(texts: pl.Series, forms: tuple[str, ...], *, utc: bool) -> pl.Series:
    zone = "UTC" if utc else None
    found = pl.Series([None] * len(texts), dtype=pl.Datetime("us", zone))
    for form in forms:
        parsed = texts.str.to_datetime(form, strict=False, time_unit="us", time_zone=zone)
        found = found.zip_with(found.is_not_null(), parsed)
    return found


def _with_zone(column: pl.Series, zone: str | None) -> pl.Series:
    if zone is None:
        raise InputError("CEL-U020")
    check_zone(zone)
    # An hour that a clock change leaves out or repeats is taken as the earlier one.
    local = column.cast(pl.Datetime("us")).dt.replace_time_zone(
        zone, ambiguous="earliest", non_existent="null"
    )
    return local.dt.convert_time_zone("UTC")


def floor_times(moments: pl.Series, unit: str, zone: str | None) -> pl.Series:
    """The start of the hour or the day of each moment, in the declared zone, as text."""
    local = moments.dt.convert_time_zone(zone or "UTC")
    if unit == "hour":
        return local.dt.truncate("1h").dt.to_string("%Y-%m-%dT%H:00%:z")
    return local.dt.to_string("%Y-%m-%d")


def periods(moments: pl.Series, period: str, zone: str | None) -> NDArray[np.int64]:
    """The number of the period of each moment; all 0 for the whole log."""
    if period == "whole":
        return np.zeros(len(moments), dtype=np.int64)
    local = moments.dt.convert_time_zone(zone or "UTC").dt.truncate(_EVERY[period])
    return local.to_physical().fill_null(-1).to_numpy().astype(np.int64)


def sessions(
    people: NDArray[np.integer], moments: pl.Series, *, idle: int = IDLE_SECONDS
) -> NDArray[np.int64]:
    """The session of each record: a run of a person's records without a long pause."""
    seconds = moments.dt.epoch("s").fill_null(0).to_numpy()
    order = np.lexsort((seconds, people))
    who, when = np.asarray(people)[order], seconds[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (who[1:] != who[:-1]) | (when[1:] - when[:-1] > idle)
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.cumsum(starts) - 1
    return found
