"""The worked tables of the literature, node by node (specification, sections 5.2 to 5.5)."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest

from celosia import KAnonymity, datasets
from celosia.tables import Column, Dates, Intervals, Mask, Role, Schema, TableRelease, Tree, publish
from celosia.tables.coded_table import code_column
from celosia.tables.hierarchies import Builder
from celosia.tables.recoding import Lattice

Node = tuple[int, ...]

SIX_DECIMALS = 5e-7
"""Figures are printed with six decimals."""

ETHNIC = Tree(["rapanui", "mapuche", "atacameño"], root="person")
POSTAL = Tree({"05340": ["05345", "05349"], "05350": ["05351", "05352", "05356"]}, root="05300")
SEX = Tree(["female", "male"], root="not reported")
MARITAL = Tree(
    {"ever married": ["married", "divorced", "widowed"], "never married": ["single"]},
    root="not reported",
)
# All eleven are born in 1960-1964, so the interval of five years is the root.
BIRTH = Dates(levels=("month", "year"), format="%d/%m/%y", century=1900)
AGE = Intervals(bounds=((20, 30, 40, 60),), style="bracket")


def lattice_of(table: pl.DataFrame, rules: dict[str, Builder]) -> Lattice:
    return Lattice(
        [
            code_column(table[name], Column(name, Role.QUASI_IDENTIFIER, hierarchy=rule))
            for name, rule in rules.items()
        ]
    )


def nodes(lattice: Lattice) -> list[Node]:
    return list(product(*(range(levels) for levels in lattice.shape)))


def suppressed(lattice: Lattice, node: Node, k: int) -> int:
    return lattice.evaluate(node, [KAnonymity(k)]).suppressed


def satisfying(lattice: Lattice, k: int, max_sup: int = 0) -> list[Node]:
    return [node for node in nodes(lattice) if suppressed(lattice, node, k) <= max_sup]


def minimal(lattice: Lattice, k: int, max_sup: int = 0) -> set[Node]:
    """The satisfying nodes that have none below them: k-minimal generalisations."""
    good = satisfying(lattice, k, max_sup)
    return {
        node
        for node in good
        if not any(o != node and all(a <= b for a, b in zip(o, node, strict=True)) for o in good)
    }


def class_sizes(lattice: Lattice, node: Node) -> list[int]:
    return sorted(lattice.class_table(node).sizes.tolist())


@pytest.fixture
def two_columns() -> Lattice:
    return lattice_of(datasets.examples.ethnic_postal(), {"ethnic": ETHNIC, "postal": POSTAL})


@pytest.mark.parametrize(
    ("node", "classes", "size"),
    [
        ((0, 0), 12, 1),
        ((1, 0), 4, 3),
        ((0, 1), 6, 2),
        ((1, 1), 2, 6),
        ((0, 2), 3, 4),
        ((1, 2), 1, 12),
    ],
)
def test_two_columns_have_the_printed_classes_at_each_node(
    two_columns: Lattice, node: Node, classes: int, size: int
) -> None:
    assert class_sizes(two_columns, node) == [size] * classes


@pytest.mark.parametrize(
    ("node", "largest"),
    [((0, 0), 1), ((1, 0), 3), ((0, 1), 2), ((1, 1), 6), ((0, 2), 4), ((1, 2), 12)],
)
def test_two_columns_satisfy_the_printed_largest_k_at_each_node(
    two_columns: Lattice, node: Node, largest: int
) -> None:
    satisfied = [k for k in range(2, 14) if suppressed(two_columns, node, k) == 0]
    assert max(satisfied, default=1) == largest


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (2, {(1, 0), (0, 1)}),
        (3, {(1, 0), (0, 2)}),
        (4, {(1, 1), (0, 2)}),
        (5, {(1, 1)}),
        (6, {(1, 1)}),
        *((k, {(1, 2)}) for k in range(7, 13)),
        (13, set()),
    ],
)
def test_two_columns_have_the_printed_minimal_nodes(
    two_columns: Lattice, k: int, expected: set[Node]
) -> None:
    assert minimal(two_columns, k) == expected


FIVE: dict[str, Builder] = {
    "ethnic": ETHNIC,
    "birth": BIRTH,
    "sex": SEX,
    "postal": POSTAL,
    "marital": MARITAL,
}


@pytest.fixture
def eleven() -> Lattice:
    return lattice_of(datasets.examples.five_attributes(), FIVE)


@pytest.fixture
def ten() -> Lattice:
    return lattice_of(datasets.examples.five_attributes().head(10), FIVE)


def test_five_columns_have_144_nodes_of_which_13_are_two_anonymous(eleven: Lattice) -> None:
    assert eleven.nodes == 144
    assert len(satisfying(eleven, 2)) == 13


def test_five_columns_have_two_minimal_nodes(eleven: Lattice) -> None:
    assert minimal(eleven, 2) == {(0, 1, 1, 2, 2), (1, 3, 0, 1, 1)}


@pytest.mark.parametrize(
    ("node", "sizes"), [((0, 2, 1, 2, 2), [2, 2, 3, 4]), ((1, 3, 0, 1, 1), [2, 2, 3, 4])]
)
def test_the_two_printed_tables_of_five_columns_have_the_printed_classes(
    eleven: Lattice, node: Node, sizes: list[int]
) -> None:
    assert class_sizes(eleven, node) == sizes


def test_without_its_last_row_the_table_needs_only_the_day_hidden(ten: Lattice) -> None:
    assert len(satisfying(ten, 2)) == 108
    assert minimal(ten, 2) == {(0, 1, 0, 0, 0)}


def test_one_suppression_does_as_much_as_leaving_the_last_row_out(eleven: Lattice) -> None:
    assert minimal(eleven, 2, max_sup=1) == {(0, 1, 0, 0, 0)}
    class_of, sizes = (
        eleven.class_of_rows((0, 1, 0, 0, 0)),
        eleven.class_table((0, 1, 0, 0, 0)).sizes,
    )
    assert np.flatnonzero(sizes[class_of] < 2).tolist() == [10]


@pytest.fixture
def eight() -> Lattice:
    return lattice_of(datasets.examples.suppression_example(), {"ethnic": ETHNIC, "postal": POSTAL})


@pytest.mark.parametrize(
    ("node", "rows"),
    [
        ((0, 0), [4, 5, 6, 7]),
        ((1, 0), [5]),
        ((0, 1), [4, 7]),
        ((0, 2), [7]),
        ((1, 1), []),
        ((1, 2), []),
    ],
)
def test_the_printed_rows_are_suppressed_at_each_node(
    eight: Lattice, node: Node, rows: list[int]
) -> None:
    class_of, sizes = eight.class_of_rows(node), eight.class_table(node).sizes
    assert suppressed(eight, node, 2) == len(rows)
    assert np.flatnonzero(sizes[class_of] < 2).tolist() == rows


@pytest.mark.parametrize(
    ("max_sup", "expected", "others"),
    [
        (0, {(1, 1)}, {(1, 2)}),
        (1, {(1, 0), (0, 2)}, {(1, 1), (1, 2)}),
        (2, {(1, 0), (0, 1)}, {(0, 2), (1, 1), (1, 2)}),
        (3, {(1, 0), (0, 1)}, {(0, 2), (1, 1), (1, 2)}),
        (4, {(0, 0)}, {(1, 0), (0, 1), (0, 2), (1, 1), (1, 2)}),
    ],
)
def test_each_allowance_of_suppression_has_its_minimal_nodes(
    eight: Lattice, max_sup: int, expected: set[Node], others: set[Node]
) -> None:
    assert minimal(eight, 2, max_sup) == expected
    assert set(satisfying(eight, 2, max_sup)) - expected == others


def patients() -> TableRelease:
    schema = Schema.of(quasi_identifiers={"zip": Mask(), "age": AGE}, insensitive=["disease"])
    return publish(datasets.examples.patients(), schema, KAnonymity(3), suppression=0)


def test_patients_are_published_at_zip_2_and_age_1() -> None:
    solution = patients().solution
    assert solution.levels == (2, 1)
    assert solution.loss == pytest.approx(0.369306, abs=SIX_DECIMALS)
    assert (solution.suppressed, solution.class_sizes) == (0, {3: 3})


def test_patients_are_published_with_the_printed_rows() -> None:
    assert Counter(patients().data.rows()) == Counter(
        {
            ("476**", "[20, 30[", "Heart Disease"): 3,
            ("476**", "[30, 40[", "Cancer"): 2,
            ("476**", "[30, 40[", "Heart Disease"): 1,
            ("479**", "[40, 60[", "Flu"): 1,
            ("479**", "[40, 60[", "Heart Disease"): 1,
            ("479**", "[40, 60[", "Cancer"): 1,
        }
    )


def test_patients_have_the_printed_loss_at_every_three_anonymous_node() -> None:
    lattice = lattice_of(datasets.examples.patients(), {"zip": Mask(), "age": AGE})
    losses = {
        node: lattice.loss.total(lattice.evaluate(node, [KAnonymity(3)]).leaf_sums)
        for node in satisfying(lattice, 3)
    }
    next_best = {(1, 2), (3, 1), (4, 1), (5, 1)}
    expected = {(2, 1): 0.369306} | dict.fromkeys(next_best, 0.581139)
    expected |= {(2, 2): 0.732051} | dict.fromkeys([(3, 2), (4, 2), (5, 2)], 1.0)
    assert losses == pytest.approx(expected, abs=SIX_DECIMALS)
