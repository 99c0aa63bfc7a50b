"""Distributions in bins, and the distances between them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from celosia.assess.utility import (
    compare,
    distances,
    distributions,
    equal_distance,
    hellinger,
    kullback_leibler,
    ordered_distance,
)

counts = st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any)


@st.composite
def two_distributions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    first = draw(counts)
    size = len(first)
    second = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
    return np.array(first) / sum(first), np.array(second) / sum(second)


def cheapest_flow(p: np.ndarray, q: np.ndarray, ground: np.ndarray) -> float:
    """Earth mover's distance as the linear programme that defines it."""
    size = p.size
    out, into = np.zeros((size, size * size)), np.zeros((size, size * size))
    for i in range(size):
        out[i, i * size : (i + 1) * size] = 1
        into[i, i::size] = 1
    solved = linprog(
        ground.ravel(), A_eq=np.vstack([out, into]), b_eq=np.concatenate([p, q]), bounds=(0, None)
    )
    return float(solved.fun)


@given(two_distributions())
def test_the_earth_movers_distances_are_the_cheapest_flows(
    both: tuple[np.ndarray, np.ndarray],
) -> None:
    p, q = both
    place = np.arange(p.size)
    ordered = np.abs(place[:, None] - place) / (p.size - 1)
    assert ordered_distance(p, q) == pytest.approx(cheapest_flow(p, q, ordered), abs=1e-9)
    assert equal_distance(p, q) == pytest.approx(
        cheapest_flow(p, q, 1.0 - np.eye(p.size)), abs=1e-9
    )


@given(two_distributions())
def test_distances_obey_their_bounds(both: tuple[np.ndarray, np.ndarray]) -> None:
    p, q = both
    variation, h = equal_distance(p, q), hellinger(p, q)
    assert 0 <= h <= 1 + 1e-12
    # Le Cam: H² <= TV <= H·sqrt(2); Pinsker: TV <= sqrt(KL in nats / 2).
    assert h**2 <= variation + 1e-9
    assert variation <= h * math.sqrt(2) + 1e-9
    assert variation <= math.sqrt(kullback_leibler(p, q) * math.log(2) / 2) + 1e-9
    for distance in (equal_distance, ordered_distance, hellinger, kullback_leibler):
        assert distance(p, p) == 0


def test_the_salaries_of_the_worked_example_have_their_published_distances() -> None:
    # Li et al. 2007, section 4.1: Q is 3k .. 11k, P1 the three lowest, P2 6k, 8k and 11k.
    salaries = list(range(3, 12))
    lowest = distances(compare({"pay": salaries}, {"pay": [3, 4, 5]}, ["pay"]))[0]
    mixed = distances(compare({"pay": salaries}, {"pay": [6, 8, 11]}, ["pay"]))[0]
    assert lowest.earth_mover == pytest.approx(0.375)
    assert mixed.earth_mover == pytest.approx(1 / 6)


def test_categories_have_the_equal_distance() -> None:
    [found] = distances(compare({"a": ["x", "y"]}, {"a": ["x", "x"]}, ["a"]))
    assert found.earth_mover == found.total_variation == 0.5


def test_an_impossible_value_has_an_infinite_divergence_that_json_can_hold() -> None:
    [found] = distances(compare({"a": ["x", "y"]}, {"a": ["x"]}, ["a"]), divergence=True)
    assert found.divergence == math.inf
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["divergence"] == "infinite"


def test_the_ordered_distance_is_about_the_cells_with_an_amount() -> None:
    [found] = distances(compare({"a": [1, 2, None]}, {"a": [1, 2, None, None]}, ["a"]))
    assert found.earth_mover == 0
    assert found.total_variation == pytest.approx(1 / 6)


def test_many_amounts_fall_into_common_bins_that_lose_nothing() -> None:
    ages = list(range(101))
    tables = compare({"age": [*ages, None]}, {"age": [0, 100, 100, 50]}, ["age"])
    [found] = distributions(tables, bins=4)
    assert found.values == ("[0, 25[", "[25, 50[", "[50, 75[", "[75, 100]", "(missing)")
    assert found.before == pytest.approx([25 / 102, 25 / 102, 25 / 102, 26 / 102, 1 / 102])
    assert found.after == (0.25, 0.0, 0.25, 0.5, 0.0)


def test_few_amounts_stay_as_they_are() -> None:
    [found] = distributions(compare({"a": [1, 2]}, {"a": [2, 2]}, ["a"]), bins=2)
    assert found.values == ("1", "2")
    assert str(found) == "a: 2 values, largest change 0.5000"
    assert json.loads(json.dumps(found.as_dict()))["after"] == [0.0, 1.0]
