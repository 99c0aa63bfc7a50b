"""Incognito finds every node that works, and says what that took."""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.classic.lattices import Node, Table, eight, eleven, nodes, ten, twelve
from tests.tables.recoding.plain import Path, Row, exhaustive
from tests.tables.recoding.strategies import coded, tables

from celosia.tables import KAnonymity
from celosia.tables.recoding import Lattice, allowance, find_optimum
from celosia.tables.recoding.classic import incognito


@settings(max_examples=150)
@given(tables(), st.integers(2, 6), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_incognito_finds_what_exhaustion_finds(table: Table, k: int, suppression: float) -> None:
    hierarchies, rows = table
    if len(rows) < k:
        return
    good = exhaustive(rows, hierarchies, k, allowance(suppression, len(rows)))
    trace = incognito(Lattice(coded(hierarchies, rows)), k, suppression=suppression)
    assert {solution.node for solution in trace.solutions} == good.keys()
    for solution in trace.solutions:
        assert solution.suppressed == good[solution.node].suppressed
        assert solution.loss == pytest.approx(good[solution.node].loss, abs=1e-9)


@settings(max_examples=80)
@given(tables(), st.integers(2, 5), st.sampled_from([0.0, 0.2, 1.0]))
def test_the_first_of_all_is_the_optimum(table: Table, k: int, suppression: float) -> None:
    lattice = Lattice(coded(*table))
    if lattice.rows < k:
        return
    trace = incognito(lattice, k, suppression=suppression)
    found = find_optimum(lattice, [KAnonymity(k)], suppression=suppression)
    # Roots and products round differently in the last digits.
    assert trace.best.loss == pytest.approx(lattice.loss.total(found.best.leaf_sums), abs=1e-12)


@settings(max_examples=60)
@given(tables(), st.integers(2, 5), st.sampled_from([0.0, 0.2]))
def test_a_look_at_some_columns_is_a_look_at_the_table_of_these_columns(
    table: Table, k: int, suppression: float
) -> None:
    columns = coded(*table)
    lattice = Lattice(columns)
    if lattice.rows < k:
        return
    trace = incognito(lattice, k, suppression=suppression)
    for visit in trace.visits:
        part = Lattice([column for column in columns if column.name in visit.columns])
        assert part.evaluate(visit.node, [KAnonymity(k)]).suppressed == visit.suppressed


@settings(max_examples=60)
@given(tables(), st.integers(2, 5))
def test_every_subset_is_counted(table: Table, k: int) -> None:
    lattice = Lattice(coded(*table))
    if lattice.rows < k:
        return
    trace = incognito(lattice, k)
    levels = dict(zip(trace.columns, lattice.shape, strict=True))
    looks = Counter(visit.columns for visit in trace.visits)
    assert len(trace.tallies) == 2 ** len(levels) - 1
    for tally in trace.tallies:
        assert tally.nodes == prod(levels[name] for name in tally.columns)
        assert tally.checked == looks[tally.columns] <= tally.nodes
    assert trace.nodes == prod(number + 1 for number in lattice.shape) - 1


def test_a_grouped_table_has_the_same_nodes() -> None:
    hierarchies: list[list[Path]] = [[("a", "*"), ("b", "*")], [("x", "*"), ("y", "*")]]
    rows: list[Row] = [("a", "x"), ("b", "x"), ("b", "y")]
    counts = np.array([3, 1, 2])
    spread = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    grouped = incognito(Lattice(coded(hierarchies, rows), counts), 2, suppression=0.2)
    assert grouped == incognito(Lattice(coded(hierarchies, spread)), 2, suppression=0.2)


def test_five_columns_have_the_printed_number_of_nodes_that_work() -> None:
    assert len(incognito(eleven(), 2).solutions) == 13
    assert len(incognito(ten(), 2).solutions) == 108
    assert len(incognito(eleven(), 2, suppression=0.1).solutions) == 108


def test_small_subsets_save_most_looks() -> None:
    trace = incognito(eleven(), 2)
    assert trace.nodes == 719  # 3 * 5 * 3 * 4 * 4 - 1 nodes over all subsets
    assert trace.checked == 64
    assert trace.tallies[-1].nodes == 144
    assert trace.tallies[-1].checked == 2  # what is left over all five is settled by two looks


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (2, {(1, 0), (0, 1), (1, 1), (0, 2), (1, 2)}),
        (3, {(1, 0), (0, 2), (1, 1), (1, 2)}),
        (7, {(1, 2)}),
    ],
)
def test_two_columns_have_the_printed_generalisations(k: int, expected: set[Node]) -> None:
    assert {solution.node for solution in incognito(twelve(), k).solutions} == expected


@pytest.mark.parametrize(
    ("max_sup", "missing"),
    [
        (0, {(0, 0), (1, 0), (0, 1), (0, 2)}),
        (1, {(0, 0), (0, 1)}),
        (2, {(0, 0)}),
        (3, {(0, 0)}),
        (4, set()),
    ],
)
def test_nodes_above_the_printed_threshold_are_left_out(max_sup: int, missing: set[Node]) -> None:
    trace = incognito(eight(), 2, suppression=max_sup / 8)
    assert set(nodes(eight())) - {solution.node for solution in trace.solutions} == missing


def test_a_trace_goes_from_single_columns_to_all() -> None:
    trace = incognito(eight(), 2)
    assert [(visit.columns, visit.node, visit.satisfies) for visit in trace.visits] == [
        (("ethnic",), (0,), False),
        (("ethnic",), (1,), True),
        (("postal",), (0,), False),
        (("postal",), (1,), True),
        (("ethnic", "postal"), (1, 1), True),
    ]
    assert [visit.settled for visit in trace.visits] == [0, 0, 0, 1, 1]
