"""Checks of raw columns: coordinates that are none, swapped, in metres, or outside the region."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.traces.declaration import Declaration
from celosia.traces.points import Traces, sorted_traces

LARGEST = 1000.0
"""A coordinate beyond is no degree, but a number of metres."""

MILLISECONDS = 100_000_000_000
"""Seconds since 1970 of the year 5138: a number beyond is one of milliseconds."""


def place_points(  # noqa: PLR0917 - columns, in their order
    declaration: Declaration,
    person: Any,
    time: Any,
    latitude: Any,
    longitude: Any,
    place: Any = None,
) -> Traces:
    """Traces from columns, checked and put on the lattice; see `Traces.of`."""
    plane = declaration.plane
    people = pl.Series("person", person).cast(pl.String)
    _refuse("CEL-J003.no_person", people.fill_null("") == "")
    north = degrees(latitude, declaration.latitude)
    east = degrees(longitude, declaration.longitude)
    seconds = np.asarray(time, dtype=np.int64)
    if not people.len() == north.size == east.size == seconds.size:
        raise InputError("CEL-J003.lengths")
    if not seconds.size:
        raise InputError("CEL-J003.no_points")
    check_coordinates(declaration, north, east)
    inside = plane.region.holds(north, east)
    counts: dict[str, int] = {}
    outside = int((~inside).sum())
    if declaration.outside == "refuse":
        _refuse("CEL-J003.outside", ~inside, points=int(seconds.size))
    names, codes = _codes(people)
    x, y = plane.cells(north, east)
    label = None if place is None else _places(place)
    twice = _seen_before(codes, seconds) & (inside | (declaration.outside != "drop"))
    if declaration.damaged == "refuse":
        _refuse("CEL-J003.same_time", twice)
    if outside:
        counts["clamped" if declaration.outside == "clamp" else "dropped"] = outside
        if declaration.outside == "clamp":
            x, y = plane.clamp(x, y)
    kept = ~twice & (inside | (declaration.outside == "clamp"))
    if twice.any():
        counts["same_time"] = int(twice.sum())
    if not kept.all():
        codes, seconds, x, y = codes[kept], seconds[kept], x[kept], y[kept]
        label = None if label is None else (label[0][kept], label[1])
    return sorted_traces(declaration, names, codes, seconds, (x, y), place=label, counts=counts)


def _seen_before(codes: NDArray[np.int64], seconds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The points whose person has one at the same second in an earlier row."""
    order = np.lexsort((seconds, codes))  # stable: of equal ones the first row comes first
    found = np.zeros(codes.size, dtype=np.bool_)
    found[order[1:]] = (np.diff(codes[order]) == 0) & (np.diff(seconds[order]) == 0)
    return found


