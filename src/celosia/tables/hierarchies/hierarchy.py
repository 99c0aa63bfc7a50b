"""A hierarchy: what each value becomes at each level; what builds one; one written out by hand."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Method, Parameter, check_list, parameter
from celosia.frames import as_text, unused_name

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
    repeated: tuple[int, ...] = ()
    """Rows of its file that say the same as an earlier row, and were left out."""

    @classmethod
    def from_paths(
        cls, paths: Iterable[Sequence[str]], *, rows: Sequence[int] | None = None
    ) -> Hierarchy:
        """A hierarchy from one path per leaf, `(leaf, level 1, ..., root)`.

        Args:
            paths: the leaves with their labels, level by level.
            rows: where each path stands in its file; messages then speak of rows, not of leaves.

        Raises:
            InputError: CEL-H001 no leaves, CEL-H002 paths of different lengths, CEL-H003 a leaf
                given twice, CEL-H004 a label with two parents, CEL-H005 more than one root.
        """
        given = [tuple(path) for path in paths]
        place = _PathName(rows)
        _check_shape(given, place)
        labels: list[tuple[str, ...]] = []
        nodes = np.empty((len(given[0]), len(given)), dtype=np.int32)
        for level, column in enumerate(zip(*given, strict=True)):
            index = {label: node for node, label in enumerate(dict.fromkeys(column))}
            _check_texts(index, level)
            labels.append(tuple(index))
            nodes[level] = [index[label] for label in column]
        hierarchy = cls(tuple(labels), nodes)
        hierarchy._check_levels(place)
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
        """What a raw value becomes at a level.

        Raises:
            InputError: CEL-H010 the value is no leaf; it is not named, as it may be a cell value.
        """
        position = self.index.get(leaf)
        if position is None:
            raise InputError("CEL-H010", leaves=len(self.leaves))
        return self.labels[level][int(self.nodes[level, position])]

    def leaves_under(self, level: int) -> NDArray[np.int64]:
        """For each leaf, how many leaves share its label: 1 at level 0, all at the root."""
        shared: NDArray[np.int64] = np.bincount(self.nodes[level])[self.nodes[level]]
        return shared

    @property
    def note(self) -> str | None:
        """A note for the author of the file of the hierarchy; None where there is nothing.

        >>> Hierarchy.from_paths([("Male", "*")]).note
        """
        if not self.repeated:
            return None
        if len(self.repeated) == 1:
            return f"row {self.repeated[0]} repeats an earlier row and was left out."
        first, count = self.repeated[0], len(self.repeated)
        return f"{count:,} rows repeat earlier rows and were left out (first: row {first})."

    @property
    def values(self) -> tuple[str, ...]:
        """The leaves, as a reader of a release calls them (see `assess.meaning`)."""
        return self.leaves

    def stands_for(self, label: str) -> NDArray[np.int64]:
        """Positions of the leaves that have this label at any level; none if it is no label.

        >>> Hierarchy.from_paths([("29", "20s", "*"), ("31", "30s", "*")]).stands_for("*").tolist()
        [0, 1]
        """
        return self._leaves_of.get(label, np.empty(0, dtype=np.int64))

    @cached_property
    def _leaves_of(self) -> dict[str, NDArray[np.int64]]:
        found: dict[str, NDArray[np.int64]] = {}
        for names, node_of_leaf in zip(self.labels, self.nodes, strict=True):
            order = np.argsort(node_of_leaf, kind="stable")
            ends = np.cumsum(np.bincount(node_of_leaf, minlength=len(names)))[:-1]
            for name, leaves in zip(names, np.split(order, ends), strict=True):
                found[name] = np.union1d(found[name], leaves) if name in found else leaves
        return found

    def paths(self) -> list[tuple[str, ...]]:
        """One path per leaf, as `from_paths` takes them."""
        return [
            tuple(self.labels[level][node] for level, node in enumerate(column))
            for column in self.nodes.T.tolist()
        ]

    def with_missing(self) -> Hierarchy:
        """The same hierarchy with one more leaf for empty cells, on its own below the root.

        >>> Hierarchy.from_paths([("Male", "*"), ("Female", "*")]).with_missing().leaves
        ('Male', 'Female', '(missing)')
        """
        # A cell may hold the very text; the leaf for empty cells must still be another.
        empty = unused_name(MISSING, {label for level in self.labels for label in level})
        if self.height == 0:  # a lone leaf is its own root: the two now need one above them
            return Hierarchy.from_paths([(*self.leaves, ROOT), (empty, ROOT)])
        own = (empty,) * self.height + self.labels[-1]
        return Hierarchy.from_paths([*self.paths(), own])

    def _check_levels(self, place: _PathName) -> None:
        for level in range(1, self.levels):
            below, above = self.nodes[level - 1], self.nodes[level]
            # Every leaf writes its parent; a leaf that does not find its own again has a rival.
            parent = np.empty(len(self.labels[level - 1]), dtype=np.int32)
            parent[below[::-1]] = above[::-1]
            rivals = np.flatnonzero(parent[below] != above)
            if rivals.size:
                rival = int(rivals[0])
                first = int(np.flatnonzero(below == below[rival])[0])
                torn = np.unique(below[rivals]).size
                raise InputError(
                    "CEL-H004",
                    torn=torn,
                    upper=level,
                    place=place(rival),
                    other=place(first),
                    level=level - 1,
                    row=place.number(rival),
                )
        if len(self.labels[-1]) > 1:
            raise InputError("CEL-H005", root=ROOT, roots=len(self.labels[-1]))

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} leaves, {self.levels} levels)"


@dataclass(frozen=True, slots=True)
class _PathName:
    """How messages name a path: by its row in a file if there is one, else by its position."""

    rows: Sequence[int] | None

    def number(self, position: int) -> int:
        return position + 1 if self.rows is None else self.rows[position]

    def __call__(self, position: int) -> Message:
        number = self.number(position)
        if self.rows is None:
            return Message("tables.place.leaf", number=number)
        return Message("tables.place.row", number=number)


def _check_texts(labels: Iterable[object], level: int) -> None:
    if not all(isinstance(label, str) for label in labels):
        raise InputError("CEL-H006", level=level)


def _check_shape(paths: list[tuple[str, ...]], place: _PathName) -> None:
    if not paths or not paths[0]:
        raise InputError("CEL-H001")
    seen: dict[str, int] = {}
    for position, path in enumerate(paths):
        if len(path) != len(paths[0]):
            raise InputError(
                "CEL-H002",
                place=place(position),
                levels=len(path),
                other=place(0),
                other_levels=len(paths[0]),
                row=place.number(position),
            )
        first = seen.setdefault(path[0], position)
        if first != position:
            same = path == paths[first]
            raise InputError(
                "CEL-H003.same_labels" if same else "CEL-H003.other_labels",
                place=place(position),
                other=place(first),
                row=place.number(position),
            )


@dataclass(frozen=True, slots=True)
class LevelSummary:
    """One level in counts; no label, so that it may be shown to anybody."""

    level: int
    labels: int
    """How many different labels the level has."""
    smallest: int
    """The fewest leaves under one label."""
    largest: int
    """The most leaves under one label."""


def summary(hierarchy: Hierarchy) -> tuple[LevelSummary, ...]:
    """The levels from the raw values to the root, in counts.

    >>> tree = Hierarchy.from_paths([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")])
    >>> summary(tree)[1]
    LevelSummary(level=1, labels=2, smallest=1, largest=2)
    """
    sizes = [np.bincount(nodes) for nodes in hierarchy.nodes]
    return tuple(
        LevelSummary(level, len(counts), int(counts.min()), int(counts.max()))
        for level, counts in enumerate(sizes)
    )


class Builder(Method, ABC):
    """A rule that turns the distinct values of a column into a hierarchy.

    Its `as_dict()` is what stands under `[columns.NAME.hierarchy]` in a schema file.
    """

    __slots__ = ()

    @abstractmethod
    def build(self, values: pl.Series) -> Hierarchy:
        """The hierarchy whose leaves are the texts of `values` (distinct, none missing).

        Raises:
            InputError: a value has no place under the rule; the message counts such values.
        """


def check_rising(least: int, value: Any) -> tuple[int, ...]:
    """A list of increasing whole numbers of at least so much."""
    numbers = check_list(value)
    if not all(is_whole(number) and number >= least for number in numbers):
        raise ValueError
    if any(low >= high for low, high in pairwise(numbers)):
        raise ValueError
    return numbers


def is_number(value: object) -> bool:
    """True for a finite number, within what a float can hold, that is not a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 10**300 and math.isfinite(value)


def is_whole(value: object) -> bool:
    """True for a whole number that is not a truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_multiples(method: str, key: str, numbers: Sequence[int] | Sequence[Fraction]) -> None:
    """Refuse levels that do not nest: each number must be a multiple of the one before."""
    for level in range(1, len(numbers)):
        if numbers[level] <= numbers[level - 1] or numbers[level] % numbers[level - 1]:
            raise InputError("CEL-H021.not_a_multiple", method=method, key=key, level=level + 1)


def distinct_texts(values: pl.Series) -> list[str]:
    """The canonical texts of the values, each once, in order of appearance; empty cells left out.

    >>> distinct_texts(pl.Series([39, 50, None, 39]))
    ['39', '50']
    """
    texts: list[str] = as_text(values).drop_nulls().unique(maintain_order=True).to_list()
    return texts


def misplaced(key: str, bad: Sequence[int], **fields: object) -> InputError:
    """The error for values without a place: how many, and which is the first; never their text.

    >>> print(misplaced("CEL-H030", [2, 5]).what)
    2 distinct value(s) are not in the order (the first is number 3).
    """
    return InputError(key, count=len(bad), first=bad[0] + 1, **fields)


def check_text(value: Any) -> str:
    """A text, which may be empty."""
    if not isinstance(value, str):
        raise ValueError
    return value


Groups = Mapping[str, "Groups"] | Sequence[str]
"""A table of groups by label, or a list of leaves."""

DEEPEST = 32
"""Deeper trees are a slip of the pen; the limit keeps them from exhausting Python's stack."""


@dataclass(frozen=True, slots=True)
class Tree(Builder):
    """Groups within groups, down to lists of values.

    Where one branch is shallower than another, the label of its lowest group is repeated, so that
    all values reach the root in the same number of steps. The tree is the whole hierarchy, values
    that the data lacks included; whether it covers the data is checked by the schema.

    Args:
        tree: a table of groups, each again a table or a list of values; or just a list of values.
        root: the label of the root.

    >>> tree = Tree({"Higher": {"Graduate": ["Masters", "Doctorate"]}, "Secondary": ["HS-grad"]})
    >>> for path in tree.build(pl.Series(["Masters"])).paths():
    ...     print(path)
    ('Masters', 'Graduate', 'Higher', '*')
    ('Doctorate', 'Graduate', 'Higher', '*')
    ('HS-grad', 'Secondary', 'Secondary', '*')
    >>> Tree(["Male", "Female"]).build(pl.Series(["Male"])).paths()
    [('Male', '*'), ('Female', '*')]
    """

    method_name: ClassVar[str] = "tree"

    tree: Groups = field(
        hash=False,
        metadata={
            "parameter": Parameter(
                most=DEEPEST,
                check=lambda groups: _frozen(groups, 0),
                allowed="tables.must_be.groups",
                example='{ North = ["Leeds", "York"] }',
            )
        },
    )
    root: str = parameter(ROOT, kind="text", check=check_text)

    def check(self) -> None:
        """Refuse a value that stands at two places."""
        self._hierarchy()

    def build(self, values: pl.Series) -> Hierarchy:
        """The whole tree, whatever the values."""
        return self._hierarchy()

    def _hierarchy(self) -> Hierarchy:
        branches = list(_branches(self.tree, ()))
        depth = max((len(above) for _, above in branches), default=0)
        return Hierarchy.from_paths(
            (leaf, *(above[:1] * (depth - len(above))), *above, self.root)
            for leaf, above in branches
        )


def _frozen(groups: Any, depth: int) -> Groups:
    """A copy that cannot be changed from outside, checked on the way."""
    if depth > DEEPEST or not groups:
        raise ValueError
    if isinstance(groups, Mapping):
        if not all(isinstance(label, str) for label in groups):
            raise ValueError
        return {label: _frozen(inner, depth + 1) for label, inner in groups.items()}
    leaves = check_list(groups)
    if not all(isinstance(leaf, str) for leaf in leaves):
        raise ValueError
    return leaves


def _branches(groups: Groups, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each leaf with its groups, lowest first."""
    if isinstance(groups, Mapping):
        for label, inner in groups.items():
            yield from _branches(inner, (label, *above))
    else:
        for leaf in groups:
            yield leaf, above
