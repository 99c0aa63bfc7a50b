"""Queries compile to the algebra that `golden.txt` shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.queries.sql.shop import POLICY

from celosia.core.messages import speaking
from celosia.queries.algebra import DerivedTable, Scan, UnionAll, aliases, walk
from celosia.queries.sql import compile, describe

GOLDEN = Path(__file__).with_name("golden.txt")
HEAD, *PAIRS = GOLDEN.read_text("utf-8").rstrip("\n").split("\n\n")
CASES = [pair.split("\n=>\n") for pair in PAIRS]


@pytest.mark.parametrize(("query", "expected"), CASES, ids=[query[:60] for query, _ in CASES])
def test_a_query_compiles_to_its_algebra(query: str, expected: str) -> None:
    assert str(describe(compile(query, POLICY))) == expected


@pytest.mark.parametrize("query", [query for query, _ in CASES])
def test_every_alias_is_used_once(query: str) -> None:
    named = [
        part.alias
        for part in walk(compile(query, POLICY).source)
        if isinstance(part, Scan | DerivedTable | UnionAll)
    ]
    assert len(named) == len(set(named))
    assert aliases(compile(query, POLICY).source) <= set(named)


def test_a_line_is_plain_values_for_programs() -> None:
    line = describe(compile("SELECT COUNT(*) FROM orders", POLICY))
    assert line.as_dict() == {
        "text": "answer count",
        "below": [
            {"text": "count = rows()", "below": []},
            {"text": "scan orders as orders", "below": []},
        ],
    }


def test_a_question_is_described_in_spanish() -> None:
    query = "SELECT status, SUM(price) AS total FROM orders GROUP BY status ORDER BY total DESC"
    with speaking("es"):
        lines = str(describe(compile(query, POLICY))).splitlines()
    assert lines == [
        "responder status, total",
        "  total = suma(orders.price)",
        "  por status = orders.status",
        "  ordenar por total descendente",
        "  leer orders como orders",
    ]


def regenerate() -> None:
    """Write what the queries compile to now; read the difference before keeping it."""
    pairs = [f"{query}\n=>\n{describe(compile(query, POLICY))}" for query, _ in CASES]
    GOLDEN.write_text("\n\n".join([HEAD, *pairs]) + "\n", "utf-8")


if __name__ == "__main__":
    regenerate()
