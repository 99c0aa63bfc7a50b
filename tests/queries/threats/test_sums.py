"""Threat: sums of floats, whose error grows with the rows and with their order.

Casacuberta, Shoup, Wood and Zhang (CCS 2022): additions that all round the same way move a float
sum by far more than the sensitivity says. Whole answers are asked for here, with the noise
silenced, so that what is left is the exact total that noise is added to.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.queries.threats.conftest import Place

from celosia.core.randomness import Seeded, Source
from celosia.queries import Vault
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.policy import read_policy

HIGH = 2**36
POLICY = read_policy(
    f"""
name = "sums"
database = {{ path = "sums.duckdb" }}
unit = {{ name = "row" }}
budget = {{ epsilon = 10 }}
[tables.v.columns]
w = {{ type = "integer", lower = -{HIGH}, upper = {HIGH} }}
x = {{ type = "number", lower = 0, upper = {HIGH}, grid = 1 }}
y = {{ type = "number", lower = -10, upper = 10, grid = 0.01 }}
"""
)


class Silent:
    """The law of no noise."""

    def draw(self, size: int, rng: Source) -> Any:
        """Nothing but zeros."""
        return np.zeros(size, dtype=np.int64)


def exact_total(vault: Vault, column: str) -> tuple[int, int]:
    """The total that noise would be added to, and how far one row may move it, in steps."""
    (step,) = vault.explain(f"SELECT SUM({column}) AS s FROM v", epsilon=1).steps
    assert isinstance(step, LaplaceStep)
    object.__setattr__(step, "laws", [Silent() for _ in step.totals])
    ((measured,), (shift,)) = step.measure(vault._ask, group_keys=None, rng=Seeded(1)), step.shifts
    (value,) = measured.values
    return int(value), int(shift)


def plain_sum(place: Place, expression: str) -> float:
    """What the engine itself adds up, in floats and in the order of the rows."""
    with place.connected() as connection:
        cursor = connection.cursor()
        cursor.execute("SET threads = 1" if place.dialect == "duckdb" else "SET work_mem = '4MB'")
        ((found,),) = cursor.execute(f"SELECT SUM({expression}) FROM v").fetchall()
    return float(found)


def test_additions_that_all_round_one_way_move_a_sum_by_its_bound_and_no_more(place: Place) -> None:
    """Repeated rounding: beside 2^36 floats are 2^-16 apart, so each row is rounded up by 2^-18."""
    small = [{"x": 1 + 0.75 * 2.0**-16, "y": 0.0, "w": 1} for _ in range(3000)]
    first = [{"x": float(HIGH), "y": 0.0, "w": HIGH}]
    totals = []
    for rows in (first + small, small):
        vault = place.open({"v": rows}, POLICY)
        totals.append({column: exact_total(vault, column) for column in "xw"})
        place.close()
    for column in "xw":
        (more, shift), (fewer, _) = totals[0][column], totals[1][column]
        assert shift == HIGH
        assert more - fewer == shift
        assert fewer == 3000
    # The engine's own float sums are farther apart than the bound: the attack is real.
    place.fill({"v": first + small}, POLICY)
    with_first = plain_sum(place, "x")
    place.fill({"v": small}, POLICY)
    assert with_first - plain_sum(place, "x") > HIGH


def test_the_order_of_rows_does_not_change_a_sum(place: Place) -> None:
    values = [None, float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324]
    values += [0.1, 0.005, 0.015, -0.105, 9.995, 1e15, -1e15] * 60
    seen = set()
    for seed in range(4):
        Random(seed).shuffle(values)
        rows = [{"w": 1, "x": each, "y": each} for each in values]
        vault = place.open({"v": rows}, POLICY)
        seen.add((exact_total(vault, "x")[0], exact_total(vault, "y")[0]))
        place.close()
    assert len(seen) == 1


def test_rounding_row_by_row_keeps_neighbours_within_the_bound(place: Place) -> None:
    """Halves of a step round the same with or without any one row, also next to the bounds."""
    halves = [n / 100 + 0.005 for n in range(-1003, 1003, 7)]
    vault = place.open({"v": [{"y": each, "x": 0.0, "w": 0} for each in halves]}, POLICY)
    everything, shift = exact_total(vault, "y")
    assert shift == 1000
    moved = []
    for gone in range(0, len(halves), 60):
        rest = [each for n, each in enumerate(halves) if n != gone]
        vault = place.open({"v": [{"y": each, "x": 0.0, "w": 0} for each in rest]}, POLICY)
        moved.append((halves[gone], everything - exact_total(vault, "y")[0]))
    for value, steps in moved:
        assert abs(steps) <= shift
        assert abs(steps - min(max(100 * value, -1000), 1000)) <= 0.5 + 1e-9


@pytest.fixture(autouse=True)
def closed(place: Place) -> Iterator[None]:
    """No vault outlives its test."""
    yield
    place.close()
