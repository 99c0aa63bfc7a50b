"""k-degree anonymity, k = 10: a million vertices with ten million edges, and plain Python."""

from __future__ import annotations

from collections import Counter
from time import process_time
from typing import Any

from bench.memory import forget_peak, peak
from celosia.core.randomness import Seeded
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.method import KDegree, Variant

_K = 10
_SMALL = 10_000
_SECONDS, _BYTES = 60, 6e9


def run(rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """CPU seconds and memory of each variant, for `rows` vertices and ten times the edges."""
    variants: tuple[Variant, ...] = ("umga-random", "umga-centrality", "liu-terzi", "construct")
    for variant in variants:  # compiles
        KDegree(k=2, variant=variant).apply(power_law(300, 900, 2.5, Seeded(3)), rng=Seeded(1))
    small = power_law(_SMALL, 5 * _SMALL, 2.5, Seeded(1))
    started = process_time()
    plain = _plain(small.degrees.tolist(), _K)
    slow = process_time() - started
    fast = _once("construct", small)[0]
    graph = power_law(rows, 10 * rows, 2.5, Seeded(2))
    found = {variant: _once(variant, graph) for variant in variants}
    quick, held, facts = found["umga-random"]
    least = facts["least edge changes possible"]
    return {
        "facts": {
            "vertices": graph.order,
            "edges": graph.size,
            "k": _K,
            "greatest degree": int(graph.degrees.max()),
            "rarest degree of the reference": min(Counter(plain).values()),
            **{f"edges added, {name}": each[2]["edges added"] for name, each in found.items()},
            **{f"edges deleted, {name}": each[2]["edges deleted"] for name, each in found.items()},
            "least edge changes possible": least,
        },
        "CPU seconds": {
            **{name: round(each[0], 2) for name, each in found.items()},
            f"construct, {_SMALL:,} vertices": round(fast, 3),
            f"plain Python, {_SMALL:,} vertices": round(slow, 1),
        },
        "memory MB": {name: round(each[1] / 1e6) for name, each in found.items()},
        "ratios": {
            "umga-random seconds / 60": round(quick / _SECONDS, 3),
            "umga-random GB / 6": round(held / _BYTES, 3),
            "worst variant seconds / 60": round(
                max(each[0] for each in found.values()) / _SECONDS, 3
            ),
            "plain Python / construct": round(slow / fast, 1),
            "umga-random changes / least possible": round(
                (facts["edges added"] + facts["edges deleted"]) / max(least, 1), 2
            ),
        },
    }


def _once(variant: Variant, graph: Graph) -> tuple[float, int, dict[str, Any]]:
    """CPU seconds, the most bytes that the process held, and the facts."""
    given = Graph(order=graph.order, edges=graph.edges)  # nothing computed yet
    forget_peak()
    started = process_time()
    facts = KDegree(k=_K, variant=variant).apply(given, rng=Seeded(1)).facts
    return process_time() - started, peak(), dict(facts)


def _plain(degrees: list[int], k: int) -> list[int]:
    """Liu and Terzi's degrees and graph in plain Python, as one writes it from the paper."""
    taken = sorted(degrees, reverse=True)
    while True:
        targets = _targets(taken, k)
        edges = _havel_hakimi(targets)
        if edges is not None:
            break
        taken[-1] += 1
        taken.sort(reverse=True)
    ends = Counter(end for edge in edges for end in edge)
    return [ends[v] for v in range(len(degrees))]


def _targets(ranked: list[int], k: int) -> list[int]:
    count = len(ranked)
    best: list[tuple[float, int]] = [(0, 0)] + [(float("inf"), 0)] * count
    for end in range(k, count + 1):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            cost = best[start][0] + sum(ranked[start] - d for d in ranked[start:end])
            best[end] = min(best[end], (cost, start))
    targets, end = [0] * count, count
    while end:
        start = best[end][1]
        targets[start:end] = [ranked[start]] * (end - start)
        end = start
    return targets


def _havel_hakimi(degrees: list[int]) -> list[tuple[int, int]] | None:
    if sum(degrees) % 2:
        return None
    left = {v: d for v, d in enumerate(degrees) if d}
    edges = []
    while left:
        vertex = max(left, key=left.__getitem__)
        wanted = left.pop(vertex)
        partners = sorted(left, key=left.__getitem__, reverse=True)[:wanted]
        if len(partners) < wanted:
            return None
        for other in partners:
            edges.append((vertex, other))
            left[other] -= 1
            if not left[other]:
                del left[other]
    return edges
