"""A hierarchy written out by hand, group by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from celosia.core.methods import Parameter, check_list, parameter
from celosia.tables.hierarchies.hierarchy import ROOT, Builder, Hierarchy

Groups = Mapping[str, "Groups"] | Sequence[str]
"""A table of groups by label, or a list of leaves."""

DEEPEST = 32
"""Deeper trees are a slip of the pen; the limit keeps them from exhausting Python's stack."""


def _check_text(value: Any) -> str:
    """A text, which may be empty."""
    if not isinstance(value, str):
        raise ValueError
    return value


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
    root: str = parameter(ROOT, kind="text", check=_check_text)

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
