"""What is settled without a solver, against the whole program as it is written down."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from celosia.queries.bounds import dual_certificate
from celosia.queries.bounds.cap_ladder import rounding
from celosia.queries.bounds.presolve import (
    WIDEST,
    PackingRows,
    capped_sums,
    exact_sum,
    find_undominated,
    presolve,
)
from celosia.queries.bounds.r2t_program import GRAIN, Incidence, program_totals

Row = tuple[frozenset[int], int, int]


def incidence(rows: list[Row], *, shown: bool = False) -> Incidence:
    """Rows of (people, amount, result)."""
    pairs = [(place, person) for place, row in enumerate(rows) for person in row[0]]
    return Incidence(
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
        [row[1] for row in rows],
        [row[2] for row in rows] if shown else None,
    )


def optimum(rows: list[Row], cap: int, *, shown: bool) -> float:
    """The program with every row, person and result as it stands in the definition."""
    people = sorted({person for row in rows for person in row[0]})
    kinds = [row[2] if shown else place for place, row in enumerate(rows)]
    limits = [[float(person in row[0]) for row in rows] for person in people]
    most = [float(cap)] * len(people)
    for kind in sorted(set(kinds)):
        limits.append([float(each == kind) for each in kinds])
        most.append(1.0 if shown else float(rows[kind][1]))
    found = linprog([-1.0] * len(rows), A_ub=limits, b_ub=most, method="highs-ds")
    return float(-found.fun)


PEOPLE = st.frozensets(st.integers(0, 6), max_size=5)
ROW = st.tuples(PEOPLE, st.integers(0, 9), st.integers(0, 4))


def nested(rows: list[Row], shops: list[int]) -> list[Row]:
    """The same rows, in which each person belongs to a shop that owns all rows with them."""
    return [
        (people | {10 + shops[person] for person in people}, amount, result)
        for people, amount, result in rows
    ]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(ROW, min_size=1, max_size=12),
    st.lists(st.integers(0, 3), min_size=7, max_size=7),
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_totals_are_those_of_the_whole_program(
    rows: list[Row], shops: list[int], caps: list[int], in_shops: bool, shown: bool
) -> None:
    whole = nested(rows, shops) if in_shops else rows
    found = program_totals(incidence(whole, shown=shown), caps)
    for cap, total in zip(caps, found, strict=True):  # caps in any order, some twice
        exact = optimum(whole, cap, shown=shown) * GRAIN
        assert abs(total - exact) < rounding(cap, GRAIN) + 1e-5  # floats of the plain solver


@settings(max_examples=150, deadline=None)
@given(st.lists(st.frozensets(st.integers(0, 7), min_size=1, max_size=5), min_size=1, max_size=12))
def test_one_of_those_stays_whose_rows_nobody_else_has_all_of(rows: list[frozenset[int]]) -> None:
    people = sorted(frozenset().union(*rows))
    numbered = [sorted(people.index(person) for person in row) for row in rows]
    owned = [
        {place for place, row in enumerate(numbered) if person in row}
        for person in range(len(people))
    ]
    kept = find_undominated(
        np.array([place for place, row in enumerate(numbered) for _ in row]),
        np.array([person for row in numbered for person in row]),
    )
    for person, mine in enumerate(owned):
        larger = any(mine < other for other in owned)
        twins = [twin for twin, other in enumerate(owned) if other == mine]
        assert kept[person] == (not larger and person == twins[0])


def test_people_within_others_and_rows_of_one_need_no_solver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dual_certificate, "METHODS", ())
    # Reviews 100 to 129 of reviewers 0 to 4, each about one of the products of its reviewer.
    rows = [(frozenset({100 + n, n % 5, 50 + n % 5}), 3, 0) for n in range(30)]
    caps = (1, 4, 16, 64)
    found = program_totals(incidence(rows), caps)
    assert found == tuple(5 * min(cap, 18) * GRAIN for cap in caps)


@pytest.mark.parametrize("width", [WIDEST, WIDEST + 1])
def test_rows_of_many_people_are_solved_as_they_are(width: int) -> None:
    rows: list[Row] = [
        (frozenset(range(start, start + width)), 5, 0) for start in (0, 0, 3, 6, width)
    ]
    (found,) = program_totals(incidence(rows), (4,))
    assert abs(found - optimum(rows, 4, shown=False) * GRAIN) < rounding(4, GRAIN) + 1e-5


def test_what_is_dropped_under_a_cap_is_counted_in_full_under_larger_ones() -> None:
    shares = PackingRows(np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1]), np.array([2, 3, 40]))
    found = [(cap, free, rest.rows.size) for cap, free, rest in presolve(shares, (64, 4, 16))]
    # One person has 45: nothing is left for a solver under any cap, as the other is within her.
    assert found == [(4, 4, 0), (16, 16, 0), (64, 45, 0)]


def test_rows_are_merged_by_their_people_also_where_their_numbers_are_large() -> None:
    rng = np.random.default_rng(5)
    sets = np.sort(rng.integers(0, 2**20, (40, 4)), axis=1)
    sets[20:] = sets[:20]
    rows = np.repeat(np.arange(40), 4)
    merged = PackingRows(rows, sets.reshape(-1), np.full(40, 2**39)).merge_equal(2**40)
    assert merged.weights.tolist() == [2**40] * 20
    assert {tuple(each) for each in merged.people.reshape(20, 4)} == {tuple(each) for each in sets}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**50)), max_size=20))
def test_sums_are_those_of_plain_numbers(pairs: list[tuple[int, int]]) -> None:
    places = np.array([pair[0] for pair in pairs], dtype=np.int64)
    amounts = np.array([pair[1] for pair in pairs], dtype=np.int64)
    assert exact_sum(amounts) == sum(pair[1] for pair in pairs)
    sums: dict[int, Any] = {}
    for place, amount in pairs:
        sums[place] = sums.get(place, 0) + amount
    for place, total in enumerate(capped_sums(places, amounts, 2**41)):
        assert total == min(sums.get(place, 0), 2**41)
