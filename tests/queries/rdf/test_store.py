"""What a curator sees of a store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pyoxigraph as ox
import pytest
from tests.queries.rdf.graphs import SMALL, facts_of, parsed, write

from celosia.core.errors import InputError
from celosia.queries.rdf.file_loader import load
from celosia.queries.rdf.store import GraphStore
from celosia.queries.rdf.terms import term_number


@pytest.fixture
def store(tmp_path: Path) -> Path:
    load(write(tmp_path / "small.ttl", SMALL), tmp_path / "small.graph")
    return tmp_path / "small.graph"


def test_figures_are_those_counted_by_hand(store: Path) -> None:
    facts = parsed(SMALL, ox.RdfFormat.TURTLE)
    with GraphStore.open(store) as graph:
        found = {each.predicate: each for each in graph.predicates()}
        assert (graph.triples, graph.subjects, graph.sources) == (19, 4, ("small.ttl",))
        assert graph.terms == len({term for fact in facts for term in fact})
        assert str(graph) == f"{store}: 19 facts of 4 subjects"
        assert graph.as_dict()["predicates"][0]["facts"] == 4
        assert [each.facts for each in graph.predicates()] == [4, 4, 4, 4, 3]
    assert set(found) == {predicate[1:-1] for _, predicate, _ in facts}
    for predicate, each in found.items():
        mine = [fact for fact in facts if fact[1] == f"<{predicate}>"]
        subjects, objects = (Counter(fact[at] for fact in mine) for at in (0, 2))
        assert each.number == term_number(f"<{predicate}>")
        assert (each.facts, each.subjects, each.objects) == (len(mine), len(subjects), len(objects))
        assert each.most_of_subject == max(subjects.values())
        assert each.most_of_object == max(objects.values())


def test_an_export_is_the_same_graph(store: Path, tmp_path: Path) -> None:
    with GraphStore.open(store) as graph:
        assert graph.export(tmp_path / "out.nt") == 19
        with pytest.raises(InputError, match="exists already"):
            graph.export(tmp_path / "out.nt")
    text = (tmp_path / "out.nt").read_text("utf-8")
    assert parsed(text, ox.RdfFormat.N_TRIPLES) == facts_of(store)
    load(tmp_path / "out.nt", tmp_path / "again.graph")
    assert facts_of(tmp_path / "again.graph") == facts_of(store)


def test_a_graph_without_facts_is_a_graph(tmp_path: Path) -> None:
    made = load(write(tmp_path / "none.nt", "# nothing\n"), tmp_path / "graph")
    assert made.triples == 0
    with GraphStore.open(tmp_path / "graph") as graph:
        assert graph.predicates() == []
        assert graph.export(tmp_path / "out.nt") == 0


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "text.graph", "no database")
    with duckdb.connect(str(tmp_path / "other.graph")) as connection:
        connection.execute("CREATE TABLE meta (name VARCHAR, value VARCHAR)")
    for name in ("text.graph", "other.graph", "missing.graph"):
        with pytest.raises(InputError, match="no store") as refusal:
            GraphStore.open(tmp_path / name)
        assert refusal.value.code == "CEL-Q228"


def test_a_store_of_another_version_is_refused(store: Path) -> None:
    with duckdb.connect(str(store)) as connection:
        connection.execute("UPDATE meta SET value = '0' WHERE name = 'version'")
    with pytest.raises(InputError, match="another version"):
        GraphStore.open(store)


def test_a_store_is_opened_to_be_read_only(store: Path) -> None:
    with GraphStore.open(store) as graph, pytest.raises(duckdb.Error, match="read-only"):
        graph.rows("DELETE FROM triples")
