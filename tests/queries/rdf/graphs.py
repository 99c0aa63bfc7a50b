"""Small graphs and a plain oracle of what a store must hold."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox

from celosia.queries.rdf.store import GraphStore

SMALL = """
@prefix vcard: <http://www.w3.org/2006/vcard/ns#> . @prefix sn: <http://www.snee.com/hr/> .
sn:emp1 vcard:given-name "Heidi"; vcard:family-name "Smith"; vcard:title "CEO";
    sn:hireDate "2015-01-13"; sn:completedOrientation "2015-01-30" .
sn:emp2 vcard:given-name "John"; vcard:family-name "Smith"; sn:hireDate "2015-01-28";
    vcard:title "Engineer"; sn:completedOrientation "2015-01-30","2015-03-15" .
sn:emp3 vcard:given-name "Francis"; vcard:family-name "Jones"; sn:hireDate "2015-02-13";
    vcard:title "Vice President" .
sn:emp4 vcard:given-name "Jane"; vcard:family-name "Berger"; sn:hireDate "2015-03-10";
    vcard:title "Sales" .
"""
"""The small example of the specification: 19 facts."""
EX = "http://example.org/"


def facts_of(store: Path) -> set[tuple[str, str, str]]:
    """All facts of a store, as canonical texts."""
    with GraphStore.open(store) as graph:
        rows = graph.rows(
            "SELECT a.text, b.text, c.text FROM triples JOIN terms a ON a.id = s "
            "JOIN terms b ON b.id = p JOIN terms c ON c.id = o"
        )
        assert len(set(rows)) == len(rows) == graph.triples
    return {(s, p, o) for s, p, o in rows}


def parsed(text: str | bytes, format_: ox.RdfFormat) -> set[tuple[str, str, str]]:
    """All facts of a text by pyoxigraph alone."""
    quads = ox.parse(text, format=format_)
    return {(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads}


def write(path: Path, text: str) -> Path:
    """A file with a text."""
    path.write_text(text, "utf-8")
    return path
