"""The plane, the lattice, and local time over clock changes."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.traces import Plane, Region
from celosia.traces.zones import (
    end_times,
    floor_times,
    hours_of_day,
    iso_texts,
    local,
    universal,
    weekdays,
)

MADRID = "Europe/Madrid"
HOUR = 3600
SPRING = 1_774_746_000  # 29 March 2026, 01:00 in Greenwich: clocks go from 2 to 3
AUTUMN = 1_792_890_000  # 25 October 2026, 01:00 in Greenwich: clocks go from 3 back to 2


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        ([86, 0, 87, 1], "beyond 85 degrees"),
        ([40, 179, 41, -179], "date line"),
        ([41, -4, 40, -3], "south of its north"),
        ([40, -3, 41, -4], "date line"),
        ([30, -10, 50, 10], "wrong by up to"),
        ([40, -4, float("nan"), -3], "four numbers"),
        ([40, -4, 41], "four numbers"),
        ("here", "four numbers"),
    ],
)
def test_regions_that_no_plane_fits_are_refused(sides: object, words: str) -> None:  # check 18
    with pytest.raises(InputError, match=words):
        Region.of(sides)


def test_the_error_of_distances_is_told() -> None:
    assert Region.of([39.75, 0, 40.25, 1]).distortion == pytest.approx(0.00367, abs=1e-4)
    assert Region.of([39, 0, 41, 1]).distortion == pytest.approx(0.0148, abs=1e-3)


def test_a_step_is_as_long_to_the_east_as_to_the_north() -> None:
    plane = Plane(Region.of([59.9, 10.0, 60.1, 10.4]), step=10)
    x, _ = plane.metres(np.array([60.0]), np.array([10.3]))
    _, y = plane.metres(np.array([60.05]), np.array([10.2]))
    assert x[0] == pytest.approx(0.1 * 55_598, rel=1e-3)  # half a degree of the equator's
    assert y[0] == pytest.approx(0.05 * 111_195, rel=1e-4)


def test_cells_come_back_from_their_centres_in_few_decimals() -> None:
    for step, decimals in ((1, 5), (10, 4), (100, 3), (1000, 2)):
        plane = Plane(Region.of([40.3, -3.9, 40.6, -3.5]), step=step)
        assert plane.decimals == decimals
        latitude, longitude = np.array([40.41678, 40.31]), np.array([-3.70379, -3.8])
        x, y = plane.cells(latitude, longitude)
        north, east = plane.places(x, y)
        assert (np.round(north, decimals) == north).all()
        # Half a cell, and half a unit of the last decimal.
        assert np.abs(north - latitude).max() < step / 111_000 + 10.0**-decimals
        assert np.abs(east - longitude).max() < step / 80_000 + 10.0**-decimals


def test_negative_cells_are_floored() -> None:
    plane = Plane(Region.of([40.3, -3.9, 40.6, -3.5]), step=10)
    north, east = plane.degrees(np.array([-1.0]), np.array([-1.0]))
    assert plane.cells(north, east)[0].tolist() == [-1]


@pytest.mark.parametrize("change", [SPRING, AUTUMN])
@pytest.mark.parametrize("window", ["1min", "15min", "1h", "3h", "6h", "day", "week", "month"])
def test_windows_hold_their_times_over_clock_changes(change: int, window: str) -> None:  # check 18
    times = np.arange(change - 30 * HOUR, change + 30 * HOUR, 600)
    starts = floor_times(times, window, MADRID)
    ends = end_times(starts, window, MADRID)
    assert (starts <= times).all()
    assert (times < ends).all()
    assert (floor_times(starts, window, MADRID) == starts).all()
    clock = local(starts, MADRID)
    sizes = {"15min": 900, "1h": HOUR, "3h": 3 * HOUR, "6h": 6 * HOUR, "day": 24 * HOUR}
    if window in sizes:  # begins where the clock says so
        assert set((clock % sizes[window]).tolist()) == {0}


@pytest.mark.parametrize("zone", ["Europe/Madrid", "America/St_Johns", "Asia/Kathmandu"])
@pytest.mark.parametrize("window", ["15min", "3h", "day", "week", "month"])
def test_many_times_are_floored_as_single_ones_are(zone: str, window: str) -> None:
    # Newfoundland changed its clocks at one minute past midnight until 2011.
    begins = 1_173_571_200 if zone == "America/St_Johns" else 1_774_700_000  # March 2007, 2026
    times = begins + np.arange(0, 172_800, 37)
    many = floor_times(np.repeat(times, 2), window, zone)[::2]
    single = [int(floor_times(times[[each]], window, zone)[0]) for each in range(0, 4600, 99)]
    assert many[0:4600:99].tolist() == single


def test_days_of_23_and_25_hours_are_days() -> None:  # check 18
    for change, hours in ((SPRING, 23), (AUTUMN, 25)):
        day = floor_times(np.array([change]), "day", MADRID)
        assert (end_times(day, "day", MADRID) - day)[0] == hours * HOUR
        inside = np.arange(day[0], day[0] + hours * HOUR, 60)
        assert np.unique(floor_times(inside, "day", MADRID)).size == 1


def test_an_hour_that_comes_twice_is_two_windows() -> None:
    assert np.unique(floor_times(np.array([AUTUMN - 1, AUTUMN]), "1h", MADRID)).size == 2
    assert np.unique(floor_times(np.array([AUTUMN - 1, AUTUMN]), "3h", MADRID)).size == 1


def test_hours_and_weekdays_are_local() -> None:
    assert hours_of_day(np.array([SPRING - 1, SPRING]), MADRID).tolist() == [1, 3]
    assert weekdays(np.array([SPRING]), MADRID).tolist() == [6]  # a Sunday
    assert iso_texts(np.array([SPRING]), MADRID).to_list() == ["2026-03-29T03:00:00+02:00"]


def test_a_time_that_clocks_skip_is_the_moment_after() -> None:
    skipped = local(np.array([SPRING - 1]), MADRID) + 1801  # 02:30, which does not exist
    assert universal(skipped, MADRID)[0] == SPRING + 1800
