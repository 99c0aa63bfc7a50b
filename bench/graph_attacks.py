"""Attacks that match a million vertices with those of a release.

A power-law graph with five million edges is published with a hundredth of its edges switched, under
random numbers. A ratio is processor time over a bar of two minutes, and memory over 2 GB.
"""

from __future__ import annotations

from time import process_time
from typing import Any

from bench.memory import forget_peak, peak
from celosia.core.randomness import Seeded
from celosia.graphs import RandomSwitch
from celosia.graphs.attacks import attack_from_text
from celosia.graphs.attacks.method import AttackedGraph
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph
from celosia.graphs.relabelling import relabel

_SECONDS, _BYTES = 120, 2e9
_ATTACKS = ("propagation", "percolation", "seedless")


def run(rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Processor seconds and memory for `rows` vertices and five times the edges."""
    small = _pair(power_law(300, 900, 2.5, Seeded(3)))
    pair = _pair(power_law(rows, 5 * rows, 2.5, Seeded(2026)))
    found: dict[str, dict[str, Any]] = {"facts": {}, "seconds": {}, "memory MB": {}, "ratios": {}}
    for name in _ATTACKS:
        attack = attack_from_text(name)
        attack.run(small, rng=Seeded(1))  # compiles
        before, started = forget_peak(), process_time()
        result = attack.run(pair, rng=Seeded(1))
        taken, held = process_time() - started, peak()
        found["facts"][name] = str(result)
        found["seconds"][name] = round(taken, 2)
        found["memory MB"][f"{name}, with {before / 1e6:.0f} before"] = round(held / 1e6)
        found["ratios"] |= {
            f"{name} / {_SECONDS} s": round(taken / _SECONDS, 3),
            f"{name} / {_BYTES / 1e9:g} GB": round(held / _BYTES, 3),
        }
    return found


def _pair(graph: Graph) -> AttackedGraph:
    changed = RandomSwitch(amount=0.01).apply(graph, rng=Seeded(2)).graph
    made = relabel(changed, Seeded(3))
    return AttackedGraph(original=graph, release=made.graph, numbers=made.numbers)