def _codes(people: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """The distinct names, sorted, and the number of each row's."""
    names = people.unique().sort()
    codes = people.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    return names, codes


def _places(place: Any) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    names, codes = _codes(pl.Series("place", place).cast(pl.String).fill_null(""))
    return codes.astype(np.int32), tuple(names)


def degrees(column: Any, name: str) -> NDArray[np.float64]:
    """A column of coordinates as numbers.

    Raises:
        InputError: CEL-J003.not_numbers some are none; a decimal comma is the usual reason.
    """
    found = pl.Series("column", column)
    if not found.dtype.is_numeric():
        texts = found.cast(pl.String)
        numbers = texts.cast(pl.Float64, strict=False)
        if numbers.null_count():
            commas = int(texts.str.contains(r"^\s*-?\d+,\d+\s*$").fill_null(False).sum())
            key = "CEL-J003.decimal_commas" if commas else "CEL-J003.not_numbers"
            _refuse(key, numbers.is_null(), column=name)
        found = numbers
    values = found.cast(pl.Float64).to_numpy()
    _refuse("CEL-J003.not_numbers", ~np.isfinite(values), column=name)
    return values


def check_coordinates(
    declaration: Declaration, latitude: NDArray[np.float64], longitude: NDArray[np.float64]
) -> None:
    """Refuse coordinates that cannot be degrees of the region.

    Raises:
        InputError: CEL-J003 in metres, swapped, or many at latitude 0 and longitude 0.
    """
    region = declaration.plane.region
    _refuse("CEL-J003.metres", (np.abs(latitude) > LARGEST) | (np.abs(longitude) > LARGEST))
    inside = region.holds(latitude, longitude)
    _refuse("CEL-J003.swapped", ~inside & region.holds(longitude, latitude))
    _refuse("CEL-J003.beyond", (np.abs(latitude) > 90) | (np.abs(longitude) > 180))
    if declaration.outside == "refuse":
        _refuse("CEL-J003.zero", (latitude == 0) & (longitude == 0) & ~inside)


def _refuse(key: str, wrong: Any, **fields: Any) -> None:
    """Refuse rows that are wrong, if there are any: how many they are, and the first of them."""
    rows = np.flatnonzero(np.asarray(wrong))
    if rows.size:
        raise InputError(key, count=int(rows.size), row=int(rows[0]) + 1, **fields)


def seconds(column: pl.Series, declaration: Declaration) -> NDArray[np.int64]:
    """A column of times as seconds since 1970 in Greenwich.

    Raises:
        InputError: CEL-J004 some are no times, lack a zone, or are of another unit than declared.
    """
    name = declaration.time
    _refuse("CEL-J004.not_times", column.is_null(), column=name)
    if column.dtype.is_numeric():
        return _epochs(column, declaration)
    if column.dtype == pl.Date:
        column = column.cast(pl.Datetime("us"))
    if isinstance(column.dtype, pl.Datetime):
        if column.dtype.time_zone is not None:
            return column.dt.epoch("s").to_numpy()
        return _in_zone(column, declaration)
    return _from_texts(column.cast(pl.String), declaration)


def _epochs(column: pl.Series, declaration: Declaration) -> NDArray[np.int64]:
    if declaration.epoch is None:
        raise InputError("CEL-J004.no_epoch", column=declaration.time)
    numbers: NDArray[np.float64] = column.cast(pl.Float64).to_numpy()
    _refuse("CEL-J004.not_times", ~np.isfinite(numbers), column=declaration.time)
    if declaration.epoch == "ms":
        return np.floor(numbers / 1000).astype(np.int64)
    _refuse("CEL-J004.milliseconds", np.abs(numbers) > MILLISECONDS, column=declaration.time)
    return np.floor(numbers).astype(np.int64)


_OFFSET = r"(Z|[+-]\d{2}:?\d{2})$"
_FORMS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")


def _from_texts(texts: pl.Series, declaration: Declaration) -> NDArray[np.int64]:
    """ISO times; all with an offset, or none of them."""
    clean = texts.str.strip_chars().str.replace("T", " ", literal=True)
    has_offset = clean.str.contains(_OFFSET)
    if has_offset.any():
        _refuse("CEL-J004.mixed", ~has_offset, column=declaration.time)
    if has_offset.all():
        clean = clean.str.replace("Z$", "+00:00")
        for form in _FORMS[:2]:
            found = clean.str.to_datetime(form + "%z", time_unit="us", strict=False)
            if not found.null_count():
                return found.dt.epoch("s").to_numpy()
        _refuse("CEL-J004.not_times", found.is_null(), column=declaration.time)
    for form in _FORMS:
        found = clean.str.to_datetime(form, time_unit="us", strict=False)
        if not found.null_count():
            return _in_zone(found, declaration)
    rows = np.flatnonzero(found.is_null())
    raise InputError(
        "CEL-J004.not_times", column=declaration.time, count=int(rows.size), row=int(rows[0]) + 1
    )


def _in_zone(naive: pl.Series, declaration: Declaration) -> NDArray[np.int64]:
    """Times without an offset, meant in the declared zone."""
    if not declaration.has_zone:
        raise InputError("CEL-J004.naive", column=declaration.time)
    found = naive.dt.replace_time_zone(declaration.zone, ambiguous="earliest", non_existent="null")
    _refuse("CEL-J004.gap", found.is_null(), column=declaration.time)
    return found.dt.epoch("s").to_numpy()
