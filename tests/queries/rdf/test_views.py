"""Caps to which all facts keep are left out of queries, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlglot import exp

from celosia.engines import SqlEngine
from celosia.queries.emission import Target, count_query
from celosia.queries.policy import Policy, read_policy
from celosia.queries.rdf.file_loader import load
from celosia.queries.rdf.views import make_cap_remover
from celosia.queries.sessions import open_engine
from celosia.queries.sparql import compile as compiled

FACTS = """
@prefix ex: <http://example.org/> .
ex:a ex:likes ex:x, ex:y, ex:z ; ex:age 3 .
ex:b ex:likes ex:x ; ex:age 4 .
"""
POLICY = """
name = "small"
unit = { name = "UNIT" }
budget = { epsilon = 1 }
[graph]
store = "STORE"
prefixes = { ex = "http://example.org/" }
classes.Thing.predicates = ["ex:likes", "ex:age", "ex:never"]
[graph.predicates."ex:likes"]
LIKES
[graph.predicates."ex:age"]
most_per_subject = 1
[graph.predicates."ex:never"]
most_per_subject = 5
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("views")
    (place / "small.ttl").write_text(FACTS)
    load([place / "small.ttl"], place / "small.graph")
    return place / "small.graph"


def policy(store: Path, likes: str, unit: str = "thing") -> Policy:
    text = POLICY.replace("STORE", str(store)).replace("LIKES", likes).replace("UNIT", unit)
    return read_policy(text)


@pytest.fixture
def engine(store: Path) -> Iterator[SqlEngine]:
    opened = open_engine(policy(store, ""))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("likes", "unit", "count"),
    [
        ("most_per_subject = 2", "thing", 3),
        ("most_per_subject = 3", "thing", 4),
        ("most_per_subject = 4", "thing", 4),
        ("most_per_object = 1", "triple", 3),
        ("most_per_object = 2", "triple", 4),
        ("most_per_subject = 3\nmost_per_object = 1", "triple", 3),
        ("most_per_subject = 2\nmost_per_object = 2", "triple", 3),
        ("most_per_subject = 3\nmost_per_object = 2", "triple", 4),
    ],
)
def test_only_caps_that_cut_nothing_are_left_out(
    store: Path, engine: SqlEngine, likes: str, unit: str, count: int
) -> None:
    declared = policy(store, likes, unit)

    def ask(tree: exp.Expr) -> list[tuple[int, ...]]:
        return engine.run(tree, timeout=600)

    question = compiled("SELECT (COUNT(*) AS ?n) WHERE { ?x ex:likes ?y ; ex:age ?a }", declared)
    whole = count_query(question.source, target=Target(policy=declared))
    lean = make_cap_remover(declared, ask)(whole)
    assert ask(lean) == ask(whole) == [(count,)]
    assert "ROW_NUMBER" in whole.sql("duckdb")
    assert ("ROW_NUMBER" in lean.sql("duckdb")) is (count < 4)


def test_a_predicate_without_facts_keeps_to_every_cap(store: Path, engine: SqlEngine) -> None:
    declared = policy(store, "")

    def ask(tree: exp.Expr) -> list[tuple[int, ...]]:
        return engine.run(tree, timeout=600)

    question = compiled("SELECT (COUNT(*) AS ?n) WHERE { ?x ex:never ?y }", declared)
    lean = make_cap_remover(declared, ask)(
        count_query(question.source, target=Target(policy=declared))
    )
    assert "ROW_NUMBER" not in lean.sql("duckdb")
    assert ask(lean) == [(0,)]
