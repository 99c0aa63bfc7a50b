"""Every method on small networks: what it promises or keeps, checked apart, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded
from celosia.graphs import examples
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.generalisation.verification import violations
from celosia.graphs.graph import Graph
from celosia.graphs.method import method_from
from celosia.graphs.metrics import align_vertices
from celosia.graphs.release import GraphRelease
from celosia.graphs.run import publish
from celosia.graphs.uncertain.entropy import recounted_failures
from celosia.graphs.uncertain.graph import UncertainGraph
from celosia.graphs.verification import (
    contains,
    degree_anonymity,
    neighbourhood_anonymity,
    triangle_anonymity,
)
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.tolerance import at_least, at_most

compare_equal, _ = comparing("promise")

NETWORKS = {
    Message("lab.graphs.karate_club"): examples.karate,
    Message("lab.graphs.friends_of_dan"): examples.dan,
    "G9": examples.g9,
}
"""The networks that come with the program."""

K = {Message("lab.graphs.karate_club"): 5, Message("lab.graphs.friends_of_dan"): 2, "G9": 2}
AMOUNT = 0.2
TOLERANCE = 0.25


def parameters(network: str) -> dict[str, dict[str, Any]]:
    """Every method with what it is run with on a network; heavy ones with k = 2."""
    k = K[network]
    amount = {"amount": AMOUNT}
    return {
        "relabelling": {},
        "random-sparsification": {"probability": AMOUNT},
        "random-add-delete": amount,
        "random-perturbation": amount,
        "relevance": amount,
        "spectral-add-delete": amount,
        "random-switch": amount,
        "spectral-switch": amount,
        "k-degree": {"k": k},
        "vertex-addition": {"k": k},
        "fuzzy-neighbourhood": {"k": 2},
        "k-neighbourhood": {"k": 2},
        "k-automorphism": {"k": 2},
        "k-isomorphism": {"k": 2},
        "k-obfuscation": {"k": 2, "tolerance": TOLERANCE},
        "sangreea": {"k": k},
        "partition-search": {"k": k},
        "private-graph": {"epsilon": 1},
    }


@cache
def publish_network(network: str, kind: str) -> GraphRelease:
    """A network after one method, under random numbers, with its account."""
    method = method_from(kind, parameters(network)[kind])
    return publish(NETWORKS[network](), method, rng=Seeded(2008))


def rows(progress: Progress) -> Iterator[Row]:
    """What each method keeps or promises, on each network."""
    for network in NETWORKS:
        for kind in parameters(network):
            progress(Step(Message("lab.joined.comma", first=kind, second=network), 0))
            yield from _checked(network, kind)


def _checked(network: str, kind: str) -> Iterator[Row]:
    run = Message("lab.joined.comma", first=kind, second=network)
    graph, release = NETWORKS[network](), publish_network(network, kind)
    made, options = release.data, parameters(network)[kind]
    yield compare_equal(run, "lab.graphs.vertices", graph.order + _fakes(release), made.order)
    if isinstance(made, GeneralisedGraph):
        wrong = violations(made, graph, k=options["k"])
        yield compare_equal(run, "lab.graphs.what_is_wrong_with_the_groups", "", "; ".join(wrong))
        return
    if isinstance(made, UncertainGraph):
        assert release.key is not None
        back = made.renumbered(np.argsort(release.key))
        failing = recounted_failures(back, graph, k=options["k"]).size
        most = int(TOLERANCE * graph.order)
        cell = Message("lab.graphs.exposed_counted_apart_at_most")
        yield compare(run, cell, most, failing, at_most(most), kind="promise")
        return
    assert isinstance(made, Graph)
    if release.key is not None:  # a private graph is new: no vertex of it is anybody
        yield from _kept(run, kind, graph, align_vertices(made, release.key))
    for name, reached in _levels(kind, made):
        cell, k = Message("lab.graphs.at_least", name=name), options["k"]
        yield compare(run, cell, k, reached, at_least(k), kind="promise")


def _fakes(release: GraphRelease) -> int:
    return int(release.methods[-1].facts.get("fake vertices", 0))


def _kept(run: str, kind: str, graph: Graph, made: Graph) -> Iterator[Row]:
    if kind in {"random-add-delete", "random-perturbation", "relevance", "spectral-add-delete"}:
        yield compare_equal(run, "lab.graphs.edges", graph.size, made.size)
    if kind in {"random-switch", "spectral-switch", "relabelling"}:
        moved = int((made.degrees != graph.degrees).sum())
        yield compare_equal(run, "lab.graphs.vertices_with_another_degree", 0, moved)
    if kind == "relabelling":
        yield compare_equal(
            run, "lab.graphs.the_edges_are_the_same", "yes", _yes(made.same_edges(graph))
        )
    if kind == "random-sparsification":
        yield compare_equal(
            run, "lab.graphs.all_edges_are_true", "yes", _yes(contains(made, graph))
        )
    if kind in {"vertex-addition", "k-neighbourhood", "k-automorphism"}:
        yield compare_equal(
            run, "lab.graphs.the_original_is_in_it", "yes", _yes(contains(graph, made))
        )


def _levels(kind: str, made: Graph) -> list[tuple[str, int]]:
    if kind in {"k-degree", "vertex-addition"}:
        return [(Message("lab.graphs.k_by_degree"), degree_anonymity(made))]
    if kind == "fuzzy-neighbourhood":
        reached = triangle_anonymity(made, tolerance=0.2).k
        return [(Message("lab.graphs.k_by_triangles"), reached)]
    if kind in {"k-neighbourhood", "k-automorphism", "k-isomorphism"}:
        return [(Message("lab.graphs.k_by_neighbourhood"), neighbourhood_anonymity(made).k)]
    return []


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def measure(network: str, kind: str) -> tuple[float | None, ...]:
    """Guesses that are right by degree and by neighbourhood, edges and communities kept.

    None where nobody knows which vertex is which; of chances, what a random world has.
    """
    account = publish_network(network, kind).account
    chances = {each.name: each.chance for each in account.attacks}
    if account.utility is None or not account.matched:
        return (None,) * 4
    return (
        chances.get("degree"),
        chances.get("neighbourhood"),
        account.utility.edges.share_kept,
        account.utility.communities_information,
    )


def run_all(network: str, progress: Progress = silent) -> list[str]:
    """The names of all methods, each of them run."""
    for kind in parameters(network):
        progress(Step(Message("lab.joined.comma", first=kind, second=network), 0))
        publish_network(network, kind)
    return list(parameters(network))
