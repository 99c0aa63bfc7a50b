"""Codes drawn from conditional tables."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.randomness import Seeded
from celosia.tables.masking.draws import draw_codes, even_uniforms

TABLES = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=6)


@given(TABLES, st.lists(st.tuples(st.integers(0, 5), st.floats(0.001, 0.999)), max_size=20))
def test_a_code_is_where_a_number_falls_among_the_chances(
    table: list[list[int]], asked: list[tuple[int, float]]
) -> None:
    chances = np.array(table, dtype=float)
    cases = np.array([case % len(table) for case, _ in asked], dtype=np.int64)
    levels = np.array([level for _, level in asked], dtype=float)
    found = draw_codes(chances, cases, levels)
    for case, level, code in zip(cases, levels, found, strict=True):
        row = chances[case] if chances[case].sum() else np.ones(3)
        ends = np.cumsum(row) / row.sum()
        before = ends[code - 1] if code else 0.0
        assert before - 1e-9 <= level <= ends[code] + 1e-9
        assert row[code] > 0 or min(abs(ends - level)) < 1e-9


@given(st.lists(st.integers(0, 4), max_size=60), st.integers(0, 50))
def test_even_numbers_are_one_in_each_part_of_their_case(cases: list[int], seed: int) -> None:
    given_cases = np.array(cases, dtype=np.int64)
    found = even_uniforms(given_cases, Seeded(seed))
    for case in set(cases):
        mine = np.sort(found[given_cases == case])
        assert np.array_equal(np.floor(mine * mine.size), np.arange(mine.size))


def test_drawn_counts_differ_by_fewer_than_two_rows_from_the_expected() -> None:
    chances = np.array([[0.2, 0.3, 0.5]])
    cases = np.zeros(1001, dtype=np.int64)
    counts = np.bincount(draw_codes(chances, cases, even_uniforms(cases, Seeded(1))))
    assert np.all(np.abs(counts - 1001 * chances[0]) < 2)


def test_as_many_rows_as_are_counted_give_the_counts_themselves() -> None:
    counts = np.array([[7, 0, 13, 1, 979]])
    cases = np.zeros(1000, dtype=np.int64)
    found = draw_codes(counts.astype(float), cases, even_uniforms(cases, Seeded(1)))
    assert np.array_equal(np.bincount(found), counts[0])
