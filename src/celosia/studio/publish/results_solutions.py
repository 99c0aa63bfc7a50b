"""All solutions of a run: the scatter, its front, the lattice as a diagram or a grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from celosia.core.errors import InputError
from celosia.core.methods import PlainValues, derived
from celosia.studio.visitors import Work
from celosia.tables import Exploration, Solution

FILE = "solutions.json"
"""Where the solutions lie in the work."""
MOST_POINTS = 20_000
"""Points that are kept for the scatter: the front, and of the others as many evenly spread ones."""
MOST_DRAWN = 240
"""Nodes of a lattice that is still drawn as a diagram."""

Levels = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Point(PlainValues):
    """One solution."""

    levels: Levels
    score: float
    suppressed: int
    classes: int
    average_risk: float
    highest_risk: float

    @property
    @derived
    def smallest(self) -> int:
        """Records of the smallest class."""
        return round(1 / self.highest_risk) if self.highest_risk else 0


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the diagram: where it stands, and what is known of it."""

    levels: Levels
    x: float
    y: int
    state: str
    """`best`, `meets`, `fails` or `untried`."""


@dataclass(frozen=True, slots=True)
class Cell:
    """All nodes with one level in each of two columns."""

    nodes: int
    solutions: int
    best: Point | None
    """The solution of least loss among them."""


def facts(
    found: Exploration | None,
    solution: Solution,
    *,
    metric: str,
) -> dict[str, Any]:
    """An exploration as plain values, small enough for a page."""
    names = [column.name for column in solution.columns]
    shape = [column.height + 1 for column in solution.columns]
    facts: dict[str, Any] = {
        "metric": metric,
        "columns": names,
        "shape": shape,
        "nodes": prod(shape),
        "tried": 0,
        "found": 0,
        "points": [],
        "front": [],
    }
    if found is None:
        return facts
    front = {choice.levels for choice in found.front}
    every = max(1, -(-len(found.solutions) // MOST_POINTS))
    kept = [
        choice
        for place, choice in enumerate(found.solutions)
        if place % every == 0 or choice.levels in front
    ]
    points = [
        [
            list(each.levels),
            each.score,
            each.suppressed,
            each.classes,
            each.average_risk,
            each.highest_risk,
        ]
        for each in kept
    ]
    return facts | {
        "nodes": found.nodes,
        "tried": found.tried,
        "found": len(found.solutions),
        "points": points,
        "front": [place for place, each in enumerate(kept) if each.levels in front],
    }


class Solutions:
    """The solutions of a run, as the pages ask for them.

    Raises:
        InputError: CEL-W061, levels or a number that no solution here has.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.metric: str = values["metric"]
        self.columns: tuple[str, ...] = tuple(values["columns"])
        self.shape: Levels = tuple(values["shape"])
        self.nodes: int = values["nodes"]
        self.tried: int = values["tried"]
        self.found: int = values["found"]
        self.points = tuple(Point(tuple(levels), *rest) for levels, *rest in values["points"])
        self.front = tuple(self.points[place] for place in values["front"])
        self._at = {point.levels: place for place, point in enumerate(self.points)}

    @classmethod
    def load(cls, work: Work) -> Solutions | None:
        """The solutions of a work; None before its first run has ended."""
        values = work.load("solutions")
        return None if values is None else cls(values)

    @property
    def is_cut(self) -> bool:
        """Whether the time was up before all nodes were tried."""
        return self.tried < self.nodes

    @property
    def is_thinned(self) -> bool:
        """Whether more were found than are kept for the page."""
        return len(self.points) < self.found

    @property
    def is_small(self) -> bool:
        """Whether the lattice can be drawn as a diagram."""
        return self.nodes <= MOST_DRAWN and not self.is_cut

    def point(self, levels: Sequence[int]) -> Point:
        """The solution at a node."""
        place = self._at.get(tuple(levels))
        if place is None:
            raise _no_solution()
        return self.points[place]

    def number(self, place: int) -> Point:
        """The solution that a click has named by its place."""
        if not 0 <= place < len(self.points):
            raise _no_solution()
        return self.points[place]

    def has(self, levels: Sequence[int | None]) -> bool:
        """Whether these levels are a solution that is kept here."""
        return tuple(levels) in self._at

    def best_with(self, levels: Sequence[int | None]) -> Levels | None:
        """The node with these levels; where some are left open (None), the best solution of those.

        A node with every level given is found whether it is a solution or not; None where no
        solution that is kept has the levels that are given.
        """
        given = [(place, level) for place, level in enumerate(levels) if level is not None]
        if len(given) == len(self.shape):
            return self.parse("-".join(str(level) for _place, level in given))
        return next(  # the best score first
            (
                point.levels
                for point in self.points
                if all(point.levels[place] == level for place, level in given)
            ),
            None,
        )

    def by_column(self, point: Point) -> dict[str, int]:
        """The levels of a solution by column name, as `publish` takes them."""
        return dict(zip(self.columns, point.levels, strict=True))

    def parse(self, text: str) -> Levels | None:
        """The levels that an address names, such as 0-3-1; None if no node has them."""
        parts = text.split("-")
        if len(parts) != len(self.shape) or not all(each.isdecimal() for each in parts):
            return None
        levels = tuple(int(each) for each in parts)
        fits = all(level < size for level, size in zip(levels, self.shape, strict=True))
        return levels if fits else None

    def diagram(self) -> tuple[list[Node], list[tuple[int, int]]]:
        """The nodes by rank from the raw table at the bottom, and pairs of neighbours."""
        best = self.points[0].levels if self.points else None
        ranks: dict[int, list[Levels]] = {}
        for levels in product(*(range(size) for size in self.shape)):
            ranks.setdefault(sum(levels), []).append(levels)
        nodes = [
            Node(levels, place - (len(same) - 1) / 2, rank, self._state(levels, best))
            for rank, same in sorted(ranks.items())
            for place, levels in enumerate(same)
        ]
        at = {node.levels: place for place, node in enumerate(nodes)}
        pairs = [
            (place, at[above]) for place, node in enumerate(nodes) for above in self._above(node)
        ]
        return nodes, pairs

    def grid(self, first: str, second: str) -> list[list[Cell]]:
        """For each level of one column and each of another, what the nodes there have to offer."""
        one, other = self.columns.index(first), self.columns.index(second)
        sizes = self.shape[one], self.shape[other]
        inside = self.nodes // (sizes[0] * (sizes[1] if one != other else 1))
        counts: dict[tuple[int, int], int] = {}
        best: dict[tuple[int, int], Point] = {}
        for point in self.points:  # the best score first
            place = point.levels[one], point.levels[other]
            counts[place] = counts.get(place, 0) + 1
            best.setdefault(place, point)
        return [
            [
                Cell(inside, counts.get((low, high), 0), best.get((low, high)))
                for high in range(sizes[1])
            ]
            for low in range(sizes[0])
        ]

    def _state(self, levels: Levels, best: Levels | None) -> str:
        if levels == best:
            return "best"
        if levels in self._at:
            return "meets"
        return "untried" if self.is_cut else "fails"

    def _above(self, node: Node) -> Iterator[Levels]:
        for place, (level, size) in enumerate(zip(node.levels, self.shape, strict=True)):
            if level + 1 < size:
                yield (*node.levels[:place], level + 1, *node.levels[place + 1 :])


def _no_solution() -> InputError:
    return InputError("CEL-W061")
