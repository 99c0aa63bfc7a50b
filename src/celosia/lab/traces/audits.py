"""Private statistics of traces judged by their outputs alone, beside variants that are broken.

Three persons stand in the corner of a region; without the third the outputs must look much the
same. A local report is compared between two persons of other ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any

from celosia.accounting.losses import Loss
from celosia.assess.audit import audit
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded, Source
from celosia.lab.findings import Row, compare
from celosia.lab.tolerance import Tolerance
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.traces import Declaration, Traces, private
from celosia.traces.private.collection import transition_places
from celosia.traces.private.trips import (
    MOVES,
    UNIT,
    count_model,
    transitions_of,
    trips_of,
    weight_of,
)

DECLARED = Declaration(region=(40.0, -4.0, 40.2, -3.7), zone="Europe/Madrid")
SAMPLES = 300
Run = Callable[[Any, Source], Any]


class ThresholdOfOne(private.PlaceFlows):
    """Broken: flows between places that are not declared, named without regard to delta."""

    @property
    def threshold(self) -> int:
        return 1


def corner() -> Traces:
    """Three persons; the third moves on."""
    people = ["a", "b", "c", "c", "c"]
    places = [40.01, 40.01, 40.01, 40.15, 40.02], [-3.99, -3.98, -3.99, -3.75, -3.98]
    return Traces.of(DECLARED, people, [0, 0, 0, 60, 120], *places)


def without(traces: Traces, person: int) -> Traces:
    """The same without one person: a neighbour."""
    return traces.select(traces.person != person)


def is_violated(
    run: Run, one: Any, other: Any, claim: float | Loss, *, seed: int = 1, last_bits: bool = True
) -> bool:
    """Whether an audit finds more than is promised."""
    found = audit(
        run, one, other, claim=claim, samples=SAMPLES, rng=Seeded(seed), last_bits=last_bits
    )
    return found.verdict == "violated"


def rows(progress: Progress = silent) -> Iterator[Row]:
    """Whether each promise stands, by its outputs alone."""
    for number, part in enumerate((_statistics, _flows, _transitions, _local)):
        progress(Step(Message("lab.studies.traces.audits.title"), number, 4))
        yield from part()


def _verdict(run: str, violated: bool, *, is_sound: bool) -> Row:
    expected, computed = (
        "violated" if each else "not violated" for each in (not is_sound, violated)
    )
    return compare(run, "promise", expected, computed, kind="promise")


def _statistics() -> Iterator[Row]:
    for mechanism in (
        private.UniformGrid(epsilon=1, size=2),
        private.UniformGrid(epsilon=1, size=2, per_person=2),
        private.Quadtree(epsilon=1, height=1, per_person=2),
        private.Visits(epsilon=1, grid=2),
        private.Flows(epsilon=1, grid=2, per_person=2),
    ):

        def run(given: Traces, rng: Source, made: Any = mechanism) -> list[float]:
            return list(made.measure(given, rng=rng).value.values())

        violated = is_violated(run, corner(), without(corner(), 2), claim=mechanism.privacy_loss())
        name = f"{type(mechanism).__name__}, {mechanism.per_person} a person"
        yield _verdict(name, violated, is_sound=True)


def _flows() -> Iterator[Row]:
    """Flows between places that are not declared: one of them is of one person alone."""
    places = 6 * [40.01], 6 * [-3.99]
    people, times = ["a", "a", "b", "b", "c", "c"], [0, 60] * 3
    named = ["x", "y", "x", "y", "z", "y"]
    traces = Traces.of(DECLARED, people, times, *places, place=named)
    for mechanism in (
        private.PlaceFlows(epsilon=1, delta=1e-3),
        ThresholdOfOne(epsilon=1, delta=1e-3),
    ):

        def run(given: Traces, rng: Source, made: Any = mechanism) -> list[float]:
            found = made.measure(given, rng=rng).value
            return [found.get(flow, 0.0) for flow in ("x -> y", "z -> y")]

        violated = is_violated(
            run, traces, without(traces, 2), claim=mechanism.privacy_loss(), seed=5
        )
        sound = not isinstance(mechanism, ThresholdOfOne)
        yield _verdict(type(mechanism).__name__, violated, is_sound=sound)


def _transitions() -> Iterator[Row]:
    """Transitions of synthetic traces, weighted by 1 / (l + 1), and with weights of 1."""
    method = private.SyntheticTraces(epsilon=2, size=2, max_steps=12)
    share = method.shares["transitions"]
    law = DiscreteLaplace(UNIT / share)
    there, back = MOVES.index((1, 1)), MOVES.index((-1, -1))
    walk = [40.01, 40.19] * 5, [-3.99, -3.71] * 5
    times = [*range(0, 600, 60), 0]
    traces = Traces.of(DECLARED, ["a"] * 10 + ["b"], times, [*walk[0], 40.01], [*walk[1], -3.99])
    for name, weight in (("1 / (l + 1)", weight_of), ("1", lambda _length: UNIT)):

        def run(given: Traces, rng: Source, chosen: Any = weight) -> float:
            exact = count_model(trips_of(given, 2, 12), 2, 12, chosen).transitions
            noise = law.draw(2, rng)
            return float(exact[0, there] + exact[3, back] + noise.sum()) / UNIT

        violated = is_violated(
            run, traces, without(traces, 0), float(share), seed=2, last_bits=False
        )
        label = f"transitions of synthetic traces, weights {name}"
        yield _verdict(label, violated, is_sound=weight is weight_of)


def _local() -> Iterator[Row]:
    """LDPTrace as corrected: one transition of a person, drawn uniformly, is reported."""
    south, north = [0, 1] * 20, [2, 3] * 20
    names = dict(zip(transition_places(2), private.transition_names(2), strict=True))
    protocol = private.transition_protocol(epsilon=1, size=2)

    def told(reported: list[str], rng: Source) -> float:
        reports = protocol.client(rng=rng).privatise(reported)
        found = protocol.server().absorb(reports).estimate(["0 > 1", "1 > 0"])
        return float(found.counts.sum())

    def every(walk: list[int], rng: Source) -> float:
        return told([names[place] for place in transitions_of(walk, 2)], rng)

    def one(walk: list[int], rng: Source) -> float:
        held = [names[place] for place in transitions_of(walk, 2)]
        return told([held[int(rng.integers(len(held), 1)[0])]], rng)

    for name, run in (("one transition", one), ("every step at the same epsilon", every)):
        violated = is_violated(run, south, north, 1.0, last_bits=False)
        yield _verdict(f"local report of {name}", violated, is_sound=run is one)
    yield from _one_way()


def _one_way(people: int = 2000) -> Iterator[Row]:
    """Persons who all go from one cell to the next: three transitions, a third of the shares each.

    Within five standard errors of the reports and of which transition each person draws.
    """
    persons = [f"p{number}" for number in range(people) for _ in range(2)]
    ways = [40.01] * 2 * people, [-3.99, -3.71] * people
    traces = Traces.of(DECLARED, persons, [0, 60] * people, *ways)
    found = private.collect_transitions(traces, epsilon=4, size=2, rng=Seeded(1))
    third = 1 / 3
    reach = 5 * sqrt(found.error**2 + third * (1 - third) / people)
    near = Tolerance(absolute=reach, why=Message("lab.tolerance.reports_and_draws"))
    names = dict(zip(private.transition_names(2), transition_places(2), strict=True))
    for name in ("start > 0", "0 > 1", "1 > end"):
        share = float(found.shares[names[name]])
        yield compare("local transitions of one way", name, third, share, near, kind="theory")
