"""UNION, OPTIONAL, MINUS, EXISTS, BIND, VALUES, sub-SELECT and paths mean what pyoxigraph finds."""

from __future__ import annotations

from random import Random

import pyoxigraph as ox
import pytest
from tests.effort import some
from tests.queries.sparql.graphs import EX, Both, policy_of

from celosia.queries.emission import Target
from celosia.queries.planning import make_plan
from celosia.queries.planning.public_queries import PublicStep
from celosia.queries.rdf.terms import term_number
from celosia.queries.request import QueryRequest
from celosia.queries.sparql import compile

PREDICATES = ["ex:p", "ex:q", "ex:r"]
POLICY = policy_of(PREDICATES, public=["ex:r"], entity=True)
TERMS = ("ex:a", "ex:b", "ex:c", "ex:d")

QUERIES = [
    "{ { ?s ex:p ?o } UNION { ?s ex:q ?o } }",
    "{ { ?s ex:p ?o } UNION { ?o ex:q ?z } ?o ex:r ?w }",
    "{ ?s ^(ex:p/ex:q) ?o }",
    "{ ?s ex:p ?o OPTIONAL { ?o ex:q ?x } }",
    "{ ?s ex:p ?o OPTIONAL { ?o ex:q ?x } FILTER(!bound(?x)) }",
    "{ ?s ex:p ?o OPTIONAL { ?o ex:q ?x FILTER(?x > 1) } FILTER(?x < 3 || !bound(?x)) }",
    "{ ?s ex:p ?o OPTIONAL { ?o ex:q ?x . ?o ex:r ?y FILTER(?y != ?s) } }",
    "{ ?s ex:p ?o OPTIONAL { { ?o ex:q ?x } UNION { ?o ex:r ?x } } FILTER(!(?x = 1)) }",
    "{ ?s ex:p ?o OPTIONAL { ?o ex:q ?x } FILTER(COALESCE(?x, 0) < 2) }",
    "{ ?s ex:p ?o OPTIONAL { ?o ex:q ?x } FILTER(!isNumeric(?x)) }",
    "{ ?s ex:p ?o MINUS { ?o ex:q ?x } }",
    "{ ?s ex:p ?o MINUS { ?y ex:q ?x } }",
    "{ ?s ex:p ?o MINUS { ?o ex:q ?s . ?o ex:r ?z } }",
    "{ ?s ex:p ?o FILTER EXISTS { ?o ex:q ?x FILTER(?x != ?s) } }",
    "{ ?s ex:p ?o FILTER NOT EXISTS { ?o ex:q ?x . ?x ex:r ?y } }",
    "{ ?s ex:p ?o FILTER(!EXISTS { { ?o ex:q ?x } UNION { ?o ex:r ?x } }) }",
    "{ ?s ex:q ?o BIND(?o * 2 + 1 AS ?x) FILTER(?x > 3) }",
    "{ ?s ex:q ?o BIND(?o AS ?x) FILTER(?x = 1) }",
    "{ ?s ex:q ?o BIND(IF(?o > 1, 'much', 'little') AS ?x) FILTER(?x = 'much') }",
    "{ ?s ex:q ?o FILTER(?o - 1 = 0 || 4 / ?o = 2) }",
    "{ ?s ex:q ?o FILTER(xsd:integer(?o) = 3) }",
    "{ ?s ex:q ?o FILTER(xsd:double(?o) >= 2 || xsd:boolean(?o)) }",
    "{ ?s ex:q ?o FILTER(DATATYPE(?o + 1) = xsd:decimal) }",
    "{ ?s ex:q ?o FILTER(UCASE(?o) = 'X' || HOURS(?o) = 4) }",
    "{ ?s ex:q ?o FILTER(REGEX(?o, '^x.?$', 'i')) }",
    "{ ?s ex:q ?o FILTER(CONCAT(?o, 'z') = 'xz' || SUBSTR(?o, 1, 1) = 'x') }",
    "{ ?s ex:p ?o . ?x ex:q ?y FILTER(?s = ?x) }",
    "{ ?s ex:q ?o . ?x ex:q ?y FILTER(?o < ?y) }",
    "{ ?s ex:p ?o VALUES (?s ?o) { (ex:a ex:b) (ex:b ex:a) } }",
    "{ ?s ex:p ?o VALUES (?s ?o) { (ex:a UNDEF) (UNDEF ex:a) } }",
    "{ ?s ex:p ?o VALUES ?s { ex:a ex:a } }",
    "{ VALUES ?x { 1 2 } ?s ex:p ?o }",
    "{ { SELECT ?s ?o { ?s ex:p ?o } VALUES ?o { ex:a ex:b } } }",
    "{ { SELECT DISTINCT ?s { ?s ex:p ?o } } }",
    "{ { SELECT DISTINCT ?s ?o ?z { ?s ex:p ?o OPTIONAL { ?o ex:q ?z } } } }",
    "{ ?s ex:p ?o { SELECT ?s { ?s ex:q ?x FILTER(?x > 1) } } }",
    "{ { SELECT ?s (COUNT(*) AS ?n) { ?s ex:p ?o } GROUP BY ?s } FILTER(?n > 1) }",
    "{ { SELECT ?s (COUNT(?o) AS ?n) { ?s ex:p ?o } GROUP BY ?s HAVING(COUNT(*) > 1) } }",
    "{ { SELECT ?s (?o + 1 AS ?x) { ?s ex:q ?o } } FILTER(?x > 1) }",
    "{ ?s ex:r+ ?o }",
    "{ ?s ex:p/ex:r* ?o }",
    "{ ?s ex:p ?x . ?x ex:r* ?o . FILTER(?o != ex:a) }",
    "{ ?s ex:p/ex:r* ex:b }",
    "{ ?s ex:p/^ex:r+ ?o }",
    "{ ?s ex:p/ex:q? ?o }",
    "{ ?s ex:p ?x . ?x !ex:p ?o }",
    "{ ?s ?p ?o . ?s ex:p ?x FILTER(?p != ex:q) }",
]
COUNTED = ("*", "DISTINCT ?s", "?o", "DISTINCT ?o", "DISTINCT *")


