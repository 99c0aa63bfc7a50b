"""Operators of SPARQL: an entity that leaves takes its own rows along, and moves no other.

All that is promised for entities rests on this: noise covers what the rows of one owner add, so
whatever changes with an entity must be a row that it owns. Tried on small graphs, for every entity.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from tests.effort import some
from tests.queries.sparql.graphs import EX, Both, policy_of

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import Question
from celosia.queries.emission import Target
from celosia.queries.emission.incidence import incidence_query
from celosia.queries.ownership import attach_owners
from celosia.queries.planning import make_plan
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.policy.values import ANY_PREDICATE, ENTITIES, Policy
from celosia.queries.rdf.terms import term_number
from celosia.queries.request import QueryRequest
from celosia.queries.sparql import compile

PREDICATES = ["ex:p", "ex:q", "ex:r"]
ENTITY = policy_of(PREDICATES, public=["ex:r"], entity=True, graphs=["ex:g", "ex:h"])
TERMS = tuple(f"<{EX}{each}>" for each in "abc")
SHAPES = [
    "{ { ?s ex:p ?o } UNION { ?s ex:q ?o } }",
    "{ { ?s ex:p ?o } UNION { ?o ex:q ?s } }",
    "{ { ?s ex:p ?o } UNION { ?s ex:p ?o . ?o ex:q ?x } }",
    "{ ?s ex:p|^ex:q ?o }",
    "{ ?s ex:p/(ex:q|ex:p) ?o }",
    "{ ?s ex:p ?o OPTIONAL { ?o ex:r ?x } }",
    "{ ?s ex:p ?o OPTIONAL { ?s ex:q ?x } }",
    "{ ?s ex:p ?o OPTIONAL { ?s ex:q ?x . ?x ex:r ?y FILTER(?y != ?o) } }",
    "{ ?s ex:p ?o MINUS { ?o ex:r ?x } }",
    "{ ?s ex:p ?o MINUS { ?s ex:q ?o } }",
    "{ ?s ex:p ?o FILTER EXISTS { ?o ex:r ?x } }",
    "{ ?s ex:p ?o FILTER NOT EXISTS { ?s ex:q ?x FILTER(?x != ?o) } }",
    "{ ?s ex:p ?o . ?x ex:q ?y FILTER(?o != ?y) }",
    "{ ?s ex:p ?o VALUES (?s ?o) { (ex:a UNDEF) (UNDEF ex:a) } }",
    "{ ?s ex:p/ex:r* ?o }",
    "{ ?s ex:p/ex:r+ ?o . ?o ex:q ?x }",
    "{ ?s ex:p/ex:q? ?o }",
    "{ { SELECT DISTINCT ?s { ?s ex:p ?o } } ?s ex:q ?x }",
    "{ { SELECT ?s (COUNT(*) AS ?n) { ?s ex:p ?o } GROUP BY ?s } FILTER(?n > 1) }",
    "{ ?s ex:p ?o . { SELECT ?o { ?o ex:q ?x } } }",
    "{ ?s ex:p ?o ; ?x ?y }",
    "{ ?s ?x ?o FILTER(?x IN (ex:p, ex:q) && ?s != ?o) }",
    "{ VALUES ?x { ex:p ex:q } ?s ?x ?o }",
    "{ ?s ex:p ?o . ?x ex:q ?y }",
    "{ GRAPH ex:g { ?s ex:p ?o } }",
    "{ GRAPH ?g { ?s ex:p ?o } }",
    "{ GRAPH ?g { ?s ex:p ?o OPTIONAL { ?o ex:r ?x } } }",
    "{ GRAPH ex:g { ?s ex:p ?o } GRAPH ex:h { ?o ex:q ?x } }",
    "{ ?s ex:p ?o GRAPH ?g { ?s ex:p ?o } }",
    "{ GRAPH ?g { ?s ex:p ?o FILTER NOT EXISTS { ?s ex:q ?x } } }",
    "{ GRAPH ?g { ?s ex:p ?o } MINUS { ?s ex:p ?o } }",
    "{ GRAPH ?g { ?s ex:p/ex:r+ ?o } }",
    "{ ?s ex:p ?o GRAPH ?g { { SELECT DISTINCT ?s { ?s ex:q ?x } } } }",
]


def facts_of(seed: int) -> list[tuple[str, ...]]:
    """Facts of the default graph."""
    random = Random(seed)
    names = [f"<{EX}{each[3:]}>" for each in PREDICATES]
    every = [(s, p, o) for s in TERMS for p in names for o in TERMS]
    return list(random.sample(every, random.randrange(3, 16)))


def with_named(seed: int) -> list[tuple[str, ...]]:
    """The same, and facts of two named graphs, some of which are also elsewhere."""
    named = [f"<{EX}g>", f"<{EX}h>"]
    other = [(*fact, place) for place in named for fact in facts_of(seed + 1 + len(place) * 7)]
    return [*facts_of(seed), *Random(seed).sample(other, len(other) // 2)]


def without(facts: list[tuple[str, ...]], entity: str) -> list[tuple[str, ...]]:
    public = f"<{EX}r>"
    return [each for each in facts if each[0] != entity or each[1] == public]


@cache
def stored(facts: tuple[tuple[str, ...], ...]) -> Both:
    return Both(facts, ENTITY)


def owned_rows(question: Question, both: Both) -> Counter[tuple[int, ...]]:
    owned = attach_owners(question.source, policy=ENTITY)
    query = incidence_query(question, owned, target=Target(policy=ENTITY), numbered=False)
    return Counter(both.duckdb.execute(query.sql("duckdb")).fetchall())


@pytest.mark.parametrize("body", SHAPES)
def test_what_changes_with_an_entity_is_its_own(body: str) -> None:
    question = compile(f"SELECT (COUNT(*) AS ?count) WHERE {body}", ENTITY)
    moved = 0
    for seed in some(range(6), 3):
        facts = with_named(seed)
        whole = owned_rows(question, stored(tuple(facts)))
        for entity in TERMS:
            number = term_number(entity)
            left = owned_rows(question, stored(tuple(without(facts, entity))))
            others = Counter({row: n for row, n in whole.items() if number not in row[:-1]})
            assert left == others, (seed, entity)
            moved += whole != left
    assert moved > 0


FACT_SHAPES = [
    "{ { ?s ex:p ?o } UNION { ?s ex:q ?o } }",
    "{ { ?s ex:p ?o } UNION { ?s ex:p ?o . ?o ex:q ?x } }",
    "{ ?s ex:p/(ex:q|ex:p) ?o }",
    "{ ?s ex:p ?o OPTIONAL { ?o ex:r ?x } }",
    "{ ?s ex:p ?o MINUS { ?o ex:q ?x } }",
    "{ ?s ex:p ?o FILTER EXISTS { ?o ex:q ?x } }",
    "{ ?s ex:p ?o FILTER NOT EXISTS { ?x ex:p ?s } }",
    "{ ?s ex:p/ex:r* ?o }",
    "{ ?s ex:p ?o VALUES (?s ?o) { (ex:a UNDEF) (UNDEF ex:a) } }",
]


@pytest.mark.parametrize("body", FACT_SHAPES)
def test_a_fact_moves_a_count_by_no_more_than_the_bound(body: str) -> None:
    """Caps of two for each subject and object, which some of these graphs exceed."""
    plain = policy_of(PREDICATES, public=["ex:r"])
    tables = tuple(
        replace(
            table,
            columns=tuple(
                replace(each, most=2) if each.name in ("subject", "object") else each
                for each in table.columns
            ),
        )
        if not table.public and table.name.startswith("ex:")
        else table
        for table in plain.tables
    )
    policy = replace(plain, tables=tables)
    most = dict.fromkeys((None, "subject", "object"), 3)  # of public facts: three terms, each once
    request = QueryRequest(f"SELECT (COUNT(*) AS ?count) WHERE {body}", epsilon=1)
    plan = make_plan(request, policy, count=lambda table, column: most[column])
    (step,) = plan.steps
    assert isinstance(step, LaplaceStep)
    (query,) = step.queries(None)
    text, reached = query.sql("duckdb"), 0
    for seed in range(3):
        facts = facts_of(seed)
        database = Both(facts, policy).duckdb
        ((here,),) = database.execute(text).fetchall()
        for fact in facts:
            if fact[1] == f"<{EX}r>":
                continue
            numbers = " AND ".join(
                f"{word} = {term_number(term)}" for word, term in zip("spo", fact, strict=True)
            )
            database.execute(f"BEGIN; DELETE FROM triples WHERE {numbers}")
            ((there,),) = database.execute(text).fetchall()
            database.execute("ROLLBACK")
            assert abs(int(here) - int(there)) <= step.shifts[0], (seed, fact)
            reached = max(reached, abs(int(here) - int(there)))
    assert reached > 0


CAPS = {"ex:p": 1, "ex:q": 2}


def capped() -> Policy:
    plain = policy_of(list(CAPS), entity=True, graphs=["ex:g", "ex:h"])
    tables = (
        replace(
            table,
            columns=tuple(
                replace(each, most=CAPS[table.name]) if each.name == "subject" else each
                for each in table.columns
            ),
        )
        if table.name in CAPS
        else replace(table, references=(("subject", ENTITIES, "subject"),))
        if table.name == ANY_PREDICATE
        else table
        for table in plain.tables
    )
    return replace(plain, tables=tuple(tables))


@pytest.mark.parametrize(
    ("body", "shift"),
    [
        ("{ ?s ?x ?o }", 3),
        ("{ ?s ?x ?o ; ex:p ?y }", 3),
        ("{ ?s ?x ?o ; ex:q ?y }", 6),
        ("{ ?s ?x ?o FILTER(?x = ex:p) }", 1),
        ("{ ?s ?x ?o VALUES ?x { ex:p ex:q } }", 3),
        ("{ ?s ?x ?o ; ?x ?y FILTER(?x IN (ex:q)) }", 4),
        ("{ GRAPH ex:g { ?s ?x ?o } }", 3),
    ],
)
def test_the_schema_of_stars_bounds_variable_predicates(body: str, shift: int) -> None:
    """An entity adds as many solutions as the caps of the predicates allow, also beyond them."""
    policy = capped()
    request = QueryRequest(f"SELECT (COUNT(*) AS ?count) WHERE {body}", epsilon=1)
    (step,) = make_plan(request, policy).steps
    assert isinstance(step, LaplaceStep)
    assert step.shifts == (shift,)
    (query,) = step.queries(None)
    text, reached = query.sql("duckdb"), 0
    for seed in range(4):
        facts = [each for each in with_named(seed) if each[1] != f"<{EX}r>"]
        ((here,),) = Both(facts, policy).duckdb.execute(text).fetchall()
        for entity in TERMS:
            ((there,),) = Both(without(facts, entity), policy).duckdb.execute(text).fetchall()
            assert 0 <= here - there <= shift, (seed, entity)
            reached = max(reached, here - there)
    assert reached == shift


@pytest.mark.parametrize(
    ("body", "shift"),
    [
        ("{ ?a ex:q ?b . ?b ex:q ?a }", 4),  # 2 as either end
        ("{ ?a ex:q ?b . ?b ex:q ?c . ?c ex:q ?a }", 12),  # 2 times 2 as each corner
        ("{ ?a ex:p ?b . ?b ex:q ?a FILTER(?a != ?b) }", 3),  # 1 as ?a, 2 as ?b
    ],
)
def test_caps_bound_the_solutions_that_an_entity_is_a_part_of(body: str, shift: int) -> None:
    policy = capped()
    text = f"SELECT (COUNT(*) AS ?count) WHERE {body}"
    (step,) = make_plan(QueryRequest(text, epsilon=1, method="capped"), policy).steps
    assert isinstance(step, LaplaceStep)
    assert step.shifts == (shift,)
    (query,) = step.queries(None)
    count, reached = query.sql("duckdb"), 0
    for seed in range(4):
        facts = facts_of(seed)
        ((here,),) = Both(facts, policy).duckdb.execute(count).fetchall()
        for entity in TERMS:
            rest = [each for each in facts if each[0] != entity]
            ((there,),) = Both(rest, policy).duckdb.execute(count).fetchall()
            assert 0 <= here - there <= shift, (seed, entity)
            reached = max(reached, here - there)
    assert reached
    with pytest.raises(QueryRefused) as refused:  # nothing bounds how many like what ?b is
        make_plan(
            QueryRequest(
                "SELECT (COUNT(*) AS ?count) { ?a ex:q ?b . ?b ex:q ?c }",
                epsilon=1,
                method="capped",
            ),
            policy,
        )
    assert refused.value.key == "CEL-Q143.no_caps"


def test_a_variable_predicate_that_is_public_too_is_named() -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?s ?x ?o }"
    with pytest.raises(QueryRefused) as refused:
        make_plan(QueryRequest(query, epsilon=1), ENTITY, count=lambda table, column: 1)
    assert refused.value.key == "CEL-Q120.mixed_patterns"
    assert "FILTER(?p IN" in str(refused.value)


GRAPH_SHAPES = [
    "{ GRAPH ?g { ?s ex:p ?o } }",
    "{ ?s ex:p ?o GRAPH ?g { ?s ex:p ?o } }",
    "{ GRAPH ex:g { ?s ex:p ?o . ?o ex:p ?x } }",
    "{ GRAPH ?g { ?s ex:p ?o FILTER NOT EXISTS { ?s ex:q ?x } } }",
]


@pytest.mark.parametrize("body", GRAPH_SHAPES)
def test_a_fact_of_one_graph_moves_a_count_by_no_more_than_the_bound(body: str) -> None:
    plain = policy_of(PREDICATES, public=["ex:r"], graphs=["ex:g", "ex:h"])
    capped = [
        replace(
            table,
            columns=tuple(
                replace(each, most=2) if each.name in ("subject", "object") else each
                for each in table.columns
            ),
        )
        if not table.public and table.name.startswith("ex:")
        else table
        for table in plain.tables
    ]
    policy = replace(plain, tables=tuple(capped))
    request = QueryRequest(f"SELECT (COUNT(*) AS ?count) WHERE {body}", epsilon=1)
    plan = make_plan(request, policy, count=lambda table, column: 3)
    (step,) = plan.steps
    assert isinstance(step, LaplaceStep)
    (query,) = step.queries(None)
    facts, reached = with_named(57), 0
    ((here,),) = stored(tuple(facts)).duckdb.execute(query.sql("duckdb")).fetchall()
    for fact in facts:
        if fact[1] != f"<{EX}r>":
            left = tuple(each for each in facts if each != fact)
            ((there,),) = stored(left).duckdb.execute(query.sql("duckdb")).fetchall()
            assert abs(int(here) - int(there)) <= step.shifts[0], fact
            reached = max(reached, abs(int(here) - int(there)))
    assert reached > 0


def test_closures_of_private_predicates_are_refused() -> None:
    for body in ("{ ?s ex:p+ ?o }", "{ ?s ex:r/ex:q* ?o }"):
        with pytest.raises(QueryRefused) as refused:
            compile(f"SELECT (COUNT(*) AS ?count) WHERE {body}", ENTITY)
        assert refused.value.key == "CEL-Q247.path_private"
