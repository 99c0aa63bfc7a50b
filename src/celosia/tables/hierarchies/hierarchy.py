"""A generalisation hierarchy: one tree per column, all leaves at the same depth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

ROOT = "*"
"""The label of the root, and of every quasi-identifier of a suppressed record."""

MISSING = "(missing)"
"""The leaf that stands for an empty cell where a column treats empty as a value of its own."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Which label each leaf has at each level; level 0 is the raw value, the last is the root.

    Build one with `from_paths`, which validates; `labels[level][node]` are the distinct labels of a
    level and `nodes[level, leaf]` says which of them a leaf has there.

    >>> sex = Hierarchy.from_paths([("Male", "*"), ("Female", "*")])
    >>> sex.levels, sex.height, sex.leaves
    (2, 1, ('Male', 'Female'))
    >>> sex.label("Female", level=1)
    '*'
    """

    labels: tuple[tuple[str, ...], ...]
    nodes: NDArray[np.int32]

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]]) -> Hierarchy:
        """A hierarchy from one path per leaf, `(leaf, level 1, ..., root)`.

        Raises:
            InputError: CEL-H001 no leaves, CEL-H002 paths of different lengths, CEL-H003 a leaf
                given twice, CEL-H004 a label with two parents, CEL-H005 more than one root.
        """
        rows = [tuple(path) for path in paths]
        _check_shape(rows)
        labels: list[tuple[str, ...]] = []
        nodes = np.empty((len(rows[0]), len(rows)), dtype=np.int32)
        for level, column in enumerate(zip(*rows, strict=True)):
            index = {label: node for node, label in enumerate(dict.fromkeys(column))}
            labels.append(tuple(index))
            nodes[level] = [index[label] for label in column]
        hierarchy = cls(tuple(labels), nodes)
        hierarchy._check_levels()
        return hierarchy

    @property
    def leaves(self) -> tuple[str, ...]:
        """The raw values, in the order given."""
        return self.labels[0]

    @property
    def levels(self) -> int:
        """Number of levels, the raw one included."""
        return len(self.labels)

    @property
    def height(self) -> int:
        """Number of generalisation steps from the raw value to the root."""
        return self.levels - 1

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each leaf."""
        return {leaf: position for position, leaf in enumerate(self.leaves)}

    def label(self, leaf: str, *, level: int) -> str:
        """What a raw value becomes at a level."""
        return self.labels[level][self.nodes[level, self.index[leaf]]]

    def leaves_under(self, level: int) -> NDArray[np.int64]:
        """For each leaf, how many leaves share its label at a level (1 at level 0, all at the root)."""
        return np.bincount(self.nodes[level])[self.nodes[level]]

    def paths(self) -> list[tuple[str, ...]]:
        """One path per leaf, as `from_paths` takes them."""
        return [
            tuple(self.labels[level][node] for level, node in enumerate(column))
            for column in self.nodes.T.tolist()
        ]

    def with_missing(self) -> Hierarchy:
        """The same hierarchy with one more leaf for empty cells, on its own below the root."""
        own = (MISSING,) * self.height + self.labels[-1]
        return Hierarchy.from_paths([*self.paths(), own])

    def _check_levels(self) -> None:
        for level in range(1, self.levels):
            pairs = np.unique(self.nodes[level - 1 : level + 1], axis=1)
            torn = np.flatnonzero(np.bincount(pairs[0]) > 1)
            if torn.size:
                raise InputError(
                    "CEL-H004",
                    f"{torn.size} label(s) of level {level - 1} belong to more than one label of "
                    f"level {level} (first at leaf {_first_leaf(self, level - 1, torn[0])}).",
                    why="Each level must coarsen the one below, or a value has two generalisations.",
                    fix="Give every label exactly one parent.",
                    level=level - 1,
                )
        if len(self.labels[-1]) > 1:
            raise InputError(
                "CEL-H005",
                f"the last level has {len(self.labels[-1])} labels instead of one root.",
                why="Without a single root some tables could not be protected at all.",
                fix=f"Add a last level with '{ROOT}' for every leaf.",
                roots=len(self.labels[-1]),
            )

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} leaves, {self.levels} levels)"


def _first_leaf(hierarchy: Hierarchy, level: int, node: int) -> int:
    return int(np.flatnonzero(hierarchy.nodes[level] == node)[0]) + 1


def _check_shape(rows: list[tuple[str, ...]]) -> None:
    if not rows or not rows[0]:
        raise InputError(
            "CEL-H001",
            "the hierarchy has no leaves.",
            why="No value could be generalised.",
            fix="Give one row per value: the value, then its label at each level.",
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise InputError(
                "CEL-H002",
                f"leaf {number} has {len(row)} levels, the first has {len(rows[0])}.",
                why="All values of a column are taken to the same level.",
                fix="Repeat a label to fill a short path.",
                row=number,
            )
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if row[0] in seen:
            raise InputError(
                "CEL-H003",
                f"leaf {number} repeats leaf {seen[row[0]]}.",
                why="A value must have one place in its hierarchy.",
                fix="Remove one of the two rows.",
                row=number,
            )
        seen[row[0]] = number