def both(seed: int) -> Both:
    random = Random(seed)
    full = {name: f"<{EX}{name[3:]}>" for name in (*TERMS, *PREDICATES)}
    literals = [
        str(each)
        for each in (
            '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
            '"2"^^<http://www.w3.org/2001/XMLSchema#integer>',
            '"x"',
            '"Xy"@en',
            '"3.5"^^<http://www.w3.org/2001/XMLSchema#decimal>',
            '"2020-02-03T04:05:06Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
            '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
        )
    ]
    facts = []
    for _ in range(random.randrange(4, 16)):
        predicate = random.choice(PREDICATES)
        terms = [full[each] for each in TERMS]
        objects = terms if predicate != "ex:q" else [*literals, *terms]
        facts.append((random.choice(terms), full[predicate], random.choice(objects)))
    return Both(facts, POLICY)


@pytest.fixture(scope="module")
def graphs() -> list[Both]:
    return [both(seed) for seed in range(14)]


@pytest.mark.parametrize("body", QUERIES)
def test_a_group_means_what_pyoxigraph_finds(graphs: list[Both], body: str) -> None:
    random = Random(body)
    seen = set()
    whole = "SELECT" not in body and "?o }" in body.replace("?o FILTER", "?o }")
    counts = some(COUNTED, 3) if whole or "OPTIONAL" in body else COUNTED[:1]
    for counted in counts:
        query = f"SELECT (COUNT({counted}) AS ?count) WHERE {body}"
        question = compile(query, POLICY)
        step = PublicStep(question=question, target=Target(policy=POLICY))
        (asked,) = step.queries(None)
        for graph in random.sample(graphs, 5) if whole else graphs:
            ((found,),) = graph.duckdb.execute(asked.sql("duckdb")).fetchall()
            assert found == expected(graph, body, counted), query
            seen.add(found)
    assert len(seen) > 1, "the graphs tell nothing"


def expected(graph: Both, body: str, counted: str) -> int:
    if counted == "DISTINCT *":  # blank nodes and steps of paths are no part of a solution
        return len(graph.exact(f"SELECT DISTINCT * WHERE {body}"))
    (row,) = graph.exact(f"SELECT (COUNT({counted}) AS ?count) WHERE {body}")
    assert isinstance(row[0], ox.Literal)
    return int(row[0].value)


@pytest.mark.parametrize("comment", ["", "# as it is written"])
@pytest.mark.parametrize(
    ("number", "kind"),
    [("5", "integer"), ("+5", "integer"), ("005", "integer"), ("5.0", "decimal")],
)
def test_a_number_is_the_term_that_is_written(number: str, kind: str, comment: str) -> None:
    """Our stores keep the spelling of a file (those of pyoxigraph do not), and so does a query."""
    question = compile(f"SELECT (COUNT(*) AS ?n) {{ ?s ex:q {number} }} {comment}", POLICY)
    (asked,) = PublicStep(question=question, target=Target(policy=POLICY)).queries(None)
    term = term_number(f'"{number}"^^<http://www.w3.org/2001/XMLSchema#{kind}>')
    assert f'"object" = {term})' in asked.sql("duckdb")


def test_an_alternative_is_a_union_that_keeps_what_comes_twice() -> None:
    """pyoxigraph shows a pair of both once."""
    start = "SELECT (COUNT(*) AS ?n) WHERE "
    one = compile(start + "{ ?s ex:p|^ex:q ?o }", POLICY)
    assert one == compile(start + "{ { ?s ex:p ?o } UNION { ?o ex:q ?s } }", POLICY)


def test_groups_are_shown_for_predicates_and_for_what_is_computed() -> None:
    query = "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o . ?s ex:p ?x } GROUP BY ?p"
    plan = make_plan(QueryRequest(query, epsilon=1), POLICY)
    assert plan.group_keys is not None
    assert set(plan.labels["p"].values()) == set(PREDICATES)
    parts = "SELECT ?m (COUNT(*) AS ?n) { ?s ex:q ?o } GROUP BY (MONTH(?o) > 6 AS ?m)"
    assert make_plan(QueryRequest(parts, epsilon=1), POLICY).group_keys == ((False, True),)


def test_optional_is_left_out_where_nothing_asks_for_it() -> None:
    query = "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ex:p ?o OPTIONAL { ?x ex:q ?o } }"
    assert compile(query, POLICY) == compile(query.replace("OPTIONAL { ?x ex:q ?o }", ""), POLICY)
    counted = query.replace("DISTINCT ?s", "*")
    assert compile(counted, POLICY) != compile(query, POLICY)
