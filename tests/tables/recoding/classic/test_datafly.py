"""Datafly takes the steps that its rule says, and pays for being greedy."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.classic.lattices import Node, Table, eight, eleven, loss, twelve
from tests.tables.recoding.plain import Path, Row, evaluate, generalise
from tests.tables.recoding.strategies import coded, tables

from celosia.tables import KAnonymity
from celosia.tables.recoding import Lattice, allowance
from celosia.tables.recoding.classic import datafly, minimal_nodes


def plain_datafly(hierarchies: list[list[Path]], rows: list[Row], k: int, allowed: int) -> Node:
    """The rule as it is written in the specification."""
    node = [0] * len(hierarchies)
    while evaluate(rows, hierarchies, node, k).suppressed > allowed:
        labels = generalise(rows, hierarchies, node)
        varied = [
            len({label[column] for label in labels}) if node[column] < len(paths[0]) - 1 else 0
            for column, paths in enumerate(hierarchies)
        ]
        node[varied.index(max(varied))] += 1
    return tuple(node)


@settings(max_examples=150)
@given(tables(), st.integers(2, 5), st.sampled_from([None, 0.0, 0.1, 0.5, 1.0]))
def test_datafly_ends_where_its_rule_leads(table: Table, k: int, suppression: float | None) -> None:
    hierarchies, rows = table
    if len(rows) < k:
        return
    allowed = k if suppression is None else allowance(suppression, len(rows))
    trace = datafly(Lattice(coded(hierarchies, rows)), k, suppression=suppression)
    node = plain_datafly(hierarchies, rows, k, min(allowed, len(rows) - 1))
    assert [solution.node for solution in trace.solutions] == [node]
    assert trace.best.suppressed == evaluate(rows, hierarchies, node, k).suppressed <= allowed


def test_k_records_may_be_suppressed_unless_something_else_is_said() -> None:
    assert datafly(eleven(), 2).allowed == 2
    assert datafly(eleven(), 2).best.node == (0, 1, 0, 0, 0)
    assert datafly(eight(), 2, suppression=0.5).allowed == 4


def test_a_trace_has_every_step_up() -> None:
    trace = datafly(eleven(), 2, suppression=0)
    assert [(visit.node, visit.suppressed) for visit in trace.visits] == [
        ((0, 0, 0, 0, 0), 11),
        ((0, 1, 0, 0, 0), 1),
        ((0, 2, 0, 0, 0), 1),
        ((0, 2, 0, 1, 0), 1),
        ((0, 2, 0, 1, 1), 1),
        ((1, 2, 0, 1, 1), 1),
        ((1, 3, 0, 1, 1), 0),
    ]
    assert [visit.satisfies for visit in trace.visits] == [False] * 6 + [True]
    assert "generalise 'birth', with most values (11)" in trace.visits[0].decision
    for before, after in pairwise(trace.visits):
        assert sum(after.node) == sum(before.node) + 1


def test_greed_is_not_minimal() -> None:
    # Three alike are asked for: Datafly ends at the very top, though sex could have been kept.
    lattice = eleven()
    trace = datafly(lattice, 3, suppression=0)
    assert trace.best.node == (1, 3, 1, 2, 2)
    assert trace.best.loss == pytest.approx(1.0)
    assert (1, 3, 0, 2, 2) in minimal_nodes(lattice, [KAnonymity(3)])
    assert loss(lattice, (1, 3, 0, 2, 2), 3) == pytest.approx(0.741101, abs=5e-7)


def test_the_order_of_columns_decides_ties() -> None:
    turned = datafly(eleven(["ethnic", "birth", "postal", "marital", "sex"]), 3, suppression=0)
    assert turned.best.node == (1, 3, 2, 2, 0)


def test_a_table_of_which_nothing_would_be_kept_is_no_end() -> None:
    trace = datafly(twelve(), 12)  # all twelve stand alone at first, and twelve may go
    assert trace.allowed == 11
    assert trace.best.node == (1, 2)
