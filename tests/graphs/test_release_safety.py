"""What a published graph must not tell, and that it comes back as it was."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs import GeneralisedGraph, KObfuscation, UncertainGraph
from celosia.graphs.generalisation.graph import shuffle_super_vertices
from celosia.graphs.generators import random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.method import KDegree
from celosia.graphs.kdegree.vertex_addition import VertexAddition
from celosia.graphs.perturbation.deletion import RandomPerturbation
from celosia.graphs.primitives import EditSession
from celosia.graphs.private import PrivateGraph
from celosia.graphs.relabelling import Relabelling
from celosia.graphs.release import GraphRelease
from celosia.graphs.run import publish
from celosia.graphs.writers import write
from celosia.tables import Schema
from celosia.tables.masking import Recipe, Rounding

PENDANT = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 5)]
"""Vertex 0 has a degree of its own, and so has 5: only a fake can hide them."""


def with_ages(graph: Graph) -> Graph:
    ages = pl.DataFrame({"age": [20 + number for number in range(graph.order)]})
    return Graph.of(graph.edges, order=graph.order, attributes=ages)


def rounded_ages() -> Recipe:
    return Recipe.of(Schema.of(quasi_identifiers=["age"]), [(Rounding(base=5), ["age"])])


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
def test_fakes_are_not_published_where_names_tell_them_from_people() -> None:
    release = publish(Graph.of(PENDANT), VertexAddition(k=2), rng=Seeded(1))
    assert release.data.order > 6
    with pytest.raises(InputError, match="added by a method") as refused:
        publish(Graph.of(PENDANT), VertexAddition(k=2), keep_names=True, rng=Seeded(1))
    assert refused.value.code == "CEL-G023"


def test_fakes_are_not_published_where_attributes_tell_them_from_people() -> None:
    with pytest.raises(InputError, match="added by a method") as refused:
        publish(
            with_ages(Graph.of(PENDANT)),
            VertexAddition(k=2),
            attributes=rounded_ages(),
            rng=Seeded(1),
        )
    assert refused.value.code == "CEL-G023"


def test_attributes_do_not_go_with_vertices_that_are_new() -> None:
    with pytest.raises(InputError, match="no attributes") as refused:
        publish(
            with_ages(ring(30)),
            PrivateGraph(epsilon=1),
            attributes=rounded_ages(),
            rng=Seeded(1),
        )
    assert refused.value.code == "CEL-G022"


def test_beside_a_private_graph_nothing_that_is_printed_compares_with_the_original() -> None:
    original = ring(40)
    release = publish(original, PrivateGraph(epsilon=1), rng=Seeded(1))
    assert release.account.utility is not None
    assert release.figures == {}
    for told in (str(release), repr(release), json.dumps(release.certificate())):
        assert "exposed" not in told
        assert "edge_intersection" not in told
    plain = publish(original, KDegree(k=2), rng=Seeded(1))
    assert "exposed" in str(plain)  # no such promise, so it may be told


def test_no_vertex_of_a_private_graph_is_taken_for_anybody() -> None:
    wish = [PrivateGraph(epsilon=1), KDegree(k=2)]
    for methods in (wish[:1], wish):
        release = publish(ring(40), methods, rng=Seeded(1))
        assert release.key is None
        assert release.account.attacks == ()
        assert not release.account.matched
        assert not release.account.world


def test_a_promise_against_those_who_know_the_degrees_needs_the_degrees() -> None:
    graph = random_graph(60, 120, Seeded(1))
    hiding = KObfuscation(k=2, tolerance=0.2)
    with pytest.raises(InputError, match="cannot follow random-perturbation") as refused:
        publish(graph, [RandomPerturbation(amount=0.5), hiding], rng=Seeded(1))
    assert refused.value.code == "CEL-G023"
    release = publish(graph, [Relabelling(), hiding], rng=Seeded(1), assess=False)
    assert release.guarantee.promise.startswith("For all but")


def test_equal_super_vertices_are_in_no_order_that_tells_who_is_in_them() -> None:
    # Three pairs of equal size, joined as a path: the middle one is found by its super-edges.
    found = GeneralisedGraph.of(sizes=[2, 2, 2], internal=[1, 1, 1], between={(0, 1): 1, (1, 2): 2})
    places = set()
    for seed in range(60):
        made = shuffle_super_vertices(found, Seeded(seed))
        assert made.sizes.tolist() == [2, 2, 2]
        assert sorted(made.between.tolist()) == [1, 2]
        counts = dict(
            zip(map(tuple, made.super_edges.tolist()), made.between.tolist(), strict=True)
        )
        ends = [end for pair in counts for end in pair]
        middle = next(end for end in range(3) if ends.count(end) == 2)
        heavy = next(pair for pair, count in counts.items() if count == 2)
        assert middle in heavy
        places.add((middle, heavy))
    assert len(places) == 6  # each of 3! orders; one is missing in 60 with a chance of 6 (5/6)^60


def test_larger_super_vertices_stay_first_and_keep_what_is_known_of_them() -> None:
    found = GeneralisedGraph.of(
        sizes=[2, 3],
        internal=[0, 2],
        between={(0, 1): 4},
        attributes=pl.DataFrame({"age": ["young", "old"]}),
    )
    made = shuffle_super_vertices(found, Seeded(1))
    assert made.sizes.tolist() == [3, 2]
    assert made.internal.tolist() == [2, 0]
    assert made.attributes is not None
    assert made.attributes["age"].to_list() == ["old", "young"]
    assert made.super_edges.tolist() == [[0, 1]]


@pytest.mark.parametrize("ending", ["csv", "tsv", "edges", "csv.gz", "graphml", "net", "json"])
def test_a_release_without_an_edge_is_loaded_with_all_its_vertices(
    tmp_path: Path, ending: str
) -> None:
    release = publish(Graph.of([], order=5), Relabelling(), rng=Seeded(1))
    path = release.save(tmp_path / f"safe.{ending}")
    loaded = GraphRelease.load(path)
    assert isinstance(loaded.data, Graph)
    assert loaded.data.order == 5
    assert loaded.data.size == 0


@pytest.mark.parametrize("ending", ["csv", "edges"])
def test_a_release_of_one_edge_is_loaded_with_it(tmp_path: Path, ending: str) -> None:
    release = publish(Graph.of([(1, 3)], order=5), Relabelling(), rng=Seeded(1))
    loaded = GraphRelease.load(release.save(tmp_path / f"safe.{ending}"))
    assert isinstance(loaded.data, Graph)
    assert isinstance(release.data, Graph)
    assert loaded.data.same_edges(release.data)


@pytest.mark.parametrize("ending", ["csv", "edges", "graphml", "gml", "net", "json"])
def test_a_vertex_without_a_name_is_not_written_under_none(tmp_path: Path, ending: str) -> None:
    graph = Graph.of([(0, 1), (1, 2)], labels=pl.Series("vertex", ["Ann", "Bob", None]))
    with pytest.raises(InputError) as refused:
        write(graph, tmp_path / f"graph.{ending}")
    assert refused.value.code == "CEL-G013"
    assert "Ann" not in str(refused.value)


def test_a_representation_holds_neither_names_nor_edges() -> None:
    names = pl.Series("vertex", ["Ann", "Bob", "Cy"])
    uncertain = UncertainGraph.of({(0, 1): 0.5}, order=3, labels=names)
    assert "Ann" not in repr(uncertain)
    assert "(0, 1)" not in repr(EditSession(Graph.of(np.array([[0, 1], [1, 2]]), labels=names)))
