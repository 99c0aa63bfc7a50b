"""Read points, check-ins and trajectories: tables, GPX and GeoJSON, as a declaration says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.frames.formats import check_readable
from celosia.traces.checks import seconds
from celosia.traces.declaration import Declaration
from celosia.traces.points import Traces

ENDINGS = {".gpx": "gpx", ".geojson": "geojson"}
"""Formats that are no tables."""


def read(path: str | Path, declaration: Declaration | str | Path) -> Traces:
    """The points of a file, checked and put on the lattice of the declared region.

    Args:
        path: a table (CSV, Parquet, Arrow, JSON lines, Excel), a GPX file, or a GeoJSON file of
            points and lines with a property for the person and one for the time.
        declaration: the declaration, or its TOML file.

    Raises:
        InputError: CEL-J001 the declaration; CEL-J002 its region; CEL-J003 coordinates; CEL-J004
            times; CEL-J005 a damaged file; CEL-F the file as a table.
    """
    known = declaration if isinstance(declaration, Declaration) else Declaration.load(declaration)
    return traces_from(read_frame(path, known), known)


def traces_from(data: Any, declaration: Declaration) -> Traces:
    """Traces of a table that is in memory; anything that `frames.as_frame` takes.

    Raises:
        InputError: as `read` says; CEL-I064 a declared column is not there.
    """
    if isinstance(data, Traces):
        return data
    frame = frames.as_frame(data)
    for column in wanted_columns(declaration):
        if column not in frame.columns:
            raise InputError("CEL-J001.no_column", column=column, columns=frame.columns)
    return Traces.of(
        declaration,
        frame.get_column(declaration.person),
        seconds(frame.get_column(declaration.time), declaration),
        frame.get_column(declaration.latitude),
        frame.get_column(declaration.longitude),
        place=None if declaration.place is None else frame.get_column(declaration.place),
    )


def wanted_columns(declaration: Declaration) -> list[str]:
    """The columns that are read; what else a file holds is left out."""
    found = [declaration.person, declaration.time, declaration.latitude, declaration.longitude]
    return found if declaration.place is None else [*found, declaration.place]


def read_frame(path: str | Path, declaration: Declaration) -> pl.DataFrame:
    """The declared columns of a file as a table."""
    file = Path(path)
    kind = ENDINGS.get(file.suffix.lower())
    if kind is None:
        names = frames.read(file).columns if _is_small(file) else None
        for column in wanted_columns(declaration):
            if names is not None and column not in names:
                raise InputError("CEL-J001.no_column", column=column, columns=names)
        types: dict[str, Any] = {declaration.person: "string"} if _is_text(file) else {}
        return frames.read(file, columns=wanted_columns(declaration), types=types)
    check_readable(file)
    rows = list(_gpx(file) if kind == "gpx" else _geojson(file, declaration))
    if not rows:
        raise InputError("CEL-J005.empty", path=file.name)
    people, times, north, east = zip(*rows, strict=True)
    return pl.DataFrame(
        {
            declaration.person: pl.Series(people, dtype=pl.String, strict=False),
            declaration.time: pl.Series(times, strict=False),
            declaration.latitude: pl.Series(north, dtype=pl.Float64, strict=False),
            declaration.longitude: pl.Series(east, dtype=pl.Float64, strict=False),
        }
        | ({} if declaration.place is None else {declaration.place: [""] * len(people)})
    )


def _is_small(file: Path) -> bool:
    return file.is_file() and file.stat().st_size < 1 << 20


def _is_text(file: Path) -> bool:
    return frames.format_of(file) in ("csv", "tsv")


Row = tuple[str, Any, float, float]


def _gpx(file: Path) -> Iterator[Row]:
    """Points of a GPX file: the name of a track is its person, or the name of the file."""
    text = file.read_text("utf-8", errors="replace")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError("CEL-J005.entities", path=file.name)
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - entities were refused above
    except ElementTree.ParseError:
        raise InputError("CEL-J005.damaged", path=file.name, kind="GPX") from None
    for track in root.iter():
        if _local(track.tag) not in ("trk", "rte", "gpx"):
            continue
        mark = {"trk": "trkpt", "rte": "rtept", "gpx": "wpt"}[_local(track.tag)]
        names = [each.text for each in track if _local(each.tag) == "name"]
        person = (names[0] if names else None) or file.stem
        for point in track.iter():
            if _local(point.tag) != mark:
                continue
            times = [each.text for each in point if _local(each.tag) == "time"]
            try:
                place = float(point.attrib["lat"]), float(point.attrib["lon"])
            except (KeyError, ValueError):
                raise InputError("CEL-J005.damaged", path=file.name, kind="GPX") from None
            yield (person, times[0] if times else None, *place)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _geojson(file: Path, declaration: Declaration) -> Iterator[Row]:
    """Points, and lines whose times are a list beside them (`times` or `coordTimes`)."""
    try:
        features = json.loads(file.read_text("utf-8"))["features"]
        for feature in features:
            about, shape = feature.get("properties") or {}, feature["geometry"]
            person = about[declaration.person]
            if shape["type"] == "Point":
                places, times = [shape["coordinates"]], [about[declaration.time]]
            elif shape["type"] == "LineString":
                places = shape["coordinates"]
                times = about.get(declaration.time) or about.get("coordTimes") or about["times"]
            else:
                raise InputError("CEL-J005.shape", path=file.name)
            for place, time in zip(places, times, strict=True):
                yield str(person), time, float(place[1]), float(place[0])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise InputError("CEL-J005.damaged", path=file.name, kind="GeoJSON") from None
