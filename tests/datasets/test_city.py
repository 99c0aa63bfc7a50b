"""The invented city: its size, its truth, and that a seed makes it again."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.datasets import city, city_declaration
from celosia.traces import Declaration, traces_from


def test_a_seed_makes_the_same_people() -> None:  # check 45
    one, other = city(50, 3, seed=4), city(50, 3, seed=4)
    assert one.frame.equals(other.frame)
    assert not one.frame.equals(city(50, 3, seed=5).frame)


def test_a_person_leaves_about_132_points_in_two_weeks() -> None:
    made = city(400, 14, seed=2)
    # Points of a person vary by some fifteen: six standard errors of 400 people.
    assert made.size / 400 == pytest.approx(133, abs=6 * 15 / 20)


def test_the_declaration_fits_the_points() -> None:
    made = city(60, 3)
    known = Declaration.from_dict(tomllib.loads(city_declaration())["trace"])
    found = traces_from(made.frame, known)
    assert (found.x == made.traces.x).all()
    assert (found.time == made.traces.time).all()
    assert not found.counts.get("dropped")


def test_people_without_work_have_none_in_the_truth() -> None:
    made = city(400, 1)
    assert np.isnan(made.works[:, 0]).mean() == pytest.approx(0.25, abs=6 * 0.0217)


@pytest.mark.parametrize(("people", "days"), [(0, 1), (10, 0), (10, 1000), (2_000_000, 1)])
def test_impossible_sizes_are_refused(people: int, days: int) -> None:
    with pytest.raises(InputError) as error:
        city(people, days)
    assert error.value.code == "CEL-D031"
