"""Three tables of three or four rows: counts, true sensitivities and bounds that a hand can check.

The true local sensitivity is found by trying all rows over {1, 2, 3, 4}^2 in every table, with a
counting of joins that knows nothing of bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from celosia.core.messages import Message
from celosia.core.neighbours import CHANGE_ONE
from celosia.core.progress import Progress
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.sql.flex import FlexFacts
from celosia.lab.tolerance import Tolerance
from celosia.queries.algebra import Aggregate, Column, Join, Question, Relation, Scan
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.stability import Rule

compare_equal, _ = comparing("program")

Pair = tuple[int, int]
Tables = dict[str, tuple[Pair, ...]]

TABLES: Tables = {
    "A": ((1, 1), (1, 2), (2, 2)),
    "B": ((1, 1), (2, 1), (2, 2), (2, 3)),
    "C": ((1, 1), (1, 2), (3, 1)),
}
DOMAIN: tuple[Pair, ...] = tuple(product((1, 2, 3, 4), (1, 2, 3, 4)))


@dataclass(frozen=True, slots=True)
class Case:
    """A join of the tables, and what was published of it."""

    name: str
    tables: str
    """One letter a relation, joined from left to right."""
    keys: tuple[tuple[str, ...], ...]
    """For each join pairs such as `0y=1x`: column y of the first relation, x of the second."""
    count: int
    added: int
    """The local sensitivity if a row is added or removed."""
    changed: int
    bounds: tuple[int, int, int]
    """At distances 0, 1 and 2."""


CASES = (
    Case(Message("lab.sql.a_b_on_x"), "AB", (("0x=1x",),), 5, 3, 3, (3, 4, 5)),
    Case(Message("lab.sql.a_with_itself_on_x_x"), "AA", (("0x=1x",),), 5, 5, 4, (5, 7, 9)),
    Case(Message("lab.sql.a_with_itself_on_y_x"), "AA", (("0y=1x",),), 4, 4, 2, (5, 7, 9)),
    Case(Message("lab.sql.a_b_on_x_and_y"), "AB", (("0x=1x", "0y=1y"),), 2, 1, 1, (2, 3, 4)),
    Case(Message("lab.sql.path_a_b_c"), "ABC", (("0y=1x",), ("1y=2x",)), 8, 4, 4, (6, 12, 20)),
    Case(Message("lab.sql.star_a_b_c"), "ABC", (("0x=1x",), ("0x=2x",)), 4, 4, 4, (6, 12, 20)),
    Case(Message("lab.sql.path_a_b_a"), "ABA", (("0y=1x",), ("1y=2x",)), 8, 7, 5, (13, 25, 41)),
)


def rows(progress: Progress) -> list[Row]:
    """Counts, local sensitivities and bounds of all cases, and that ours is between them."""
    return [row for case in CASES for row in _one(case)]


def _one(case: Case) -> Iterator[Row]:
    run = Message("lab.sql.by_hand", name=case.name)
    yield compare_equal(run, "lab.sparql.count", case.count, count_rows(case, TABLES))
    yield compare_equal(
        run, "lab.sql.local_sensitivity_add_or_remove", case.added, _largest(case, _added())
    )
    yield compare_equal(
        run, "lab.sql.local_sensitivity_change", case.changed, _largest(case, _changed())
    )
    for distance, number in enumerate(case.bounds):
        found = bound(case, distance, "elastic")
        yield compare_equal(
            run,
            Message("lab.sql.elastic_sensitivity_at_distance", distance=distance),
            number,
            found,
        )
    why = Message("lab.tolerance.true_to_published_bound")
    limits = Tolerance(least=case.added, most=case.bounds[0], why=why)
    cell, ours = Message("lab.sql.our_bound_at_distance_0"), bound(case, 0, "tight")
    yield compare(run, cell, case.bounds[0], ours, limits, kind="program")


def count_rows(case: Case, tables: Tables) -> int:
    """How many rows the join of a case has, by trying all combinations."""
    tests = [(int(k[0]), "xy".index(k[1]), int(k[3]), "xy".index(k[4])) for k in sum(case.keys, ())]
    return sum(
        all(rows[i][a] == rows[j][b] for i, a, j, b in tests)
        for rows in product(*(tables[name] for name in case.tables))
    )


def bound(case: Case, distance: int, rule: Rule) -> int:
    """The elastic sensitivity of a case, by the published rule or by ours."""
    source: Relation = Scan(case.tables[0], "r0")
    for place, keys in enumerate(case.keys, start=1):
        pairs = tuple((Column(f"r{k[0]}", k[1]), Column(f"r{k[3]}", k[4])) for k in keys)
        source = Join(source, Scan(case.tables[place], f"r{place}"), pairs)
    count = Aggregate("rows", "n")
    facts = FlexFacts(_frequencies())
    found = elastic_sensitivity(
        Question(source, (count,)), count, facts=facts, neighbours=CHANGE_ONE, rule=rule
    )
    return int(found.at(distance))


def _frequencies() -> dict[tuple[str, str], int]:
    return {
        (table, name): max(Counter(row[place] for row in rows).values())
        for table, rows in TABLES.items()
        for place, name in enumerate("xy")
    }


def _added() -> Iterator[Tables]:
    for table, present in TABLES.items():
        for row in DOMAIN:
            yield {**TABLES, table: (*present, row)}
        for place in range(len(present)):
            yield {**TABLES, table: present[:place] + present[place + 1 :]}


def _changed() -> Iterator[Tables]:
    for table, present in TABLES.items():
        for place, row in product(range(len(present)), DOMAIN):
            yield {**TABLES, table: (*present[:place], row, *present[place + 1 :])}


def _largest(case: Case, neighbours: Iterator[Tables]) -> int:
    here = count_rows(case, TABLES)
    return max(abs(count_rows(case, tables) - here) for tables in neighbours)
