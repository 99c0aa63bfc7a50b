"""`celosia query` on a graph: loaded, declared and asked from the command line alone."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Run

FACTS = """\
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix ex: <http://example.org/> .
ex:ana foaf:age 30 ; foaf:knows ex:ben .
ex:ben foaf:age 40 .
"""
POLICY = """\
name = "people"
unit = { name = "person" }
budget = { epsilon = 10 }

[graph]
store = "people.graph"

[graph.prefixes]
foaf = "http://xmlns.com/foaf/0.1/"

[graph.classes.Person]
predicates = ["foaf:age", "foaf:knows"]

[graph.predicates."foaf:age"]
most_per_subject = 1
"""


def test_a_graph_is_loaded_and_asked_from_a_file(run: Run) -> None:
    Path("people.ttl").write_text(FACTS)
    Path("people.toml").write_text(POLICY)
    Path("ages.rq").write_text("SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:age ?age }")
    assert run("rdf", "load", "people.ttl", "-o", "people.graph").code == 0
    planned = run("query", "people.toml", "ages.rq", "--explain")
    assert planned.code == 0, planned.err
    assert "foaf:age" in planned.out
    result = run("query", "people.toml", "ages.rq", "-e", 5, "--seed", 1, "--json")
    assert result.code == 0, result.err
    (row,) = result.data()["rows"]
    # Noise of scale 1/5: beyond 4 once in e^20 draws.
    assert abs(row["n"] - 2) <= 4


def test_sql_is_not_the_language_of_a_graph(run: Run) -> None:
    Path("people.ttl").write_text(FACTS)
    Path("people.toml").write_text(POLICY)
    assert run("rdf", "load", "people.ttl", "-o", "people.graph").code == 0
    result = run("query", "people.toml", 'SELECT COUNT(*) FROM "foaf:age"', "-e", 1)
    assert result.code == 2
    assert "CEL-Q240 the query cannot be read as SPARQL" in result.err


def test_a_policy_of_a_graph_is_shown_by_its_predicates(run: Run) -> None:
    Path("people.ttl").write_text(FACTS)
    Path("people.toml").write_text(POLICY)
    assert run("rdf", "load", "people.ttl", "-o", "people.graph").code == 0
    checked = run("policy", "check", "people.toml", "--connect")
    assert "sound: 2 predicates, 2 of them private" in checked.out
    assert "every person, a subject of the private predicates" in checked.out
    shown = run("policy", "show", "people.toml")
    assert shown.code == 0, shown.err
    assert "at most 1 for each" in shown.out
    assert "moment" not in shown.out  # columns are how facts are held, not what is declared
