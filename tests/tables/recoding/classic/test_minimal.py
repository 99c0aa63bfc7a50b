"""Minimal nodes are those of the definition, and of the printed examples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.classic.lattices import (
    Node,
    Table,
    eight,
    eleven,
    lowest,
    nodes,
    ten,
    twelve,
)
from tests.tables.recoding.plain import Path, exhaustive, generalise
from tests.tables.recoding.strategies import coded, tables

from celosia.core.errors import Cancelled, InputError
from celosia.core.progress import Step
from celosia.tables import KAnonymity, Model
from celosia.tables.models import Classes, Verdict
from celosia.tables.recoding import Lattice, allowance
from celosia.tables.recoding.classic import largest_k, minimal_nodes, strategies


@dataclass(frozen=True)
class EvenSizes(Model):
    """A model that a larger class can break: classes of two or four, but not of three."""

    @property
    def smallest(self) -> int:
        return 2

    def judge(self, classes: Classes) -> Verdict:
        return Verdict(classes.sizes % 2 == 0, np.zeros_like(classes.sizes))

    def promise(self) -> str:
        return "even sizes"

    def protects(self) -> str:
        return "nothing"

    def leaves_open(self) -> tuple[str, ...]:
        return ()

    def as_dict(self) -> dict[str, Any]:
        return {"model": "even"}


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (2, ((0, 1), (1, 0))),
        (3, ((0, 2), (1, 0))),
        (4, ((0, 2), (1, 1))),
        (5, ((1, 1),)),
        (6, ((1, 1),)),
        *((k, ((1, 2),)) for k in range(7, 13)),
        (13, ()),
    ],
)
def test_two_columns_have_the_printed_minimal_nodes(k: int, expected: tuple[Node, ...]) -> None:
    assert minimal_nodes(twelve(), [KAnonymity(k)]) == expected


def test_two_columns_have_the_printed_largest_k_at_each_node() -> None:
    lattice = twelve()
    assert {node: largest_k(lattice, node) for node in nodes(lattice)} == {
        (0, 0): 1,
        (1, 0): 3,
        (0, 1): 2,
        (1, 1): 6,
        (0, 2): 4,
        (1, 2): 12,
    }


def test_five_columns_have_the_printed_minimal_nodes() -> None:
    two = [KAnonymity(2)]
    assert minimal_nodes(eleven(), two) == ((0, 1, 1, 2, 2), (1, 3, 0, 1, 1))
    assert minimal_nodes(ten(), two) == ((0, 1, 0, 0, 0),)
    assert minimal_nodes(eleven(), two, most_suppressed=1) == ((0, 1, 0, 0, 0),)
    assert minimal_nodes(eleven(), two, suppression=0.1) == ((0, 1, 0, 0, 0),)


@pytest.mark.parametrize(
    ("max_sup", "expected"),
    [
        (0, ((1, 1),)),
        (1, ((0, 2), (1, 0))),
        (2, ((0, 1), (1, 0))),
        (3, ((0, 1), (1, 0))),
        (4, ((0, 0),)),
        (8, ((0, 0),)),
    ],
)
def test_each_most_suppressed_has_its_printed_minimal_nodes(
    max_sup: int, expected: tuple[Node, ...]
) -> None:
    assert minimal_nodes(eight(), [KAnonymity(2)], most_suppressed=max_sup) == expected


def test_a_table_of_which_nothing_would_be_kept_is_no_answer() -> None:
    assert minimal_nodes(twelve(), [KAnonymity(2)], most_suppressed=12) == ((0, 1), (1, 0))
    assert minimal_nodes(twelve(), [KAnonymity(2)], suppression=1.0) == ((0, 1), (1, 0))


@settings(max_examples=150)
@given(tables(), st.integers(2, 6), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_minimal_nodes_are_those_of_the_definition(
    table: Table, k: int, suppression: float
) -> None:
    hierarchies, rows = table
    good = exhaustive(rows, hierarchies, k, allowance(suppression, len(rows)))
    found = minimal_nodes(
        Lattice(coded(hierarchies, rows)), [KAnonymity(k)], suppression=suppression
    )
    assert list(found) == sorted(lowest(good))


@settings(max_examples=100)
@given(tables(), st.sampled_from([0.0, 0.2, 0.6]))
def test_a_model_that_larger_classes_break_still_gets_its_minimal_nodes(
    table: Table, suppression: float
) -> None:
    lattice = Lattice(coded(*table))
    allowed = min(allowance(suppression, lattice.rows), lattice.rows - 1)
    good = [
        node
        for node in nodes(lattice)
        if lattice.evaluate(node, [EvenSizes()]).suppressed <= allowed
    ]
    found = minimal_nodes(lattice, [EvenSizes()], suppression=suppression)
    assert list(found) == sorted(lowest(good))


@settings(max_examples=80)
@given(tables(), st.data())
def test_the_largest_k_is_the_smallest_class(table: Table, data: st.DataObject) -> None:
    hierarchies, rows = table
    lattice = Lattice(coded(hierarchies, rows))
    node = data.draw(st.tuples(*(st.integers(0, levels - 1) for levels in lattice.shape)))
    released = generalise(rows, hierarchies, node)
    assert largest_k(lattice, node) == min(released.count(labels) for labels in released)


def test_strategies_are_the_printed_three_and_count_every_order_of_steps() -> None:
    assert strategies(twelve().shape) == 3
    for shape in [(1,), (4,), (2, 2), (3, 2, 2), (3, 1, 3)]:
        steps = [column for column, levels in enumerate(shape) for _ in range(levels - 1)]
        assert strategies(shape) == len(set(permutations(steps)))
    assert strategies(eleven().shape) == 15_120  # 9! / (3! 2! 2!)


@pytest.mark.parametrize("shape", [(2, 0), (2, -1), (2, 1.5), (True, 2)])
def test_a_shape_without_levels_is_refused(shape: tuple[Any, ...]) -> None:
    with pytest.raises(InputError) as refused:
        strategies(shape)
    assert refused.value.code == "CEL-P052"


@pytest.mark.parametrize("node", [(0,), (0, 0, 0), (0, 3), (-1, 0)])
def test_a_node_outside_the_lattice_is_refused(node: Node) -> None:
    with pytest.raises(InputError, match="is not a node") as refused:
        largest_k(twelve(), node)
    assert refused.value.code == "CEL-P052"


@pytest.mark.parametrize("most", [-1, 1.5, "one", True])
def test_a_number_of_records_out_of_range_is_refused(most: Any) -> None:
    with pytest.raises(InputError) as refused:
        minimal_nodes(twelve(), [KAnonymity(2)], most_suppressed=most)
    assert refused.value.code == "CEL-P053"


def test_a_lattice_too_large_to_walk_through_is_refused() -> None:
    paths: list[Path] = [(str(leaf), str(leaf // 2), str(leaf // 4), "*") for leaf in range(8)]
    lattice = Lattice(coded([paths] * 9, [("0",) * 9] * 3))
    with pytest.raises(InputError, match="262,144 nodes") as refused:
        minimal_nodes(lattice, [KAnonymity(2)])
    assert refused.value.code == "CEL-P051"


def test_the_walk_stops_when_told_to() -> None:
    def stop(step: Step) -> None:
        raise Cancelled()

    with pytest.raises(Cancelled):
        minimal_nodes(twelve(), [KAnonymity(2)], progress=stop)
