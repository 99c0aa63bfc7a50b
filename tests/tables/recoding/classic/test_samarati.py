"""Samarati's search finds the least height and all that work there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.classic.lattices import Node, Table, eight, eleven, ten, twelve
from tests.tables.recoding.plain import exhaustive
from tests.tables.recoding.strategies import coded, tables

from celosia.tables.recoding import Lattice, allowance
from celosia.tables.recoding.classic import samarati


@settings(max_examples=150)
@given(tables(), st.integers(2, 6), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_all_nodes_of_least_height_are_found(table: Table, k: int, suppression: float) -> None:
    hierarchies, rows = table
    if len(rows) < k:
        return
    good = exhaustive(rows, hierarchies, k, allowance(suppression, len(rows)))
    least = min(sum(node) for node in good)
    story = samarati(Lattice(coded(hierarchies, rows)), k, suppression=suppression)
    assert {choice.node for choice in story.found} == {n for n in good if sum(n) == least}
    for choice in story.found:
        assert choice.suppressed == good[choice.node].suppressed
        assert choice.loss == pytest.approx(good[choice.node].loss, abs=1e-9)


@settings(max_examples=80)
@given(tables(), st.integers(2, 5), st.sampled_from([0.0, 0.2]))
def test_no_node_is_looked_at_twice_and_verdicts_are_true(
    table: Table, k: int, suppression: float
) -> None:
    hierarchies, rows = table
    if len(rows) < k:
        return
    good = exhaustive(rows, hierarchies, k, allowance(suppression, len(rows)))
    story = samarati(Lattice(coded(hierarchies, rows)), k, suppression=suppression)
    seen = [visit.node for visit in story.visits]
    assert len(seen) == len(set(seen)) == story.checked <= story.nodes
    assert {visit.node for visit in story.visits if visit.satisfies} == good.keys() & set(seen)


@pytest.mark.parametrize(
    ("k", "expected"),
    [(2, {(0, 1), (1, 0)}), (3, {(1, 0)}), (4, {(0, 2), (1, 1)}), (6, {(1, 1)}), (7, {(1, 2)})],
)
def test_two_columns_have_their_least_nodes(k: int, expected: set[Node]) -> None:
    assert {choice.node for choice in samarati(twelve(), k).found} == expected


def test_five_columns_have_both_minimal_nodes_at_the_least_height() -> None:
    story = samarati(eleven(), 2)
    assert [choice.node for choice in story.found] == [(1, 3, 0, 1, 1), (0, 1, 1, 2, 2)]
    assert {choice.height for choice in story.found} == {6}
    assert [choice.node for choice in samarati(ten(), 2).found] == [(0, 1, 0, 0, 0)]
    assert [c.node for c in samarati(eleven(), 2, suppression=0.1).found] == [(0, 1, 0, 0, 0)]


@pytest.mark.parametrize(
    ("max_sup", "expected"),
    [(0, {(1, 1)}), (1, {(1, 0)}), (2, {(0, 1), (1, 0)}), (4, {(0, 0)})],
)
def test_a_minimal_node_may_be_higher_than_the_least(max_sup: int, expected: set[Node]) -> None:
    # With one suppression [0,2] is minimal as well, but has a step more than [1,0].
    story = samarati(eight(), 2, suppression=max_sup / 8)
    assert {choice.node for choice in story.found} == expected


def test_a_story_tells_how_heights_are_halved() -> None:
    story = samarati(eight(), 2, suppression=1 / 8)
    assert [(visit.node, visit.suppressed, visit.decision) for visit in story.visits] == [
        ((0, 1), 2, "too many: try the next"),
        ((1, 0), 1, "at most 1: height 1 works, try lower"),
        ((0, 0), 4, "too many: no node of height 0 works, go higher"),
    ]
    assert story.visits[0].why == "heights 0 to 3 are open"
