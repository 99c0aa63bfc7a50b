"""`celosia rdf`: facts in, looked at, checked, out again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

POLICY = """
name = "people"

[unit]
name = "person"

[budget]
epsilon = 1

[graph]
store = "people.graph"

[graph.prefixes]
ex = "http://example.org/"

[graph.classes.User]
predicates = ["ex:age", "ex:likes"]

[graph.classes.Shop]
predicates = ["ex:sells"]

[graph.predicates."ex:age"]
most_per_subject = 1
lower = 0
upper = 120
"""
FACTS = """
@prefix ex: <http://example.org/> .
ex:ann ex:age 31; ex:likes ex:tea, ex:rain .
ex:bob ex:age 140; ex:likes ex:tea .
ex:inn ex:sells ex:tea .
"""


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "people.ttl").write_text(FACTS)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def test_a_graph_is_loaded_looked_at_and_exported(run: Run, folder: Path) -> None:
    result = run("rdf", "load", "people.ttl", "-o", "people.graph")
    assert result.code == 0, result.err
    assert "people.graph: 6 facts and 10 terms; 6 facts added" in result.out
    assert "celosia rdf info people.graph" in result.err
    info = run("rdf", "info", "people.graph")
    assert "people.graph: 6 facts of 3 subjects" in info.out
    assert "for the curator only" in info.err
    facts = run("rdf", "info", "people.graph", "--json").data()
    assert {each["predicate"]: each["facts"] for each in facts["predicates"]} == {
        "http://example.org/age": 2,
        "http://example.org/likes": 3,
        "http://example.org/sells": 1,
    }
    out = run("rdf", "export", "people.graph", "-o", "out.nt")
    assert out.out == "6 facts: out.nt\n"
    again = run("rdf", "load", "out.nt", "-o", "people.graph", "--add", "--json").data()
    assert (again["triples"], again["read"], again["added"]) == (6, 6, 0)


def test_a_store_is_neither_lost_nor_read_over_by_accident(run: Run, folder: Path) -> None:
    run("rdf", "load", "people.ttl", "-o", "people.graph")
    run("rdf", "load", "people.ttl", "-o", "people.graph").complains("CEL-I004")
    assert run("rdf", "load", "people.ttl", "-o", "people.graph", "--overwrite").code == 0
    run("rdf", "load", "people.ttl", "-o", "people.ttl", "--overwrite").complains("CEL-I007")
    run("rdf", "export", "people.graph", "-o", "people.graph", "--overwrite").complains("CEL-I007")


def test_a_broken_file_is_told_by_its_place(run: Run, folder: Path) -> None:
    (folder / "broken.nt").write_text(f'<urn:a> <urn:b> "c" .\n<urn:a> {MARK} "c" .\n')
    wrong = run("rdf", "load", "broken.nt", "-o", "people.graph")
    wrong.complains("CEL-Q221")
    assert "line 2, column" in wrong.err
    assert not (folder / "people.graph").exists()


def test_options_of_files_and_endpoints_do_not_mix(run: Run, folder: Path) -> None:
    url = "https://example.org/sparql"
    for words in (
        ("people.ttl", url),
        (url, "--format", "turtle"),
        ("people.ttl", "--plain"),
        (url, "--policy", "policy.toml", "--predicate", "urn:a"),
    ):
        run("rdf", "load", *words, "-o", "people.graph").complains("CEL-Q213")
    run("rdf", "load", "http://example.org/sparql", "-o", "g").complains("CEL-Q230")
    run("rdf", "load", url, "--authorization", "$NOBODY", "-o", "g").complains("CEL-Q204")


def test_a_graph_is_checked_against_its_policy(run: Run, folder: Path) -> None:
    run("rdf", "check", "policy.toml").complains("CEL-Q228")
    run("rdf", "load", "people.ttl", "-o", "people.graph")
    result = run("rdf", "check", "policy.toml")
    assert result.code == 0, result.err
    assert result.out == "people: the graph is as declared; 1 note\n"
    assert "ex:age: 1 fact outside of the bounds 0 to 120" in result.err
    assert "<http://example.org/bob>" in result.err
    assert "for the curator only" in result.err
    facts = run("rdf", "check", "policy.toml", "--json").data()
    assert [each["kind"] for each in facts["violations"]] == ["bounds"]


def test_a_graph_that_does_not_comply_ends_with_code_1(run: Run, folder: Path) -> None:
    (folder / "more.ttl").write_text("@prefix ex: <http://example.org/> . ex:inn ex:likes ex:tea .")
    run("rdf", "load", "people.ttl", "more.ttl", "-o", "people.graph")
    wrong = run("rdf", "check", "policy.toml")
    assert wrong.code == 1
    assert "<http://example.org/inn>" in wrong.err
    assert "CEL-Q219 the graph is not as declared: 1 person of no single class." in wrong.err
    envelope = run("rdf", "check", "policy.toml", "--json").envelope()
    assert envelope["code"] == "CEL-Q219"
    kinds = [each["kind"] for each in envelope["details"]["violations"]]
    assert kinds == ["class", "bounds"]


def test_a_policy_of_tables_has_no_graph(run: Run, shop: Path) -> None:
    run("rdf", "check", "shop/policy.toml").complains("CEL-Q235")


def test_a_graph_is_asked_after_four_commands(run: Run, folder: Path) -> None:
    """Load, draft, check, ask; what a person must decide is filled in between."""
    assert run("rdf", "load", "people.ttl", "-o", "people.graph").code == 0
    drafted = run("policy", "draft", "people.graph", "--name", "people", "-o", "draft.toml")
    assert drafted.code == 0, drafted.err
    text = (folder / "draft.toml").read_text("utf-8")
    assert 'predicates = ["ex:age", "ex:likes"]' in text
    assert 'predicates = ["ex:sells"]' in text
    assert run("rdf", "check", "draft.toml").code != 0  # neither unit nor budget
    for blank in ('name = "entity"', "epsilon = 1", "delta = 1e-8", "most_per_subject = 1"):
        text = text.replace(f"# {blank}", blank)
    (folder / "draft.toml").write_text(text)
    checked = run("rdf", "check", "draft.toml")
    assert checked.code == 0, checked.err
    query = "SELECT (COUNT(DISTINCT ?x) AS ?n) { ?x ex:age ?a }"
    asked = run("query", "draft.toml", query, "--epsilon", "0.5", "--seed", "1")
    assert asked.code == 0, asked.err


def test_a_policy_with_public_predicates_only_opens(run: Run, folder: Path) -> None:
    assert run("rdf", "load", "people.ttl", "-o", "people.graph").code == 0
    head = POLICY[: POLICY.index("[graph.classes.User]")]
    (folder / "public.toml").write_text(head + '[graph.predicates."ex:likes"]\npublic = true\n')
    query = "SELECT (COUNT(*) AS ?n) { ?x ex:likes ?y }"
    answer = run("query", "public.toml", query, "--epsilon", "1", "--json")
    assert answer.code == 0, answer.err
    assert answer.data()["rows"][0]["n"] == 3
