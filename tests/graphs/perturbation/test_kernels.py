"""The compiled exchanges do what plain Python does with the same random words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.core.randomness import Seeded
from celosia.graphs._edge_set import EMPTY, edge_set
from celosia.graphs.generators import random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.perturbation._kernels import moves, switches
from celosia.graphs.sampling import all_non_edges

ORDER, PATIENCE = 9, 4


class Steering:
    """Two vectors and the drift they predict; without vectors every exchange is taken."""

    def __init__(self, vectors: NDArray[np.float64], drift: NDArray[np.float64]) -> None:
        self.vectors, self.drift, self.looked = vectors, drift.copy(), 0

    def takes(self, change: NDArray[np.float64]) -> bool:
        """By the quadratic forms of the change: of the adjacency matrix, and of the Laplacian."""
        if not len(self.vectors):
            return True
        laplacian = np.diag(change.sum(axis=1)) - change
        x, y = self.vectors
        step = np.array([x @ change @ x, y @ laplacian @ y])
        self.looked += 1
        nearer = np.sum((self.drift + step) ** 2) < np.sum(self.drift**2)
        if self.looked < PATIENCE and not (nearer or not self.drift.any()):
            return False
        self.looked = 0
        self.drift += step
        return True


def difference(gone: list[set[int]], come: list[set[int]]) -> NDArray[np.float64]:
    change = np.zeros((ORDER, ORDER))
    for pairs, sign in ((gone, -1), (come, 1)):
        for u, v in map(sorted, pairs):
            change[u, v] += sign
            change[v, u] += sign
    return change


def key(pair: set[int]) -> int:
    return min(pair) * ORDER + max(pair)


def pair(number: int) -> tuple[int, int]:
    return divmod(number, ORDER)


def below(word: int, bound: int) -> int | None:
    place = word % 2 ** (bound - 1).bit_length()
    return place if place < bound else None


def plain_switches(
    keys: list[int], words: list[int], goal: int, steering: Steering
) -> tuple[int, int]:
    done = tries = 0
    chosen: list[int] = []
    for word in words:
        if done == goal:
            break
        place = below(word, len(keys))
        if place is None:
            continue
        chosen.append(place)
        if len(chosen) < 2:
            continue
        (i, j), (k, p) = pair(keys[chosen[0]]), pair(keys[chosen[1]])
        (one, other), chosen = chosen, []
        k, p = (p, k) if word >= 2**63 else (k, p)
        tries += 1
        new, also = {i, p}, {k, j}
        if len({i, j, k, p}) < 4 or key(new) in keys or key(also) in keys:
            continue
        if steering.takes(difference([{i, j}, {k, p}], [new, also])):
            keys[one], keys[other] = key(new), key(also)
            done += 1
    return done, tries


def plain_moves(
    keys: list[int], free: list[int], words: list[int], goal: int, steering: Steering
) -> tuple[int, int]:
    done = tries = 0
    edge: int | None = None
    for word in words:
        if done == goal:
            break
        if edge is None:
            edge = below(word, len(keys))
            continue
        place = below(word, len(free) or ORDER * (ORDER - 1))
        if place is None:
            continue
        if free:
            new = free[place]
        else:
            ordered = [(u, v) for u in range(ORDER) for v in range(ORDER) if u != v]
            new = key(set(ordered[place]))
            if new in keys:
                continue
        tries += 1
        old, row, edge = keys[edge], edge, None
        if steering.takes(difference([set(pair(old))], [set(pair(new))])):
            keys[row] = new
            if free:
                free[place] = old
            done += 1
    return done, tries


@settings(max_examples=150, deadline=None, derandomize=True)  # floats may tie once in 1e11
@given(
    st.sampled_from(["switch", "sparse move", "dense move"]),
    st.booleans(),
    st.integers(2, 30),
    st.integers(0, 10**6),
)
def test_compiled_exchanges_equal_plain_ones(
    kind: str, steered: bool, size: int, seed: int
) -> None:
    rng = Seeded(seed)
    graph: Graph = random_graph(ORDER, size, rng)
    words = rng.words(300)
    drawn = rng.integers(2**20, 20).astype(np.float64) / 2**20 - 0.5
    vectors = drawn[:18].reshape(2, 9) if steered else np.empty((0, 0))
    steering = Steering(vectors, drawn[18:])
    keys, table, tally = graph.keys.copy(), edge_set(graph.keys), np.zeros(2, dtype=np.int64)
    free = all_non_edges(graph) if kind == "dense move" else np.empty(0, dtype=np.int64)
    drift = drawn[18:].copy()
    rest = (table, ORDER, words, 20, 10**6, tally, PATIENCE, vectors, drift)
    twin, twin_free = graph.keys.tolist(), free.tolist()
    if kind == "switch":
        switches(keys, *rest)
        wanted = plain_switches(twin, words.tolist(), 20, steering)
    else:
        moves(keys, free, *rest)
        wanted = plain_moves(twin, twin_free, words.tolist(), 20, steering)
    assert keys.tolist() == twin
    assert tuple(tally.tolist()) == wanted
    assert free.tolist() == twin_free
    if kind != "dense move":
        assert sorted(table[table != EMPTY].tolist()) == sorted(twin)
    if steered:
        assert drift.tolist() == pytest.approx(steering.drift.tolist())
