"""Rows of two people in turn: the plain twin, the most that a person moves, and the optimum."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.queries.bounds.caps import FARTHEST, ladder
from celosia.queries.bounds.in_turn import RowsInTurn, totals_in_turn
from celosia.queries.bounds.r2t_program import Incidence, program_totals

Row = tuple[int, int, int]
"""Two people, who may be the same, and a weight."""
Shown = tuple[int, int]
"""The person beside the home of a result, and the result."""
PERSON = st.integers(0, 5)
ROWS = st.dictionaries(st.tuples(PERSON, PERSON), st.integers(0, 5), max_size=14)
SHOWN = st.sets(st.tuples(PERSON, st.integers(0, 8)), max_size=16)
WEIGHTS = st.lists(st.integers(0, 4), min_size=9, max_size=9)
CAPS = (1, 2, 3, 5, 8)


def totals(rows: dict[tuple[int, int], int]) -> tuple[int, ...]:
    people = np.array(list(rows), dtype=np.int64).reshape(-1, 2)
    weights = np.array(list(rows.values()), dtype=np.int64)
    return totals_in_turn(RowsInTurn.sort(people, weights, None), CAPS)


def home(result: int) -> int:
    """The person that all rows of a result have: two results for each."""
    return result // 2 + 1


def shown_totals(rows: set[Shown], weights: list[int]) -> tuple[int, ...]:
    listed = sorted(rows, reverse=True)
    pairs = [(each, home(result)) for each, result in listed]
    people = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    results = np.array([result for _, result in listed], dtype=np.int64)
    own = np.array(weights, dtype=np.int64)[results]
    return totals_in_turn(RowsInTurn.sort(people, own, results), CAPS)


def plain(rows: list[Row], cap: int, shown: list[int] | None = None) -> int:
    """Rows in the order given; `shown` are their results."""
    left = dict.fromkeys(range(9), cap)
    of_result = {} if shown is None else {r: row[2] for r, row in zip(shown, rows, strict=True)}
    total = 0
    for place, (one, other, weight) in enumerate(rows):
        held = min(weight, left[one], left[other])
        if shown is not None:
            held = min(held, of_result[shown[place]])
            of_result[shown[place]] -= held
        for person in {one, other}:
            left[person] -= held
        total += held
    return total


@settings(max_examples=30, deadline=None)
@given(ROWS, SHOWN, WEIGHTS)
def test_the_kernel_is_its_plain_twin(
    rows: dict[tuple[int, int], int], shown: set[Shown], weights: list[int]
) -> None:
    light_first = sorted((weight, *pair) for pair, weight in rows.items())
    in_order = [(one, other, weight) for weight, one, other in light_first]
    assert totals(rows) == tuple(plain(in_order, cap) for cap in CAPS)
    by_result = sorted(shown, key=lambda row: (row[1], row[0]))
    listed = [(each, home(result), weights[result]) for each, result in by_result]
    results = [result for _, result in by_result]
    assert shown_totals(shown, weights) == tuple(plain(listed, cap, results) for cap in CAPS)


@settings(max_examples=120, deadline=None)
@given(ROWS)
def test_nobody_moves_a_total_by_more_than_its_cap(rows: dict[tuple[int, int], int]) -> None:
    before = totals(rows)
    for person in range(6):
        without = totals({pair: weight for pair, weight in rows.items() if person not in pair})
        for cap, more, less in zip(CAPS, before, without, strict=True):
            assert 0 <= more - less <= cap


@settings(max_examples=120, deadline=None)
@given(SHOWN, WEIGHTS)
def test_nobody_moves_a_total_of_results_by_more_than_its_cap(
    rows: set[Shown], weights: list[int]
) -> None:
    before = shown_totals(rows, weights)
    for person in range(7):
        rest = {row for row in rows if person not in (row[0], home(row[1]))}
        for cap, more, less in zip(CAPS, before, shown_totals(rest, weights), strict=True):
            assert 0 <= more - less <= cap


def test_each_small_network_and_each_person() -> None:
    """All networks of four people with weights 0 to 2 on a path, a cycle and a chord."""
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]
    for weights in product(range(3), repeat=len(pairs)):
        rows = {pair: weight for pair, weight in zip(pairs, weights, strict=True) if weight}
        before = totals(rows)
        for person in range(4):
            without = totals({pair: weight for pair, weight in rows.items() if person not in pair})
            moved = [more - less for more, less in zip(before, without, strict=True)]
            assert all(0 <= each <= cap for cap, each in zip(CAPS, moved, strict=True))


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_it_is_at_least_half_of_the_optimum_and_equal_where_nobody_has_too_much(
    rows: dict[tuple[int, int], int],
) -> None:
    pairs = [person for pair in rows for person in pair]
    table = Incidence(np.repeat(np.arange(len(rows)), 2), pairs, list(rows.values()))
    caps = (1, 2, 4, 64)
    people = np.array(list(rows), dtype=np.int64).reshape(-1, 2)
    in_turn = RowsInTurn.sort(people, np.array(list(rows.values()), dtype=np.int64), None)
    for best, found in zip(program_totals(table, caps), totals_in_turn(in_turn, caps), strict=True):
        assert best / 2 - 1 <= found * 16 <= best + 16
    assert totals_in_turn(in_turn, caps)[-1] == sum(rows.values())


def test_light_rows_come_first_and_sums_are_cut_off_where_noise_cannot_follow() -> None:
    assert totals({(0, 1): 5, (1, 2): 1, (0, 3): 1})[:2] == (2, 3)
    rows = RowsInTurn.sort(
        np.arange(8192).reshape(-1, 2), np.full(4096, 2**50, dtype=np.int64), None
    )
    caps = ladder(2**40)
    found = totals_in_turn(rows, caps)
    assert found == tuple(min(4096 * cap, FARTHEST) for cap in caps)
    assert rows.everything() == FARTHEST


def test_the_order_is_the_same_where_one_number_holds_it_and_where_none_does() -> None:
    draws = np.random.default_rng(1)
    people, weights = draws.integers(0, 50, (400, 2)), draws.integers(0, 9, 400)
    small = RowsInTurn.sort(people, weights, None)
    wide = RowsInTurn.sort(people * 2**40, weights, None)
    assert np.array_equal(small.one * 2**40, wide.one)
    assert np.array_equal(small.other * 2**40, wide.other)
    assert np.array_equal(small.weights, wide.weights)


def test_no_rows_hold_nothing_and_work_is_told() -> None:
    called: list[int] = []
    none = RowsInTurn.sort(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), None)
    assert totals_in_turn(none, (1, 2), progress=lambda: called.append(1)) == (0, 0)
    assert len(called) == 2


def test_rows_of_three_people_would_take_room_from_two_others() -> None:
    """Why rows of three owners are left to linear programs."""
    rows: list[tuple[int, ...]] = [(0, 1, 2), (1, 3, 4), (2, 5, 6)]

    def filled(kept: list[tuple[int, ...]]) -> int:
        left = dict.fromkeys(range(7), 1)
        total = 0
        for row in kept:
            held = min(left[person] for person in row)
            for person in row:
                left[person] -= held
            total += held
        return total

    assert filled(rows) - filled(rows[1:]) == -1  # below 0: a person takes more than they add
