"""Percolation: matches spread from seeds by marks."""

from __future__ import annotations

from collections import Counter, deque

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs import RandomSwitch
from celosia.graphs.attacks import percolation, top_hubs
from celosia.graphs.attacks import percolation as attack
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph
from celosia.graphs.relabelling import relabel

GRAPH = power_law(400, 3000, 2.8, Seeded(1))
SEEDS = top_hubs(GRAPH, 20).tolist()


def plain(known: Graph, release: Graph, pairs: dict[int, int], marks: int) -> dict[int, int]:
    """The same over dictionaries."""
    matched, taken = dict(pairs), set(pairs.values())
    counts: Counter[tuple[int, int]] = Counter()
    waiting = deque(sorted(pairs))
    while waiting:
        one = waiting.popleft()
        for near in known.neighbours_of(one).tolist():
            if near in matched:
                continue
            for there in release.neighbours_of(matched[one]).tolist():
                if there in taken:
                    continue
                counts[near, there] += 1
                if counts[near, there] >= marks:
                    matched[near] = there
                    taken.add(there)
                    waiting.append(near)
                    break
    return matched


@pytest.mark.parametrize("marks", [2, 4])
def test_the_loop_does_what_its_definition_says(marks: int) -> None:
    changed = RandomSwitch(amount=0.05).apply(GRAPH, rng=Seeded(2)).graph
    made = relabel(changed, Seeded(3))
    found = percolation(GRAPH, made.graph, seeds=SEEDS, marks=marks, numbers=made.numbers)
    twin = plain(GRAPH, made.graph, {each: int(made.numbers[each]) for each in SEEDS}, marks)
    assert {vertex: to for vertex, to in enumerate(found.matched.tolist()) if to >= 0} == twin


def test_few_changes_leave_nearly_everybody_found_and_a_new_graph_nobody() -> None:
    made = relabel(GRAPH, Seeded(3))
    same = percolation(GRAPH, made.graph, seeds=SEEDS, numbers=made.numbers)
    assert same.share_correct > 0.8
    assert same.as_dict()["name"] == "percolation"
    other = power_law(400, 3000, 2.8, Seeded(9))
    assert percolation(GRAPH, other, seeds=SEEDS).share_correct < 0.05


def test_time_and_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    import celosia.graphs.attacks.percolation  # noqa: F401 - the module, not the function

    module = sys.modules["celosia.graphs.attacks.percolation"]
    full = attack(GRAPH, GRAPH, seeds=SEEDS, marks=2)
    monkeypatch.setattr(module, "MOST_PAIRS", 1 << 10)
    assert attack(GRAPH, GRAPH, seeds=SEEDS, marks=2).unmatched > full.unmatched
    monkeypatch.setattr(module, "MOST_MARKS", 0)
    assert attack(GRAPH, GRAPH, seeds=SEEDS, marks=2).unmatched == GRAPH.order - len(SEEDS)


def test_a_seed_must_be_in_both() -> None:
    with pytest.raises(InputError) as refused:
        percolation(GRAPH, GRAPH, seeds=[0], numbers=np.full(GRAPH.order, -1))
    assert refused.value.code == "CEL-G410"
