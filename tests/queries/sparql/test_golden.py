"""Queries compile to the algebra that `golden.txt` shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.queries.sparql.watdiv import POLICY

from celosia.queries.algebra import Filter, Join, Scan, aliases, walk
from celosia.queries.sparql import compile
from celosia.queries.sql import describe, normalise

GOLDEN = Path(__file__).with_name("golden.txt")
HEAD, *PAIRS = GOLDEN.read_text("utf-8").rstrip("\n").split("\n\n")
CASES = [pair.split("\n=>\n") for pair in PAIRS]
QUERIES = [query for query, _ in CASES]


@pytest.mark.parametrize(("query", "expected"), CASES, ids=[query[:60] for query in QUERIES])
def test_a_query_compiles_to_its_algebra(query: str, expected: str) -> None:
    assert str(describe(compile(query, POLICY))) == expected


@pytest.mark.parametrize("query", QUERIES)
def test_patterns_are_scanned_once_each_and_joined_on_columns_of_both_sides(query: str) -> None:
    source = compile(query, POLICY).source
    parts = list(walk(source))
    named = [part.alias for part in parts if isinstance(part, Scan)]
    assert sorted(named) == sorted(f"t{number}" for number in range(1, len(named) + 1))
    for part in parts:
        if isinstance(part, Join):
            assert part.keys
            for left, right in part.keys:
                assert left.relation in aliases(part.left)
                assert right.relation in aliases(part.right)
        assert isinstance(part, Scan | Join | Filter)


def test_words_are_for_readers_only() -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?u foaf:age wsdbm:AgeGroup1 }"
    assert "t1.object = wsdbm:AgeGroup1" in str(describe(compile(query, POLICY)))
    assert "wsdbm:AgeGroup1" not in normalise(compile(query, POLICY))


def test_names_of_variables_and_prefixes_make_no_difference() -> None:
    one = "SELECT (COUNT(*) AS ?n) { ?u wsdbm:likes ?p . ?p sorg:caption ?c FILTER(?c = 'x') }"
    other = """
        PREFIX a: <http://db.uwaterloo.ca/~galuc/wsdbm/> PREFIX b: <http://schema.org/>
        SELECT (COUNT(*) AS ?n) { $x a:likes $y . $y b:caption $z FILTER($z = "x") }
    """
    assert normalise(compile(one, POLICY)) == normalise(compile(other, POLICY))


def regenerate() -> None:
    """Write what the queries compile to now; read the difference before keeping it."""
    pairs = [f"{query}\n=>\n{describe(compile(query, POLICY))}" for query in QUERIES]
    GOLDEN.write_text("\n\n".join([HEAD, *pairs]) + "\n", "utf-8")


if __name__ == "__main__":
    regenerate()
