"""Assignments of the sensitive values of published classes to the people in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, lgamma

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source

World = NDArray[np.int64]
"""How many of each value (columns) each cell of like people (rows) gets."""

_DEEPEST = 300
"""Cells or values of a class beyond which its tables are not tried one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One published class: its cells, how many people each has, and the values to deal out."""

    cells: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]

    def tables(self) -> Iterator[list[tuple[int, ...]]]:
        """Each table of counts with these margins; a column for each value that occurs."""
        present = self.counts[self.counts > 0]
        if present.size <= 1:
            return iter([[(size,) * present.size for size in self.sizes.tolist()]])
        return _tables(tuple(self.sizes.tolist()), tuple(present.tolist()))

    def ways(self) -> Iterator[tuple[float, World]]:
        """Each table, values that do not occur included, and its chance if all orders are alike."""
        total = _log_ways(self.counts)
        for rows in self.tables():
            dealt = np.zeros((self.sizes.size, self.counts.size), dtype=np.int64)
            dealt[:, self.counts > 0] = rows
            yield exp(sum(_log_ways(row) for row in dealt) - total), dealt

    @property
    def is_open(self) -> bool:
        """Whether there is more than one assignment."""
        return self.sizes.size > 1 and int(np.count_nonzero(self.counts)) > 1

    @property
    def is_deep(self) -> bool:
        """Whether there are too many cells or values to try all assignments."""
        widest = max(self.sizes.size, int(np.count_nonzero(self.counts)))
        return self.is_open and widest > _DEEPEST


def number_of_worlds(blocks: Sequence[Block], cap: int) -> int | None:
    """How many there are; None if more than the cap."""
    if any(block.is_deep for block in blocks):
        return None
    found = 1
    for block in blocks:
        here = 0
        for _ in block.tables():
            here += 1
            if found * here > cap:
                return None
        found *= here
    return found


def all_worlds(blocks: Sequence[Block], cells: int) -> Iterator[tuple[float, World]]:
    """Each world with its chance; the same array is handed out every time."""
    width = blocks[0].counts.size if blocks else 0
    world = np.zeros((cells, width), dtype=np.int64)
    open_blocks = []
    for block in blocks:
        if block.is_open:
            open_blocks.append(block)
        else:
            world[block.cells] = next(block.ways())[1]

    def deal(number: int, weight: float) -> Iterator[tuple[float, World]]:
        if number == len(open_blocks):
            yield weight, world
            return
        for chance, dealt in open_blocks[number].ways():
            world[open_blocks[number].cells] = dealt
            yield from deal(number + 1, weight * chance)

    return deal(0, 1.0)


def drawn_worlds(
    blocks: Sequence[Block], cells: int, samples: int, rng: Source
) -> Iterator[tuple[float, World]]:
    """So many worlds drawn at random, all of the same weight; always the same array."""
    width = blocks[0].counts.size if blocks else 0
    decks = [np.repeat(np.arange(width), block.counts) for block in blocks]
    owners = [np.repeat(block.cells, block.sizes) for block in blocks]
    world = np.zeros((cells, width), dtype=np.int64)
    for _ in range(samples):
        world[:] = 0
        for deck, owner in zip(decks, owners, strict=True):
            np.add.at(world, (owner, deck[rng.permutation(deck.size)]), 1)
        yield 1.0, world


def _tables(sizes: tuple[int, ...], counts: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Tables of counts whose rows sum to the sizes and whose columns sum to the counts."""
    if len(sizes) <= 1:
        yield [counts] * len(sizes)
        return
    for row in _rows(sizes[0], counts):
        left = tuple(have - given for have, given in zip(counts, row, strict=True))
        for rest in _tables(sizes[1:], left):
            yield [row, *rest]


def _rows(size: int, counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Ways to take `size` things out of these counts."""
    if not counts:
        if size == 0:
            yield ()
        return
    others = sum(counts[1:])
    for given in range(max(size - others, 0), min(size, counts[0]) + 1):
        for rest in _rows(size - given, counts[1:]):
            yield (given, *rest)


def _log_ways(counts: NDArray[np.int64]) -> float:
    """The logarithm of the number of orders that things with these counts have."""
    return lgamma(int(counts.sum()) + 1) - sum(lgamma(count + 1) for count in counts.tolist())
