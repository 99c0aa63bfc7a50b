"""Files of points, and every bad input that has its error: a code and a count, never a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.traces.small_city import REGION

from celosia.core.errors import InputError
from celosia.traces import Declaration, read, traces_from

KNOWN = {"person": "who", "time": "at", "latitude": "lat", "longitude": "lon", "region": REGION}


def declared(**changes: object) -> Declaration:
    return Declaration(**(KNOWN | {"zone": "Europe/Madrid"} | changes))  # type: ignore[arg-type]


def table(**columns: object) -> pl.DataFrame:
    usual = {
        "who": ["ann", "bob", "ann"],
        "at": ["2026-03-02T08:00:00+01:00", "2026-03-02T09:00:00+01:00", "2026-03-02T10:00:00Z"],
        "lat": [40.1, 40.11, 40.12],
        "lon": [-3.8, -3.81, -3.82],
    }
    return pl.DataFrame(usual | columns, strict=False)


def test_a_table_is_sorted_by_person_and_time() -> None:
    found = traces_from(table(), declared())
    assert found.names.to_list() == ["ann", "bob"]
    assert found.person.tolist() == [0, 0, 1]
    assert found.time.tolist() == [1772434800, 1772445600, 1772438400]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_files_of_every_format_hold_the_same_points(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"points.{suffix}"
    frame = table()
    writers: dict[str, Any] = {
        "csv": frame.write_csv,
        "parquet": frame.write_parquet,
        "jsonl": frame.write_ndjson,
    }
    writers[suffix](path)
    found, expected = read(path, declared()), traces_from(frame, declared())
    assert (found.x == expected.x).all()
    assert (found.time == expected.time).all()


def test_numbers_as_names_stay_texts(tmp_path: Path) -> None:
    table(who=["007", "7", "007"]).write_csv(tmp_path / "points.csv")
    assert read(tmp_path / "points.csv", declared()).names.to_list() == ["007", "7"]


def test_gpx_tracks_are_people(tmp_path: Path) -> None:
    path = tmp_path / "walk.gpx"
    path.write_text(
        '<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><name>ann</name><trkseg>'
        '<trkpt lat="40.1" lon="-3.8"><time>2026-03-02T08:00:00Z</time></trkpt>'
        '<trkpt lat="40.11" lon="-3.8"><time>2026-03-02T08:10:00Z</time></trkpt>'
        "</trkseg></trk></gpx>"
    )
    found = read(path, declared())
    assert found.names.to_list() == ["ann"]
    assert found.size == 2


def test_geojson_points_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "walk.geojson"
    path.write_text(
        '{"type":"FeatureCollection","features":['
        '{"type":"Feature","properties":{"who":"ann","at":"2026-03-02T08:00:00Z"},'
        '"geometry":{"type":"Point","coordinates":[-3.8,40.1]}},'
        '{"type":"Feature","properties":{"who":"bob","coordTimes":'
        '["2026-03-02T08:00:00Z","2026-03-02T09:00:00Z"]},'
        '"geometry":{"type":"LineString","coordinates":[[-3.8,40.1],[-3.7,40.2]]}}]}'
    )
    found = read(path, declared())
    assert found.people == 2
    assert found.size == 3


@pytest.mark.parametrize(
    ("columns", "changes", "code", "words"),
    [
        (
            {"lat": [-3.8, 40.1, 40.1], "lon": [40.1, -3.8, -3.8]},
            {},
            "CEL-J003",
            "1 point .* swapped",
        ),
        ({"lat": [0.0, 40.1, 40.1], "lon": [0.0, -3.8, -3.8]}, {}, "CEL-J003", "latitude 0"),
        ({"lat": [4_474_000.0, 1.0, 1.0]}, {}, "CEL-J003", "metres, not degrees"),
        ({"lat": [float("nan"), 40.1, 40.1]}, {}, "CEL-J003", "1 value is not a finite"),
        ({"lat": [float("inf"), 40.1, 40.1]}, {}, "CEL-J003", "1 value"),
        ({"lat": ["40,1", "40,11", "40,12"]}, {}, "CEL-J003", "decimal comma"),
        ({"lat": [41.0, 40.1, 40.1]}, {}, "CEL-J003", "1 of 3 points lie outside"),
        ({"lat": [95.0, 40.1, 40.1]}, {}, "CEL-J003", "latitude beyond 90"),
        ({"who": [None, "bob", "ann"]}, {}, "CEL-J003", "1 row has no person"),
        ({"at": ["2026-03-02T08:00:00"] * 3}, {"zone": ""}, "CEL-J004", "no offset"),
        (
            {"at": ["2026-03-02T08:00:00"] * 2 + ["2026-03-02T08:00:00Z"]},
            {},
            "CEL-J004",
            "others have",
        ),
        ({"at": ["2026-03-29T02:30:00"] * 3}, {}, "CEL-J004", "clocks skip"),
        ({"at": ["soon", "now", "then"]}, {}, "CEL-J004", "3 values are not times"),
        ({"at": [1772434800] * 3}, {}, "CEL-J004", "no epoch"),
        ({"at": [1772434800000] * 3}, {"epoch": "s"}, "CEL-J004", "too large for seconds"),
        ({}, {"person": "nobody"}, "CEL-J001", "no column 'nobody'"),
        ({}, {"region": None}, "CEL-J002", "no region"),
    ],
)
def test_bad_input_has_a_code_and_a_count(
    columns: dict[str, object], changes: dict[str, object], code: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as error:
        traces_from(table(**columns), declared(**changes))
    assert error.value.code == code
    told = str(error.value) + str(error.value.as_dict())
    for secret in ("40.1", "40,1", "4474000", "-3.8", "ann", "bob"):
        assert secret not in told


def test_milliseconds_are_read_as_declared() -> None:
    found = traces_from(
        table(at=[1772434800123 + 1000 * at for at in range(3)]), declared(epoch="ms")
    )
    assert sorted(found.time.tolist()) == [1772434800, 1772434801, 1772434802]


def test_points_outside_are_dropped_or_clamped_and_counted() -> None:
    far = table(lat=[41.0, 40.1, 40.1])
    dropped = traces_from(far, declared(outside="drop"))
    assert dropped.size == 2
    assert dropped.counts["dropped"] == 1
    clamped = traces_from(far, declared(outside="clamp"))
    assert clamped.size == 3
    assert clamped.counts["clamped"] == 1
    assert clamped.y.max() == clamped.plane.bounds[3]


def test_further_points_of_a_second_are_refused_or_dropped_and_teleports_counted() -> None:
    """Repeated rows, and one person in two places at once."""
    frame = pl.concat([table(), table()]).with_columns(
        at=pl.Series([f"2026-03-02T08:00:0{second}Z" for second in (0, 0, 1, 0, 0, 1)])
    )
    with pytest.raises(InputError, match=r"3 points are at a second.*first at row 4") as caught:
        traces_from(frame, declared())
    assert caught.value.key == "CEL-J003.same_time"
    found = traces_from(frame, declared(damaged="drop"))
    assert found.counts == {"same_time": 3, "teleports": 1}  # more than two kilometres in a second
    moved = frame.with_columns(lat=pl.Series([*frame["lat"][:3], 40.11, 40.12, 40.13]))
    same = traces_from(moved, declared(damaged="drop"))
    assert same.x.tolist() == found.x.tolist()  # the first of each stays
    far = frame.with_columns(lat=pl.Series([*frame["lat"][:3], 41.0, 41.0, 41.0]))
    assert traces_from(far, declared(outside="drop")).counts["dropped"] == 3
    assert any("1,000 km/h" in each for each in found.warnings)


def test_one_person_with_most_points_is_warned_about() -> None:
    assert any("more than half" in each for each in traces_from(table(), declared()).warnings)


def test_another_unit_than_a_person_is_told() -> None:
    assert any(
        "not one person" in each for each in traces_from(table(), declared(unit="trip")).warnings
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("person = 1", "no section"),
        ("[trace]\nperzon = 'a'", "did you mean 'person'"),
        ("[trace]\nzone = 'Europe/Nowhere'", "time zone"),
        ("[trace]\nunit = 'family'", "unit"),
        ("[trace]\nstep = 0", "step"),
        ("[trace]\nsensitive = [[1, 2]]", "three numbers"),
        ("[trace", "no section"),
    ],
)
def test_declarations_that_cannot_be_used_are_refused(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "trace.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        Declaration.load(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.gpx", "<gpx>"),
        ("a.gpx", '<!DOCTYPE gpx [<!ENTITY a "b">]><gpx/>'),
        ("a.gpx", "<gpx></gpx>"),
        ("a.geojson", "{}"),
        ("a.geojson", '{"features":[{"properties":{"who":"a"},"geometry":{"type":"Polygon"}}]}'),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        read(tmp_path / name, declared())
    assert error.value.code == "CEL-J005"


def test_local_times_are_meant_in_the_zone() -> None:
    times = [f"2026-03-02T08:00:0{at}" for at in range(3)]
    naive = traces_from(table(at=times), declared())
    assert sorted(naive.time.tolist()) == [1772434800, 1772434801, 1772434802]
    assert np.unique(naive.segments("day")).size == 2
