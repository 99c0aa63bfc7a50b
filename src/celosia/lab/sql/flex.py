"""The arithmetic of FLEX and of the thesis that ran it, as published: for comparison only.

Two things differ from what Celosía answers with. The search for the distance ends at the first
decrease, which misses the maximum of some joins; and all of it is floats. Neither may be used to
protect anybody.

Reference: Johnson, Near & Song 2018 and its public code; a thesis of the Universidad Técnica
Federico Santa María (2018), whose SQL experiments run that code on TPC-H at scale factor 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from types import MappingProxyType

from celosia.queries.algebra import Aggregate, Column, Join, Question, Relation, Scan
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.growth import Growth

THESIS_ROWS = 3_000_000
"""The orders of TPC-H at scale factor 2, from which the thesis takes its delta."""
THESIS_FREQUENCIES: Mapping[tuple[str, str], int] = MappingProxyType(
    {
        ("orders", "custkey"): 44,
        ("customer", "custkey"): 1,
        ("orders", "orderkey"): 1,
        ("lineitem", "orderkey"): 1,  # 7 in truth
        ("lineitem", "partkey"): 1,
        ("partsupp", "partkey"): 1,
        ("partsupp", "suppkey"): 1,
        ("supplier", "suppkey"): 1,
    }
)
"""The frequencies that the thesis gave to FLEX, right or wrong."""

_CHAIN = (
    ("customer", "orders", "custkey"),
    ("lineitem", "orders", "orderkey"),
    ("partsupp", "lineitem", "partkey"),
    ("supplier", "partsupp", "suppkey"),
)


@dataclass(frozen=True, slots=True)
class FlexFacts:
    """Frequencies without caps, and tables that are public: the metadata of FLEX."""

    frequencies: Mapping[tuple[str, str], int]
    public: frozenset[str] = frozenset()

    def is_public(self, table: str) -> bool:
        """Whether the table is listed."""
        return table in self.public

    def frequency(self, table: str, column: str) -> int | None:
        """The listed frequency."""
        return self.frequencies.get((table, column))

    def cap(self, table: str, column: str) -> int | None:
        """None: FLEX has no caps."""
        return None

    def displaced_rows(self, table: str) -> int:
        """None: nothing is left out."""
        return 0

    def key(self, table: str) -> frozenset[str]:
        """None: FLEX knows single columns only."""
        return frozenset()

    def containing_table(self, table: str) -> str | None:
        """None: no table of FLEX is a part of another."""
        return None


def flex_beta(epsilon: float, delta: float) -> float:
    """Epsilon / (2 ln(2 / delta)), whatever the number of cells."""
    return epsilon / (2 * log(2 / delta))


def flex_smooth(growth: Growth, *, epsilon: float, delta: float) -> tuple[float, int]:
    """The smooth bound of FLEX and its distance: the search ends at the first decrease.

    >>> from celosia.queries.bounds.growth import Leaf
    >>> flex_smooth(Leaf(250, grows=True), epsilon=0.1, delta=1e-8)
    (270.4590928149084, 132)
    """
    rate = flex_beta(epsilon, delta)
    best, distance = float(growth.at(0)), 0
    while (after := exp(-rate * (distance + 1)) * growth.at(distance + 1)) >= best > 0:
        best, distance = after, distance + 1
    return best, distance


def thesis_delta(rows: int = THESIS_ROWS) -> float:
    """n^(-0.1 ln n), for every epsilon.

    >>> f"{thesis_delta():.7e}"
    '2.1874684e-10'
    """
    return exp(-0.1 * log(rows) ** 2)


def thesis_question(joins: int) -> Question:
    """The count of distinct orders over the first 1 to 4 joins of the thesis."""
    source: Relation = Scan("orders", "orders")
    for table, earlier, key in _CHAIN[:joins]:
        source = Join(source, Scan(table, table), ((Column(earlier, key), Column(table, key)),))
    return Question(source, (Aggregate("distinct", "orders"),))


def thesis_sensitivity(joins: int, *, epsilon: float) -> tuple[float, int]:
    """What the thesis prints as sensitivity, and the distance that it comes from."""
    question = thesis_question(joins)
    growth = elastic_sensitivity(
        question, question.aggregates[0], facts=FlexFacts(THESIS_FREQUENCIES), rule="elastic"
    ).growth
    return flex_smooth(growth, epsilon=epsilon, delta=thesis_delta())
