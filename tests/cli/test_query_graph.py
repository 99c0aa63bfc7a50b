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
    told = run("query", "people.toml", "ages.rq", "-e", 5, "--seed", 1, "--json")
    assert told.code == 0, told.err
    (row,) = told.data()["rows"]
    # Noise of scale 1/5: beyond 4 once in e^20 draws.
    assert abs(row["n"] - 2) <= 4


def test_sql_is_not_the_language_of_a_graph(run: Run) -> None:
    Path("people.ttl").write_text(FACTS)
    Path("people.toml").write_text(POLICY)
    assert run("rdf", "load", "people.ttl", "-o", "people.graph").code == 0
    told = run("query", "people.toml", 'SELECT COUNT(*) FROM "foaf:age"', "-e", 1)
    assert told.code == 1
    assert "CEL-Q244" in told.err
