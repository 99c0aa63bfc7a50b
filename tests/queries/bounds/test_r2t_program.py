"""The linear program of self-joins against exact vertices, and its sensitivity as it is used."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError, PrivacyError
from celosia.core.progress import Step
from celosia.queries.bounds import dual_certificate
from celosia.queries.bounds.cap_ladder import rounding, shifts
from celosia.queries.bounds.caps import capped_totals, ladder
from celosia.queries.bounds.r2t_program import Incidence, program_totals

GRAIN = 16
Row = tuple[frozenset[int], int, int]


def incidence(rows: list[Row], *, distinct: bool = False) -> Incidence:
    """Rows of (people, amount, result)."""
    pairs = [(place, person) for place, row in enumerate(rows) for person in row[0]]
    return Incidence(
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
        [row[1] for row in rows],
        [row[2] for row in rows] if distinct else None,
    )


def best_vertex(rows: list[Row], cap: int, *, distinct: bool) -> Fraction:
    """The optimum in exact fractions: the best of all feasible crossings of the constraints."""
    size = len(rows)
    limits = [([-Fraction(i == j) for j in range(size)], Fraction(0)) for i in range(size)]
    for result in {row[2] if distinct else i for i, row in enumerate(rows)}:
        inside = [Fraction((row[2] if distinct else i) == result) for i, row in enumerate(rows)]
        limits.append((inside, Fraction(1 if distinct else rows[result][1])))
    for person in {person for row in rows for person in row[0]}:
        limits.append(([Fraction(person in row[0]) for row in rows], Fraction(cap)))
    best = Fraction(0)
    for chosen in combinations(limits, size):
        point = crossing([[*left, right] for left, right in chosen])
        if point is not None and all(
            sum(a * x for a, x in zip(left, point, strict=True)) <= right for left, right in limits
        ):
            best = max(best, sum(point, Fraction(0)))
    return best


def crossing(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    size = len(matrix)
    for column in range(size):
        pivot = next((r for r in range(column, size) if matrix[r][column]), None)
        if pivot is None:
            return None
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        top = matrix[column]
        matrix[column] = [value / top[column] for value in top]
        for other in range(size):
            if other != column and matrix[other][column]:
                factor = matrix[other][column]
                matrix[other] = [
                    a - factor * b for a, b in zip(matrix[other], matrix[column], strict=True)
                ]
    return [row[-1] for row in matrix]


ROW = st.tuples(st.frozensets(st.integers(0, 3), max_size=3), st.integers(0, 5), st.integers(0, 2))


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=4), st.integers(1, 6), st.booleans())
def test_the_optimum_is_that_of_the_best_vertex(rows: list[Row], cap: int, distinct: bool) -> None:
    (found,) = program_totals(incidence(rows, distinct=distinct), (cap,), grain=GRAIN)
    exact = best_vertex(rows, cap, distinct=distinct) * GRAIN
    assert abs(found - exact) < 1


@settings(max_examples=120, deadline=None)
@given(
    st.lists(ROW, max_size=10),
    st.lists(ROW, max_size=6),
    st.booleans(),
)
def test_a_person_with_rows_shared_with_others_moves_it_by_at_most_the_cap(
    rows: list[Row], hers: list[Row], distinct: bool
) -> None:
    added = [(row[0] | {9}, row[1], row[2]) for row in hers]
    caps = ladder(16)
    before = program_totals(incidence(rows, distinct=distinct), caps, grain=GRAIN)
    after = program_totals(incidence([*rows, *added], distinct=distinct), caps, grain=GRAIN)
    for cap, one, two in zip(caps, before, after, strict=True):
        assert -1 <= two - one <= cap * GRAIN + 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=30))
def test_rows_of_one_person_each_are_cut_off_person_by_person(pairs: list[tuple[int, int]]) -> None:
    rows = [(frozenset({person}), amount, 0) for person, amount in pairs]
    sums = np.zeros(6, dtype=np.int64)
    for person, amount in pairs:
        sums[person] += amount
    caps = ladder(32)
    found = program_totals(incidence(rows), caps, grain=GRAIN)
    for part, total in zip(found, capped_totals(sums, caps), strict=True):
        assert abs(part - total * GRAIN) < 1


def test_a_large_cap_counts_everything_and_rows_of_nobody_always_count() -> None:
    rows = [(frozenset({0, 1}), 7, 0), (frozenset(), 100, 1), (frozenset({1}), 5, 0)]
    assert program_totals(incidence(rows), (1, 64), grain=GRAIN)[1] == 112 * GRAIN
    assert program_totals(incidence(rows, distinct=True), (1,), grain=GRAIN) == (2 * GRAIN,)


def test_a_person_twice_in_a_row_counts_once() -> None:
    twice = Incidence([0, 0, 1], [0, 0, 0], [3, 1])
    once = Incidence([0, 1], [0, 0], [3, 1])
    assert program_totals(twice, (1, 2, 4)) == program_totals(once, (1, 2, 4))


def test_a_random_graph_is_solved_to_proof_and_is_concave() -> None:
    rng = np.random.default_rng(3)
    ends = rng.zipf(1.6, (4000, 2)) % 500
    rows = np.repeat(np.arange(4000), 2)
    caps = ladder(1024)
    seen: list[Step] = []
    totals = program_totals(
        Incidence(rows, ends.reshape(-1), np.ones(4000, dtype=np.int64)), caps, progress=seen.append
    )
    assert seen[-1].done == seen[-1].total == len(caps)
    slopes = np.diff([0, *totals]) / np.diff([0, *caps])
    assert (np.diff(slopes) <= 2).all()  # rounding by less than a part at either end
    assert totals[-1] <= 4000 * GRAIN


SHARED = st.tuples(st.integers(0, 5), st.frozensets(st.integers(0, 7), max_size=1))


@settings(max_examples=100, deadline=None)
@given(st.lists(SHARED, min_size=1, max_size=30), st.integers(1, 3), st.integers(0, 7), st.data())
def test_results_of_one_person_in_common_are_a_flow(
    rows: list[tuple[int, frozenset[int]]], cap: int, shift: int, data: st.DataObject
) -> None:
    """A row shows a result that belongs to a person, or to nobody, and may have one more."""
    homes = [frozenset({each % 3 + shift}) if each < 4 else frozenset() for each in range(6)]
    people = [homes[result] | other for result, other in rows]
    kept = [place for place, each in enumerate(people) if each]
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=6, max_size=6)))
    _, results = np.unique([rows[place][0] for place in kept], return_inverse=True)
    shown = weights[sorted({rows[place][0] for place in kept})]
    names = sorted(set().union(*people))
    pairs = [(row, names.index(one)) for row, place in enumerate(kept) for one in people[place]]
    if not pairs:
        return
    row, person = np.array(sorted(pairs)).T
    solved = dual_certificate.solve_results_by_flow(row, person, results, shown, cap)
    assert solved is not None
    program = dual_certificate.Program(row, person, results, shown, cap)
    low = dual_certificate._primal_bound(program, len(names), solved[0])
    high = dual_certificate._dual_bound(program, solved[1])
    assert low == high  # the flow and the prices prove each other: no solver's floats


def test_results_without_a_person_in_common_are_no_flow() -> None:
    row, person = np.array([(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 2)]).T
    results, weights = np.zeros(3, dtype=np.int64), np.ones(1, dtype=np.int64)
    assert dual_certificate.solve_results_by_flow(row, person, results, weights, 1) is None


def test_once_all_results_fit_larger_caps_need_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[int, str]] = []
    right = dual_certificate._solve

    def watched(program: Any, people: int, method: str) -> Any:
        tried.append((program.cap, method))
        return right(program, people, method)

    monkeypatch.setattr(dual_certificate, "_solve", watched)
    rows = [(frozenset({a, b}), 1, a) for a in range(40) for b in range(40) if a != b]
    caps = ladder(64)
    totals = program_totals(incidence(rows, distinct=True), caps, grain=GRAIN)
    assert totals[0] == 20 * GRAIN  # one half of each: every row belongs to two
    assert totals[1:] == tuple(
        40 * GRAIN // rounding(c, GRAIN) * rounding(c, GRAIN) for c in caps[1:]
    )
    assert tried == [(1, "spread"), (1, "flow"), (2, "spread")]


def test_a_solver_that_errs_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(frozenset({0, 1}), 1, 0), (frozenset({1, 2}), 1, 1), (frozenset({0, 2}), 1, 2)]
    right = dual_certificate._solve

    def wrong(*problem: Any) -> Any:
        solved = right(*problem)
        return None if solved is None else (solved[0] * 0.9, solved[1])

    monkeypatch.setattr(dual_certificate, "_solve", wrong)
    with pytest.raises(PrivacyError) as refused:
        program_totals(incidence(rows), (1,))
    assert refused.value.code == "CEL-Q092"
    monkeypatch.setattr(dual_certificate, "_solve", lambda *_: None)
    with pytest.raises(PrivacyError):
        program_totals(incidence(rows), (1,))


def test_numbers_that_do_not_fit_together_are_refused() -> None:
    for wrong in (
        ([0], [0, 1], [1]),
        ([1], [0], [1]),
        ([0], [-1], [1]),
        ([0], [0], [-1]),
        ([0], [0], [1], [0, 1]),
        ([0], [0], [1], None, [1]),
        ([0], [0], [1], [0], [-1]),
        ([0], [0], [1], [1], [1]),
    ):
        with pytest.raises(InputError) as refused:
            Incidence(*wrong)
        assert refused.value.key == "CEL-Q081.rows_and_people"


def test_a_row_beyond_the_cap_counts_for_the_cap_and_no_weight_is_too_large() -> None:
    heavy = [(frozenset({0, 1}), 2**50, 0), (frozenset({2, 3}), 2**50 - 1, 0)] * 40
    caps = ladder(2**40)
    found = program_totals(incidence(heavy), caps)
    for cap, total in zip(caps, found, strict=True):
        assert abs(total - 2 * cap * GRAIN) < rounding(cap, GRAIN)


WEIGHTED = st.lists(
    st.tuples(st.frozensets(st.integers(0, 4), max_size=3), st.integers(0, 3)), max_size=10
)


@settings(max_examples=40, deadline=None)
@given(WEIGHTED, WEIGHTED, st.lists(st.integers(0, 2**20), min_size=4, max_size=4))
def test_results_of_any_weight_move_by_at_most_the_cap(
    rows: list[tuple[frozenset[int], int]],
    hers: list[tuple[frozenset[int], int]],
    weights: list[int],
) -> None:
    def totals(shown: list[tuple[frozenset[int], int]]) -> tuple[int, ...]:
        pairs = [(place, person) for place, row in enumerate(shown) for person in row[0]]
        table = Incidence(
            [pair[0] for pair in pairs],
            [pair[1] for pair in pairs],
            [1] * len(shown),
            [row[1] for row in shown],
            weights,
        )
        return program_totals(table, caps)

    caps = (1, 5, 2**10, 2**18, 2**22)
    before, after = totals(rows), totals([*rows, *((row[0] | {9}, row[1]) for row in hers)])
    for cap, limit, one, two in zip(caps, shifts(caps, GRAIN), before, after, strict=True):
        assert -rounding(cap, GRAIN) <= two - one <= limit
    # Nobody has more than 4 weights below 2^20: the largest cap takes nothing.
    everything = sum(weights[result] for result in {row[1] for row in rows})
    assert abs(before[-1] - everything * GRAIN) < rounding(caps[-1], GRAIN)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.frozensets(st.integers(0, 4), min_size=1, max_size=2), st.integers(0, 2**42)),
        min_size=1,
        max_size=14,
    ),
    st.sampled_from([1, 3, 2**10, 2**31 - 1, 2**31, 2**40]),
)
def test_rows_of_two_people_are_solved_by_a_flow_alone(
    pairs: list[tuple[frozenset[int], int]], cap: int
) -> None:
    rows = [(people, amount, 0) for people, amount in pairs]
    table = incidence(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dual_certificate, "METHODS", ("flow",))
        (by_flow,) = program_totals(table, (cap,))
        patch.setattr(dual_certificate, "METHODS", ("highs-ipm", "highs"))
        (by_floats,) = program_totals(table, (cap,))
    # Both are less than a step away from the optimum, and multiples of it.
    assert abs(by_flow - by_floats) <= rounding(cap, GRAIN)


def test_the_flow_leaves_rows_of_three_people_to_others() -> None:
    # All threes of four people: nobody is within another.
    people = [person for three in combinations(range(4), 3) for person in three]
    triple = Incidence(np.repeat(np.arange(4), 3), people, [5] * 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dual_certificate, "METHODS", ("flow",))
        with pytest.raises(PrivacyError):
            program_totals(triple, (2,))
    assert program_totals(triple, (2,)) == (8 * GRAIN // 3,)


def test_steps_are_a_64th_of_the_cap_and_sensitivities_multiples_of_them() -> None:
    caps = ladder(1000)
    steps = [rounding(cap, GRAIN) for cap in caps]
    assert steps[:5] == [1, 1, 1, 2, 4]
    for cap, step, shift in zip(caps, steps, shifts(caps, GRAIN), strict=True):
        # The most by which multiples of the step can differ that are each less than a step off.
        reach = [n for n in range(0, cap * GRAIN + 2 * step, step) if n < cap * GRAIN + 2 * step]
        assert shift == reach[-1]
        assert shift <= cap * GRAIN * (1 + 1 / 32) or cap < 4
