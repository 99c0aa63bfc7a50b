"""Graphs drawn before and after."""

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.drawing import degree_chart, draw_comparison, layout
from celosia.graphs.examples import G10_VERTEX_ADDED, dan, g10, karate
from celosia.graphs.generators import power_law, ring
from celosia.graphs.graph import Graph
from celosia.graphs.perturbation.deletion import RandomPerturbation


def test_neighbours_are_nearer_than_others() -> None:
    graph = ring(30)
    places = layout(graph, rng=Seeded(1))
    assert places.min() == pytest.approx(0)
    assert places.max() == pytest.approx(1)
    far = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    joined = far[tuple(graph.edges.T)].mean()
    assert joined < 0.5 * far[np.triu_indices(30, 1)].mean()


def test_the_same_draws_give_the_same_drawing() -> None:
    one, again, other = (str(draw_comparison(dan(), dan(), rng=Seeded(seed))) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_what_went_is_dashed_and_what_came_is_thick() -> None:
    graph = karate()
    changed = RandomPerturbation(amount=10).apply(graph, rng=Seeded(1)).graph
    drawn = str(draw_comparison(graph, changed, rng=Seeded(1), title="The club"))
    same = str(draw_comparison(graph, graph, rng=Seeded(1)))
    for word in ("only in the original", "only in the release"):
        assert word in drawn
        assert word not in same
    assert "The club" in drawn
    assert drawn.count("stroke-dasharray") > 10 > same.count("stroke-dasharray")
    assert "stroke-width: 2.4" in drawn
    assert "stroke-width: 2.4" not in same


def test_names_are_drawn_only_when_asked_for() -> None:
    assert "Dan" not in str(draw_comparison(dan(), dan(), rng=Seeded(1)))
    assert "Dan" in str(draw_comparison(dan(), dan(), rng=Seeded(1), names=True))


def test_an_added_vertex_is_drawn_and_named_as_new() -> None:
    edges = [*(g10().edges + 1).tolist(), *G10_VERTEX_ADDED.add]
    changed = Graph.of([(u - 1, v - 1) for u, v in edges])
    assert "new 9" in str(draw_comparison(g10(), changed, rng=Seeded(1), names=True))


def test_of_a_large_graph_its_hubs_are_drawn() -> None:
    graph = power_law(2000, 6000, 2.5, Seeded(1))
    assert "40 hubs of 2,000" in str(draw_comparison(graph, graph, rng=Seeded(1), most=40))
    assert "share of the vertices" in str(degree_chart(graph, graph))


def test_graphs_without_edges_or_vertices_can_be_drawn() -> None:
    for graph in (Graph.of([]), Graph.of([], order=1), Graph.of([], order=5)):
        assert "Original: 0 edges" in str(draw_comparison(graph, graph, rng=Seeded(1)))
        assert "degree" in str(degree_chart(graph, graph))


@pytest.mark.parametrize(
    ("code", "work"),
    [
        ("CEL-G420", lambda: layout(ring(501), rng=Seeded(1))),
        ("CEL-G421", lambda: draw_comparison(ring(61), ring(61), rng=Seeded(1), names=True)),
        ("CEL-G422", lambda: draw_comparison(ring(9), ring(9), rng=Seeded(1), most=501)),
    ],
    ids=["layout", "names", "most"],
)
def test_too_much_for_a_drawing_is_refused(code: str, work: object) -> None:
    with pytest.raises(InputError) as caught:
        work()  # type: ignore[operator]
    assert caught.value.code == code
