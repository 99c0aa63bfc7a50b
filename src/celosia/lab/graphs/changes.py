"""Figure 9 and what belongs to it: edges changed at random, and what that does to a graph."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded
from celosia.graphs import examples
from celosia.graphs.attacks import link_posterior, simulated_posterior
from celosia.graphs.graph import Graph
from celosia.graphs.metrics import compare, measure
from celosia.graphs.metrics.spectrum import Spectrum, spectrum_of
from celosia.graphs.perturbation.deletion import RandomPerturbation
from celosia.graphs.perturbation.exchange import RandomSwitch, SpectralSwitch
from celosia.graphs.perturbation.relevance import neighbourhood_centrality
from celosia.graphs.verification import degree_anonymity
from celosia.lab import findings
from celosia.lab.findings import Row
from celosia.lab.graphs.figure_graphs import figure_9, in_words
from celosia.lab.graphs.publication import CENTRALITIES, DISTANCES, METRIC_NAMES, METRICS, PRINCIPAL
from celosia.lab.mechanisms.cells import SIGMAS, comparing
from celosia.lab.tolerance import at_most

compare_equal, compare_printed = comparing("program")

SEEDS = 30
"""Runs of both kinds of switches on the karate club, as many as were published at least."""

SWITCHES = 30


def rows(progress: Progress = silent) -> list[Row]:
    """All of them."""
    return [*_degrees(), *_metrics(), *_centralities(), *_prediction(), *_links(), *_drift()]


def _degrees() -> Iterator[Row]:
    edits = (None, examples.G9_ADD_DELETE, examples.G9_SWITCH)
    for run, graph, edit in zip(_RUNS, figure_9(), edits, strict=True):
        stated = examples.G9_SWITCH.degrees if edit is None else edit.degrees
        yield compare_equal(
            run,
            "lab.graphs.degrees",
            in_words(stated),
            in_words(graph.degrees.tolist()),
            kind=None,
        )
        yield compare_equal(run, "lab.graphs.vertices", 9, graph.order, kind=None)
        yield compare_equal(run, "lab.graphs.edges", 12, graph.size, kind=None)
        yield compare_equal(run, "lab.graphs.k_by_degree", 1, degree_anonymity(graph))


_RUNS = (
    Message("lab.graphs.figure_9a"),
    Message("lab.graphs.figure_9b_added_and_deleted"),
    Message("lab.graphs.figure_9c_switched"),
)


_MOVED = {
    "degree": Message("lab.graphs.degree_centrality_moved_by"),
    "betweenness": Message("lab.graphs.betweenness_centrality_moved_by"),
    "closeness": Message("lab.graphs.closeness_centrality_moved_by"),
}


def _metrics() -> Iterator[Row]:
    graphs = figure_9()
    found = [dict(measure(graph, rng=Seeded(9)).items()) for graph in graphs]
    for name, texts in METRICS.items():
        for run, values, text in zip(_RUNS, found, texts, strict=True):
            yield compare_printed(run, METRIC_NAMES[name], text, float(values[name].value))
    for place, run in enumerate(_RUNS[1:]):
        utility = compare(graphs[0], graphs[place + 1], rng=Seeded(9))
        yield compare_printed(run, "lab.graphs.edges_in_both", "0.8333", utility.edge_intersection)
        for name, stated in DISTANCES.items():
            moved = float(utility.distances[name].value)
            yield compare_printed(run, _MOVED[name], stated[place], moved)
    unchanged = compare(graphs[0], graphs[0], rng=Seeded(9))
    yield compare_equal(_RUNS[0], "lab.graphs.edges_in_both", 1.0, unchanged.edge_intersection)
    worst = max(abs(float(error.value)) for error in unchanged.errors.values())
    yield compare_equal(_RUNS[0], "lab.graphs.largest_difference_of_a_graph_to", 0.0, worst)


def _centralities() -> Iterator[Row]:
    run = Message("lab.graphs.figure_9_neighbourhood_centrality")
    pairs = np.array(list(CENTRALITIES)) - 1
    found = neighbourhood_centrality(examples.g9(), pairs).tolist()
    for (one, other), value in zip(CENTRALITIES, found, strict=True):
        yield compare_equal(
            run, Message("lab.graphs.edge", one=one, other=other), CENTRALITIES[one, other], value
        )


def _prediction() -> Iterator[Row]:
    run = Message("lab.graphs.figure_9_the_switch_predicted")
    before, _, after = (spectrum(graph) for graph in figure_9())
    x, y = before.vectors
    for number, (text, value) in enumerate(zip(PRINCIPAL, x.tolist(), strict=True), 1):
        yield compare_printed(
            run, Message("lab.graphs.principal_vector_at", number=number), text, value
        )
    t, w, u, v = 0, 1, 4, 3
    rise = 2 * float((x[t] - x[u]) * (x[v] - x[w]))
    yield compare_printed(run, "lab.graphs.first_order_change_of_the_largest", "0.0280", rise)
    yield compare_printed(
        run, "lab.graphs.its_true_change_which_must_be", "0.0551", after.largest - before.largest
    )
    slow = 2 * float((y[t] - y[u]) * (y[w] - y[v]))
    yield compare_printed(run, "lab.graphs.first_order_change_of_the_connectivity", "0.0714", slow)
    yield compare_printed(
        run,
        "lab.graphs.its_true_change_a_positive_prediction",
        "-0.0597",
        after.connectivity - before.connectivity,
    )


def _links() -> Iterator[Row]:
    run = Message("lab.graphs.figure_9b_what_edges_still_tell")
    posterior = link_posterior(order=9, size=12, changed=2)
    yield compare_printed(
        run, "lab.graphs.chance_that_a_published_edge_is", "0.8333", posterior.of_edge
    )
    yield compare_printed(
        run, "lab.graphs.chance_of_an_edge_that_is", "0.0833", posterior.of_non_edge
    )
    seen = simulated_posterior(examples.g9(), RandomPerturbation(amount=2), rng=Seeded(9), runs=50)
    yield compare_printed(run, "lab.graphs.the_first_by_counting_50_runs", "0.8333", seen.of_edge)
    yield compare_printed(
        run, "lab.graphs.the_second_by_counting_50_runs", "0.0833", seen.of_non_edge
    )


def _drift() -> Iterator[Row]:
    """Two means of 30 runs each: both vary, and by as much."""
    run = Message("lab.graphs.karate_club_switches", switches=SWITCHES)
    club = examples.karate()
    start = spectrum(club).largest
    random, steered = (
        np.array(
            [
                abs(spectrum(method.apply(club, rng=Seeded(seed)).graph).largest - start)
                for seed in range(SEEDS)
            ]
        )
        for method in (RandomSwitch(amount=SWITCHES), SpectralSwitch(amount=SWITCHES))
    )
    error = sqrt(2 / SEEDS) * float(random.std(ddof=1))
    cell = Message("lab.graphs.mean_drift_of_the_largest_eigenvalue")
    yield compare_printed(
        run,
        Message("lab.graphs.random", cell=cell),
        "0.283",
        float(random.mean()),
        error=error,
        kind="simulation",
    )
    # Less drift is better: what was simulated before is a bound from above.
    most = at_most(
        0.050 + SIGMAS * sqrt(2 / SEEDS) * float(steered.std(ddof=1)),
        Message("lab.tolerance.limit_and_chance", sigmas=SIGMAS, runs=SEEDS),
    )
    cell = Message("lab.graphs.steered_at_most", cell=cell)
    yield findings.compare(run, cell, 0.050, float(steered.mean()), most, kind="simulation")


def spectrum(graph: Graph) -> Spectrum:
    """The two eigenvalues and their vectors."""
    return spectrum_of(graph.edges.astype(np.int64), graph.order)
