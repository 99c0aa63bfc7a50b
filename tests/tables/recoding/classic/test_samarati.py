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
    trace = samarati(Lattice(coded(hierarchies, rows)), k, suppression=suppression)
    assert {solution.node for solution in trace.solutions} == {n for n in good if sum(n) == least}
    for solution in trace.solutions:
        assert solution.suppressed == good[solution.node].suppressed
        assert solution.loss == pytest.approx(good[solution.node].loss, abs=1e-9)


@settings(max_examples=80)
@given(tables(), st.integers(2, 5), st.sampled_from([0.0, 0.2]))
def test_no_node_is_looked_at_twice_and_verdicts_are_true(
    table: Table, k: int, suppression: float
) -> None:
    hierarchies, rows = table
    if len(rows) < k:
        return
    good = exhaustive(rows, hierarchies, k, allowance(suppression, len(rows)))
    trace = samarati(Lattice(coded(hierarchies, rows)), k, suppression=suppression)
    seen = [visit.node for visit in trace.visits]
    assert len(seen) == len(set(seen)) == trace.checked <= trace.nodes
    assert {visit.node for visit in trace.visits if visit.satisfies} == good.keys() & set(seen)


@pytest.mark.parametrize(
    ("k", "expected"),
    [(2, {(0, 1), (1, 0)}), (3, {(1, 0)}), (4, {(0, 2), (1, 1)}), (6, {(1, 1)}), (7, {(1, 2)})],
)
def test_two_columns_have_their_least_nodes(k: int, expected: set[Node]) -> None:
    assert {solution.node for solution in samarati(twelve(), k).solutions} == expected


def test_five_columns_have_both_minimal_nodes_at_the_least_height() -> None:
    trace = samarati(eleven(), 2)
    assert [solution.node for solution in trace.solutions] == [(1, 3, 0, 1, 1), (0, 1, 1, 2, 2)]
    assert {solution.height for solution in trace.solutions} == {6}
    assert [solution.node for solution in samarati(ten(), 2).solutions] == [(0, 1, 0, 0, 0)]
    assert [c.node for c in samarati(eleven(), 2, suppression=0.1).solutions] == [(0, 1, 0, 0, 0)]


@pytest.mark.parametrize(
    ("max_sup", "expected"),
    [(0, {(1, 1)}), (1, {(1, 0)}), (2, {(0, 1), (1, 0)}), (4, {(0, 0)})],
)
def test_a_minimal_node_may_be_higher_than_the_least(max_sup: int, expected: set[Node]) -> None:
    # With one suppression [0,2] is minimal as well, but has a step more than [1,0].
    trace = samarati(eight(), 2, suppression=max_sup / 8)
    assert {solution.node for solution in trace.solutions} == expected


def test_a_trace_tells_how_heights_are_halved() -> None:
    trace = samarati(eight(), 2, suppression=1 / 8)
    assert [(visit.node, visit.suppressed, visit.decision) for visit in trace.visits] == [
        ((0, 1), 2, "too many: try the next"),
        ((1, 0), 1, "at most 1: height 1 works, try lower"),
        ((0, 0), 4, "too many: no node of height 0 works, go higher"),
    ]
    assert trace.visits[0].why == "heights 0 to 3 are open"
