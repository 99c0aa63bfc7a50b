"""Controlled rounding: totals add up, cells stay near, chances are right; by brute force too."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Seeded
from celosia.tables.magnitude import controlled_rounding, magnitude_table
from celosia.tables.magnitude.rounding import Manner


def with_totals(cells: NDArray[Any]) -> NDArray[Any]:
    for axis in range(cells.ndim):
        cells = np.concatenate([cells, cells.sum(axis=axis, keepdims=True)], axis=axis)
    return cells


CELLS = st.one_of(
    st.lists(st.integers(0, 60), min_size=1, max_size=7).map(np.array),
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 10_000)).map(
        lambda size: np.random.default_rng(size[2]).integers(0, 40, size[:2])
    ),
    st.integers(0, 10_000).map(lambda seed: np.random.default_rng(seed).integers(0, 9, (2, 3, 2))),
)


@settings(max_examples=60, deadline=None)
@given(
    cells=CELLS,
    base=st.sampled_from([2, 3, 5, 10]),
    manner=st.sampled_from(["nearest", "random"]),
    seed=st.integers(0, 99),
)
def test_totals_add_up_and_every_cell_stays_within_one_base(
    cells: NDArray[Any], base: int, manner: Manner, seed: int
) -> None:
    found = controlled_rounding(cells, base=base, manner=manner, rng=Seeded(seed))
    inner = found.values[tuple(slice(0, -1) for _ in cells.shape)]
    assert (with_totals(inner) == found.values).all()
    assert (found.values % base == 0).all()
    moved = np.abs(found.values - with_totals(cells))
    assert found.furthest == moved.max()
    if found.zero_restricted:
        assert (moved < base).all()
        assert (moved[with_totals(cells) % base == 0] == 0).all()
    else:
        assert cells.ndim == 3
        assert (moved <= base).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_rounding_changes_least_of_all_that_add_up(seed: int) -> None:
    cells = np.random.default_rng(seed).integers(0, 20, (2, 3))
    whole = with_totals(cells)
    best = np.inf
    for ups in product((0, 1), repeat=cells.size):
        tried = with_totals(5 * (cells // 5 + np.reshape(ups, cells.shape)))
        if (np.abs(tried - whole) < 5).all():
            best = min(best, np.abs(tried - whole).sum())
    assert np.abs(controlled_rounding(cells, base=5).values - whole).sum() == best


@pytest.mark.statistical
@pytest.mark.parametrize("cells", [[1, 2, 4, 9], [[1, 7, 3], [4, 4, 11]]], ids=["line", "square"])
def test_random_rounding_is_right_in_expectation_for_cells_and_totals(cells: list[Any]) -> None:
    rng, runs = Seeded(11), 4000
    whole = with_totals(np.array(cells))
    drawn = [
        controlled_rounding(cells, base=5, manner="random", rng=rng).values for _ in range(runs)
    ]
    mean = np.mean(drawn, axis=0)
    # A cell of remainder r is up with chance r/5: its standard deviation is 5 sqrt(r/5 (1 - r/5)).
    chance = (whole % 5) / 5
    tolerance = 5 * 5 * np.sqrt(chance * (1 - chance) / runs)
    assert (np.abs(mean - whole) <= tolerance).all()
    assert (np.abs(mean - 0.8 * whole) > tolerance).all()


def test_the_same_seed_gives_the_same_and_the_system_may_be_the_source() -> None:
    cells = np.arange(12).reshape(3, 4)
    one, two = (
        controlled_rounding(cells, base=5, manner="random", rng=Seeded(3)).values for _ in range(2)
    )
    assert (one == two).all()
    assert controlled_rounding(cells, base=5, manner="random").unbiased


def test_decimals_are_rounded_exactly() -> None:
    found = controlled_rounding([0.1, 0.2, 0.3], base=0.5)
    assert found.values.tolist() == [0, 0, 0.5, 0.5]
    assert found.as_dict()["zero_restricted"]
    assert str(found) == "rounded to 0.5, no cell changed by more than 0.2"


def test_a_magnitude_table_is_rounded_with_its_totals() -> None:
    frame = pl.DataFrame({"r": ["n", "n", "s"], "sales": [4, 4, 6]})
    table = magnitude_table(frame, by=["r"], value="sales")
    assert controlled_rounding(table, base=5).values.tolist() == [10, 5, 15]


def test_a_cube_that_has_no_zero_restricted_rounding_says_so_or_is_refused() -> None:
    # All of 2 x 2 x 2 x... exhaustively: cells 0 or 1 to base 2, against brute force.
    refused = restricted = 0
    for seed in range(12):
        cells = np.random.default_rng(seed).integers(0, 4, (2, 2, 2))
        whole = with_totals(cells)
        possible = False
        for ups in product((0, 1), repeat=cells.size):
            tried = with_totals(2 * (cells // 2 + np.reshape(ups, cells.shape)))
            possible |= bool((np.abs(tried - whole) < 2).all())
        try:
            found = controlled_rounding(cells, base=2)
        except PrivacyError:
            refused += 1
            assert not possible
        else:
            restricted += found.zero_restricted
            assert found.zero_restricted == possible
    assert restricted > 0


@pytest.mark.parametrize(
    ("code", "cells", "changes"),
    [
        ("CEL-V340", [1, 2], {"base": 0}),
        ("CEL-V340", [1, 2], {"base": float("nan")}),
        ("CEL-V340", [1, 2], {"base": "5"}),
        ("CEL-V341", [], {}),
        ("CEL-V341", [1.0, float("nan")], {}),
        ("CEL-V341", ["a"], {}),
        ("CEL-V341", np.zeros((1, 1, 1, 1)), {}),
        ("CEL-V342", [1e17, 0.1], {}),
        ("CEL-V343", [1, 2], {"manner": "up"}),
    ],
)
def test_bad_input_is_refused(code: str, cells: Any, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        controlled_rounding(cells, **({"base": 5} | changes))
    assert caught.value.code == code
