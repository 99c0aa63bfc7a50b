"""A hierarchy written out by hand, group by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from celosia.core.messages import Message
from celosia.tables.hierarchies._parameters import as_written, wrong
from celosia.tables.hierarchies.hierarchy import ROOT, Hierarchy

Groups = Mapping[str, "Groups"] | Sequence[str]
"""A table of groups by label, or a list of leaves."""

DEEPEST = 32
"""Deeper trees are a slip of the pen; the limit keeps them from exhausting Python's stack."""


@dataclass(frozen=True, slots=True)
class Tree:
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

    tree: Groups = field(default=(), hash=False)
    root: str = ROOT

    def __post_init__(self) -> None:
        if not isinstance(self.root, str):
            raise wrong("tree", "root", Message("tables.must_be.a_text"))
        object.__setattr__(self, "tree", _frozen(self.tree, 0))
        self._hierarchy()

    def build(self, values: pl.Series) -> Hierarchy:
        """The whole tree, whatever the values."""
        return self._hierarchy()

    def as_table(self) -> dict[str, Any]:
        """The rule as a schema file writes it."""
        return as_written("tree", self)

    def _hierarchy(self) -> Hierarchy:
        branches = list(_branches(self.tree, ()))
        depth = max((len(above) for _, above in branches), default=0)
        return Hierarchy.from_paths(
            (leaf, *(above[:1] * (depth - len(above))), *above, self.root)
            for leaf, above in branches
        )


def _frozen(groups: object, depth: int) -> Groups:
    """A copy that cannot be changed from outside, checked on the way."""
    expected = Message("tables.must_be.groups")
    if depth > DEEPEST:
        raise wrong("tree", "tree", Message("tables.must_be.deep", deepest=DEEPEST))
    if isinstance(groups, Mapping):
        if not groups or not all(isinstance(label, str) for label in groups):
            raise wrong("tree", "tree", expected)
        return {label: _frozen(inner, depth + 1) for label, inner in groups.items()}
    if not isinstance(groups, Sequence) or isinstance(groups, str | bytes) or not groups:
        raise wrong("tree", "tree", expected)
    if not all(isinstance(leaf, str) for leaf in groups):
        raise wrong("tree", "tree", expected)
    return tuple(groups)


def _branches(groups: Groups, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each leaf with its groups, lowest first."""
    if isinstance(groups, Mapping):
        for label, inner in groups.items():
            yield from _branches(inner, (label, *above))
    else:
        for leaf in groups:
            yield leaf, above
