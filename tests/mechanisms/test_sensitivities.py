"""The table of sensitivities, against brute force over small tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.numbers import exact
from celosia.mechanisms import sensitivities

Table = tuple[int, ...]


def pairs(
    values: Sequence[int], most: int, neighbours: Neighbours
) -> Iterator[tuple[Table, Table]]:
    for size in range(most + 1):
        for table in combinations_with_replacement(values, size):
            if neighbours == ADD_REMOVE:
                yield from ((table, (*table, value)) for value in values)
            elif table:
                yield from (
                    (table, (*table[:at], value, *table[at + 1 :]))
                    for at in range(size)
                    for value in values
                )


def most_moved(
    answer: Callable[[Table], Sequence[Fraction]],
    neighbours: Neighbours,
    *,
    norm: int = 1,
    values: Sequence[int] = (-3, 0, 2, 5),
    least: int = 0,
    most: int = 3,
) -> float:
    moves = (
        sum(abs(a - b) ** norm for a, b in zip(answer(one), answer(other), strict=True))
        for one, other in pairs(values, most, neighbours)
        if min(len(one), len(other)) >= least
    )
    return float(float(max(moves)) ** (1 / norm))


BOTH = pytest.mark.parametrize("neighbours", [ADD_REMOVE, CHANGE_ONE])


def middle_mean(table: Table) -> list[Fraction]:
    return [Fraction(sum(table), len(table)) if table else Fraction(1)]


@BOTH
def test_a_count_moves_by_one(neighbours: Neighbours) -> None:
    moved = most_moved(lambda table: [Fraction(sum(v > 0 for v in table))], neighbours)
    assert sensitivities.count(neighbours) == moved == 1


@BOTH
@pytest.mark.parametrize("norm", [1, 2])
def test_counts_that_all_take_the_same_unit_move_together(
    neighbours: Neighbours, norm: int
) -> None:
    moved = most_moved(
        lambda table: [Fraction(sum(v > 0 for v in table))] * 3, neighbours, norm=norm
    )
    assert sensitivities.counts(3, neighbours, norm=norm) == pytest.approx(moved, rel=1e-12)


@BOTH
@pytest.mark.parametrize("norm", [1, 2])
def test_a_histogram_moves_in_one_bin_or_two(neighbours: Neighbours, norm: int) -> None:
    def bins(table: Table) -> list[Fraction]:
        counted = Counter(table)
        return [Fraction(counted[value]) for value in (-3, 0, 2, 5)]

    moved = most_moved(bins, neighbours, norm=norm)
    assert sensitivities.histogram(neighbours, norm=norm) == pytest.approx(moved, rel=1e-12)


@BOTH
@pytest.mark.parametrize("values", [(-3, 0, 5), (100, 101), (-7, -6)])
def test_sums_move_as_the_table_says(neighbours: Neighbours, values: Table) -> None:
    low, high = min(values), max(values)
    centre = Fraction(low + high, 2)
    plain = most_moved(lambda table: [Fraction(sum(table))], neighbours, values=values)
    centred = most_moved(lambda t: [sum(t) - len(t) * centre], neighbours, values=values)
    assert sensitivities.clipped_sum(low, high, neighbours) == plain
    assert sensitivities.centred_sum(low, high, neighbours) == centred


@BOTH
def test_a_mean_moves_most_when_there_are_few_values(neighbours: Neighbours) -> None:
    moved = most_moved(middle_mean, neighbours, values=(-3, 0, 5))
    assert sensitivities.mean(-3, 5, neighbours) == moved


def test_a_mean_of_a_public_number_moves_by_the_range_over_it() -> None:
    moved = most_moved(middle_mean, CHANGE_ONE, values=(-3, 0, 5), least=3, most=3)
    told = sensitivities.mean_known_size(-3, 5, size=3, neighbours=CHANGE_ONE)
    assert told == pytest.approx(moved, rel=1e-12)
    with pytest.raises(PrivacyError) as refusal:
        sensitivities.mean_known_size(-3, 5, size=3, neighbours=ADD_REMOVE)
    assert refusal.value.code == "CEL-M048"


@BOTH
def test_the_utility_of_a_mean_moves_by_the_range(neighbours: Neighbours) -> None:
    def utilities(table: Table) -> list[Fraction]:
        return [-abs(Fraction(sum(v - candidate for v in table))) for candidate in (-3, 5)]

    moved = max(
        abs(a - b)
        for one, other in pairs((-3, 0, 5), 3, neighbours)
        for a, b in zip(utilities(one), utilities(other), strict=True)
    )
    assert sensitivities.utility_of_mean(-3, 5, neighbours) == moved


@given(st.decimals(-100, 100, places=3), st.decimals(-100, 100, places=3), st.integers(1, 10**6))
def test_no_sensitivity_is_rounded_down(one: Fraction, other: Fraction, size: int) -> None:
    low, high = sorted((float(one), float(other)))
    if low == high:
        return
    wide = Fraction(str(high)) - Fraction(str(low))
    told = exact(sensitivities.mean_known_size(low, high, size=size, neighbours=CHANGE_ONE))
    assert told is not None
    assert wide / size <= told <= wide / size * (1 + Fraction(1, 2**50))


@given(st.integers(1, 10**9))
def test_a_length_is_never_below_the_root(queries: int) -> None:
    told = exact(sensitivities.counts(queries, norm=2))
    assert told is not None
    assert told**2 >= queries
    assert float(told) == pytest.approx(sqrt(queries), rel=1e-15)


def test_a_norm_that_no_noise_has_is_refused() -> None:
    with pytest.raises(InputError) as refusal:
        sensitivities.histogram(norm=3)
    assert refusal.value.code == "CEL-M050"
