"""A hierarchy as it is edited by hand: the labels of every value, level by level.

All operations give a new grid. A level is a list of labels, one for each value; the raw values are
level 0, and the root is above the last level.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from celosia.core.errors import InputError
from celosia.tables.hierarchies import ROOT, Hierarchy

LONGEST = 200
"""A label of more letters is a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The values and the labels above them; `levels[0]` are the values themselves.

    >>> grid = Grid.of(("Madrid", "Lima", "Quito"))
    >>> grid = put(grid, 0, {"Lima", "Quito"}, "America")
    >>> grid.levels
    (('Madrid', 'Lima', 'Quito'), ('Madrid', 'America', 'America'))
    >>> as_rule(put(grid, 0, {"Madrid"}, "Europe"))["tree"]
    {'Europe': ['Madrid'], 'America': ['Lima', 'Quito']}
    """

    levels: tuple[tuple[str, ...], ...]
    root: str = ROOT

    @classmethod
    def of(cls, values: Iterable[str]) -> Grid:
        """Values with nothing above them but the root."""
        return cls((tuple(values),))

    @classmethod
    def from_hierarchy(cls, hierarchy: Hierarchy) -> Grid:
        """Any hierarchy, to be edited by hand."""
        levels = tuple(zip(*hierarchy.paths(), strict=True))
        return cls(levels[:-1], hierarchy.labels[-1][0])

    @property
    def top(self) -> int:
        """The number of the last level below the root."""
        return len(self.levels) - 1

    def labels(self, level: int) -> tuple[str, ...]:
        """The different labels of a level, in their order."""
        return tuple(dict.fromkeys(self.levels[level]))

    def above(self, level: int, label: str) -> tuple[str, ...]:
        """The labels above a label, from the next level to the last."""
        place = self.levels[level].index(label)
        return tuple(each[place] for each in self.levels[level + 1 :])


def put(grid: Grid, level: int, labels: Collection[str], into: str) -> Grid:
    """Put labels of one level into a group of the next, new or there already.

    A group that is there keeps its place; a new one takes the place of the first of its members.
    Above the last level a new level is made.

    Raises:
        InputError: CEL-W053 a label that is empty or too long, CEL-W054 nothing was chosen.
    """
    name = checked_label(into)
    chosen = set(labels).intersection(grid.levels[level])
    if not chosen:
        raise nothing_chosen()
    wider = add_level(grid, level) if level == grid.top else grid
    target = wider.levels[level + 1]
    known = name in target
    member = target.index(name) if known else _first(wider.levels[level], chosen)
    further = [each[member] for each in wider.levels[level + 2 :]]
    moved = [place for place, label in enumerate(wider.levels[level]) if label in chosen]
    rows = [list(each) for each in wider.levels]
    for place in moved:
        rows[level + 1][place] = name
        for number, label in enumerate(further, level + 2):
            rows[number][place] = label
    return _settled(replace(wider, levels=tuple(map(tuple, rows))))


def rename(grid: Grid, level: int, label: str, new: str) -> Grid:
    """Call a group something else; a name that another group of its level has joins the two.

    Raises:
        InputError: CEL-W053 a label that is empty or too long, CEL-W055 a value of the data.
    """
    name = checked_label(new)
    if level == 0:
        raise InputError("CEL-W055.value")
    if name in grid.levels[level] and name != label:
        return put(grid, level - 1, _members(grid, level, label), name)
    row = tuple(name if each == label else each for each in grid.levels[level])
    return replace(grid, levels=(*grid.levels[:level], row, *grid.levels[level + 1 :]))


def dissolve(grid: Grid, level: int, label: str) -> Grid:
    """Take a group apart: each of its members becomes a group of its own.

    Raises:
        InputError: CEL-W055, a value of the data is no group.
    """
    if level == 0:
        raise InputError("CEL-W055.no_group")
    below, here = grid.levels[level - 1], grid.levels[level]
    row = tuple(low if each == label else each for low, each in zip(below, here, strict=True))
    return _settled(replace(grid, levels=(*grid.levels[:level], row, *grid.levels[level + 1 :])))


def add_level(grid: Grid, above: int) -> Grid:
    """A new level above a level, in which each label stands by itself at first."""
    copy = grid.levels[above]
    return replace(grid, levels=(*grid.levels[: above + 1], copy, *grid.levels[above + 1 :]))


def remove_level(grid: Grid, level: int) -> Grid:
    """The grid without a level; the values themselves stay."""
    if not 0 < level <= grid.top:
        raise nothing_chosen()
    return replace(grid, levels=(*grid.levels[:level], *grid.levels[level + 1 :]))


def add_values(grid: Grid, values: Iterable[str], into: str) -> Grid:
    """Give values that the grid lacks a place in a group of the first level; all new ones.

    In a grid without levels they stand beside the others.
    """
    new = [value for value in dict.fromkeys(values) if value not in set(grid.levels[0])]
    if not new:
        return grid
    if grid.top == 0:
        return replace(grid, levels=((*grid.levels[0], *new),))
    name = checked_label(into)
    first = grid.levels[1]
    further = (
        [each[first.index(name)] for each in grid.levels[1:]]
        if name in first
        else [name] * grid.top
    )
    added = tuple(
        (*row, *([label] * len(new))) for row, label in zip(grid.levels[1:], further, strict=True)
    )
    return _settled(replace(grid, levels=((*grid.levels[0], *new), *added)))


def as_rule(grid: Grid) -> dict[str, Any]:
    """The hierarchy as a schema file writes it: groups within groups, down to lists of values."""
    rule: dict[str, Any] = {"method": "tree", "tree": _tree(grid)}
    return rule if grid.root == ROOT else rule | {"root": grid.root}


def checked_label(label: str) -> str:
    """A label without blanks around it.

    Raises:
        InputError: CEL-W053, it is empty, too long or the mark of suppressed records.
    """
    name = label.strip()
    if not name or len(name) > LONGEST or name == ROOT:
        raise InputError("CEL-W053", longest=LONGEST, root=ROOT)
    return name


def nothing_chosen() -> InputError:
    """The error for an operation on nothing."""
    return InputError("CEL-W054")


def _tree(grid: Grid) -> Any:
    if grid.top == 0:
        return list(grid.levels[0])
    tree: dict[str, Any] = {}
    for path in zip(*reversed(grid.levels), strict=True):
        *groups, last, value = path
        inner = tree
        for group in groups:
            inner = inner.setdefault(group, {})
        inner.setdefault(last, []).append(value)
    return tree


def _settled(grid: Grid) -> Grid:
    """The same grid with one parent for each label, as a hierarchy must have.

    A label that came to stand under two parents follows its first; its upper labels go with it.
    """
    rows = [list(each) for each in grid.levels]
    for level in range(1, len(rows) - 1):
        parent: dict[str, int] = {}
        for place, label in enumerate(rows[level]):
            first = parent.setdefault(label, place)
            for upper in rows[level + 1 :]:
                upper[place] = upper[first]
    return replace(grid, levels=tuple(map(tuple, rows)))


def _first(labels: Sequence[str], chosen: Collection[str]) -> int:
    return next(place for place, label in enumerate(labels) if label in chosen)


def _members(grid: Grid, level: int, label: str) -> set[str]:
    pairs: Iterable[tuple[str, str]] = zip(grid.levels[level - 1], grid.levels[level], strict=True)
    return {low for low, high in pairs if high == label}


def counts(grid: Grid, level: int, rows: Mapping[str, int]) -> dict[str, int]:
    """How many records each label of a level stands for."""
    found: dict[str, int] = dict.fromkeys(grid.labels(level), 0)
    for value, label in zip(grid.levels[0], grid.levels[level], strict=True):
        found[label] += rows.get(value, 0)
    return found
