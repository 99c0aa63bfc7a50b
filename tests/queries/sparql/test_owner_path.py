"""The owner's path over a file that was written elsewhere: load, draft, check, ask."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.queries.sparql.graphs import policy_of

from celosia.core.errors import InputError, QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries.planning import make_plan
from celosia.queries.policy import load_policy
from celosia.queries.rdf.compliance import check_graph
from celosia.queries.rdf.file_loader import load
from celosia.queries.rdf.policy_draft import draft_graph_policy
from celosia.queries.rdf.store import GraphStore
from celosia.queries.request import QueryRequest
from celosia.queries.vault import Vault

FACTS = """@prefix mf: <http://example.org/manifest#> .
@prefix : <http://example.org/kinds#> .
<> a :Manifest ; mf:name "all" .
<#one> a :Positive ; mf:name "one" ; mf:size 3 .
<#two> a :Positive ; mf:name "two" ; mf:size 4 .
<#three> a :Negative ; mf:name "three" .
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("owner")
    (place / "tests.ttl").write_text(FACTS, "utf-8")
    load(place / "tests.ttl", place / "tests.graph", base="http://example.org/tests")
    return place


def test_a_relative_address_without_a_base_is_named(folder: Path) -> None:
    with pytest.raises(InputError) as refused:
        load(folder / "tests.ttl", folder / "other.graph")
    assert refused.value.key == "CEL-Q221.relative_address"
    assert refused.value.details["line"] == 3


def test_a_draft_has_the_prefixes_of_the_file_and_opens_once_filled_in(folder: Path) -> None:
    load(folder / "tests.ttl", folder / "tests.graph", base="http://example.org/tests", add=True)
    with GraphStore.open(folder / "tests.graph") as store:
        assert store.prefixes == {"mf": "http://example.org/manifest#"}
        text = draft_graph_policy(store, path="tests.graph")
        assert '\nmf = "http://example.org/manifest#"\n' in text
        filled = re.sub('# name = "entity"', 'name = "test"', text)
        filled = re.sub("# epsilon = 1\n", "epsilon = 1\n", filled)
        # Keys that are texts stand in quotes of their own, as terms do: filled in, they are read.
        of_texts = re.sub(r"# keys = .*their own", lambda _: r'keys = ["\"one\""]', filled)
        assert of_texts != filled
        (folder / "policy.toml").write_text(of_texts, "utf-8")
        assert check_graph(store, load_policy(folder / "policy.toml")) == []
    with Vault.open(folder / "policy.toml", rng=Seeded(1)) as vault:
        answer = vault.sparql("SELECT (COUNT(DISTINCT ?t) AS ?n) { ?t mf:name ?x }", epsilon=0.5)
    assert isinstance(answer.value, int)


PUBLIC = """
name = "public"
unit = { name = "test" }
budget = { epsilon = 20 }
[graph]
store = "tests.graph"
[graph.prefixes]
mf = "http://example.org/manifest#"
kind = "http://example.org/kinds#"
[graph.predicates."rdf:type"]
public = true
"""
PRIVATE = """[graph.classes.Test]
predicates = ["mf:name"]
[graph.predicates."mf:name"]
most_per_subject = 1
"""


def test_groups_over_public_terms_need_no_declared_keys(folder: Path) -> None:
    """All of them are shown, whether a private fact is in them or not, under their names."""
    (folder / "public.toml").write_text(PUBLIC, "utf-8")
    (folder / "mixed.toml").write_text(PUBLIC + PRIVATE, "utf-8")
    shown = {}
    for name, body in (("public", "?t a ?k"), ("mixed", "?t a ?k ; mf:name ?x")):
        query = f"SELECT ?k (COUNT(*) AS ?n) {{ {body} }} GROUP BY ?k"
        with Vault.open(folder / f"{name}.toml", rng=Seeded(1)) as vault:
            answer = vault.sparql(query, epsilon=19)
            shown[name] = sorted((row["k"], row["n"]) for row in answer.rows)
    exact = [("kind:Manifest", 1), ("kind:Negative", 1), ("kind:Positive", 2)]
    assert shown == {"public": exact, "mixed": exact}


def test_groups_over_private_terms_need_declared_keys(folder: Path) -> None:
    (folder / "mixed.toml").write_text(PUBLIC + PRIVATE, "utf-8")
    with (
        Vault.open(folder / "mixed.toml", rng=Seeded(1)) as vault,
        pytest.raises(QueryRefused) as refused,
    ):
        vault.explain("SELECT ?x (COUNT(*) AS ?n) { ?t a ?k ; mf:name ?x } GROUP BY ?x", epsilon=1)
    assert refused.value.key == "CEL-Q266.private"


REWORDED = [
    (
        "entity",
        "CEL-Q247.optional_others",
        "(COUNT(?x) AS ?n)\n{ ?s ex:p ?o OPTIONAL { ?o ex:q ?x }}",
    ),
    (
        "triple",
        "CEL-Q247.optional_facts",
        "(COUNT(?x) AS ?n)\n{ ?s ex:p ?o OPTIONAL { ?s ex:q ?x }}",
    ),
    ("triple", "CEL-Q253.product", "(COUNT(*) AS ?n)\nWHERE { ?s ex:p ?o . ?x ex:q ?y }"),
    (
        "entity",
        "CEL-Q247.sub_select_groups",
        "(COUNT(*) AS ?n)\n"
        "{ { SELECT ?o (COUNT(*) AS ?m) { ?s ex:p ?o } GROUP BY ?o } FILTER(?m > 1) }",
    ),
]


@pytest.mark.parametrize(("unit", "key", "query"), REWORDED)
def test_refusals_of_the_planner_speak_of_sparql_and_tell_the_place(
    unit: str, key: str, query: str
) -> None:
    policy = policy_of(["ex:p", "ex:q"], entity=unit == "entity")
    with pytest.raises(QueryRefused) as refused:
        make_plan(QueryRequest(f"SELECT {query}", epsilon=1), policy, count=lambda *_: 3)
    assert refused.value.key == key
    assert refused.value.details["line"] == 2
