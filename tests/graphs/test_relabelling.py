"""Random numbers in place of names: nothing else changes, and that is the trouble."""

from collections import Counter

import networkx as nx
import numpy as np
import polars as pl
import pytest

from celosia.core.randomness import Seeded
from celosia.graphs.examples import dan
from celosia.graphs.graph import Graph
from celosia.graphs.readers import as_graph, to_networkx
from celosia.graphs.relabelling import Relabelling, relabel


def test_names_are_gone_and_the_structure_is_the_same() -> None:
    changed = Relabelling().apply(dan(), rng=Seeded(1))
    assert changed.graph.labels is None
    assert nx.is_isomorphic(to_networkx(changed.graph), to_networkx(dan()))
    assert changed.graph.edges.tolist() == sorted(changed.graph.edges.tolist())


def test_the_mapping_leads_from_old_to_new_numbers() -> None:
    made = relabel(dan(), Seeded(1))
    assert Graph.of(made.numbers[dan().edges]).same_edges(made.graph)


def test_attributes_go_along() -> None:
    before = dan()
    ages = pl.DataFrame({"degree": before.degrees})
    sums = pl.DataFrame({"sum": before.degrees[before.edges].sum(axis=1)})
    graph = Graph(order=9, edges=before.edges, attributes=ages, edge_attributes=sums)
    after = relabel(graph, Seeded(3)).graph
    assert after.attributes is not None
    assert after.edge_attributes is not None
    assert after.attributes["degree"].to_list() == after.degrees.tolist()
    assert after.edge_attributes["sum"].to_list() == after.degrees[after.edges].sum(axis=1).tolist()


def test_it_promises_nothing_and_says_why() -> None:
    assert Relabelling().promise(dan()) is None
    assert "structure" in Relabelling().leaves_open()[0]
    assert Relabelling().as_dict() == {"method": "relabelling"}


@pytest.mark.statistical
def test_every_order_of_the_vertices_is_equally_likely() -> None:
    rng, runs = Seeded(5), 3000
    path = Graph.of([(0, 1), (1, 2)])
    seen = Counter(tuple(relabel(path, rng).numbers.tolist()) for _ in range(runs))
    square = sum((count - runs / 6) ** 2 / (runs / 6) for count in seen.values())
    assert len(seen) == 6
    assert square < 5 + 7 * np.sqrt(10)


def test_a_graph_without_edges_is_relabelled_too() -> None:
    assert relabel(Graph.of([], order=3), Seeded(1)).graph.order == 3
    assert as_graph(relabel(dan(), Seeded(1)).graph).graph.size == 10
