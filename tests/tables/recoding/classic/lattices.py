"""The worked tables of the literature as lattices, and what exhaustion says of any lattice."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import polars as pl
from tests.tables.recoding.plain import Path, Row

from celosia import datasets
from celosia.tables import Column, Dates, KAnonymity, Role, Tree
from celosia.tables.coded_table import code_column
from celosia.tables.hierarchies import Builder
from celosia.tables.recoding import Lattice

Node = tuple[int, ...]
Table = tuple[list[list[Path]], list[Row]]

RULES: dict[str, Builder] = {
    "ethnic": Tree(["rapanui", "mapuche", "atacameño"], root="person"),
    "birth": Dates(levels=("month", "year"), format="%d/%m/%y", century=1900),
    "sex": Tree(["female", "male"], root="not reported"),
    "postal": Tree(
        {"05340": ["05345", "05349"], "05350": ["05351", "05352", "05356"]}, root="05300"
    ),
    "marital": Tree(
        {"ever married": ["married", "divorced", "widowed"], "never married": ["single"]},
        root="not reported",
    ),
}


def lattice_of(table: pl.DataFrame) -> Lattice:
    return Lattice(
        [
            code_column(table[name], Column(name, Role.QUASI_IDENTIFIER, hierarchy=RULES[name]))
            for name in table.columns
        ]
    )


def twelve() -> Lattice:
    """Two columns, 6 nodes (specification, 5.2)."""
    return lattice_of(datasets.examples.ethnic_postal())


def eleven(columns: Iterable[str] = RULES) -> Lattice:
    """Five columns, 144 nodes (5.3)."""
    return lattice_of(datasets.examples.five_attributes().select(list(columns)))


def ten() -> Lattice:
    """The same without its last row."""
    return lattice_of(datasets.examples.five_attributes().head(10))


def eight() -> Lattice:
    """Two columns and a choice of suppressions (5.4)."""
    return lattice_of(datasets.examples.suppression_example())


def nodes(lattice: Lattice) -> list[Node]:
    return list(product(*(range(levels) for levels in lattice.shape)))


def lowest(good: Iterable[Node]) -> set[Node]:
    """The minimal elements, by definition."""
    found = set(good)
    return {
        node
        for node in found
        if not any(o != node and all(a <= b for a, b in zip(o, node, strict=True)) for o in found)
    }


def loss(lattice: Lattice, node: Node, k: int) -> float:
    return lattice.loss.total(lattice.evaluate(node, [KAnonymity(k)]).leaf_sums)
