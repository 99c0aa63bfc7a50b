"""A random graph with given degrees, triangles and communities, from released numbers alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.graphs._edge_set import edge_set
from celosia.graphs.graph import Graph
from celosia.graphs.private.community_structure import DampedSpectrum, vector_modularity

Shares = NDArray[np.float64]

TRIES = 3
"""How often ends of edges that find no partner in their block try again there."""
LAST_TRIES = 20
"""The same, among all vertices."""
ATTEMPTS = 200
"""Switches for triangles that are tried for each edge."""
ROUNDS = 5
"""Graphs that are made until one is as modular as wanted."""
NEAR = 0.015
"""How near is near enough, as a share of the ends of all edges."""

LEAST = 0.1
"""The share of ends within blocks that is tried where the spectrum shows no communities."""
CLOSE = 0.005
"""How near to the number of triangles is near enough, as a share of it."""
LEAST_GAIN = 0.001
"""A batch of switches that brings less of what is missing is the last."""

_BATCHES = 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wanted:
    """What was released of a graph, and is asked of another one."""

    degrees: NDArray[np.int64]
    """Of a graph, in any order."""
    triangles: int
    spectrum: DampedSpectrum
    sums: NDArray[np.float64]
    """Of eigenvalues, with noise, as `spectrum` released them."""
    strength: int


def community_graph(wanted: Wanted, *, rng: Source, progress: Progress) -> Graph:
    """A graph with the wanted degrees, triangles and communities, as nearly as it can be made.

    The vertices, in a random order, are halved again and again: half of them, a quarter, ... are
    the blocks of level 1, 2, ... Each end of an edge is of one level, by chance, and looks for its
    partner in its block of that level. A graph in which a share p_j of the ends is of level j has
    2^j / 2 eigenvalues at p_j + p_(j+1) + ... of the first one, for each j: so the shares follow
    from the spectrum. What chance alone adds to an eigenvalue is taken off first, by the law
    x = y + r^2 / (4 y) of an eigenvalue y beside noise of radius r (Benaych-Georges, Nadakuditi
    2011), and r is seen in a random graph of the same degrees. Then switches bring the number of
    triangles, and all levels but the lowest are made stronger or weaker together until the vector
    modularity is the wanted one.

    Ends that find no partner at last are dropped: fewer than one in a hundred in social networks.
    """
    degrees = wanted.degrees[rng.permutation(wanted.degrees.size)]
    random = _level_graph(degrees, np.ones(1), rng)
    levels = _levels(wanted, random)
    tried: list[tuple[float, float, Graph]] = []
    factor = 0.0
    for number in range(ROUNDS):
        progress(Step(Message("graphs.stage.communities_made"), number, ROUNDS))
        blank = random if not factor else _level_graph(degrees, _shares(levels, factor), rng)
        made = with_triangles(blank, wanted.triangles, levels.size - 1, rng)
        over = vector_modularity(made) - wanted.strength
        tried.append((factor, over, made))
        # A random graph that is too modular already is as good as it gets.
        full = factor * levels[-1] >= 1 and over < 0
        if (
            abs(over) <= NEAR * 2 * made.size
            or (not factor and over > 0)
            or full
            or levels.size == 1
        ):
            break
        factor = _next_factor(tried, 1 / float(levels[1]))
    return min(tried, key=lambda each: abs(each[1]))[2]


def _next_factor(tried: list[tuple[float, float, Graph]], most: float) -> float:
    """Where the line through two results, one too low and one too high if there are, is right.

    It is at most `most`, at which all ends are within blocks.
    """
    points = sorted((factor, over) for factor, over, _ in tried)
    if len(points) == 1:
        return 1.0
    high = next((place for place, (_, over) in enumerate(points) if over > 0), len(points) - 1)
    (low, below), (top, above) = points[high - 1], points[high]
    if above <= below:
        return most
    return min(low - below * (top - low) / (above - below), most)


def _levels(wanted: Wanted, random: Graph) -> Shares:
    """The share of ends that stay within blocks of each level or a smaller one; 1 for level 0."""
    from scipy.optimize import isotonic_regression

    sizes = np.concatenate([[1.0], 2.0 ** np.arange(wanted.sums.size - 1)])
    fitted = isotonic_regression(wanted.sums / sizes, weights=sizes, increasing=False).x
    radius = wanted.spectrum.sums(random) / sizes
    signal = (fitted + np.sqrt(np.maximum(fitted**2 - radius**2, 0))) / 2
    signal[fitted <= radius] = 0
    signal[0] = max(fitted[0], radius[0], 1e-9)  # without communities all are one
    levels = np.minimum.accumulate(signal / signal[0])
    if levels[1:].max(initial=0) < LEAST:  # noise hides the shape; the strength may tell still
        levels[1:] = LEAST
    return np.asarray(levels)


def _shares(levels: Shares, factor: float) -> Shares:
    """The share of ends of each level, where all levels above the first are times `factor`."""
    held = np.minimum(factor * levels, 1.0)
    held[0] = 1.0
    return np.asarray(held - np.append(held[1:], 0.0))


def _level_graph(degrees: NDArray[np.int64], shares: Shares, rng: Source) -> Graph:
    """A random graph of these degrees whose edges are within blocks of each level by its share."""
    from celosia.graphs.private._community_kernels import join_ends

    order, deepest = degrees.size, shares.size - 1
    ends = np.repeat(np.arange(order), degrees)
    drawn = rng.integers(2**30, ends.size) / 2**30
    level = np.minimum(np.searchsorted(np.cumsum(shares), drawn, side="right"), deepest)
    keys = np.empty(ends.size // 2, dtype=np.int64)
    table = edge_set(keys[:0], room=keys.size)
    blocks, count = blocks_of(order, deepest), 0
    left = ends[:0]
    for each in range(deepest, -1, -1):  # who finds no partner looks in the next larger block
        left = np.concatenate([ends[level == each], left])
        for _ in range(TRIES if each else LAST_TRIES):
            if left.size < 2:
                break
            left = left[rng.permutation(left.size)]
            place = blocks[left] >> (deepest - each)
            sort = np.argsort(place, kind="stable")
            left = left[sort]
            count, rest = join_ends(left, place[sort], order, table, keys, count)
            left = left[:rest]
    return Graph.from_keys(np.sort(keys[:count]), order=order)


def blocks_of(order: int, depth: int) -> NDArray[np.int64]:
    """The block of each vertex at the deepest level: equally many vertices in each, in order."""
    return np.asarray(np.arange(order, dtype=np.int64) * 2**depth // max(order, 1))


def with_triangles(graph: Graph, triangles: int, depth: int, rng: Source) -> Graph:
    """The graph after switches towards a number of triangles, within blocks as far as they were.

    Every degree stays. Where no switch is left that helps, the number is not reached.
    """
    from celosia.graphs.metrics.clustering import triangle_corners
    from celosia.graphs.private._community_kernels import close_triangles

    wanted = triangles - int(triangle_corners(graph).sum()) // 3
    if graph.size < 2:
        return graph
    rows = graph.neighbours.astype(np.int64)
    table, blocks = edge_set(graph.keys), blocks_of(graph.order, depth)
    state = rng.words(1) | np.uint64(1)
    for _ in range(_BATCHES):
        if abs(wanted) <= CLOSE * triangles:
            break
        moved = close_triangles(
            graph.starts, rows, table, blocks, wanted, ATTEMPTS * graph.size // _BATCHES, state
        )
        if abs(moved) < LEAST_GAIN * abs(wanted):
            break
        wanted -= moved
    one = np.repeat(np.arange(graph.order, dtype=np.int64), graph.degrees)
    upward = one < rows
    return Graph.from_keys(np.sort(one[upward] * graph.order + rows[upward]), order=graph.order)
