"""Figure 11: chances of edges, and how much doubt they leave."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import log2

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded
from celosia.graphs import examples
from celosia.graphs.graph import Graph
from celosia.graphs.uncertain import entropy
from celosia.graphs.uncertain.graph import UncertainGraph
from celosia.graphs.uncertain.method import KObfuscation
from celosia.graphs.uncertain.statistics import expected_statistics, sampled_statistics
from celosia.lab.findings import Row, compare
from celosia.lab.graphs.publication import DEGREE_CHANCES, DEGREE_ENTROPIES
from celosia.lab.mechanisms.cells import SIGMAS, comparing
from celosia.lab.tolerance import at_most

compare_equal, compare_printed = comparing("program")

WORLDS = 400


def rows(progress: Progress = silent) -> list[Row]:
    """All of them."""
    original = examples.uncertain_original()
    graph = UncertainGraph.of(
        {(one - 1, other - 1): chance for (one, other), chance in examples.UNCERTAIN.items()}
    )
    return [*_doubts(graph, original), *_averages(graph), *_certain(), *_generated()]


def _doubts(graph: UncertainGraph, original: Graph) -> Iterator[Row]:
    run = Message("lab.graphs.figure_11_degrees")
    table = entropy.degree_distributions(graph)
    for vertex, texts in enumerate(DEGREE_CHANCES):
        for number, text in enumerate(texts):
            found = float(table[vertex, number])
            yield compare_printed(
                run,
                Message("lab.graphs.vertex_chance_of", vertex=vertex + 1, number=number),
                text,
                found,
            )
    bits = entropy.degree_entropies(graph, np.arange(4))
    for number, text in enumerate(DEGREE_ENTROPIES):
        yield compare_printed(
            run, Message("lab.graphs.doubt_about_who_has", number=number), text, float(bits[number])
        )
    run = Message("lab.graphs.figure_11_obfuscation")
    for k, share in ((2, 0.25), (3, 0.25), (4, 1.0)):
        yield compare_equal(
            run,
            Message("lab.graphs.share_exposed_k", k=k),
            share,
            entropy.obfuscation(graph, original, k=k).share,
        )
    for k, tolerance, holds in ((3, 0.25, "yes"), (3, 0.2, "no"), (4, 0.9, "no")):
        verdict = "yes" if entropy.obfuscation(graph, original, k=k).holds(tolerance) else "no"
        yield compare_equal(
            run, Message("lab.graphs.obfuscated", k=k, tolerance=tolerance), holds, verdict
        )
    exposed = entropy.obfuscation(graph, original, k=3).failing + 1
    yield compare_equal(
        run, "lab.graphs.who_is_exposed_k_3", "1", " ".join(map(str, exposed.tolist()))
    )


def _averages(graph: UncertainGraph) -> Iterator[Row]:
    run = Message("lab.graphs.figure_11_averages")
    found = expected_statistics(graph)
    yield compare_printed(run, "lab.graphs.edges", "3.3", found.edges)
    for number, text in enumerate(("2.4", "1.6", "1.7", "0.9")):
        yield compare_printed(
            run,
            Message("lab.graphs.degree_of_2", number=number + 1),
            text,
            float(found.degrees[number]),
        )
    yield compare_printed(run, "lab.graphs.mean_degree", "1.65", found.mean_degree)
    yield compare_printed(run, "lab.graphs.degree_variance", "0.46", found.degree_variance)
    yield compare_printed(
        run, "lab.graphs.greatest_degree_over_all_worlds", "2.47816", _greatest(graph)
    )
    drawn = sampled_statistics(
        graph,
        {"greatest": lambda world: float(world.degrees.max()), "edges": lambda w: float(w.size)},
        worlds=WORLDS,
        rng=Seeded(11),
    )
    for name, key, text in (
        ("greatest", "lab.graphs.greatest_degree_worlds_drawn", "2.47816"),
        ("edges", "lab.graphs.edges_worlds_drawn", "3.3"),
    ):
        cell, mean = Message(key, worlds=WORLDS), drawn[name]
        yield compare_printed(run, cell, text, mean.mean, error=mean.error)


def _greatest(graph: UncertainGraph) -> float:
    """The average of the greatest degree over every world, one by one."""
    total = 0.0
    for there in product((False, True), repeat=graph.size):
        chosen = np.array(there)
        weight = np.where(chosen, graph.probabilities, 1 - graph.probabilities).prod()
        degrees = np.bincount(graph.pairs[chosen].ravel(), minlength=graph.order)
        total += float(weight) * int(degrees.max())
    return total


def _certain() -> Iterator[Row]:
    run = Message("lab.graphs.g9_as_chances_of_0_and")
    graph = examples.g9()
    certain = UncertainGraph.certain(graph)
    for k, text in ((2, 2 / 9), (3, 2 / 9), (4, 5 / 9)):
        yield compare_equal(
            run,
            Message("lab.graphs.share_exposed_k", k=k),
            text,
            entropy.obfuscation(certain, graph, k=k).share,
        )
    bits = entropy.degree_entropies(certain, graph.degrees)
    counts = np.bincount(graph.degrees)
    for number in np.flatnonzero(counts).tolist():
        yield compare_equal(
            run,
            Message("lab.graphs.doubt_about_who_has_degree", number=number),
            round(log2(counts[number]), 12),
            round(float(bits[number]), 12),
        )


def _generated() -> Iterator[Row]:
    run = Message("lab.graphs.karate_club_k_5_one_in")
    club = examples.karate()
    made = KObfuscation(k=5, tolerance=0.1).apply(club, rng=Seeded(11)).graph
    failing = entropy.recounted_failures(made, club, k=5).size
    cell = Message("lab.graphs.exposed_counted_apart_at_most")
    yield compare(run, cell, 3, failing, at_most(3), kind="promise")
    inside = bool(((made.probabilities >= 0) & (made.probabilities <= 1)).all())
    yield compare_equal(run, "lab.graphs.all_chances_are_in_0_1", "yes", "yes" if inside else "no")
    yield compare_equal(run, "lab.graphs.pairs_with_a_chance", 2 * club.size, made.size)
    world = made.sample_world(Seeded(12))
    spread = float(np.sqrt((made.probabilities * (1 - made.probabilities)).sum()))
    off = abs(world.size - made.expected_edges)
    cell = Message("lab.graphs.edges_of_a_world_in_deviations")
    rule = at_most(SIGMAS, Message("lab.tolerance.deviations", sigmas=SIGMAS))
    yield compare(run, cell, SIGMAS, off / spread, rule, kind="theory")
