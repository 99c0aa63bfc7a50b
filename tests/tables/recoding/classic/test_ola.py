"""OLA finds the minimal nodes with few looks, and the optimum where nothing is suppressed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.classic.lattices import Node, Table, eight, eleven, loss, ten, twelve
from tests.tables.recoding.plain import exhaustive
from tests.tables.recoding.strategies import coded, tables

from celosia.tables import KAnonymity
from celosia.tables.recoding import Lattice, allowance, find_optimum
from celosia.tables.recoding.classic import minimal_nodes, ola


@settings(max_examples=150)
@given(tables(max_columns=4), st.integers(2, 6), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_ola_finds_the_minimal_nodes(table: Table, k: int, suppression: float) -> None:
    lattice = Lattice(coded(*table))
    if lattice.rows < k:
        return
    trace = ola(lattice, k, suppression=suppression)
    minimal = minimal_nodes(lattice, [KAnonymity(k)], suppression=suppression)
    assert {solution.node for solution in trace.solutions} == set(minimal)
    least = min(loss(lattice, node, k) for node in minimal)
    assert trace.best.loss == pytest.approx(least, abs=1e-12)  # equal losses are equally good


@settings(max_examples=80)
@given(tables(), st.integers(2, 5), st.sampled_from([0.0, 0.2]))
def test_each_look_is_true_and_settles_every_node_in_the_end(
    table: Table, k: int, suppression: float
) -> None:
    hierarchies, rows = table
    lattice = Lattice(coded(hierarchies, rows))
    if lattice.rows < k:
        return
    good = exhaustive(rows, hierarchies, k, allowance(suppression, len(rows)))
    trace = ola(lattice, k, suppression=suppression)
    for visit in trace.visits:
        assert visit.satisfies is (visit.node in good)
    assert sum(1 + visit.settled for visit in trace.visits) == lattice.nodes
    assert trace.checked == len(trace.visits)


@settings(max_examples=80)
@given(tables(), st.integers(2, 5))
def test_without_suppression_the_first_is_the_optimum(table: Table, k: int) -> None:
    lattice = Lattice(coded(*table))
    if lattice.rows < k:
        return
    found = find_optimum(lattice, [KAnonymity(k)], suppression=0.0)
    least = lattice.loss.total(found.best.leaf_sums)
    assert ola(lattice, k).best.loss == pytest.approx(least, abs=1e-12)  # rounding of roots


def test_with_suppression_the_optimum_may_be_above_the_minimal_nodes() -> None:
    # Four may go: the raw table is the only minimal node, and one step up saves two of the four.
    lattice = eight()
    trace = ola(lattice, 2, suppression=0.5)
    found = find_optimum(lattice, [KAnonymity(2)], suppression=0.5)
    assert [solution.node for solution in trace.solutions] == [(0, 0)]
    assert trace.best.loss == pytest.approx(0.5)
    assert found.best.node == (0, 1)
    assert found.score == pytest.approx(0.397542, abs=5e-7)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (2, {(1, 0), (0, 1)}),
        (3, {(1, 0), (0, 2)}),
        (4, {(1, 1), (0, 2)}),
        (5, {(1, 1)}),
        (6, {(1, 1)}),
        *((k, {(1, 2)}) for k in range(7, 13)),
    ],
)
def test_two_columns_have_the_printed_minimal_nodes(k: int, expected: set[Node]) -> None:
    assert {solution.node for solution in ola(twelve(), k).solutions} == expected


def test_five_columns_have_the_printed_minimal_nodes() -> None:
    assert [c.node for c in ola(eleven(), 2).solutions] == [(1, 3, 0, 1, 1), (0, 1, 1, 2, 2)]
    assert [c.node for c in ola(ten(), 2).solutions] == [(0, 1, 0, 0, 0)]
    assert [c.node for c in ola(eleven(), 2, suppression=0.1).solutions] == [(0, 1, 0, 0, 0)]


@pytest.mark.parametrize(
    ("max_sup", "expected"),
    [
        (0, {(1, 1)}),
        (1, {(1, 0), (0, 2)}),
        (2, {(1, 0), (0, 1)}),
        (3, {(1, 0), (0, 1)}),
        (4, {(0, 0)}),
    ],
)
def test_each_allowance_has_its_printed_minimal_nodes(max_sup: int, expected: set[Node]) -> None:
    trace = ola(eight(), 2, suppression=max_sup / 8)
    assert {solution.node for solution in trace.solutions} == expected


def test_tags_save_most_looks() -> None:
    trace = ola(eleven(), 2)
    assert trace.nodes == 144
    assert trace.checked == 26
    assert trace.visits[0].node == (1, 3, 1, 2, 2)  # does anything work at all?
    first_cut = trace.visits[1]
    assert sum(first_cut.node) == 4  # half of the nine steps
    assert first_cut.why == "half way from (0, 0, 0, 0, 0) to (1, 3, 1, 2, 2)"
