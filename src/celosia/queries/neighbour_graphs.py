"""Kinds of SPARQL questions for the neighbour audit, and two graphs that differ in one entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from celosia.queries.policy import Policy, read_policy

ENTITY, ENTITIES = 1, 9
PUBLIC_FACTS = 3
"""The most public facts that share a term, closures counted."""
_START = "http://example.org/"
_POLICY = f"""
name = "people"
most_per_unit = 8
unit = {{ name = "entity" }}
budget = {{ epsilon = 10 }}
[graph]
store = "people.graph"
[graph.prefixes]
ex = "{_START}"
[graph.classes.Person]
predicates = ["ex:knows", "ex:in", "ex:age"]
[graph.predicates."ex:in"]
most_per_subject = 2
keys = ["ex:place1", "ex:place2"]
[graph.predicates."ex:age"]
most_per_subject = 1
lower = 0
upper = 100
[graph.predicates."ex:near"]
public = true
"""

_SHAPES = {
    "UNION": ("COUNT(*)", "{ ?x ex:in ?y } UNION { ?x ex:age ?y }"),
    "alternative of a path": ("COUNT(*)", "?x ex:in|ex:knows ?y"),
    "OPTIONAL": ("COUNT(*)", "?x ex:age ?a OPTIONAL { ?x ex:in ?y }"),
    "OPTIONAL of public facts": ("COUNT(?z)", "?x ex:in ?y OPTIONAL { ?y ex:near ?z }"),
    "MINUS": ("COUNT(*)", "?x ex:age ?a MINUS { ?x ex:in ex:place2 }"),
    "NOT EXISTS": ("COUNT(*)", "?x ex:age ?a FILTER NOT EXISTS { ?x ex:in ex:place2 }"),
    "EXISTS of public facts": ("COUNT(*)", "?x ex:in ?y FILTER EXISTS { ?y ex:near ?z }"),
    "BIND": ("COUNT(*)", "?x ex:age ?a BIND(?a + 1 AS ?b) FILTER(?b > 20)"),
    "VALUES": ("COUNT(*)", "?x ex:in ?y VALUES (?x ?y) { (UNDEF ex:place1) (ex:e1 UNDEF) }"),
    "closure of a public predicate": ("COUNT(*)", "?x ex:in/ex:near* ?y"),
    "variable predicate": ("COUNT(*)", "?x ex:age ?a . ?x ?p ?y"),
    "link of two entities": ("COUNT(*)", "?x ex:knows ?y . ?y ex:age ?a"),
    "parts tied by FILTER": ("COUNT(*)", "?x ex:age ?a . ?y ex:age ?b FILTER(?a < ?b)"),
    "sub-SELECT": (
        "COUNT(*)",
        "{ SELECT ?x (COUNT(*) AS ?c) { ?x ex:in ?y } GROUP BY ?x } FILTER(?c > 1)",
    ),
    "MAX": ("MAX(?a)", "?x ex:age ?a"),
}
GRAPH_SHAPES: Mapping[str, str] = {
    name: f"SELECT ({counted} AS ?n) WHERE {{ {body} }}"
    for name, (counted, body) in _SHAPES.items()
}
"""Kinds of questions in SPARQL, by name."""


@cache
def graph_policy() -> Policy:
    """The policy of both graphs."""
    return read_policy(_POLICY)


def graph_statements(*, with_entity: bool) -> Iterator[str]:
    """SQL that makes the facts, with the entity that has more of them than caps allow, or not."""
    from celosia.queries.rdf.terms import XSD, decode, term_number
    from celosia.queries.rdf.views import make_views

    yield (
        "CREATE TABLE triples (s BIGINT, p BIGINT, o BIGINT, kind TINYINT, text VARCHAR, "
        "language VARCHAR, datatype BIGINT, number DOUBLE, moment TIMESTAMP)"
    )
    for subject, predicate, target in _facts(with_entity=with_entity):
        is_number = isinstance(target, int)
        text = f'"{target}"^^<{XSD}integer>' if is_number else f"<{_START}{target}>"
        held = decode(text)
        terms = [term_number(f"<{_START}{each}>") for each in (subject, predicate)]
        values = [*terms, term_number(text), held.kind]
        rest = (
            f"'{target}', NULL, {held.datatype}, {target}"
            if is_number
            else "NULL, NULL, NULL, NULL"
        )
        yield f"INSERT INTO triples VALUES ({', '.join(map(str, values))}, {rest}, NULL)"  # noqa: S608 - made here
    for name, query in make_views(graph_policy()).items():
        yield f'CREATE VIEW "{name}" AS {query.sql("duckdb")}'


def _facts(*, with_entity: bool) -> Iterator[tuple[str, str, str | int]]:
    yield from (("place1", "near", "place2"), ("place2", "near", "place3"))
    for each in range(ENTITY, ENTITIES + 1):
        if each == ENTITY and not with_entity:
            continue
        yield f"e{each}", "age", 10 * each
        places = (1, 2, 3) if each == ENTITY else (1 + each % 2,)
        yield from ((f"e{each}", "in", f"place{place}") for place in places)
        friends = range(1, ENTITIES + 1) if each == ENTITY else (1 + each % ENTITIES,)
        yield from ((f"e{each}", "knows", f"e{friend}") for friend in friends)
