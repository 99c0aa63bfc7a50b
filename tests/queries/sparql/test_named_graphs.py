"""GRAPH and FROM: named graphs that a policy lists are asked apart, and mean what SPARQL says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.queries.sparql.graphs import EX, Both, policy_of

from celosia.core.errors import InputError, QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries.emission import Target
from celosia.queries.planning.public_queries import PublicStep
from celosia.queries.rdf.file_loader import load
from celosia.queries.rdf.policy_draft import draft_graph_policy
from celosia.queries.rdf.store import GraphStore
from celosia.queries.rdf.terms import address_text, term_number
from celosia.queries.sparql import compile
from celosia.queries.vault import Vault

POLICY = policy_of(["ex:p", "ex:q", "ex:r"], public=["ex:r"], entity=True, graphs=["ex:g", "ex:h"])
TRIG = """@prefix ex: <http://example.org/> .
ex:a ex:p ex:b . ex:b ex:p ex:c . ex:b ex:q ex:g .
ex:g { ex:a ex:p ex:b, ex:a ; ex:q "x \\" <y> z"@en . ex:c ex:q ex:g . ex:b ex:r ex:c }
ex:h { ex:c ex:p ex:b . ex:c ex:q ex:a . ex:c ex:r ex:a . ex:a ex:p ex:b }
ex:other { ex:a ex:p ex:z }
"""
QUESTIONS = [
    "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o }",
    "SELECT (COUNT(*) AS ?n) { GRAPH ex:g { ?s ex:p ?o } }",
    "SELECT (COUNT(DISTINCT ?s) AS ?n) { GRAPH ?g { ?s ex:p ?o } FILTER(?g != ex:other) }",
    "SELECT (COUNT(DISTINCT ?g) AS ?n) { ?s ex:q ?g GRAPH ?g { ?x ex:p ?y } }",
    "SELECT (COUNT(*) AS ?n) FROM ex:g { ?s ex:p ?o }",
    "SELECT (COUNT(*) AS ?n) FROM ex:h FROM NAMED ex:g { ?s ex:p ?o GRAPH ?g { ?s ?p ?x } }",
    "SELECT (COUNT(*) AS ?n) FROM NAMED ex:g FROM NAMED ex:h { GRAPH ?g { [] ex:p ?o } }",
    "SELECT (COUNT(*) AS ?n) { GRAPH ex:g { ?s ex:p ?o FILTER EXISTS { ?s ex:q ?x } } }",
    "SELECT (COUNT(*) AS ?n) { GRAPH ex:h { ?s ex:p ?o MINUS { ?s ex:q ?x } } }",
    "SELECT (COUNT(*) AS ?n) { GRAPH ex:g { ?s ex:q ?g { SELECT DISTINCT ?s { ?s ex:p ?o } } } }",
    "SELECT (COUNT(*) AS ?n) FROM NAMED ex:g FROM NAMED ex:h "
    "{ GRAPH ?g { { SELECT * { ?s ex:q ?g } } } }",
    "SELECT (COUNT(*) AS ?n) { GRAPH ex:g { ?s ex:p/ex:r+ ?o } }",
    "SELECT ?g (COUNT(*) AS ?n) FROM NAMED ex:g FROM NAMED ex:h "
    "{ GRAPH ?g { ?s ex:p ?o } } GROUP BY ?g",
]
REFUSED = [
    ("CEL-Q244.undeclared", "SELECT (COUNT(*) AS ?n) { GRAPH ex:other { ?s ex:p ?o } }"),
    ("CEL-Q244.undeclared", "SELECT (COUNT(*) AS ?n) FROM ex:other { ?s ex:p ?o }"),
    ("CEL-Q244.several", "SELECT (COUNT(*) AS ?n) FROM ex:g FROM ex:h { ?s ex:p ?o }"),
    ("CEL-Q244.no_default", "SELECT (COUNT(*) AS ?n) FROM NAMED ex:g { ?s ex:p ?o }"),
    ("CEL-Q244.graph", "SELECT (COUNT(*) AS ?n) FROM ex:g { GRAPH ?g { ?s ex:p ?o } }"),
]


@pytest.fixture(scope="module")
def both() -> Both:
    import pyoxigraph as ox

    quads = ox.parse(TRIG.encode(), format=ox.RdfFormat.TRIG)
    facts = [
        (str(each.subject), str(each.predicate), str(each.object))
        + (() if isinstance(each.graph_name, ox.DefaultGraph) else (str(each.graph_name),))
        for each in quads
    ]
    return Both(facts, POLICY)


@pytest.mark.parametrize("query", QUESTIONS)
def test_the_exact_answer_is_that_of_pyoxigraph(both: Both, query: str) -> None:
    step = PublicStep(question=compile(query, POLICY), target=Target(policy=POLICY))
    rows = step.rows(lambda tree: both.duckdb.execute(tree.sql("duckdb")).fetchall())
    found = sorted(tuple(map(str, row.values())) for row in rows)
    assert found == sorted(tuple(map(_written, row)) for row in both.exact(query))
    assert any(int(row[-1]) > 0 for row in found)


def _written(term: Any) -> str:
    return term.value if term.value.isdigit() else str(term_number(address_text(term.value)))


@pytest.mark.parametrize(("key", "query"), REFUSED)
def test_other_graphs_are_refused_where_they_stand(key: str, query: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        compile(query, POLICY)
    assert refused.value.key == key
    assert refused.value.details["line"] == 1


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
def test_graphs_are_kept_by_the_store_and_asked_by_a_vault(tmp_path: Path) -> None:
    (tmp_path / "facts.trig").write_text(TRIG, "utf-8")
    (tmp_path / "more.ttl").write_text(f"<{EX}d> <{EX}p> <{EX}a> .", "utf-8")
    store = tmp_path / "facts.graph"
    load(tmp_path / "facts.trig", store)
    load(tmp_path / "more.ttl", store, add=True, graph=f"{EX}h")
    with GraphStore.open(store) as opened:
        assert opened.graphs() == {f"{EX}g": 5, f"{EX}h": 5, f"{EX}other": 1}
        assert opened.triples == 12
        assert f'# graphs = ["<{EX}g>", "<{EX}h>", "<{EX}other>"]' in draft_graph_policy(opened)
    said = f"""
name = "named"
unit = {{ name = "person" }}
budget = {{ epsilon = 1000 }}
[graph]
store = "facts.graph"
%s
[graph.prefixes]
ex = "{EX}"
[graph.classes.Person]
predicates = ["ex:p", "ex:q", "ex:r"]
"""
    answers = {}
    for listed in ("", 'graphs = ["ex:g", "ex:h"]'):
        policy = tmp_path / f"{len(listed)}.toml"
        policy.write_text(said % listed, "utf-8")
        with Vault.open(policy, rng=Seeded(1)) as vault:
            for query in ("{ ?s ex:p ?o }", "{ GRAPH ex:h { ?s ex:p ?o } }"):
                try:
                    asked = vault.sparql(f"SELECT (COUNT(DISTINCT ?s) AS ?n) {query}", epsilon=100)
                    answers[bool(listed), query[2]] = asked.value
                except QueryRefused as refused:
                    answers[bool(listed), query[2]] = refused.key
    assert answers == {
        (False, "?"): 4,  # all graphs are one
        (False, "G"): "CEL-Q244.graph",
        (True, "?"): 2,
        (True, "G"): 3,
    }


def test_a_store_of_one_graph_has_no_named_ones(tmp_path: Path) -> None:
    import duckdb

    store = tmp_path / "old.graph"
    (tmp_path / "facts.ttl").write_text(f"<{EX}d> <{EX}p> <{EX}a> .", "utf-8")
    load(tmp_path / "facts.ttl", store)
    with duckdb.connect(str(store)) as opened:  # as earlier versions made it
        opened.execute("DROP TABLE named; DROP TABLE elsewhere")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'name = "old"\nunit = { name = "triple" }\nbudget = { epsilon = 1 }\n'
        f'[graph]\nstore = "old.graph"\ngraphs = ["<{EX}g>"]\n'
        f'[graph.predicates."<{EX}p>"]\nmost_per_subject = 1\n',
        "utf-8",
    )
    with pytest.raises(InputError) as refused, Vault.open(policy, rng=Seeded(1)):
        pass
    assert refused.value.key == "CEL-Q228.other_version"
