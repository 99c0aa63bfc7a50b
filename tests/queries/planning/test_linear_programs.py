"""Rows that the engine tells, as pairs of a linear program."""

from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.vaults import POLICY

from celosia.queries.bounds.caps import MOST
from celosia.queries.bounds.r2t_program import GRAIN, Incidence
from celosia.queries.planning import make_plan
from celosia.queries.planning.linear_programs import ToldRows
from celosia.queries.planning.r2t import R2TStep
from celosia.queries.request import QueryRequest


def read_incidence(rows: list[Any], tables: tuple[str, ...], **how: Any) -> Any:
    return ToldRows.read(rows, tables, **how).incidence()


Told = tuple[int, int, int, int]
TABLES = ("person", "shop", "person")
KEY = st.integers(0, 2**63 - 1) | st.integers(0, 3)


def parts(incidence: Incidence) -> list[list[int] | None]:
    """Everything that a program knows."""
    arrays = (incidence.rows, incidence.people, incidence.amounts, incidence.results)
    return [None if each is None else each.tolist() for each in (*arrays, incidence.weights)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(KEY, KEY, KEY, st.integers(1, 9)), max_size=12), st.randoms())
def test_keys_of_any_size_in_any_order_are_the_numbers_of_people(
    rows: list[Told], random: Random
) -> None:
    once = {row[:3]: row for row in rows}
    people = sorted({key for row in once for key in (row[0], row[2])})
    shops = sorted({row[1] for row in once})
    numbered = sorted(
        (people.index(one), shops.index(shop), people.index(other), weight)
        for one, shop, other, weight in once.values()
    )
    told = list(once.values())
    random.shuffle(told)
    found = parts(read_incidence(told, TABLES))
    assert found == parts(read_incidence(numbered, TABLES))
    expected = [
        (place, person)
        for place, (one, shop, other, _) in enumerate(numbered)
        for person in sorted({2 * one, 2 * shop + 1, 2 * other})
    ]
    assert list(zip(*found[:2], strict=True)) == expected
    assert found[2] == [row[3] for row in numbered]


def test_weights_beyond_64_bits_are_cut_off_and_those_of_the_other_sign_are_none() -> None:
    rows = [(0, Decimal(2**80)), (1, -(2**70)), (2, 7)]
    assert read_incidence(rows, ("person",)).amounts.tolist() == [MOST, 0, 7]
    assert read_incidence(rows, ("person",), sign=-1).amounts.tolist() == [0, MOST, 0]


def test_results_keep_their_weight_in_whatever_order_rows_are_told() -> None:
    rows = [(50, 2, 4), (30, 0, 1), (30, 2, 4), (50, 0, 1)]
    found = read_incidence(rows, ("person",), has_results=True)
    assert found.people.tolist() == [0, 0, 1, 1]
    assert found.results.tolist() == [0, 1, 0, 1]
    assert found.weights.tolist() == [1, 4]
    assert np.array_equal(found.amounts, [1, 4, 1, 4])


def test_no_rows_are_a_program_without_pairs() -> None:
    assert parts(read_incidence([], TABLES)) == [[], [], [], None, None]
    assert read_incidence([(5,)], ()).amounts.tolist() == [5]


@pytest.mark.parametrize(
    ("query", "grain"),
    [
        ("SELECT COUNT(*) FROM message", 1),  # sender and receiver
        ("SELECT SUM(o.balance) FROM message m JOIN orders o ON o.person = m.sender", 1),
        ("SELECT COUNT(DISTINCT sender) FROM message", 1),  # an owner is the value
        ("SELECT COUNT(DISTINCT p.town) FROM message m JOIN person p ON p.id = m.sender", GRAIN),
        (
            "SELECT COUNT(*) FROM message m JOIN message w ON m.receiver = w.sender",
            GRAIN,
        ),  # three owners
        (
            "SELECT COUNT(*) FROM person p WHERE EXISTS "
            "(SELECT 1 FROM message m WHERE m.receiver = p.id)",
            GRAIN,  # rows before a join have numbers that depend on who is there
        ),
    ],
)
def test_the_question_says_which_rows_are_filled_in_turn(query: str, grain: int) -> None:
    (step,) = make_plan(QueryRequest(query, epsilon=1), POLICY).steps
    assert isinstance(step, R2TStep)
    assert step.mechanism.grain == grain
