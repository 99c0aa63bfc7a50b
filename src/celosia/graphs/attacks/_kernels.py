"""Signatures, embeddings, path search and matching, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core._kernels import first_at_least
from celosia.core.kernels import njit
from celosia.graphs.arrays import Flags, Floats, Vertices, Whole, Words


@njit(cache=True, nogil=True)
def mix(word: int, salt: int) -> int:
    """A 64-bit word whose bits all depend on all bits of another (Steele et al. 2014)."""
    value = np.uint64(word) + np.uint64(salt) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))  # type: ignore[return-value]


@njit(cache=True, nogil=True)
def neighbour_sums(starts: Whole, neighbours: Vertices, colours: Whole) -> Words:
    """For each vertex two sums of the mixed colours around it: one number for each multiset.

    Two different multisets have equal sums with a chance of 2**-128.
    """
    # Addition forgets the order and needs no sorting; colours are mixed first, because plain sums
    # of small numbers, 1 + 3 and 2 + 2, are often equal. Two salts make it 128 bits.
    found = np.zeros((len(starts) - 1, 2), dtype=np.uint64)
    for vertex in range(len(starts) - 1):
        for step in range(starts[vertex], starts[vertex + 1]):
            colour = colours[neighbours[step]]
            found[vertex, 0] += np.uint64(mix(colour, 1))
            found[vertex, 1] += np.uint64(mix(colour, 2))
    return found


@njit(cache=True, nogil=True)
def adjacent(starts: Whole, neighbours: Vertices, one: int, other: int) -> bool:
    """Whether two vertices are joined: a search in the shorter row."""
    if starts[one + 1] - starts[one] > starts[other + 1] - starts[other]:
        one, other = other, one
    end = starts[one + 1]
    place = first_at_least(neighbours, starts[one], end, other)
    return bool(place < end and neighbours[place] == other)


@njit(cache=True, nogil=True)
def edges_among(
    starts: Whole, neighbours: Vertices, vertex: int, mark: Vertices, pairs: Vertices
) -> int:
    """The edges between neighbours of a vertex, by their places in its row; how many there are.

    `mark` must be -1 everywhere, and is again afterwards. Of two rows the shorter is walked.
    """
    first, last = starts[vertex], starts[vertex + 1]
    count = 0
    for place in range(first, last):
        mark[neighbours[place]] = place - first
    for place in range(first, last):
        one = neighbours[place]
        here = place - first
        if starts[one + 1] - starts[one] <= last - first:
            for step in range(starts[one], starts[one + 1]):
                there = mark[neighbours[step]]
                if there > here:
                    if count < len(pairs):
                        pairs[count, 0], pairs[count, 1] = here, there
                    count += 1
        else:
            for step in range(place + 1, last):
                if adjacent(starts, neighbours, one, neighbours[step]):
                    if count < len(pairs):
                        pairs[count, 0], pairs[count, 1] = here, step - first
                    count += 1
    for place in range(first, last):
        mark[neighbours[place]] = -1
    return count


@njit(cache=True, nogil=True)
def neighbourhood_hashes(
    starts: Whole, neighbours: Vertices, edges_around: Whole, rounds: int
) -> Words:
    """A number for the graph among the neighbours of each vertex; isomorphic ones have equal ones.

    `edges_around` is how many edges there are among the neighbours. Colours of the neighbours are
    refined `rounds` times, and what comes out is summed, so the order of vertices does not matter.
    """
    order = len(starts) - 1
    found = np.zeros(order, dtype=np.uint64)
    mark = np.full(order, -1, dtype=np.int32)
    most_edges, most_degree = 0, 0
    for vertex in range(order):
        most_edges = max(most_edges, edges_around[vertex])
        most_degree = max(most_degree, starts[vertex + 1] - starts[vertex])
    pairs = np.empty((most_edges, 2), dtype=np.int32)
    colours = np.zeros(most_degree, dtype=np.uint64)
    sums = np.zeros(most_degree, dtype=np.uint64)
    for vertex in range(order):
        degree = starts[vertex + 1] - starts[vertex]
        count = edges_around[vertex]
        if count:
            edges_among(starts, neighbours, vertex, mark, pairs)
        for each in range(degree):
            colours[each] = np.uint64(1)
        for turn in range(rounds):
            for each in range(degree):
                sums[each] = np.uint64(0)
            for each in range(count):
                one, other = pairs[each, 0], pairs[each, 1]
                sums[one] += np.uint64(mix(colours[other], 3))
                sums[other] += np.uint64(mix(colours[one], 3))
            # The own colour stays part of the new one: refinement never makes two colours one.
            for each in range(degree):
                colours[each] = np.uint64(mix(colours[each] ^ sums[each], 5 + turn))
        total = np.uint64(mix(degree, 4))
        for each in range(degree):
            total += np.uint64(mix(colours[each], 6))
        found[vertex] = total
    return found


@njit(cache=True, nogil=True)
def embeds(
    starts: Whole,
    neighbours: Vertices,
    parents: Whole,
    needed: Flags,
    degrees: Whole,
    root: int,
    most_steps: int,
) -> int:
    """Whether a small pattern fits into the graph with its first vertex at `root`.

    1 yes, 0 no, -1 not known after `most_steps`. Vertex i of the pattern hangs on `parents[i]`,
    which comes before it; `needed[i, j]` are its edges, `degrees` how many each has.
    """
    # Depth first with a stack of our own. The pattern is connected, so that only neighbours of the
    # image of the parent can fit: that edge is there, and is not looked up again.
    count = len(parents)
    image = np.full(count, -1, dtype=np.int64)
    step = np.zeros(count, dtype=np.int64)
    if starts[root + 1] - starts[root] < degrees[0]:
        return 0
    image[0] = root
    if count == 1:
        return 1
    place, steps = 1, 0
    step[1] = starts[root]
    while place > 0:
        holder = image[parents[place]]
        if step[place] >= starts[holder + 1]:
            image[place] = -1
            place -= 1
            continue
        vertex = neighbours[step[place]]
        step[place] += 1
        steps += 1
        if steps > most_steps:
            return -1
        fits = starts[vertex + 1] - starts[vertex] >= degrees[place]
        for before in range(place):
            if not fits:
                break
            fits = image[before] != vertex
            if fits and needed[place, before] and before != parents[place]:
                fits = adjacent(starts, neighbours, vertex, image[before])
        if fits:
            image[place] = vertex
            if place == count - 1:
                return 1
            place += 1
            step[place] = starts[image[parents[place]]]
    return 0


@njit(cache=True, nogil=True)
def embeds_everywhere(
    starts: Whole,
    neighbours: Vertices,
    parents: Whole,
    needed: Flags,
    degrees: Whole,
    most_steps: int,
) -> NDArray[np.int8]:
    """`embeds` for each vertex of the graph."""
    found = np.zeros(len(starts) - 1, dtype=np.int8)
    for root in range(len(found)):
        found[root] = embeds(starts, neighbours, parents, needed, degrees, root, most_steps)
    return found


@njit(cache=True, nogil=True)
def find_paths(
    starts: Whole,
    neighbours: Vertices,
    degrees: Whole,
    inside: Flags,
    most_steps: int,
    found: Whole,
) -> int:
    """Paths whose vertices have these degrees and exactly these edges among them.

    Returns how many were found (no more than `found` has rows), or -1 after `most_steps`.
    """
    # The attacker has planted all edges of these vertices: degrees and missing edges are known as
    # exactly as edges are, so equality is asked for, where `embeds` asks for no less.
    count = len(degrees)
    image = np.full(count, -1, dtype=np.int64)
    step = np.zeros(count, dtype=np.int64)
    paths, steps = 0, 0
    for root in range(len(starts) - 1):
        if starts[root + 1] - starts[root] != degrees[0]:
            continue
        image[0] = root
        place = 1
        step[1] = starts[root]
        while place > 0:
            holder = image[place - 1]
            if step[place] >= starts[holder + 1]:
                place -= 1
                continue
            vertex = neighbours[step[place]]
            step[place] += 1
            steps += 1
            if steps > most_steps:
                return -1
            fits = starts[vertex + 1] - starts[vertex] == degrees[place]
            for before in range(place):
                if not fits:
                    break
                fits = image[before] != vertex and (
                    adjacent(starts, neighbours, vertex, image[before]) == inside[place, before]
                )
            if not fits:
                continue
            image[place] = vertex
            if place < count - 1:
                place += 1
                step[place] = starts[vertex]
                continue
            for each in range(count):
                found[paths, each] = image[each]
            paths += 1
            if paths == len(found):
                return paths
    return paths


@njit(cache=True, nogil=True)
def link_scores(starts: Whole, neighbours: Vertices, pairs: Whole, damping: float) -> Floats:
    """Three scores of each pair: common neighbours, Adamic and Adar's, walks of two and three.

    The edge between the two, if there is one, is never used: it is what is to be guessed.
    """
    found = np.zeros((len(pairs), 3))
    mark = np.full(len(starts) - 1, -1, dtype=np.int64)
    for each in range(len(pairs)):
        one, other = pairs[each, 0], pairs[each, 1]
        for step in range(starts[other], starts[other + 1]):
            mark[neighbours[step]] = each  # the number of the pair: nothing has to be cleared
        mark[one] = -1  # a walk back over `one` would end with the edge that is to be guessed
        threes = 0.0
        for step in range(starts[one], starts[one + 1]):
            middle = neighbours[step]
            if middle == other:
                continue
            degree = starts[middle + 1] - starts[middle]
            if mark[middle] == each:
                found[each, 0] += 1.0
                found[each, 1] += 1.0 / np.log(degree)  # two neighbours at least
            for further in range(starts[middle], starts[middle + 1]):
                threes += mark[neighbours[further]] == each
        found[each, 2] = found[each, 0] + damping * threes
    return found


@njit(cache=True, nogil=True)
def best_match(
    starts: Whole,
    neighbours: Vertices,
    other_starts: Whole,
    other_neighbours: Vertices,
    matched: Whole,
    taken: Whole,
    vertex: int,
    scores: Floats,
    touched: Whole,
) -> tuple[int, float]:
    """The vertex of the other graph that has most of the matched neighbours, and how it stands out.

    Standing out is the gap between the two highest scores over their standard deviation, as
    Narayanan and Shmatikov call eccentricity. `scores` must be 0 everywhere, and is again after.
    """
    count = 0
    for step in range(starts[vertex], starts[vertex + 1]):
        friend = matched[neighbours[step]]
        if friend < 0:
            continue
        for further in range(other_starts[friend], other_starts[friend + 1]):
            there = other_neighbours[further]
            if taken[there] >= 0:
                continue
            if scores[there] == 0.0:
                touched[count] = there
                count += 1
            # A hub is beside most of the matched vertices by chance: its degree is divided out.
            scores[there] += 1.0 / np.sqrt(other_starts[there + 1] - other_starts[there])
    best, most, second = -1, 0.0, 0.0
    total, squares = 0.0, 0.0
    for each in range(count):
        score = scores[touched[each]]
        total += score
        squares += score * score
        if score > most:
            best, second, most = touched[each], most, score
        elif score > second:
            second = score
        scores[touched[each]] = 0.0
    order = len(other_starts) - 1  # all vertices: those that were not touched score 0
    variance = squares / order - (total / order) ** 2
    if best < 0 or variance <= 0.0:
        return -1, 0.0
    return best, (most - second) / np.sqrt(variance)


@njit(cache=True, nogil=True)
def spread(
    starts: Whole,
    neighbours: Vertices,
    other_starts: Whole,
    other_neighbours: Vertices,
    sequence: Whole,
    matched: Whole,
    taken: Whole,
    threshold: float,
) -> int:
    """One round: each vertex is matched where both directions agree; how many were."""
    scores = np.zeros(max(len(starts), len(other_starts)))
    touched = np.empty(max(len(starts), len(other_starts)), dtype=np.int64)
    changed = 0
    for vertex in sequence:
        if matched[vertex] >= 0:
            continue
        there, clear = best_match(
            starts,
            neighbours,
            other_starts,
            other_neighbours,
            matched,
            taken,
            vertex,
            scores,
            touched,
        )
        if there < 0 or clear < threshold:
            continue
        # The other direction must lead back: a match that only one of the two graphs suggests is
        # mostly wrong, and each wrong one misleads the matches that build on it.
        back, clear = best_match(
            other_starts,
            other_neighbours,
            starts,
            neighbours,
            taken,
            matched,
            there,
            scores,
            touched,
        )
        if back != vertex or clear < threshold:
            continue
        matched[vertex] = there
        taken[there] = vertex
        changed += 1
    return changed
