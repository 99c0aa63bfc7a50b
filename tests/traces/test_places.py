"""Places: grids, geohashes, H3 cells and polygons, as levels and as hierarchies of tables."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.traces.small_city import points, small_city

from celosia.core.errors import EngineError, InputError
from celosia.traces.places import Areas, place_hierarchy, place_levels, time_hierarchy
from celosia.traces.places.geohash import boxes, encode, names


@pytest.mark.parametrize("scheme", ["grid", "geohash", "h3"])
def test_every_cell_lies_in_one_cell_of_the_next_level(scheme: Any) -> None:
    if scheme == "h3":
        pytest.importorskip("h3")
    traces = small_city(30, 2).traces
    levels = place_levels(traces, scheme)
    for fine, coarse in itertools.pairwise(levels):
        pairs = np.unique(np.stack([fine.codes, coarse.codes]), axis=1)
        assert pairs.shape[1] == np.unique(fine.codes).size
        assert np.unique(coarse.codes).size <= np.unique(fine.codes).size


@pytest.mark.parametrize("scheme", ["grid", "geohash"])
def test_every_point_lies_in_the_box_of_its_cell(scheme: Any) -> None:
    traces = small_city(30, 2).traces
    for level in place_levels(traces, scheme):
        west, south, east, north = level.boxes[level.codes].T
        assert ((west <= traces.x) & (traces.x <= east)).all()
        assert ((south <= traces.y) & (traces.y <= north)).all()


def test_geohashes_have_their_known_names_and_sizes() -> None:
    place = np.array([42.605]), np.array([-5.603])
    assert names(encode(*place, 5), 5) == ["ezs42"]
    south, west, north, east = boxes(encode(np.array([40.4]), np.array([-3.7]), 6), 6)
    assert (north - south)[0] * 111_195 == pytest.approx(611, abs=8)
    assert (east - west)[0] * 84_680 == pytest.approx(931, abs=3)
    assert south[0] <= 40.4 <= north[0]


def test_the_hierarchies_are_those_of_tables() -> None:
    traces = small_city(20, 2).traces
    place = place_hierarchy(traces, "grid", base=1000)
    time = time_hierarchy(traces, base="1h")
    assert place.levels > 3
    assert place.label(place.leaves[0], level=place.height) == "*"
    assert time.height == 5


def test_h3_is_asked_for_by_name_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "h3", None)
    with pytest.raises(EngineError, match="package h3"):
        place_levels(small_city(20, 2).traces, "h3")


def geojson(path: Path, *rings: list[list[float]]) -> Path:
    features = [
        {
            "properties": {"name": f"area{number}", "county": "all"},
            "geometry": {"type": "Polygon", "coordinates": [ring]},
        }
        for number, ring in enumerate(rings)
    ]
    path.write_text(json.dumps({"features": features}))
    return path


WEST = [[-4.0, 40.0], [-3.85, 40.0], [-3.85, 40.2], [-4.0, 40.2], [-4.0, 40.0]]
EAST = [[-3.85, 40.0], [-3.7, 40.0], [-3.7, 40.2], [-3.85, 40.2], [-3.85, 40.0]]


def test_points_lie_in_polygons_by_the_even_odd_rule(tmp_path: Path) -> None:
    areas = Areas.load(geojson(tmp_path / "a.geojson", WEST, EAST))
    latitude = np.array([40.1, 40.1, 40.3, 40.1])
    longitude = np.array([-3.9, -3.8, -3.8, -3.85])
    assert areas.find(latitude, longitude)[:3].tolist() == [0, 1, -1]


def test_areas_are_levels_of_place(tmp_path: Path) -> None:
    path = geojson(tmp_path / "a.geojson", WEST, EAST)
    found = points(
        ["a", "b"], [0, 0], [40.1, 40.1], [-3.9, -3.8], areas=str(path), area_parents=("county",)
    )
    levels = place_levels(found, "areas")
    assert [level.names for level in levels] == [("area0", "area1"), ("all",), ("*",)]
    assert levels[0].codes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rings", "words"),
    [
        ([[[0, 0], [1, 0], [1, 1], [0, 1]]], "not closed"),
        ([[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]], "crosses itself"),
        (
            [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]], [[1, 1], [3, 1], [3, 3], [1, 3], [1, 1]]],
            "overlap",
        ),
    ],
)
def test_bad_polygons_are_refused(tmp_path: Path, rings: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Areas.load(geojson(tmp_path / "a.geojson", *rings))


@pytest.mark.parametrize(
    ("scheme", "words"),
    [("areas", "no areas"), ("place", "no column of places"), ("town", "sort of")],
)
def test_what_was_not_declared_cannot_be_generalised(scheme: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        place_levels(small_city(20, 2).traces, scheme)
