"""Bounding what one unit adds, and promising for all of it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb, sqrt
from time import process_time
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.exact_laws import RELATIONS, Release, measured, worst_log_ratio

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.responses.randomised_response import RandomisedResponse
from celosia.mechanisms.statistics.contributions import at_most, once_per_key, per_unit
from celosia.mechanisms.statistics.histogram import Histogram
from celosia.mechanisms.statistics.key_histogram import KeyHistogram
from celosia.mechanisms.statistics.mean import DirectMean, Mean, SumCountMean
from celosia.mechanisms.statistics.sums import Count, Sum
from celosia.mechanisms.statistics.variance import Variance

__all__ = ["measured"]

BOUNDS: dict[str, Any] = {"epsilon": 0.6, "lower": -1, "upper": 2, "grid": Grid(Fraction(1))}
UNITS = st.lists(st.sampled_from(["ann", "bob", "cleo"]), max_size=25)


@given(UNITS, st.integers(1, 5), st.integers(0, 2**32))
def test_each_unit_keeps_as_many_rows_as_it_may(units: list[str], most: int, seed: int) -> None:
    for column in (units, np.array(units, dtype=object), pl.Series(units, dtype=pl.String)):
        kept = at_most(column, most, rng=Seeded(seed))
        assert kept.dtype == np.bool_
        assert kept.shape == (len(units),)
        found = Counter(unit for unit, keep in zip(units, kept, strict=True) if keep)
        assert found == {unit: min(most, size) for unit, size in Counter(units).items()}


@pytest.mark.statistical
@pytest.mark.parametrize("units", [["a"] * 4 + ["b"] * 2, ["b", "a", "a", "b", "a", "a"]])
def test_every_choice_of_rows_is_as_likely_whatever_their_order(units: list[str]) -> None:
    runs, rng = 3000, Seeded(41)
    places = [place for place, unit in enumerate(units) if unit == "a"]
    others = [place for place, unit in enumerate(units) if unit == "b"]
    found: Counter[tuple[frozenset[int], bool]] = Counter()
    for _ in range(runs):
        kept = np.flatnonzero(at_most(units, 1, rng=rng)).tolist()
        found[frozenset(kept) & frozenset(places), others[0] in kept] += 1
    expected = runs / 8  # four rows of a times two of b, independent of each other
    cells = [(frozenset({a}), b) for a in places for b in (False, True)]
    chi_square = sum((found[cell] - expected) ** 2 for cell in cells)
    assert chi_square / expected < 26.0  # 7 degrees of freedom, P = 0.0005


@pytest.mark.statistical
def test_pairs_of_rows_are_chosen_uniformly() -> None:
    runs, rng = 3000, Seeded(43)
    found = Counter(
        tuple(np.flatnonzero(at_most([7] * 4, 2, rng=rng)).tolist()) for _ in range(runs)
    )
    expected = runs / comb(4, 2)
    chi_square = sum((found[pair] - expected) ** 2 for pair in combinations(range(4), 2))
    assert chi_square / expected < 22.1  # 5 degrees of freedom, P = 0.0005


def test_a_million_rows_are_bounded_in_seconds() -> None:
    units = np.arange(1_000_000) % 1000 + 1
    start = process_time()
    kept = at_most(units, 10, rng=Seeded(1))
    assert process_time() - start < 5
    assert kept.sum() == 10_000


@pytest.mark.parametrize("units", [["a", None], [1.5], ["a", 1]])
def test_rows_without_a_unit_are_refused(units: list[Any]) -> None:
    with pytest.raises(InputError) as caught:
        at_most(units, 1, rng=Seeded(1))
    assert caught.value.code == "CEL-M083"


@pytest.mark.parametrize("most", [0, -1, 1.5, True])
def test_a_number_of_rows_that_is_none_is_refused(most: Any) -> None:
    for bound in (lambda: at_most(["a"], most, rng=Seeded(1)), lambda: per_unit(COUNT, most)):
        with pytest.raises(InputError) as caught:
            bound()
        assert caught.value.code == "CEL-I060"


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=20))
def test_each_unit_keeps_each_key_once(rows: list[tuple[str, int]]) -> None:
    units, keys = [unit for unit, _ in rows], [key for _, key in rows]
    kept = once_per_key(units, keys)
    assert [pair for pair, keep in zip(rows, kept, strict=True) if keep] == list(
        dict.fromkeys(rows)
    )


def test_units_and_keys_are_of_the_same_table() -> None:
    with pytest.raises(InputError) as caught:
        once_per_key(["a"], ["x", "y"])
    assert caught.value.code == "CEL-M087"


COUNT = Count(epsilon=0.6)


def exact_numbers(mechanism: Mechanism[Any, Any], rows: Any, measured: Release) -> list[int]:
    """The whole numbers that noise is added to, in steps of the grid or halves of it."""
    inner: Any = getattr(mechanism, "inner")  # noqa: B009 - of PerUnit
    laws = len(inner.labels) if isinstance(inner, Histogram) else len(inner.noises)
    found = measured(mechanism, rows, [0] * laws)
    if isinstance(inner, Count):
        return [int(found.value)]
    if isinstance(inner, Histogram):
        return [int(count) for count in found.value]
    if isinstance(inner, Sum):
        return [round(found.value)]
    if isinstance(inner, DirectMean):
        return [round(2 * (found.parts["unclipped"] - 0.5))]
    unit = 1 if isinstance(inner, SumCountMean) else 2
    numbers = [round(unit * found.parts[inner.part]), found.parts["count"]]
    return [int(number) for number in numbers]


@RELATIONS
@pytest.mark.parametrize("kind", [Sum, Mean, SumCountMean, DirectMean])
def test_the_exact_loss_of_all_rows_of_a_unit_is_epsilon(
    kind: Any, neighbours: Neighbours, measured: Release
) -> None:
    mechanism = per_unit(kind(**BOUNDS, neighbours=neighbours, may_be_empty=True), 2)
    assert mechanism.neighbours == Neighbours(neighbours.relation, "customer")
    assert mechanism.privacy_loss().pure == 0.6
    scales = [law.scale for law in mechanism.inner.noises]  # type: ignore[attr-defined]
    holdings = [rows for size in (0, 1, 2) for rows in product((-1, 0, 2), repeat=size)]
    losses = []
    for base in ([], [2], [-1, 2]):
        for one, two in product(holdings, repeat=2):
            if neighbours == ADD_REMOVE and one:
                continue
            exact = [exact_numbers(mechanism, [*base, *own], measured) for own in (one, two)]
            losses.append(worst_log_ratio(exact[0], exact[1], scales))
    assert max(losses) <= 0.6 * (1 + 1e-12)
    if kind in (Sum, Mean, SumCountMean) and neighbours == ADD_REMOVE:
        assert max(losses) == pytest.approx(0.6, rel=1e-12)


@pytest.mark.parametrize("bins", [{"categories": [0, 1, 2]}, {"edges": [0, 1, 2, 3]}])
def test_rows_of_a_unit_may_fall_into_several_bins(bins: Any, measured: Release) -> None:
    mechanism = per_unit(Histogram(epsilon=0.6, may_be_empty=True, **bins), 3, unit="patient")
    scales = [mechanism.inner.noises[0].scale] * 3  # type: ignore[attr-defined]
    empty = exact_numbers(mechanism, [], measured)
    losses = [
        worst_log_ratio(empty, exact_numbers(mechanism, own, measured), scales)
        for own in product((0, 1, 2), repeat=3)
    ]
    assert losses == pytest.approx([0.6] * 27, rel=1e-12)
    assert mechanism.privacy_loss() == LaplaceLoss(Fraction(5), 3)


def test_iterated_steps_in_several_bins_are_dominated_by_one_long_step() -> None:
    # The curve of delta for three bins that move by 1 each, by enumeration, against that of one
    # number that moves by 3: the loss that is charged.
    q = float(np.exp(-0.5))
    points = np.arange(-40, 42)
    one, two = ((1 - q) / (1 + q) * q ** np.abs(points - at) for at in (0, 1))
    charged = LaplaceLoss(Fraction(2), 3)
    cube = [np.einsum("i,j,k->ijk", each, each, each) for each in (one, two)]
    for epsilon in (0.0, 0.3, 0.7, 1.2):
        exact = np.maximum(cube[0] - np.exp(epsilon) * cube[1], 0).sum()
        assert exact <= charged.delta(epsilon) + 1e-9


def test_the_wrapped_mechanism_keeps_its_accuracy_bounds_and_price() -> None:
    mechanism = per_unit(Count(epsilon=1), 4)
    plain = Count(epsilon=0.25)
    assert mechanism.accuracy(0.9) == plain.accuracy(0.9)
    assert mechanism.sensitivity == 4
    found = mechanism.measure([True] * 9, rng=Seeded(2))
    assert mechanism.interval(found, 0.9) == plain.interval(found, 0.9)
    cheaper = mechanism.with_accuracy(100)
    assert cheaper.accuracy() <= 100
    price = cheaper.privacy_loss().pure
    assert per_unit(Count(epsilon=0.99 * price), 4).accuracy() > 100
    assert "rows_per_unit=4" in str(mechanism)


def test_changing_a_unit_takes_twice_the_steps() -> None:
    changed = per_unit(Count(epsilon=1, neighbours=CHANGE_ONE), 3)
    assert changed.steps == 6
    assert changed.inner == Count(epsilon=Fraction(1, 6))  # type: ignore[arg-type]
    assert changed.privacy_loss().pure == 1.0


def test_an_accuracy_is_found_however_small_the_shares() -> None:
    wide = per_unit(Variance(epsilon=1, lower=0, upper=1), 1000)
    assert wide.with_accuracy(0.2, size=10**7).accuracy(size=10**7) <= 0.2


@pytest.mark.parametrize(
    "mechanism",
    [
        KeyHistogram(epsilon=1, delta=1e-6),
        Count(epsilon=1, neighbours=Neighbours(unit="customer")),
        RandomisedResponse.two_coins(),
    ],
)
def test_what_cannot_be_charged_for_a_unit_is_refused(mechanism: Mechanism[Any, Any]) -> None:
    with pytest.raises(PrivacyError) as caught:
        per_unit(mechanism, 2)
    assert caught.value.code == "CEL-M088"


def test_a_share_too_small_for_one_row_is_refused_when_the_mechanism_is_made() -> None:
    with pytest.raises(InputError) as caught:
        per_unit(Count(epsilon=1e-9), 2)
    assert caught.value.code == "CEL-I060"


@pytest.mark.statistical
def test_bounding_and_charging_go_together() -> None:
    # 40 customers of 10 rows, of which 3 are kept: the count is that of the rows kept.
    rng, runs = Seeded(47), 300
    units = pl.Series([f"customer {number % 40}" for number in range(400)])
    counts = per_unit(Count(epsilon=1), 3)
    found = [
        counts.release(units.filter(pl.Series(at_most(units, 3, rng=rng))), rng=rng)
        for _ in range(runs)
    ]
    # The noise has a standard deviation of about sqrt(2) * 3.
    assert abs(np.mean(found) - 120) < 4 * 3 * sqrt(2 / runs)


def test_a_mechanism_for_units_is_printed_as_it_is_made() -> None:
    assert str(per_unit(Count(epsilon=1), 5)) == (
        "PerUnit(mechanism=Count(epsilon=1), rows_per_unit=5)"
    )
    assert str(per_unit(Count(epsilon=1, neighbours=CHANGE_ONE), 5, unit="patient")) == (
        "PerUnit(mechanism=Count(epsilon=1, neighbours=change one row), rows_per_unit=5, "
        "unit=patient)"
    )
