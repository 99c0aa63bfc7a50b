"""Queries over the shop's graph have answers, and its policies tell the truth about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pyoxigraph
import pytest

from celosia import datasets
from celosia.core.errors import InputError
from celosia.datasets.watdiv import QUERIES, policy
from celosia.datasets.watdiv.queries import Shape
from celosia.queries.policy import Policy, load_policy
from celosia.queries.rdf.compliance import check_graph
from celosia.queries.rdf.store import GraphStore
from celosia.queries.sparql import compile as compiled

SMALL, MIDDLE = 10_000, 100_000
PATTERNS = {
    **{"F1": 6, "F2": 8, "F3": 6, "F4": 9, "F5": 6, "L1": 3, "L2": 3, "L3": 2, "L4": 2, "L5": 3},
    **{"S1": 9, "S2": 4, "S3": 4, "S4": 4, "S5": 4, "C1": 8, "C2": 10, "C3": 6, "regions": 11},
}
SHAPES = {"F": "snowflake", "L": "linear", "S": "star", "C": "complex", "r": "snowflake"}
# Counted by pyoxigraph; of C1 to C3, which have no placeholder, as published.
OPEN_AT_SMALL = {
    **{"F1": 5, "F2": 44, "F3": 192, "F4": 126, "F5": 79},
    **{"L1": 314, "L2": 315, "L3": 769, "L4": 47, "L5": 266},
    **{"S1": 165, "S2": 25, "S3": 24, "S4": 1, "S5": 9},
    **{"C1": 2, "C2": 26, "C3": 7069, "regions": 513},
}
FITTING_AT_SMALL = {"F5": 49, "L1": 13, "L3": 55, "S1": 94, "S3": 2, "regions": 9}
"""The others have no answers there."""
PUBLIC_BY_NAME = {"gr:price", "gr:includes", "gr:offers", "wsdbm:hasGenre", "rev:hasReview"}
PRIVATE_BY_NAME = {"rdf:type", "foaf:homepage", "wsdbm:likes", "rev:rating", "wsdbm:purchaseFor"}


def loaded(triples: int) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    lines = b"".join(datasets.watdiv(triples).lines())
    store.bulk_load(lines, format=pyoxigraph.RdfFormat.N_TRIPLES)
    return store


def count(store: pyoxigraph.Store, query: str) -> int:
    found = store.query(query)
    assert isinstance(found, pyoxigraph.QuerySolutions)
    (row,) = found
    assert isinstance(row[0], pyoxigraph.Literal)
    return int(row[0].value)


@pytest.fixture(scope="module")
def small() -> pyoxigraph.Store:
    return loaded(SMALL)


@pytest.fixture(scope="module")
def middle() -> pyoxigraph.Store:
    return loaded(MIDDLE)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watdiv") / "shop"
    datasets.watdiv(SMALL).save(folder)
    return folder


def read(folder: Path, **choices: str) -> Policy:
    path = folder / "other.toml"
    path.write_text(policy(**choices), "utf-8")  # type: ignore[arg-type]
    return load_policy(path)


def test_the_queries_are_those_published() -> None:
    assert {name: query.pattern.count(" . ") + 1 for name, query in QUERIES.items()} == PATTERNS
    for name, query in QUERIES.items():
        assert query.name == name
        assert query.shape == SHAPES[name[0]]
        assert query.shape in get_args(Shape)
        assert f"?{query.counted} " in f"{query.pattern} "
        # The variables are numbered, and the placeholder has the number that is missing.
        used = {int(each) for each in re.findall(r"\?v([0-9]+)", query.pattern)}
        missing = {*range(max(used) + 1)} - used
        if query.placeholder is None:
            assert not missing
        else:
            held = int(query.placeholder[1:])
            assert missing | {held} == {held}
            assert held not in used


def test_an_open_query_differs_by_its_constant_only() -> None:
    for query in QUERIES.values():
        if query.constant is None:
            assert query.open is None
        else:
            assert query.open is not None
            body, opened = (each.partition("SELECT")[2] for each in (query.sparql, query.open))
            assert body.count(query.constant) == 1
            assert opened == body.replace(query.constant, f"?{query.placeholder}")
        assert query.as_dict()["sparql"] == query.sparql
        assert str(query).startswith(f"{query.name}, {query.shape}: {{ ")


def test_published_constants_are_there_from_a_million_facts_on() -> None:
    for triples in (1_000_000, 10_000_000):
        assert all(query.fitting(triples) == query.sparql for query in QUERIES.values())
    entities = datasets.watdiv(SMALL).entities
    for query in QUERIES.values():
        for kind, number in re.findall(r"wsdbm:([A-Z][A-Za-z]*?)([0-9]+)", query.fitting(SMALL)):
            assert int(number) < entities[kind]
    assert QUERIES["L1"].fitting(SMALL) != QUERIES["L1"].sparql


@pytest.mark.parametrize("name", QUERIES)
def test_every_shape_has_answers_in_the_smallest_graph(name: str, small: pyoxigraph.Store) -> None:
    query = QUERIES[name]
    assert count(small, query.open or query.sparql) == OPEN_AT_SMALL[name]
    if query.open:
        assert count(small, query.fitting(SMALL)) == FITTING_AT_SMALL.get(name, 0)


@pytest.mark.parametrize("name", [name for name in QUERIES if name != "C3"])  # alone: 7 seconds
def test_a_larger_graph_has_more_answers(name: str, middle: pyoxigraph.Store) -> None:
    query = QUERIES[name]
    assert count(middle, query.open or query.sparql) > 2 * OPEN_AT_SMALL[name]


def test_the_store_holds_the_facts_of_the_file(saved: Path) -> None:
    assert {path.name for path in saved.iterdir()} >= {"watdiv.nt", "watdiv.graph", "policy.toml"}
    lines = (saved / "watdiv.nt").read_bytes()
    assert lines == b"".join(datasets.watdiv(SMALL).lines())
    with GraphStore.open(saved / "watdiv.graph") as store:
        assert store.triples == lines.count(b"\n")
        assert store.sources == (str(datasets.watdiv(SMALL)),)
        store.export(saved / "again.nt", overwrite=True)
    again = (saved / "again.nt").read_bytes()
    assert sorted(again.splitlines()) == sorted(lines.splitlines())


def test_facts_go_straight_into_a_store(tmp_path: Path) -> None:
    path = datasets.watdiv(SMALL).load(tmp_path / "shop.graph")
    with GraphStore.open(path) as store:
        assert store.triples == sum(batch.count for batch in datasets.watdiv(SMALL).facts())
    assert [each.name for each in tmp_path.iterdir()] == ["shop.graph"]
    with pytest.raises(InputError, match="exists already"):
        datasets.watdiv(SMALL).load(path)


@pytest.mark.parametrize("unit", ["entity", "triple"])
@pytest.mark.parametrize("private", ["people", "everything"])
def test_the_graph_keeps_to_each_of_its_policies(saved: Path, unit: str, private: str) -> None:
    found = read(saved, unit=unit, private=private)
    assert found.unit.name == unit
    assert found.unit.is_row == (unit == "triple")
    public = {table.name for table in found.tables if table.public}
    if private == "everything":
        assert not public
    else:
        assert public >= PUBLIC_BY_NAME
        assert not public & PRIVATE_BY_NAME
    assert found.graph is not None
    with GraphStore.open(found.graph.store_path()) as store:
        # No fact beyond a cap or a bound, no entity without a class, no predicate without facts.
        assert check_graph(store, found) == []
        assert {each.predicate for each in store.predicates()} == {
            iri for iri, _ in found.graph.predicates
        }


def test_the_saved_policy_is_the_one_for_people(saved: Path) -> None:
    assert (saved / "policy.toml").read_text("utf-8") == policy()
    found = load_policy(saved / "policy.toml")
    assert found.graph is not None
    assert dict(found.graph.classes).keys() == {"Genre", "Product", "User", "Review", "Purchase"}
    functional = {
        table.name
        for table in found.tables
        for column in table.columns
        if column.name == "subject" and column.most == 1
    }
    assert functional >= {"rdf:type", "foaf:age", "rev:rating", "wsdbm:purchaseFor", "gr:price"}
    assert not functional & {"wsdbm:likes", "wsdbm:friendOf", "wsdbm:makesPurchase", "og:tag"}


@pytest.mark.parametrize("unit", ["entity", "triple"])
@pytest.mark.parametrize("private", ["people", "everything"])
def test_every_query_may_be_asked_under_each_policy(saved: Path, unit: str, private: str) -> None:
    found = read(saved, unit=unit, private=private)
    for query in QUERIES.values():
        assert compiled(query.sparql, found) is not None
        assert query.open is None or compiled(query.open, found) is not None
    for predicate in ("wsdbm:gender", "foaf:age", "sorg:nationality", "rdf:type", "rev:rating"):
        assert compiled(
            "PREFIX wsdbm: <http://db.uwaterloo.ca/~galuc/wsdbm/> "
            "PREFIX foaf: <http://xmlns.com/foaf/> PREFIX sorg: <http://schema.org/> "
            "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
            "PREFIX rev: <http://purl.org/stuff/rev#> "
            f"SELECT ?group (COUNT(*) AS ?n) WHERE {{ ?who {predicate} ?group }} GROUP BY ?group",
            found,
        )


@pytest.mark.parametrize("choice", [{"unit": "entities"}, {"private": "users"}, {"unit": None}])
def test_a_policy_that_is_none_is_refused(choice: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        policy(**choice)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-D025"
